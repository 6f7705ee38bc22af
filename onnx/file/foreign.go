package file

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// foreign are files that users pass in the place of ONNX models, by their first bytes, and what to do with each.
//
// The start of PaddlePaddle's .pdmodel is the tag of the field of its blocks; an ONNX file with this byte would have a
// version of another type.
var foreign = []struct{ start, what, instead string }{
	{"version https://git-lfs.", "a pointer of Git LFS", "fetch the model with git lfs pull"},
	{"PK\x03\x04", "a zip archive, such as PyTorch's .pt", "unpack it, or export the model with torch.onnx.export"},
	{"\x80", "a pickle, such as PaddlePaddle's .pdparams or PyTorch's .pth", "export the model with paddle2onnx or torch.onnx.export"},
	{"\n", "a model of PaddlePaddle (.pdmodel), or no model", "convert it with paddle2onnx"},
	{"{", "a JSON file, such as PaddlePaddle's inference.json", "convert the model with paddle2onnx"},
	{"<", "an HTML or XML page", "download the model again"},
}

// Explained is the error for bytes that cannot be decoded. Where the first bytes show what the file is instead, it says
// that; the decoder's own error would only name the first message that makes no sense.
func Explained(model []byte, err error) error {
	if len(model) == 0 {
		return status.Errorf(status.Invalid, "[onnx] the file is empty; want an ONNX model")
	}
	for _, f := range foreign {
		if bytes.HasPrefix(model, []byte(f.start)) {
			return status.Errorf(status.Invalid, "[onnx] the file is %s; want an ONNX model: %s", f.what, f.instead)
		}
	}
	if what := unlike(model); what != "" {
		return status.Errorf(status.Invalid, "[onnx] the file begins with %s, as no ONNX model does; want an ONNX model: a binary file, whose name mostly ends in .onnx", what)
	}
	return err
}

// unlike is the beginning of a file that is no damaged model, because it is text or begins with no field of a model; "" for one
// that may be damaged.
func unlike(model []byte) string {
	start := model[:min(len(model), 24)]
	for range utf8.UTFMax - 1 { // a character may be cut
		if r, n := utf8.DecodeLastRune(start); r == utf8.RuneError && n == 1 && len(start) < len(model) {
			start = start[:len(start)-1]
		}
	}
	if !bytes.ContainsFunc(start, func(r rune) bool {
		return r == utf8.RuneError || !strconv.IsPrint(r) && !strings.ContainsRune("\t\r\n", r)
	}) {
		return fmt.Sprintf("the text %q", start)
	}
	number, kind, n := protowire.ConsumeTag(model)
	if want, ok := modelFields[number]; n < 0 || !ok || kind != want {
		return fmt.Sprintf("the bytes % x", start[:min(len(start), 8)])
	}
	return ""
}

// modelFields are the fields of a ModelProto, those too that decoder.file ignores, and how each is encoded.
var modelFields = map[protowire.Number]protowire.Type{
	1: protowire.VarintType, 2: protowire.BytesType, 3: protowire.BytesType, 4: protowire.BytesType, 5: protowire.VarintType,
	6: protowire.BytesType, 7: protowire.BytesType, 8: protowire.BytesType, 14: protowire.BytesType, 20: protowire.BytesType,
	25: protowire.BytesType, 26: protowire.BytesType,
}
