//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

// columns512 chooses the loops of this file.
func (t *table) columns512() {
	t.sumRows = sumRows512
	t.sumColumns, t.maxColumns, t.minColumns = sumColumns512, maxColumns512, minColumns512
	t.orColumns, t.andColumns = orColumns512, andColumns512
	t.argColumns, t.largest, t.find = argColumns512, largest512, find512
	t.runningSums = runningSums512
	t.sortKeys, t.ofSortKeys, t.beyond = sortKeys512, ofSortKeys512, beyond512
	t.anyByte, t.allBytes = anyByte512, allBytes512
	t.windowMax = windowMax512
	t.depthwise, t.maxDeep = depthwise512, maxDeep512
	t.evens = takeEvens512
}

// Vectors are loaded from an address and a number of bytes: of a part of a slice the compiler computes length and capacity
// too, which took longer than the arithmetic. What does not fill a vector is left to the portable loops.

// bytes512 is how many bytes a vector holds.
const bytes512 = 4 * lanes512

// floats512 loads the elements that begin so many bytes behind an address.
// SAFETY: the loops stay inside of slices whose lengths they have.
func floats512(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[lanes512]float32)(unsafe.Add(p, i)))
}

// flipped512 is floats512 with bits inverted.
func flipped512(p unsafe.Pointer, i int, flips archsimd.Int32x16) archsimd.Float32x16 {
	return floats512(p, i).AsInt32x16().Xor(flips).AsFloat32x16()
}

// widened512 loads half as many, as float64.
// SAFETY: see floats512.
func widened512(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.LoadFloat32x8((*[half512]float32)(unsafe.Add(p, i))).ConvertToFloat64()
}

// octets512 loads bytes.
// SAFETY: see floats512.
func octets512(p unsafe.Pointer, i int) archsimd.Uint8x64 {
	return archsimd.LoadUint8x64((*[bytes512]uint8)(unsafe.Add(p, i)))
}

