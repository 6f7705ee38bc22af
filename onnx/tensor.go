package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// ElemType is the type of an element in TensorProto.DataType.
type ElemType int32

// elems are the element types: their names in ONNX, the dtypes of tensors that have them, and where there are none the
// dtypes of tensors that carry them; see elements.go.
var elems = [...]struct {
	name    string
	dtype   dtype.DType
	carrier dtype.DType
}{
	0:  {"undefined", dtype.Invalid, dtype.Invalid},
	1:  {"float", dtype.Float32, dtype.Float32},
	2:  {"uint8", dtype.Uint8, dtype.Uint8},
	3:  {"int8", dtype.Int8, dtype.Int8},
	4:  {"uint16", dtype.Invalid, dtype.Int16},
	5:  {"int16", dtype.Int16, dtype.Int16},
	6:  {"int32", dtype.Int32, dtype.Int32},
	7:  {"int64", dtype.Int64, dtype.Int64},
	8:  {"string", dtype.Invalid, dtype.Int64},
	9:  {"bool", dtype.Bool, dtype.Bool},
	10: {"float16", dtype.Float16, dtype.Float16},
	11: {"double", dtype.Float64, dtype.Float64},
	12: {"uint32", dtype.Invalid, dtype.Int32},
	13: {"uint64", dtype.Invalid, dtype.Int64},
	14: {"complex64", dtype.Complex64, dtype.Complex64},
	15: {"complex128", dtype.Complex128, dtype.Complex128},
	16: {"bfloat16", dtype.BFloat16, dtype.BFloat16},
	17: {"float8e4m3fn", dtype.Invalid, dtype.Uint8},
	18: {"float8e4m3fnuz", dtype.Invalid, dtype.Uint8},
	19: {"float8e5m2", dtype.Invalid, dtype.Uint8},
	20: {"float8e5m2fnuz", dtype.Invalid, dtype.Uint8},
	21: {"uint4", dtype.Invalid, dtype.Uint8},
	22: {"int4", dtype.Invalid, dtype.Uint8},
	23: {"float4e2m1", dtype.Invalid, dtype.Uint8},
	24: {"float8e8m0", dtype.Invalid, dtype.Uint8},
	25: {"uint2", dtype.Invalid, dtype.Uint8},
	26: {"int2", dtype.Invalid, dtype.Uint8},
}

// String is the name in ONNX. Numbers that ONNX has no type for, as those of newer versions, are shown as they are.
func (e ElemType) String() string {
	if e < 0 || int(e) >= len(elems) {
		return fmt.Sprintf("element type %d", int32(e))
	}
	return elems[e].name
}

// DType is the dtype of tensors with such elements; Invalid where there are none.
func (e ElemType) DType() dtype.DType {
	if e < 0 || int(e) >= len(elems) {
		return dtype.Invalid
	}
	return elems[e].dtype
}

// carrier is the dtype of tensors that carry such elements: their own, or another for types that tensors lack. Invalid
// where nothing does.
func (e ElemType) carrier() dtype.DType {
	if e < 0 || int(e) >= len(elems) {
		return dtype.Invalid
	}
	return elems[e].carrier
}

// Tensor is a TensorProto. Its elements stay in the file until [Tensor.Const].
type Tensor struct {
	Name string
	Elem ElemType
	Dims []int64

	raw      []byte
	rawSet   bool
	floats   []float32
	ints     []int64 // of int32_data, int64_data and uint64_data, which ends there
	doubles  []uint64
	texts    [][]byte
	external []keyValue
	outside  bool // the elements are in another file
}

// keyValue is a StringStringEntryProto.
type keyValue struct{ key, value string }

