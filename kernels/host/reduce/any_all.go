package reduce

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/order"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
)

// any, all and count_nonzero ask of each element only whether it is 0, which is so for all dtypes of one width where no bit
// is set that counts; of a float the sign does not count. All reductions of bools are one of the first two.

// registerQuestions adds the reductions that ask whether elements are zero.
func registerQuestions() {
	for _, d := range dtype.Numbers.Members() {
		sign := uint64(0)
		if d.IsFloat() {
			sign = 1 << (8*d.Size() - 1)
		}
		switch d.Size() {
		case 1:
			ask(d, anyByte(), allBytes(), counting[uint8](0))
		case 2:
			ask(d, anyOf(uint16(sign)), allOf(uint16(sign)), counting(uint16(sign)))
		case 4:
			ask(d, anyOf(uint32(sign)), allOf(uint32(sign)), counting(uint32(sign)))
		case 8:
			ask(d, anyOf(sign), allOf(sign), counting(sign))
		}
	}
	counted := counting[uint8](0)
	counted.fold = func(a int64, row []uint8) int64 { return a + reduction.CountTrue(row) }
	ask(dtype.Bool, anyByte(), allBytes(), counted)
	reduce(op.IDWholeSum, dtype.Bool, new(engine.Codec[uint8]), new(engine.Codec[int64]), counted)
	for _, id := range []op.ID{op.IDMax, op.IDSum, op.IDMean} {
		reduce(id, dtype.Bool, new(engine.Codec[uint8]), new(engine.Codec[uint8]), anyByte())
	}
	for _, id := range []op.ID{op.IDMin, op.IDProd} {
		reduce(id, dtype.Bool, new(engine.Codec[uint8]), new(engine.Codec[uint8]), allBytes())
	}
}

// ask registers the three questions for a dtype.
func ask[W order.Word](d dtype.DType, some, all folding[uint8, W, W], count folding[int64, int64, W]) {
	reduce(op.IDAny, d, new(engine.Codec[W]), new(engine.Codec[uint8]), some)
	reduce(op.IDAll, d, new(engine.Codec[W]), new(engine.Codec[uint8]), all)
	reduce(op.IDCountNonzero, d, new(engine.Codec[W]), new(engine.Codec[int64]), count)
}

// untilKnown is how many elements are looked at before it is asked whether the answer is known.
const untilKnown = 1 << 12

// anyOf is true where an element is not zero, false for no elements: accumulators collect the bits that are set.
func anyOf[W order.Word](sign W) folding[uint8, W, W] {
	return folding[uint8, W, W]{
		fold: func(a W, row []W) W {
			for len(row) > 0 && a&^sign == 0 {
				part := row[:min(untilKnown, len(row))]
				for _, x := range part {
					a |= x
				}
				row = row[len(part):]
			}
			return a
		},
		beside: func(as, row []W) {
			as = as[:len(row)]
			for i, x := range row {
				as[i] |= x
			}
		},
		results: func(dst []uint8, as []W, _ int64) {
			for i, a := range as {
				dst[i] = engine.Bit(a&^sign != 0)
			}
		},
	}
}

// allOf is false where an element is zero, true for no elements: accumulators keep the smallest.
func allOf[W order.Word](sign W) folding[uint8, W, W] {
	return folding[uint8, W, W]{
		zero: ^W(0),
		fold: func(a W, row []W) W {
			for len(row) > 0 && a != 0 {
				part := row[:min(untilKnown, len(row))]
				for _, x := range part {
					a = min(a, x&^sign)
				}
				row = row[len(part):]
			}
			return a
		},
		beside: func(as, row []W) {
			as = as[:len(row)]
			for i, x := range row {
				as[i] = min(as[i], x&^sign)
			}
		},
		results: func(dst []uint8, as []W, _ int64) {
			for i, a := range as {
				dst[i] = engine.Bit(a != 0)
			}
		},
	}
}

// anyByte is anyOf on vectors of bytes.
func anyByte() folding[uint8, uint8, uint8] {
	f := anyOf[uint8](0)
	f.stack, f.fold = stackOf(reduction.OrColumns), func(a uint8, row []uint8) uint8 { return a | engine.Bit(a == 0 && reduction.AnyByte(row)) }
	f.results = truthOfBytes
	return f
}

// truthOfBytes makes results of accumulators that are bytes: 1 of all but 0.
func truthOfBytes(dst, as []uint8, _ int64) { arith.LogicalOr.Row(dst, as, as) }

// allBytes is allOf on vectors of bytes.
func allBytes() folding[uint8, uint8, uint8] {
	f := allOf[uint8](0)
	f.stack, f.fold = stackOf(reduction.AndColumns), func(a uint8, row []uint8) uint8 { return a & -engine.Bit(a != 0 && reduction.AllBytes(row)) }
	f.results = truthOfBytes
	return f
}

// counting counts the elements that are not zero. A comparison is added as a number: zeros among others cannot be
// predicted, so that a branch would cost more than the addition.
func counting[W order.Word](sign W) folding[int64, int64, W] {
	return folding[int64, int64, W]{
		fold: func(a int64, row []W) int64 {
			for _, x := range row {
				a += int64(engine.Bit(x&^sign != 0))
			}
			return a
		},
		beside: func(as []int64, row []W) {
			as = as[:len(row)]
			for i, x := range row {
				as[i] += int64(engine.Bit(x&^sign != 0))
			}
		},
		results: accumulators[int64],
	}
}