// sumColumns512 is SumColumns. An accumulator takes the space of two elements, which is why its address goes on at twice the pace. Rows
// that may come from memory are read one after the other: one stream of reads is faster than several.
// SAFETY: the caller has seen to it that all rows lie in x.
func sumColumns512(sums []float64, x []float32, stride, rows int) {
	whole := len(sums) &^ (half512 - 1)
	sumColumnsRow(sums[whole:], x[whole:], stride, rows)
	if whole == 0 {
		return
	}
	step, to, from := 4*stride, unsafe.Pointer(&sums[0]), unsafe.Pointer(&x[0])
	if whole*rows >= streamed {
		ahead := startUpcoming(whileStoring, &x[0], stride, whole, rows)
		for ; rows > 1; rows-- {
			addRow512(to, from, 4*whole, &ahead)
			from = unsafe.Add(from, step)
		}
	}
	for rows >= 4 {
		row1, row2, row3 := unsafe.Add(from, step), unsafe.Add(from, 2*step), unsafe.Add(from, 3*step)
		for i := 0; i < 4*whole; i += 4 * half512 {
			sum := (*[half512]float64)(unsafe.Add(to, 2*i))
			s := archsimd.LoadFloat64x8(sum).Add(widened512(from, i)).Add(widened512(row1, i))
			s.Add(widened512(row2, i)).Add(widened512(row3, i)).Store(sum)
		}
		if rows -= 4; rows > 0 {
			from = unsafe.Add(from, 4*step)
		}
	}
	for ; rows > 0; rows-- {
		addRow512(to, from, 4*whole, new(upcoming))
		if rows > 1 {
			from = unsafe.Add(from, step)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// addRow512 adds so many bytes of a row, which fill vectors, to sums, and asks for what is ahead.
// SAFETY: see sumColumns512.
//
//go:noinline
func addRow512(to, from unsafe.Pointer, bytes int, ahead *upcoming) {
	for i := 0; i < bytes; {
		ahead.next()
		for end := min(bytes, i+streamPiece); i < end; i += 4 * half512 {
			sum := (*[half512]float64)(unsafe.Add(to, 2*i))
			archsimd.LoadFloat64x8(sum).Add(widened512(from, i)).Store(sum)
		}
	}
}

// maxColumns512 is MaxColumns. Of the two operands of larger512 the second wins where they are equal: the accumulator, so
// that the first of equals stays.
// SAFETY: the caller has seen to it that all rows lie in x.
func maxColumns512(tops []float32, x []float32, stride, rows int) {
	whole := len(tops) &^ (lanes512 - 1)
	maxColumnsRow(tops[whole:], x[whole:], stride, rows)
	if whole == 0 {
		return
	}
	step, to, from := 4*stride, unsafe.Pointer(&tops[0]), unsafe.Pointer(&x[0])
	var ahead upcoming
	ahead.startShort(&x[0], stride, whole, rows)
	for rows >= 4 {
		row1, row2, row3 := unsafe.Add(from, step), unsafe.Add(from, 2*step), unsafe.Add(from, 3*step)
		for i := 0; i < 4*whole; {
			ahead.ofFour()
			for end := min(4*whole, i+streamPiece); i < end; i += 4 * lanes512 {
				top := larger512(floats512(row1, i), larger512(floats512(from, i), floats512(to, i)))
				top = larger512(floats512(row3, i), larger512(floats512(row2, i), top))
				top.Store((*[lanes512]float32)(unsafe.Add(to, i)))
			}
		}
		if rows -= 4; rows > 0 {
			from = unsafe.Add(from, 4*step)
		}
	}
	for ; rows > 0; rows-- {
		for i := 0; i < 4*whole; i += 4 * lanes512 {
			larger512(floats512(from, i), floats512(to, i)).Store((*[lanes512]float32)(unsafe.Add(to, i)))
		}
		if rows > 1 {
			from = unsafe.Add(from, step)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// minColumns512 is MinColumns; see maxColumns512.
// SAFETY: the caller has seen to it that all rows lie in x.
func minColumns512(tops []float32, x []float32, stride, rows int) {
	whole := len(tops) &^ (lanes512 - 1)
	minColumnsRow(tops[whole:], x[whole:], stride, rows)
	if whole == 0 {
		return
	}
	step, to, from := 4*stride, unsafe.Pointer(&tops[0]), unsafe.Pointer(&x[0])
	var ahead upcoming
	ahead.startShort(&x[0], stride, whole, rows)
	for rows >= 4 {
		row1, row2, row3 := unsafe.Add(from, step), unsafe.Add(from, 2*step), unsafe.Add(from, 3*step)
		for i := 0; i < 4*whole; {
			ahead.ofFour()
			for end := min(4*whole, i+streamPiece); i < end; i += 4 * lanes512 {
				top := smaller512(floats512(row1, i), smaller512(floats512(from, i), floats512(to, i)))
				top = smaller512(floats512(row3, i), smaller512(floats512(row2, i), top))
				top.Store((*[lanes512]float32)(unsafe.Add(to, i)))
			}
		}
		if rows -= 4; rows > 0 {
			from = unsafe.Add(from, 4*step)
		}
	}
	for ; rows > 0; rows-- {
		for i := 0; i < 4*whole; i += 4 * lanes512 {
			smaller512(floats512(from, i), floats512(to, i)).Store((*[lanes512]float32)(unsafe.Add(to, i)))
		}
		if rows > 1 {
			from = unsafe.Add(from, step)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// orColumns512 is OrColumns. What has been set stays set, in any order.
// SAFETY: the caller has seen to it that all rows lie in x.
func orColumns512(some []uint8, x []uint8, stride, rows int) {
	whole := len(some) &^ (bytes512 - 1)
	orColumnsRow(some[whole:], x[whole:], stride, rows)
	if whole == 0 {
		return
	}
	step, to, from := stride, unsafe.Pointer(&some[0]), unsafe.Pointer(&x[0])
	for rows >= 4 {
		row1, row2, row3 := unsafe.Add(from, step), unsafe.Add(from, 2*step), unsafe.Add(from, 3*step)
		for i := 0; i < whole; i += bytes512 {
			bits := octets512(from, i).Or(octets512(row1, i)).Or(octets512(row2, i)).Or(octets512(row3, i))
			bits.Or(octets512(to, i)).Store((*[bytes512]uint8)(unsafe.Add(to, i)))
		}
		if rows -= 4; rows > 0 {
			from = unsafe.Add(from, 4*step)
		}
	}
	for ; rows > 0; rows-- {
		for i := 0; i < whole; i += bytes512 {
			octets512(to, i).Or(octets512(from, i)).Store((*[bytes512]uint8)(unsafe.Add(to, i)))
		}
		if rows > 1 {
			from = unsafe.Add(from, step)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// andColumns512 is AndColumns. The smallest of four bytes is 0 if one of them is, which one comparison then finds.
// SAFETY: the caller has seen to it that all rows lie in x.
func andColumns512(all []uint8, x []uint8, stride, rows int) {
	whole := len(all) &^ (bytes512 - 1)
	andColumnsRow(all[whole:], x[whole:], stride, rows)
	if whole == 0 {
		return
	}
	var nought archsimd.Uint8x64
	step, to, from := stride, unsafe.Pointer(&all[0]), unsafe.Pointer(&x[0])
	for rows >= 4 {
		row1, row2, row3 := unsafe.Add(from, step), unsafe.Add(from, 2*step), unsafe.Add(from, 3*step)
		for i := 0; i < whole; i += bytes512 {
			least := octets512(from, i).Min(octets512(row1, i)).Min(octets512(row2, i)).Min(octets512(row3, i))
			octets512(to, i).Masked(least.NotEqual(nought)).Store((*[bytes512]uint8)(unsafe.Add(to, i)))
		}
		if rows -= 4; rows > 0 {
			from = unsafe.Add(from, 4*step)
		}
	}
	for ; rows > 0; rows-- {
		for i := 0; i < whole; i += bytes512 {
			octets512(to, i).Masked(octets512(from, i).NotEqual(nought)).Store((*[bytes512]uint8)(unsafe.Add(to, i)))
		}
		if rows > 1 {
			from = unsafe.Add(from, step)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// argColumns512 is ArgColumns. An element that is not larger is worse, and so is NaN, which compares as neither; only a best
// that is NaN is not worse than anything.
// SAFETY: all three slices have one length.
func argColumns512(best []float32, at []int32, x []float32, flip uint32, index int32) {
	whole := len(x) &^ (lanes512 - 1)
	if whole > 0 {
		tops, places, from := unsafe.Pointer(&best[0]), unsafe.Pointer(&at[0]), unsafe.Pointer(&x[0])
		flips, row := archsimd.BroadcastInt32x16(int32(flip)), archsimd.BroadcastInt32x16(index)
		for i := 0; i < 4*whole; i += 4 * lanes512 {
			v, top, place := flipped512(from, i, flips), floats512(tops, i), (*[lanes512]int32)(unsafe.Add(places, i))
			worse := v.LessEqual(top).Or(v.IsNaN())
			top.Merge(v, worse).Store((*[lanes512]float32)(unsafe.Add(tops, i)))
			archsimd.LoadInt32x16(place).Merge(row, worse).Store(place)
		}
		archsimd.ClearAVXUpperBits()
	}
	argColumnsRow(best[whole:], at[whole:], x[whole:], flip, index)
}

// largest512 is Largest. Each lane keeps its largest element and in which of the groups of four vectors this is. The instruction for the
// larger of two drops NaN or not; a sum of all elements is NaN if one is, as in maxRow512.
// SAFETY: see floats512.
func largest512(x []float32, flip uint32) (top float32, from int) {
	const group = 4 * lanes512
	whole := len(x) &^ (group - 1)
	if whole == 0 {
		return largestRow(x, flip)
	}
	at, flips, one := unsafe.Pointer(&x[0]), archsimd.BroadcastInt32x16(int32(flip)), archsimd.BroadcastInt32x16(1)
	best := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	var sum narrow512
	var number, places archsimd.Int32x16
	for i := 0; i < 4*whole; i += 4 * group {
		x0, x1 := flipped512(at, i, flips), flipped512(at, i+4*lanes512, flips)
		x2, x3 := flipped512(at, i+8*lanes512, flips), flipped512(at, i+12*lanes512, flips)
		v := x0.Max(x1).Max(x2.Max(x3))
		sum = sum.Add(x0.Add(x1).Add(x2.Add(x3)))
		places, best = number.Merge(places, v.Greater(best)), v.Max(best)
		number = number.Add(one)
	}
	if sum.IsNaN().ToBits() != 0 {
		return largestAny512(x, flip), 0
	}
	var groups [lanes512]int32
	places.Store(&groups)
	top = topLane512(best)
	from = whole
	for equal := uint64(best.Equal(archsimd.BroadcastFloat32x16(top)).ToBits()); equal != 0; equal &= equal - 1 {
		from = min(from, group*int(groups[bits.TrailingZeros64(equal)]))
	}
	archsimd.ClearAVXUpperBits()
	if last, place := largestRow(x[whole:], flip); last > top {
		return last, whole + place
	}
	return top, from
}

// largestAny512 is the largest of any numbers. A comparison with NaN is false, so that NaN is never chosen. Four running vectors keep one
// choice from waiting for the one before.
// SAFETY: see floats512. There are four vectors at least.
func largestAny512(x []float32, flip uint32) float32 {
	whole := len(x) &^ (4*lanes512 - 1)
	from, flips := unsafe.Pointer(&x[0]), archsimd.BroadcastInt32x16(int32(flip))
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	m1, m2, m3 := m0, m0, m0
	for i := 0; i < 4*whole; i += 16 * lanes512 {
		x0, x1 := flipped512(from, i, flips), flipped512(from, i+4*lanes512, flips)
		x2, x3 := flipped512(from, i+8*lanes512, flips), flipped512(from, i+12*lanes512, flips)
		m0, m1 = x0.Merge(m0, x0.Greater(m0)), x1.Merge(m1, x1.Greater(m1))
		m2, m3 = x2.Merge(m2, x2.Greater(m2)), x3.Merge(m3, x3.Greater(m3))
	}
	top := topLane512(m0.Max(m1).Max(m2.Max(m3)))
	archsimd.ClearAVXUpperBits()
	last, _ := largestRow(x[whole:], flip)
	return larger(top, last)
}

// find512 is Find. It looks for the element as it lies in memory, without a flip for each.
// SAFETY: see floats512.
func find512(x []float32, v float32, flip uint32) int {
	whole := len(x) &^ (lanes512 - 1)
	if whole > 0 {
		wanted, from := archsimd.BroadcastFloat32x16(v).AsInt32x16().Xor(archsimd.BroadcastInt32x16(int32(flip))).AsFloat32x16(), unsafe.Pointer(&x[0])
		for i := 0; i < 4*whole; i += 4 * lanes512 {
			if m := uint64(floats512(from, i).Equal(wanted).ToBits()); m != 0 {
				archsimd.ClearAVXUpperBits()
				return i/4 + bits.TrailingZeros64(m)
			}
		}
		archsimd.ClearAVXUpperBits()
	}
	if i := findRow(x[whole:], v, flip); i >= 0 {
		return whole + i
	}
	return -1
}

// anyByte512 is AnyByte: one test for four vectors, which costs more than to join them.
// SAFETY: see floats512.
func anyByte512(x []uint8) bool {
	var nought archsimd.Uint8x64
	for ; len(x) >= 4*bytes512; x = x[4*bytes512:] {
		p := unsafe.Pointer(&x[0])
		bits := octets512(p, 0).Or(octets512(p, bytes512)).Or(octets512(p, 2*bytes512)).Or(octets512(p, 3*bytes512))
		if bits.NotEqual(nought).ToBits() != 0 {
			archsimd.ClearAVXUpperBits()
			return true
		}
	}
	archsimd.ClearAVXUpperBits()
	return anyByteRow(x)
}

// allBytes512 is AllBytes, with the smallest bytes of four vectors in place of their bits.
// SAFETY: see floats512.
func allBytes512(x []uint8) bool {
	var nought archsimd.Uint8x64
	for ; len(x) >= 4*bytes512; x = x[4*bytes512:] {
		p := unsafe.Pointer(&x[0])
		least := octets512(p, 0).Min(octets512(p, bytes512)).Min(octets512(p, 2*bytes512)).Min(octets512(p, 3*bytes512))
		if least.Equal(nought).ToBits() != 0 {
			archsimd.ClearAVXUpperBits()
			return false
		}
	}
	archsimd.ClearAVXUpperBits()
	return allBytesRow(x)
}

// runningSums512 is RunningSums. Sums are written as they are and as float32, rounded once.
// SAFETY: all three slices have one length.
func runningSums512(sums []float64, dst, src []float32) {
	whole := len(sums) &^ (half512 - 1)
	if whole > 0 {
		all, to, from := unsafe.Pointer(&sums[0]), unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
		for i := 0; i < 4*whole; i += 4 * half512 {
			sum := (*[half512]float64)(unsafe.Add(all, 2*i))
			s := archsimd.LoadFloat64x8(sum).Add(widened512(from, i))
			s.Store(sum)
			s.ConvertToFloat32().Store((*[half512]float32)(unsafe.Add(to, i)))
		}
		archsimd.ClearAVXUpperBits()
	}
	runningSumsRow(sums[whole:], dst[whole:], src[whole:])
}