// tensor reads a TensorProto. Fields: 1 dimensions, 2 the type of elements, 4 to 7, 10 and 11 elements by type, 8
// the name, 9 raw elements, 13 the place of external ones, 14 whether they are external.
func (d *decoder) tensor(message []byte) (*Tensor, error) {
	t := &Tensor{}
	err := fields(message, "tensor", func(f *field) (err error) {
		switch f.number {
		case 1:
			t.Dims, err = f.varints(t.Dims)
		case 2:
			t.Elem = ElemType(f.bits)
		case 4:
			t.floats, err = f.floats(t.floats)
		case 5, 7, 11:
			t.ints, err = f.varints(t.ints)
		case 6:
			t.texts = append(t.texts, f.bytes)
		case 8:
			t.Name = f.text()
		case 9:
			t.raw, t.rawSet = f.bytes, true
		case 10:
			t.doubles, err = f.doubles(t.doubles)
		case 13:
			err = nested(d, f.bytes, &t.external, pair)
		case 14:
			t.outside = f.bits == 1
		}
		return err
	})
	return t, err
}

// pair reads one key and value: of the metadata of a model, or about the place of external data. Keys of the latter are
// location, offset, length, and checksum, which is ignored.
func pair(message []byte) (e keyValue, err error) {
	err = fields(message, "entry", func(f *field) error {
		switch f.number {
		case 1:
			e.key = f.text()
		case 2:
			e.value = f.text()
		}
		return nil
	})
	return e, err
}

// Type is the type of the tensor that carries the elements; status.Unsupported where there is none. The size is checked
// against what an address space holds, before anything is multiplied.
func (t *Tensor) Type() (op.Type, error) {
	d := t.Elem.carrier()
	if d == dtype.Invalid {
		return op.Type{}, status.Errorf(status.Unsupported, "[onnx] tensor %q has elements of type %s; want one of %s", t.Name, t.Elem, carried())
	}
	s, err := shape.Of(t.Dims...)
	if err != nil {
		return op.Type{}, status.Errorf(status.Invalid, "[onnx] tensor %q has dimensions %v; want at most %d, none negative", t.Name, t.Dims, shape.MaxRank)
	}
	made := op.Type{DType: d, Shape: s}
	return made, made.Possible("onnx")
}

// Const is the tensor with its elements. Raw elements are not copied: they are those of the file, which has to stay
// mapped. outside reads the elements of tensors that are in other files. The number of bytes is checked against the
// shape here and nowhere later.
func (t *Tensor) Const(outside func(*Tensor) ([]byte, error)) (*op.Const, error) {
	made, err := t.Type()
	if err != nil {
		return nil, err
	}
	c := &op.Const{Type: made}
	switch {
	case t.outside:
		c.Bytes, err = outside(t)
	case t.rawSet:
		c.Bytes = t.raw
	default:
		c.Bytes = t.typed(made.DType)
	}
	if err != nil {
		return nil, err
	}
	if c.Bytes, err = t.unpacked(c.Bytes, made.Shape.Numel()); err != nil {
		return nil, err
	}
	if want := made.Shape.Numel() * made.DType.Size(); int64(len(c.Bytes)) != want {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q of %s%s has %s; want %d", t.Name, t.Elem.textOf(made.DType), &made.Shape, status.Count(len(c.Bytes), "byte", "bytes"), want)
	}
	return c, nil
}

// typed are the elements of the field for their type, as raw data would have them. Integers of less than 32 bits,
// halves and bools are in int32_data; halves as their bits.
func (t *Tensor) typed(d dtype.DType) (raw []byte) {
	switch d {
	case dtype.Float32, dtype.Complex64:
		for _, v := range t.floats {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
	case dtype.Float64, dtype.Complex128:
		for _, v := range t.doubles {
			raw = binary.LittleEndian.AppendUint64(raw, v)
		}
	default:
		for _, v := range t.ints {
			raw = appendInt(raw, v, int(d.Size()))
		}
	}
	return raw
}

// appendInt appends the low bytes of an integer. Elements are little-endian, in files as on all devices that are
// supported.
func appendInt(to []byte, v int64, size int) []byte {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], uint64(v))
	return append(to, all[:size]...)
}
