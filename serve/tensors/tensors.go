// Package tensors maps the element types of the inference protocol to those of the runtime, and defines the wire
// format of tensors.
//
// Elements are little-endian and row-major. A bool is one byte. A BYTES element, a string, is its length as a uint32
// followed by its bytes. The invariant: a size that a request states is checked for overflow before it is used in a
// computation.
package tensors

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// Type is an element type of the protocol. The numbers are those of DataType in model_config.proto and of
// TRITONSERVER_DataType.
type Type uint8

// The element types.
const (
	Invalid Type = iota
	Bool
	Uint8
	Uint16
	Uint32
	Uint64
	Int8
	Int16
	Int32
	Int64
	FP16
	FP32
	FP64
	Bytes
	BF16
	last = BF16
)

// types are the element types: the name in requests, the one in configurations, the number in TensorProto.DataType of ONNX,
// the bytes of an element (0: it has a length of its own), and the dtype of tensors of the runtime that have such elements
// (Invalid: none). The runtime has no unsigned integers of 16 bits and more: tensors of signed integers of the same size
// have their bits, as package onnx makes and takes them. A tensor of strings is one of int64 that has the strings beside it.
var types = [...]struct {
	name, config string
	elem         int32
	size         int64
	dtype        dtype.DType
}{
	Invalid: {"<invalid>", "TYPE_INVALID", 0, 0, dtype.Invalid},
	Bool:    {"BOOL", "TYPE_BOOL", 9, 1, dtype.Bool},
	Uint8:   {"UINT8", "TYPE_UINT8", 2, 1, dtype.Uint8},
	Uint16:  {"UINT16", "TYPE_UINT16", 4, 2, dtype.Int16},
	Uint32:  {"UINT32", "TYPE_UINT32", 12, 4, dtype.Int32},
	Uint64:  {"UINT64", "TYPE_UINT64", 13, 8, dtype.Int64},
	Int8:    {"INT8", "TYPE_INT8", 3, 1, dtype.Int8},
	Int16:   {"INT16", "TYPE_INT16", 5, 2, dtype.Int16},
	Int32:   {"INT32", "TYPE_INT32", 6, 4, dtype.Int32},
	Int64:   {"INT64", "TYPE_INT64", 7, 8, dtype.Int64},
	FP16:    {"FP16", "TYPE_FP16", 10, 2, dtype.Float16},
	FP32:    {"FP32", "TYPE_FP32", 1, 4, dtype.Float32},
	FP64:    {"FP64", "TYPE_FP64", 11, 8, dtype.Float64},
	Bytes:   {"BYTES", "TYPE_STRING", 8, 0, dtype.Int64},
	BF16:    {"BF16", "TYPE_BF16", 16, 2, dtype.BFloat16},
}

// String is the name in requests: "FP32".
func (t Type) String() string {
	if t > last {
		t = Invalid
	}
	return types[t].name
}

// ConfigName is the name in configurations: "TYPE_FP32".
func (t Type) ConfigName() string {
	if t > last {
		t = Invalid
	}
	return types[t].config
}

// Size is the number of bytes of an element; 0 for Bytes and Invalid.
func (t Type) Size() int64 {
	if t > last {
		return 0
	}
	return types[t].size
}

// DType is the dtype of the runtime's tensors with such elements, or with their bits; dtype.Invalid where there are none.
func (t Type) DType() dtype.DType {
	if t > last {
		return dtype.Invalid
	}
	return types[t].dtype
}

// byName are the types by their names in requests.
var byName = func() map[string]Type {
	m := map[string]Type{}
	for t := Bool; t <= last; t++ {
		m[types[t].name] = t
	}
	return m
}()

// Parse finds a type by its name in requests; Invalid where there is none.
func Parse(name string) Type { return byName[name] }

// OfElem is the type of elements in an ONNX model, given as a number of TensorProto.DataType. It is Invalid for those that
// the protocol lacks, such as complex numbers, and for those that no tensor of the runtime has.
func OfElem(elem int32) Type {
	for t := Bool; t <= last; t++ {
		if types[t].elem == elem && types[t].dtype != dtype.Invalid {
			return t
		}
	}
	return Invalid
}

