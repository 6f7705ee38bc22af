package file

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

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

// LastElem is the last type.
const LastElem = ElemType(len(elems) - 1)

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

// Carrier is the dtype of tensors that carry such elements: their own, or another for types that tensors lack. Invalid
// where nothing does.
func (e ElemType) Carrier() dtype.DType {
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

	Raw      []byte
	RawSet   bool
	floats   []float32
	Ints     []int64 // of int32_data, int64_data and uint64_data, which ends there
	doubles  []uint64
	Texts    [][]byte
	External []KeyValue
	Outside  bool // the elements are in another file
}

// KeyValue is a StringStringEntryProto.
type KeyValue struct{ Key, Value string }

// Tensor reads a TensorProto. Fields: 1 dimensions, 2 the type of elements, 4 to 7, 10 and 11 elements by type, 8
// the name, 9 raw elements, 13 the place of external ones, 14 whether they are external.
func (d *Decoder) Tensor(message []byte) (*Tensor, error) {
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
			t.Ints, err = f.varints(t.Ints)
		case 6:
			t.Texts = append(t.Texts, f.bytes)
		case 8:
			t.Name = f.text()
		case 9:
			t.Raw, t.RawSet = f.bytes, true
		case 10:
			t.doubles, err = f.doubles(t.doubles)
		case 13:
			err = nested(d, f.bytes, &t.External, pair)
		case 14:
			t.Outside = f.bits == 1
		}
		return err
	})
	return t, err
}

// pair reads one key and value: of the metadata of a model, or about the place of external data. Keys of the latter are
// location, offset, length, and checksum, which is ignored.
func pair(message []byte) (e KeyValue, err error) {
	err = fields(message, "entry", func(f *field) error {
		switch f.number {
		case 1:
			e.Key = f.text()
		case 2:
			e.Value = f.text()
		}
		return nil
	})
	return e, err
}

// Type is the type of the tensor that carries the elements; status.Unsupported where there is none. The size is checked
// against what an address space holds, before anything is multiplied.
func (t *Tensor) Type() (op.Type, error) {
	d := t.Elem.Carrier()
	if d == dtype.Invalid {
		return op.Type{}, status.Errorf(status.Unsupported, "[onnx] tensor %q has elements of type %s; want one of %s", t.Name, t.Elem, Carried())
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
	case t.Outside:
		c.Bytes, err = outside(t)
	case t.RawSet:
		c.Bytes = t.Raw
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
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q of %s%s has %s; want %d", t.Name, t.Elem.TextOf(made.DType), &made.Shape, status.Count(len(c.Bytes), "byte", "bytes"), want)
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
		for _, v := range t.Ints {
			raw = AppendInt(raw, v, int(d.Size()))
		}
	}
	return raw
}

// AppendInt appends the low bytes of an integer. Elements are little-endian, in files as on all devices that are
// supported.
func AppendInt(to []byte, v int64, size int) []byte {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], uint64(v))
	return append(to, all[:size]...)
}

// Lacking is the type where tensors lack it and something carries it, and else 0.
func (e ElemType) Lacking() ElemType {
	if e.DType() == e.Carrier() {
		return 0
	}
	return e
}

// TextOf is the name of a dtype where elements of a type are expected, for errors: that of the type if it is what carries it.
func (e ElemType) TextOf(d dtype.DType) string {
	if e.Lacking() != 0 && d == e.Carrier() {
		return e.String()
	}
	return d.String()
}

// Unsigned reports whether elements are unsigned integers that signed ones carry.
func (e ElemType) Unsigned() bool { return e == ElemUint16 || e == ElemUint32 || e == ElemUint64 }

// The element types that functions name.
const (
	ElemUint16     ElemType = 4
	ElemString     ElemType = 8
	ElemUint32     ElemType = 12
	ElemUint64     ElemType = 13
	ElemUint4      ElemType = 21
	ElemInt4       ElemType = 22
	ElemFloat4E2M1 ElemType = 23
	ElemFloat8E8M0 ElemType = 24
	ElemUint2      ElemType = 25
	ElemInt2       ElemType = 26
)

// Bits is how many bits an element takes in a file, where that is less than a byte; otherwise 0.
func (e ElemType) Bits() int {
	switch e {
	case ElemUint4, ElemInt4, ElemFloat4E2M1:
		return 4
	case ElemUint2, ElemInt2:
		return 2
	}
	return 0
}

// Carried lists the types of elements that models may have, for errors.
func Carried() string {
	var names []string
	for _, e := range elems {
		if e.carrier != dtype.Invalid {
			names = append(names, e.name)
		}
	}
	return strings.Join(names, ", ")
}

// unpacked is n elements that take a byte each, of bytes that have several, the first in the lowest bits. Elements of a byte
// or more are returned as they are.
func (t *Tensor) unpacked(packed []byte, n int64) ([]byte, error) {
	bits := t.Elem.Bits()
	if bits == 0 {
		return packed, nil
	}
	each := int64(8 / bits)
	if int64(len(packed)) != n/each+min(n%each, 1) {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q has %s; want %s of %s, %d in a byte", t.Name, status.Count(len(packed), "byte", "bytes"), status.Count(int(n), "element", "elements"), t.Elem, each)
	}
	made := make([]byte, n)
	for i := range made {
		made[i] = packed[int64(i)/each] >> (i % int(each) * bits) & (1<<bits - 1)
	}
	return made, nil
}
