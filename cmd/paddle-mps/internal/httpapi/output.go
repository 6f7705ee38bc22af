package httpapi

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// appendResponse appends the JSON of a response.
func (in *inferBody) appendResponse(to []byte, r *inference.Response) ([]byte, error) {
	// The order of members is tritonserver's.
	to = append(to, '{')
	if r.ID != "" {
		to = append(appendText(append(to, `"id":`...), r.ID), ',')
	}
	to = append(appendText(append(to, `"model_name":`...), r.Model), `,"model_version":"`...)
	to = append(strconv.AppendInt(to, r.Version, 10), `","outputs":[`...)
	for i := range r.Outputs {
		if i > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = in.appendOutput(to, &r.Outputs[i]); err != nil {
			return to, err
		}
	}
	return append(to, "]}"...), nil
}

// appendOutput appends one output, with its elements or the size of its binary form.
func (in *inferBody) appendOutput(to []byte, t *inference.Tensor) ([]byte, error) {
	to = appendText(append(to, `{"name":`...), t.Name)
	to = append(append(append(to, `,"datatype":"`...), t.Type.String()...), `","shape":`...)
	to = appendShape(to, t.Shape)
	if in.places[t.Name] != nil {
		return append(to, '}'), nil // the client knows where it is
	}
	if in.isBinary(t.Name) {
		to = append(to, `,"parameters":{"binary_data_size":`...)
		return append(strconv.AppendInt(to, int64(len(t.Data)), 10), "}}"...), nil
	}
	to, err := appendElements(append(to, `,"data":[`...), t)
	return append(to, "]}"...), err
}

// appendShape appends a shape.
func appendShape(to []byte, shape []int64) []byte {
	to = append(to, '[')
	for i, d := range shape {
		if i > 0 {
			to = append(to, ',')
		}
		to = strconv.AppendInt(to, d, 10)
	}
	return append(to, ']')
}

// appendElements appends the elements of a tensor with commas between.
func appendElements(to []byte, t *inference.Tensor) ([]byte, error) {
	if t.Type == tensors.FP16 || t.Type == tensors.BF16 {
		return to, inference.Errorf(inference.InvalidArg, "sending %s data via JSON is not supported. Please use the binary data format for output", t.Type)
	}
	// Elements are written flat, whatever the shape is.
	start := len(to)
	// The data of a response have whole elements: the server made them.
	for data := t.Data; len(data) > 0; {
		if len(to) > start {
			to = append(to, ',')
		}
		if t.Type == tensors.Bytes {
			text, rest, ok := tensors.NextElement(data)
			if !ok {
				return to, inference.Errorf(inference.Internal, "output tensor shape does not match size of output for '%s'", t.Name)
			}
			to, data = appendString(to, text), rest
			continue
		}
		to = appendElement(to, t.Type, data)
		data = data[t.Type.Size():]
	}
	return to, nil
}

// appendElement appends the first element of data.
func appendElement(to []byte, k tensors.Type, data []byte) []byte {
	le := binary.LittleEndian
	// Half precision was refused before.
	switch k {
	case tensors.Bool:
		return strconv.AppendBool(to, data[0] != 0)
	case tensors.Uint8:
		return strconv.AppendUint(to, uint64(data[0]), 10)
	case tensors.Uint16:
		return strconv.AppendUint(to, uint64(le.Uint16(data)), 10)
	case tensors.Uint32:
		return strconv.AppendUint(to, uint64(le.Uint32(data)), 10)
	case tensors.Uint64:
		return strconv.AppendUint(to, le.Uint64(data), 10)
	case tensors.Int8:
		return strconv.AppendInt(to, int64(int8(data[0])), 10)
	case tensors.Int16:
		return strconv.AppendInt(to, int64(int16(le.Uint16(data))), 10)
	case tensors.Int32:
		return strconv.AppendInt(to, int64(int32(le.Uint32(data))), 10)
	case tensors.Int64:
		return strconv.AppendInt(to, int64(le.Uint64(data)), 10)
	case tensors.FP32:
		return appendFloat(to, float64(math.Float32frombits(le.Uint32(data))))
	}
	return appendFloat(to, math.Float64frombits(le.Uint64(data)))
}

// appendFloat appends a number as RapidJSON does: the shortest digits that give the same float64, with a point in them
// unless there is an exponent, which there is from 1e22 on and below 1e-6.
// The rule is that of Prettify in RapidJSON's dtoa.h: https://github.com/Tencent/rapidjson.
func appendFloat(to []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(to, "NaN"...)
	case math.IsInf(x, 1):
		return append(to, "Infinity"...)
	case math.IsInf(x, -1):
		return append(to, "-Infinity"...)
	}
	if size := math.Abs(x); size != 0 && (size >= 1e21 || size < 1e-6) {
		start := len(to)
		to = strconv.AppendFloat(to, x, 'e', -1, 64)
		// Go writes e-07 and e+22 where RapidJSON writes e-7 and e22.
		digits, exponent, _ := strings.Cut(string(to[start:]), "e")
		negative := strings.HasPrefix(exponent, "-")
		exponent = strings.TrimLeft(exponent, "+-0")
		to = append(append(to[:start], digits...), 'e')
		if negative {
			to = append(to, '-')
		}
		return append(to, exponent...)
	}
	start := len(to)
	to = strconv.AppendFloat(to, x, 'f', -1, 64)
	for _, b := range to[start:] {
		if b == '.' {
			return to
		}
	}
	return append(to, ".0"...)
}

// appendString appends an element of BYTES in quotes, as RapidJSON does: bytes that are no UTF-8 stay as they are, and only what
// JSON demands is escaped.
func appendString(to, text []byte) []byte {
	const digits = "0123456789ABCDEF"
	to = append(to, '"')
	for _, b := range text {
		switch {
		case b == '"' || b == '\\':
			to = append(to, '\\', b)
		case b >= 0x20:
			to = append(to, b)
		case strings.IndexByte("\b\t\n\f\r", b) >= 0:
			to = append(to, '\\', "btn.fr"[b-'\b'])
		default:
			to = append(to, '\\', 'u', '0', '0', digits[b>>4], digits[b&15])
		}
	}
	return append(to, '"')
}

// appendText appends a text in quotes. Bytes that are no UTF-8 become U+FFFD.
func appendText(to []byte, text string) []byte {
	// Most names need no escapes: they are copied.
	for i := range len(text) {
		if b := text[i]; b < 0x20 || b >= 0x7F || b == '"' || b == '\\' || b == '<' || b == '>' || b == '&' {
			quoted, err := json.Marshal(text)
			if err != nil { // cannot happen: every string has a form
				return append(to, `""`...)
			}
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}
