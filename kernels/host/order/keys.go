// Package order maps elements to unsigned integers that compare as the elements do, so that one loop sorts and searches all
// dtypes of one width, in both directions and with NaN in its place.
package order

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/sorting"
)

// Word is an element as its bits, and Key what it is sorted by: elements are in the order of their keys, which are
// unsigned. Small elements have keys of 32 bits, so that what sorts is compiled for two types and not for ten.
type (
	Word interface {
		uint8 | uint16 | uint32 | uint64
	}
	Key interface{ uint32 | uint64 }
)

// Order is how the elements of a dtype become keys. All nan have one key, the largest, and -0 has the one below 0.
type Order[K Key] struct {
	Codec    [2]*engine.Codec[K] // ascending, and in the opposite order: nan first
	Float    bool
	Zero     [2]K // the keys of 0
	Negative [2]K // the keys of -0
}

// orders of all dtypes, by the width of their keys.
var (
	NarrowOrders = map[dtype.DType]*Order[uint32]{
		dtype.Bool: orderOf[uint8, uint32](0, 0), dtype.Uint8: orderOf[uint8, uint32](0, 0),
		dtype.Int8: orderOf[uint8, uint32](1<<7, 0), dtype.Int16: orderOf[uint16, uint32](1<<15, 0),
		dtype.Int32:   orderOf[uint32, uint32](1<<31, 0),
		dtype.Float16: orderOf[uint16, uint32](1<<15, 0x7c00), dtype.BFloat16: orderOf[uint16, uint32](1<<15, 0x7f80),
		dtype.Float32: byVectors(orderOf[uint32, uint32](1<<31, 0x7f800000)),
	}
	WideOrders = map[dtype.DType]*Order[uint64]{
		dtype.Int64: orderOf[uint64, uint64](1<<63, 0), dtype.Float64: orderOf[uint64, uint64](1<<63, 0x7ff0000000000000),
	}
)

// orderOf is the order of elements of W. sign is the bit of the sign, 0 for unsigned numbers; inf are the bits of
// infinity, 0 for what is no float.
func orderOf[W Word, K Key](sign, inf W) *Order[K] {
	return &Order[K]{
		Codec: [2]*engine.Codec[K]{keysOf[W, K](sign, inf, 0), keysOf[W, K](sign, inf, ^W(0))},
		Float: inf != 0, Zero: [2]K{K(sign), K(^sign)}, Negative: [2]K{K(sign - 1), K(^(sign - 1))},
	}
}

// byVectors has the order of float32 make elements of keys by vectors. Their keys are sorting.SortKeys.
func byVectors(o *Order[uint32]) *Order[uint32] {
	for i, flip := range []uint32{0, math.MaxUint32} {
		o.Codec[i] = engine.NewCodec(o.Codec[i].Load, func(dst unsafe.Pointer, keys []uint32) {
			sorting.OfSortKeys(engine.Slice[float32](dst, int64(len(keys))), keys, flip)
		})
	}
	return o
}

// keysOf makes keys of elements and elements of keys. With flip all ones the keys are in the opposite order.
//
// A float that is negative has all its bits inverted and any other its sign, so that both are in order as unsigned
// numbers; integers with a sign have that inverted.
func keysOf[W Word, K Key](sign, inf, flip W) *engine.Codec[K] {
	top := 8*int(unsafe.Sizeof(sign)) - 1
	inverted := W(0) // what is inverted where the sign is set
	if inf != 0 {
		inverted = ^W(0)
	} else {
		inf = ^W(0)
	}
	return engine.NewCodec(engine.LoadWith(func(keys []K, words []W) {
		for i, w := range words {
			bits := w ^ (sign | -(w>>top)&inverted)
			if w&^sign > inf {
				bits = ^W(0)
			}
			keys[i] = K(bits ^ flip)
		}
	}), engine.StoreWith(func(words []W, keys []K) {
		for i, k := range keys {
			w := W(k) ^ flip
			words[i] = w ^ (sign | -(^w>>top)&inverted)
		}
	}))
}
