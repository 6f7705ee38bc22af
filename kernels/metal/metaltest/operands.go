package metaltest

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Arrangements are the ways in which the operands of a test lie: strides, where in its memory the first element is, and
// how many elements the memory has room for. In "cut" rows have their elements next to each other and a gap behind.
var Arrangements = map[string]func(s shape.Shape) (l shape.Layout, first, count int64){
	"contiguous": func(s shape.Shape) (shape.Layout, int64, int64) { return shape.Contiguous(s), 0, s.Numel() },
	"transposed": func(s shape.Shape) (shape.Layout, int64, int64) {
		l, step := shape.Contiguous(s), int64(1)
		for i := range s.Rank {
			l.Strides[i] = step
			step *= s.Dims[i]
		}
		return l, 0, s.Numel()
	},
	"reversed": func(s shape.Shape) (shape.Layout, int64, int64) {
		l := shape.Contiguous(s)
		for i := range s.Rank {
			l.Strides[i] = -l.Strides[i]
		}
		return l, max(s.Numel()-1, 0), s.Numel()
	},
	"spread": func(s shape.Shape) (shape.Layout, int64, int64) {
		l := shape.Contiguous(s)
		for i := range s.Rank {
			l.Strides[i] *= 2
		}
		return l, 1, 2 * s.Numel()
	},
	"cut": func(s shape.Shape) (shape.Layout, int64, int64) {
		l := shape.Contiguous(s)
		if s.Rank == 0 {
			return l, 0, 1
		}
		rows := s.Numel() / max(s.Dims[s.Rank-1], 1)
		for i := range s.Rank - 1 {
			l.Strides[i] += l.Strides[i] / max(s.Dims[s.Rank-1], 1) * 3
		}
		return l, 2, 2 + s.Numel() + 3*rows
	},
}

// ArrangementNames are their names, in an order that tests may count on, without "cut".
var ArrangementNames = []string{"contiguous", "transposed", "reversed", "spread"}

// ShapeAs is a shape for a test.
func ShapeAs(t testing.TB, dims ...int64) shape.Shape {
	s, err := shape.Of(dims...)
	require.NoError(t, err)
	return s
}

// Operand is a tensor in memory of its own, arranged by name, whose elements are written from a function of their
// row-major number. One without elements has no memory.
// SAFETY: the addresses stay within the memory, which the arrangement has said the size of.
func (b *Bench) Operand(d dtype.DType, arrangement string, value func(i int64) float64, dims ...int64) device.Operand {
	l, first, count := Arrangements[arrangement](ShapeAs(b.T, dims...))
	if l.Numel() == 0 {
		return device.Operand{DType: d, Layout: l}
	}
	at, h := b.Memory(count * d.Size())
	o := device.Operand{Addr: unsafe.Add(at, first*d.Size()), Heap: h, DType: d, Layout: l}
	for i := range l.Numel() {
		Put(unsafe.Slice((*byte)(ElementAt(&o, i)), d.Size()), d, value(i))
	}
	return o
}

// ElementAt is the address of the element with a row-major number.
// SAFETY: it lies in the operand's memory, as its layout says.
func ElementAt(o *device.Operand, number int64) unsafe.Pointer {
	at := int64(0)
	for i := o.Rank - 1; i >= 0; i-- {
		at += number % o.Dims[i] * o.Strides[i]
		number /= o.Dims[i]
	}
	return unsafe.Add(o.Addr, at*o.DType.Size())
}

// Contents is a copy of the elements of an operand in row-major order.
// SAFETY: the operand's memory is alive as long as its test.
func Contents(o *device.Operand) (all []byte) {
	for i := range o.Numel() {
		all = append(all, unsafe.Slice((*byte)(ElementAt(o, i)), o.DType.Size())...)
	}
	return all
}

// Outcome is what a call left in its output, and its Count.
type Outcome struct {
	Bytes   []byte
	Count   int64
	Err     error
	Indices []byte // of the second result, if there is one
}

// Put writes a number as an element; unsigned integers and bools get its absolute value.
// SAFETY: at is as long as an element and aligned as the memory of tests is.
func Put(at []byte, d dtype.DType, v float64) {
	switch d {
	case dtype.Float32:
		*(*float32)(unsafe.Pointer(&at[0])) = float32(v)
	case dtype.Float16:
		*(*uint16)(unsafe.Pointer(&at[0])) = dtype.F64ToF16(v)
	case dtype.BFloat16:
		*(*uint16)(unsafe.Pointer(&at[0])) = dtype.F64ToBF16(v)
	case dtype.Int64:
		*(*int64)(unsafe.Pointer(&at[0])) = int64(v)
	case dtype.Int32:
		*(*int32)(unsafe.Pointer(&at[0])) = int32(v)
	case dtype.Int16:
		*(*int16)(unsafe.Pointer(&at[0])) = int16(v)
	case dtype.Int8:
		*(*int8)(unsafe.Pointer(&at[0])) = int8(v)
	case dtype.Bool:
		at[0] = byte(math.Min(math.Abs(v), 1))
	default:
		at[0] = byte(math.Abs(v))
	}
}

// Number is the first element of an operand as a number of the CPU's, in place of a tensor.
// SAFETY: the eight bytes are Go memory that the operand keeps alive.
func Number(o device.Operand) device.Operand {
	word := new([8]byte)
	copy(word[:], Contents(&o)[:o.DType.Size()])
	o.Addr, o.Heap, o.Strides = unsafe.Pointer(word), nil, [len(o.Strides)]int64{}
	return o
}

// Line is the layout of n elements one behind the other.
func Line(n int64) shape.Layout {
	s, err := shape.Of(n)
	if err != nil {
		panic(err)
	}
	return shape.Contiguous(s)
}
