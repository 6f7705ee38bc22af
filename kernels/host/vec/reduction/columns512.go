//go:build goexperiment.simd && amd64 && !race

package reduction

import (
	"math"
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// columns512 chooses the loops of this file.
func (t *table) columns512() {
	t.sumRows = sumRows512
	t.sumColumns, t.maxColumns, t.minColumns = sumColumns512, maxColumns512, minColumns512
	t.orColumns, t.andColumns = orColumns512, andColumns512
	t.argColumns, t.largest, t.find = argColumns512, largest512, find512
	t.runningSums = runningSums512
	t.anyByte, t.allBytes = anyByte512, allBytes512
}

// sumColumns512 is SumColumns. An accumulator takes the space of two elements, which is why its address goes on at twice the pace. Rows
// that may come from memory are read one after the other: one stream of reads is faster than several.
// SAFETY: the caller has seen to it that all rows lie in x.
func sumColumns512(sums []float64, x []float32, stride, rows int) {
	whole := len(sums) &^ (vec.WideLanes512 - 1)
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
		for i := 0; i < 4*whole; i += 4 * vec.WideLanes512 {
			sum := (*[vec.WideLanes512]float64)(unsafe.Add(to, 2*i))
			s := archsimd.LoadFloat64x8(sum).Add(vec.LoadWidened512(from, i)).Add(vec.LoadWidened512(row1, i))
			s.Add(vec.LoadWidened512(row2, i)).Add(vec.LoadWidened512(row3, i)).Store(sum)
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
		for end := min(bytes, i+streamPiece); i < end; i += 4 * vec.WideLanes512 {
			sum := (*[vec.WideLanes512]float64)(unsafe.Add(to, 2*i))
			archsimd.LoadFloat64x8(sum).Add(vec.LoadWidened512(from, i)).Store(sum)
		}
	}
}

// maxColumns512 is MaxColumns. Of the two operands of vec.Larger512 the second wins where they are equal: the accumulator, so
// that the first of equals stays.
// SAFETY: the caller has seen to it that all rows lie in x.
func maxColumns512(tops []float32, x []float32, stride, rows int) {
	whole := len(tops) &^ (vec.Lanes512 - 1)
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
			for end := min(4*whole, i+streamPiece); i < end; i += 4 * vec.Lanes512 {
				top := vec.Larger512(vec.LoadFloats512(row1, i), vec.Larger512(vec.LoadFloats512(from, i), vec.LoadFloats512(to, i)))
				top = vec.Larger512(vec.LoadFloats512(row3, i), vec.Larger512(vec.LoadFloats512(row2, i), top))
				top.Store((*[vec.Lanes512]float32)(unsafe.Add(to, i)))
			}
		}
		if rows -= 4; rows > 0 {
			from = unsafe.Add(from, 4*step)
		}
	}
	for ; rows > 0; rows-- {
		for i := 0; i < 4*whole; i += 4 * vec.Lanes512 {
			vec.Larger512(vec.LoadFloats512(from, i), vec.LoadFloats512(to, i)).Store((*[vec.Lanes512]float32)(unsafe.Add(to, i)))
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
	whole := len(tops) &^ (vec.Lanes512 - 1)
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
			for end := min(4*whole, i+streamPiece); i < end; i += 4 * vec.Lanes512 {
				top := vec.Smaller512(vec.LoadFloats512(row1, i), vec.Smaller512(vec.LoadFloats512(from, i), vec.LoadFloats512(to, i)))
				top = vec.Smaller512(vec.LoadFloats512(row3, i), vec.Smaller512(vec.LoadFloats512(row2, i), top))
				top.Store((*[vec.Lanes512]float32)(unsafe.Add(to, i)))
			}
		}
		if rows -= 4; rows > 0 {
			from = unsafe.Add(from, 4*step)
		}
	}
	for ; rows > 0; rows-- {
		for i := 0; i < 4*whole; i += 4 * vec.Lanes512 {
			vec.Smaller512(vec.LoadFloats512(from, i), vec.LoadFloats512(to, i)).Store((*[vec.Lanes512]float32)(unsafe.Add(to, i)))
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
	whole := len(some) &^ (vec.VectorBytes512 - 1)
	orColumnsRow(some[whole:], x[whole:], stride, rows)
	if whole == 0 {
		return
	}
	step, to, from := stride, unsafe.Pointer(&some[0]), unsafe.Pointer(&x[0])
	for rows >= 4 {
		row1, row2, row3 := unsafe.Add(from, step), unsafe.Add(from, 2*step), unsafe.Add(from, 3*step)
		for i := 0; i < whole; i += vec.VectorBytes512 {
			bits := vec.LoadBytes512(from, i).Or(vec.LoadBytes512(row1, i)).Or(vec.LoadBytes512(row2, i)).Or(vec.LoadBytes512(row3, i))
			bits.Or(vec.LoadBytes512(to, i)).Store((*[vec.VectorBytes512]uint8)(unsafe.Add(to, i)))
		}
		if rows -= 4; rows > 0 {
			from = unsafe.Add(from, 4*step)
		}
	}
	for ; rows > 0; rows-- {
		for i := 0; i < whole; i += vec.VectorBytes512 {
			vec.LoadBytes512(to, i).Or(vec.LoadBytes512(from, i)).Store((*[vec.VectorBytes512]uint8)(unsafe.Add(to, i)))
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
	whole := len(all) &^ (vec.VectorBytes512 - 1)
	andColumnsRow(all[whole:], x[whole:], stride, rows)
	if whole == 0 {
		return
	}
	var nought archsimd.Uint8x64
	step, to, from := stride, unsafe.Pointer(&all[0]), unsafe.Pointer(&x[0])
	for rows >= 4 {
		row1, row2, row3 := unsafe.Add(from, step), unsafe.Add(from, 2*step), unsafe.Add(from, 3*step)
		for i := 0; i < whole; i += vec.VectorBytes512 {
			least := vec.LoadBytes512(from, i).Min(vec.LoadBytes512(row1, i)).Min(vec.LoadBytes512(row2, i)).Min(vec.LoadBytes512(row3, i))
			vec.LoadBytes512(to, i).Masked(least.NotEqual(nought)).Store((*[vec.VectorBytes512]uint8)(unsafe.Add(to, i)))
		}
		if rows -= 4; rows > 0 {
			from = unsafe.Add(from, 4*step)
		}
	}
	for ; rows > 0; rows-- {
		for i := 0; i < whole; i += vec.VectorBytes512 {
			vec.LoadBytes512(to, i).Masked(vec.LoadBytes512(from, i).NotEqual(nought)).Store((*[vec.VectorBytes512]uint8)(unsafe.Add(to, i)))
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
	whole := len(x) &^ (vec.Lanes512 - 1)
	if whole > 0 {
		tops, places, from := unsafe.Pointer(&best[0]), unsafe.Pointer(&at[0]), unsafe.Pointer(&x[0])
		flips, row := archsimd.BroadcastInt32x16(int32(flip)), archsimd.BroadcastInt32x16(index)
		for i := 0; i < 4*whole; i += 4 * vec.Lanes512 {
			v, top, place := vec.LoadFlipped512(from, i, flips), vec.LoadFloats512(tops, i), (*[vec.Lanes512]int32)(unsafe.Add(places, i))
			worse := v.LessEqual(top).Or(v.IsNaN())
			top.Merge(v, worse).Store((*[vec.Lanes512]float32)(unsafe.Add(tops, i)))
			archsimd.LoadInt32x16(place).Merge(row, worse).Store(place)
		}
		archsimd.ClearAVXUpperBits()
	}
	argColumnsRow(best[whole:], at[whole:], x[whole:], flip, index)
}

// largest512 is Largest. Each lane keeps its largest element and in which of the groups of four vectors this is. The instruction for the
// larger of two drops NaN or not; a sum of all elements is NaN if one is, as in maxRow512.
// SAFETY: see vec.LoadFloats512.
func largest512(x []float32, flip uint32) (top float32, from int) {
	const group = 4 * vec.Lanes512
	whole := len(x) &^ (group - 1)
	if whole == 0 {
		return largestRow(x, flip)
	}
	at, flips, one := unsafe.Pointer(&x[0]), archsimd.BroadcastInt32x16(int32(flip)), archsimd.BroadcastInt32x16(1)
	best := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	var sum archsimd.Float32x16
	var number, places archsimd.Int32x16
	for i := 0; i < 4*whole; i += 4 * group {
		x0, x1 := vec.LoadFlipped512(at, i, flips), vec.LoadFlipped512(at, i+4*vec.Lanes512, flips)
		x2, x3 := vec.LoadFlipped512(at, i+8*vec.Lanes512, flips), vec.LoadFlipped512(at, i+12*vec.Lanes512, flips)
		v := x0.Max(x1).Max(x2.Max(x3))
		sum = sum.Add(x0.Add(x1).Add(x2.Add(x3)))
		places, best = number.Merge(places, v.Greater(best)), v.Max(best)
		number = number.Add(one)
	}
	if sum.IsNaN().ToBits() != 0 {
		return largestAny512(x, flip), 0
	}
	var groups [vec.Lanes512]int32
	places.Store(&groups)
	top = vec.TopLane512(best)
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
// SAFETY: see vec.LoadFloats512. There are four vectors at least.
func largestAny512(x []float32, flip uint32) float32 {
	whole := len(x) &^ (4*vec.Lanes512 - 1)
	from, flips := unsafe.Pointer(&x[0]), archsimd.BroadcastInt32x16(int32(flip))
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	m1, m2, m3 := m0, m0, m0
	for i := 0; i < 4*whole; i += 16 * vec.Lanes512 {
		x0, x1 := vec.LoadFlipped512(from, i, flips), vec.LoadFlipped512(from, i+4*vec.Lanes512, flips)
		x2, x3 := vec.LoadFlipped512(from, i+8*vec.Lanes512, flips), vec.LoadFlipped512(from, i+12*vec.Lanes512, flips)
		m0, m1 = x0.Merge(m0, x0.Greater(m0)), x1.Merge(m1, x1.Greater(m1))
		m2, m3 = x2.Merge(m2, x2.Greater(m2)), x3.Merge(m3, x3.Greater(m3))
	}
	top := vec.TopLane512(m0.Max(m1).Max(m2.Max(m3)))
	archsimd.ClearAVXUpperBits()
	last, _ := largestRow(x[whole:], flip)
	return vec.Larger(top, last)
}

// find512 is Find. It looks for the element as it lies in memory, without a flip for each.
// SAFETY: see vec.LoadFloats512.
func find512(x []float32, v float32, flip uint32) int {
	whole := len(x) &^ (vec.Lanes512 - 1)
	if whole > 0 {
		wanted, from := archsimd.BroadcastFloat32x16(v).AsInt32x16().Xor(archsimd.BroadcastInt32x16(int32(flip))).AsFloat32x16(), unsafe.Pointer(&x[0])
		for i := 0; i < 4*whole; i += 4 * vec.Lanes512 {
			if m := uint64(vec.LoadFloats512(from, i).Equal(wanted).ToBits()); m != 0 {
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
// SAFETY: see vec.LoadFloats512.
func anyByte512(x []uint8) bool {
	var nought archsimd.Uint8x64
	for ; len(x) >= 4*vec.VectorBytes512; x = x[4*vec.VectorBytes512:] {
		p := unsafe.Pointer(&x[0])
		bits := vec.LoadBytes512(p, 0).Or(vec.LoadBytes512(p, vec.VectorBytes512)).Or(vec.LoadBytes512(p, 2*vec.VectorBytes512)).Or(vec.LoadBytes512(p, 3*vec.VectorBytes512))
		if bits.NotEqual(nought).ToBits() != 0 {
			archsimd.ClearAVXUpperBits()
			return true
		}
	}
	archsimd.ClearAVXUpperBits()
	return anyByteRow(x)
}

// allBytes512 is AllBytes, with the smallest bytes of four vectors in place of their bits.
// SAFETY: see vec.LoadFloats512.
func allBytes512(x []uint8) bool {
	var nought archsimd.Uint8x64
	for ; len(x) >= 4*vec.VectorBytes512; x = x[4*vec.VectorBytes512:] {
		p := unsafe.Pointer(&x[0])
		least := vec.LoadBytes512(p, 0).Min(vec.LoadBytes512(p, vec.VectorBytes512)).Min(vec.LoadBytes512(p, 2*vec.VectorBytes512)).Min(vec.LoadBytes512(p, 3*vec.VectorBytes512))
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
	whole := len(sums) &^ (vec.WideLanes512 - 1)
	if whole > 0 {
		all, to, from := unsafe.Pointer(&sums[0]), unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
		for i := 0; i < 4*whole; i += 4 * vec.WideLanes512 {
			sum := (*[vec.WideLanes512]float64)(unsafe.Add(all, 2*i))
			s := archsimd.LoadFloat64x8(sum).Add(vec.LoadWidened512(from, i))
			s.Store(sum)
			s.ConvertToFloat32().Store((*[vec.WideLanes512]float32)(unsafe.Add(to, i)))
		}
		archsimd.ClearAVXUpperBits()
	}
	runningSumsRow(sums[whole:], dst[whole:], src[whole:])
}
