package engine

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/float16"
)

// Block is the number of elements that move through a lane's buffers at a time: few enough that all
// buffers of a call stay in the first-level cache.
const Block = 512

// Codec is how elements of a dtype become values that a kernel computes with, and back. Both
// functions work on contiguous elements and are nil where the values are the elements themselves.
type Codec[C any] struct {
	Load  func(dst []C, src unsafe.Pointer)
	Store func(dst unsafe.Pointer, src []C)
	Coding
}

// Coding is a codec where the type of the values is not known: the same functions, of addresses and a number of elements.
// What needs no more than that is not compiled for each type.
type Coding struct {
	Read, Write func(to, from unsafe.Pointer, n int64)
}

// Plain is the coding of values that are the elements themselves.
var Plain Coding

// NewCodec makes a codec of its two functions, either of which may be nil.
func NewCodec[C any](load func([]C, unsafe.Pointer), store func(unsafe.Pointer, []C)) *Codec[C] {
	c := &Codec[C]{Load: load, Store: store}
	if load != nil {
		c.Read = func(to, from unsafe.Pointer, n int64) { load(Slice[C](to, n), from) }
	}
	if store != nil {
		c.Write = func(to, from unsafe.Pointer, n int64) { store(to, Slice[C](from, n)) }
	}
	return c
}

// HalfCodec computes on float16 or bfloat16 in float32: exact on the way in, rounded once on the
// way out.
func HalfCodec(d dtype.DType) *Codec[float32] {
	if d == dtype.Float16 {
		return NewCodec(LoadWith(float16.F16ToF32Row), StoreWith(float16.F32ToF16Row))
	}
	return NewCodec(LoadWith(float16.BF16ToF32Row), StoreWith(float16.F32ToBF16Row))
}

// Half64Codec computes on float16 or bfloat16 in float64, rounded once on the way out.
func Half64Codec(d dtype.DType) *Codec[float64] {
	load, store := dtype.F16ToF32, float16.F64ToF16Row
	if d == dtype.BFloat16 {
		load, store = dtype.BF16ToF32, float16.F64ToBF16Row
	}
	return NewCodec(LoadWith(func(dst []float64, src []uint16) {
		for i, h := range src {
			dst[i] = float64(load(h))
		}
	}), StoreWith(store))
}

// LoadWith makes a codec's load of a function of rows with elements of type S.
func LoadWith[C, S any](row func(dst []C, src []S)) func(dst []C, src unsafe.Pointer) {
	return func(dst []C, src unsafe.Pointer) { row(dst, Slice[S](src, int64(len(dst)))) }
}

// StoreWith makes a codec's store of a function of rows with elements of type D.
func StoreWith[D, C any](row func(dst []D, src []C)) func(dst unsafe.Pointer, src []C) {
	return func(dst unsafe.Pointer, src []C) { row(Slice[D](dst, int64(len(src))), src) }
}

// Slice is n elements of type T at an address.
// SAFETY: the caller vouches for the range, which belongs to a call until its owner is notified, or to a
// frame until that is freed. T holds no pointers.
func Slice[T any](p unsafe.Pointer, n int64) []T { return unsafe.Slice((*T)(p), n) }
