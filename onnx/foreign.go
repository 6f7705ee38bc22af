package onnx

import (
	"bytes"

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

// explained is the error for bytes that cannot be decoded. Where the first bytes show what the file is instead, it says
// that; the decoder's own error would only name the first message that makes no sense.
func explained(model []byte, err error) error {
	if len(model) == 0 {
		return status.Errorf(status.Invalid, "[onnx] the file is empty; want an ONNX model")
	}
	for _, f := range foreign {
		if bytes.HasPrefix(model, []byte(f.start)) {
			return status.Errorf(status.Invalid, "[onnx] the file is %s; want an ONNX model: %s", f.what, f.instead)
		}
	}
	return err
}