// Count is the number of elements of a shape; false where a dimension is negative or the product exceeds an int64. A
// dimension of zero does not hide others that overflow.
func Count(shape []int64) (int64, bool) {
	n, zero := int64(1), false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, false
		case d == 0:
			zero = true
		case n > math.MaxInt64/d:
			return 0, false
		default:
			n *= d
		}
	}
	if zero {
		return 0, true
	}
	return n, true
}

// ByteSize is the number of bytes of a tensor of fixed-size elements; false where Count says so, or the bytes exceed an
// int64.
func ByteSize(t Type, shape []int64) (int64, bool) {
	n, ok := Count(shape)
	size := t.Size()
	if !ok || size > 0 && n > math.MaxInt64/size {
		return 0, false
	}
	return n * size, true
}

// Text is a shape as the messages of the server show it: [1,3,-1].
func Text(shape []int64) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range shape {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(d, 10))
	}
	b.WriteByte(']')
	return b.String()
}

// LengthSize is the bytes of the length of an element of Bytes.
const LengthSize = 4

// AppendElement appends an element of Bytes.
func AppendElement(to []byte, text []byte) []byte {
	to = binary.LittleEndian.AppendUint32(to, uint32(len(text)))
	return append(to, text...)
}

// NextElement takes the first element off the data of Bytes; false where the data end within it.
func NextElement(data []byte) (text, rest []byte, ok bool) {
	if len(data) < LengthSize {
		return nil, data, false
	}
	// The length is compared as it is stated: no sum with it can wrap around.
	n := uint64(binary.LittleEndian.Uint32(data))
	if n > uint64(len(data)-LengthSize) {
		return nil, data, false
	}
	return data[LengthSize:][:n], data[LengthSize+n:], true
}

// CheckElements says why data are not n elements of Bytes that are UTF-8; "" where they are. The words, and which of several
// mistakes is reported, are tritonserver's; input stands in them for the input.
func CheckElements(data []byte, n int64, input string) (why string) {
	var count int64
	for len(data) > 0 {
		if len(data) < LengthSize {
			return fmt.Sprintf("incomplete string length indicator for %s, expecting %d bytes but only %d bytes available. Please make sure the string length indicator is in one buffer.", input, LengthSize, len(data))
		}
		if count++; count > n {
			return fmt.Sprintf("unexpected number of string elements %d for %s, expecting %d", count, input, n)
		}
		text, rest, ok := NextElement(data)
		switch {
		// A last element that is cut is one too few where others lack, and tritonserver leaves it to the model where none does.
		case !ok && count == n:
			return fmt.Sprintf("incomplete string data for %s, expecting string of length %d but only %d bytes available.", input, binary.LittleEndian.Uint32(data), len(data)-LengthSize)
		case !ok:
			data = nil
			continue
		case why == "" && !utf8.Valid(text):
			why = fmt.Sprintf("string element %d of %s is not UTF-8, as strings of ONNX models are", count-1, input)
		}
		data = rest
	}
	if count < n {
		return fmt.Sprintf("expected %d string elements for %s, got %d", n, input, count)
	}
	return why
}

// SplitElements divides data of Bytes behind the first n elements; false where the data end before.
func SplitElements(data []byte, n int64) (first, rest []byte, ok bool) {
	rest = data
	for range n {
		if _, rest, ok = NextElement(rest); !ok {
			return nil, data, false
		}
	}
	size := len(data) - len(rest)
	return data[:size:size], rest, true
}

// WorkEach is Work for an empty string: measured with millions of strings, 150 bytes where all are empty, and 330 where all differ.
const WorkEach = 256

// Work is about the memory that the run of a request takes for its elements of Bytes besides their data, of which a short
// string takes many times its own bytes: the string itself, its number in the tables of the run, and the number in tensors.
// It is 0 for other types, whose data are the tensors.
func Work(t Type, data []byte) (bytes int64) {
	if t != Bytes {
		return 0
	}
	bytes = int64(len(data))
	for _, rest, ok := NextElement(data); ok; _, rest, ok = NextElement(rest) {
		bytes += WorkEach
	}
	return bytes
}
