//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"math"
	"math/bits"
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// The drivers are small enough to be inlined together with f. They run over
// whole vectors; inWhole512 pads what is left with zeros and has the driver
// run over it too, so that an element's place in the row does not show. Where
// f has parameters, a second driver does this.

func map512(dst, src []float32, f func(archsimd.Float32x16) archsimd.Float32x16) {
	for i, n := 0, len(src)&^(vec.Lanes512-1); i < n; i += vec.Lanes512 {
		f(archsimd.LoadFloat32x16(vec.At512(&src[i]))).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

func mapTail512(dst, src []float32, f func(archsimd.Float32x16) archsimd.Float32x16) {
	if m := len(src) &^ (vec.Lanes512 - 1); m < len(src) {
		f(archsimd.LoadFloat32x16SlicePart(src[m:])).StoreSlicePart(dst[m:])
	}
	archsimd.ClearAVXUpperBits()
}

// mapWide512 is map512 with f in float64. It steps by an index: where f is called, and not inlined, everything that changes from one
// vector to the next waits for memory.
func mapWide512(dst, src []float32, f func(archsimd.Float64x8) archsimd.Float64x8) {
	for i, n := 0, len(src)&^(vec.WideLanes512-1); i < n; i += vec.WideLanes512 {
		f(archsimd.LoadFloat32x8(octo512(&src[i])).ConvertToFloat64()).ConvertToFloat32().Store(octo512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

func mapWideTail512(dst, src []float32, f func(archsimd.Float64x8) archsimd.Float64x8) {
	if m := len(src) &^ (vec.WideLanes512 - 1); m < len(src) {
		f(archsimd.LoadFloat32x8SlicePart(src[m:]).ConvertToFloat64()).ConvertToFloat32().StoreSlicePart(dst[m:])
	}
	archsimd.ClearAVXUpperBits()
}

// mapTrig512 is mapWide512 with a way out: a vector that has an element beyond
// trigLimit, or infinite, goes to the scalar function as a whole.
func mapTrig512(dst, src []float32, f func(archsimd.Float64x8) archsimd.Float64x8, scalar func(float64) float64) {
	for m := 0; m < len(src); m += vec.WideLanes512 {
		n := min(m+vec.WideLanes512, len(src))
		x := archsimd.LoadFloat32x8SlicePart(src[m:n]).ConvertToFloat64()
		if abs512(x).Greater(vec.LoadSplat512(&Consts.trigLimit)).ToBits() != 0 {
			archsimd.ClearAVXUpperBits()
			throughFloat64(scalar)(dst[m:n], src[m:n])
			continue
		}
		f(x).ConvertToFloat32().StoreSlicePart(dst[m:n])
	}
	archsimd.ClearAVXUpperBits()
}

// mapSure512 is mapWide512 with a way out: f also tells which lanes it has too few digits for, which the scalar function
// computes instead. The rows are whole vectors.
func mapSure512(dst, src []float32, f func(archsimd.Float64x8) (archsimd.Float64x8, archsimd.Mask64x8), scalar func(float64) float64) {
	for len(src) >= vec.WideLanes512 && len(dst) >= vec.WideLanes512 {
		x := archsimd.LoadFloat32x8Slice(src).ConvertToFloat64()
		y, unsure := f(x)
		left := unsure.ToBits()
		var again [vec.WideLanes512]float64 // src may be dst
		if left != 0 {
			x.StoreSlice(again[:])
		}
		y.ConvertToFloat32().StoreSlice(dst)
		if left != 0 {
			archsimd.ClearAVXUpperBits()
			for ; left != 0; left &= left - 1 {
				i := bits.TrailingZeros8(left)
				dst[i] = float32(scalar(again[i]))
			}
		}
		src, dst = src[vec.WideLanes512:], dst[vec.WideLanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

// unary512 fills in every function.
func (t *table) unary512() {
	t.unary = [FunctionCount]func(dst, src []float32){
		Neg:        inWhole512(func(dst, src []float32) { map512(dst, src, neg512) }),
		Abs:        inWhole512(func(dst, src []float32) { map512(dst, src, clear512) }),
		Sqrt:       inWhole512(func(dst, src []float32) { map512(dst, src, sqrt512) }),
		Rsqrt:      inWhole512(func(dst, src []float32) { map512(dst, src, rsqrt512) }),
		Reciprocal: inWhole512(func(dst, src []float32) { map512(dst, src, reciprocal512) }),
		Square:     inWhole512(func(dst, src []float32) { map512(dst, src, square512) }),
		Relu:       inWhole512(func(dst, src []float32) { map512(dst, src, relu512) }),
		Floor:      inWhole512(func(dst, src []float32) { map512(dst, src, floor512) }),
		Ceil:       inWhole512(func(dst, src []float32) { map512(dst, src, ceil512) }),
		Round:      inWhole512(func(dst, src []float32) { map512(dst, src, round512) }),
		Trunc:      inWhole512(func(dst, src []float32) { map512(dst, src, trunc512) }),
		Sign:       inWhole512(func(dst, src []float32) { map512(dst, src, sign512) }),

		Log10:    inWhole512(func(dst, src []float32) { mapWide512(dst, src, log10512) }),
		Asin:     inWhole512(func(dst, src []float32) { mapWide512(dst, src, asin512) }),
		Acos:     inWhole512(func(dst, src []float32) { mapWide512(dst, src, acos512) }),
		Atan:     inWhole512(func(dst, src []float32) { mapWide512(dst, src, atan512) }),
		Asinh:    inWhole512(func(dst, src []float32) { mapWide512(dst, src, asinh512) }),
		Acosh:    inWhole512(func(dst, src []float32) { mapWide512(dst, src, acosh512) }),
		Atanh:    inWhole512(func(dst, src []float32) { mapWide512(dst, src, atanh512) }),
		Sinh:     inWhole512(func(dst, src []float32) { mapWide512(dst, src, sinh512) }),
		Cosh:     inWhole512(func(dst, src []float32) { mapWide512(dst, src, cosh512) }),
		GeluTanh: inWhole512(func(dst, src []float32) { mapWide512(dst, src, geluTanh512) }),

		Lgamma:  inWhole512(func(dst, src []float32) { mapSure512(dst, src, lgamma512, lgamma) }),
		I0:      inWhole512(func(dst, src []float32) { mapWide512(dst, src, i0512) }),
		I0e:     inWhole512(func(dst, src []float32) { mapWide512(dst, src, i0e512) }),
		I1:      inWhole512(func(dst, src []float32) { mapWide512(dst, src, i1512) }),
		I1e:     inWhole512(func(dst, src []float32) { mapWide512(dst, src, i1e512) }),
		Digamma: inWhole512(func(dst, src []float32) { mapSure512(dst, src, digamma512, digamma) }),

		Tan: func(dst, src []float32) { mapTrig512(dst, src, tan512, math.Tan) },
	}
	t.loops512()
	t.atan2 = atan2Row512
	t.leakyRelu = leakyReluRow512
	t.softplus = softplusRow512
}

// atan2Row512 is mapWide512 and its tail for two rows.
func atan2Row512(dst, y, x []float32) {
	for len(dst) >= vec.WideLanes512 && len(y) >= vec.WideLanes512 && len(x) >= vec.WideLanes512 {
		a, b := archsimd.LoadFloat32x8Slice(y).ConvertToFloat64(), archsimd.LoadFloat32x8Slice(x).ConvertToFloat64()
		atan2512(a, b).ConvertToFloat32().StoreSlice(dst)
		dst, y, x = dst[vec.WideLanes512:], y[vec.WideLanes512:], x[vec.WideLanes512:]
	}
	if len(dst) > 0 {
		a, b := archsimd.LoadFloat32x8SlicePart(y).ConvertToFloat64(), archsimd.LoadFloat32x8SlicePart(x).ConvertToFloat64()
		atan2512(a, b).ConvertToFloat32().StoreSlicePart(dst)
	}
	archsimd.ClearAVXUpperBits()
}

func leakyReluRow512(dst, src []float32, slope float32) {
	slopes := archsimd.BroadcastFloat32x16(slope)
	f := func(x archsimd.Float32x16) archsimd.Float32x16 {
		var nought archsimd.Float32x16
		return x.Merge(x.Mul(slopes), x.Greater(nought))
	}
	map512(dst, src, f)
	mapTail512(dst, src, f)
}

func softplusRow512(dst, src []float32, beta, threshold float32) {
	b, limit := archsimd.BroadcastFloat64x8(float64(beta)), archsimd.BroadcastFloat64x8(float64(threshold))
	f := func(x archsimd.Float64x8) archsimd.Float64x8 {
		y := x.Mul(b)
		return x.Merge(softplus512(y).Div(b), y.Greater(limit))
	}
	mapWide512(dst, src, f)
	mapWideTail512(dst, src, f)
}

// signBit512 is the sign bit of every narrow lane.
func signBit512() archsimd.Int32x16 { return archsimd.BroadcastInt32x16(math.MinInt32) }

func neg512(x archsimd.Float32x16) archsimd.Float32x16 {
	return x.AsInt32x16().Xor(signBit512()).AsFloat32x16()
}

func clear512(x archsimd.Float32x16) archsimd.Float32x16 {
	return x.AsInt32x16().Or(signBit512()).Xor(signBit512()).AsFloat32x16()
}

func sqrt512(x archsimd.Float32x16) archsimd.Float32x16 { return x.Sqrt() }

// rsqrt512 rounds twice, which leaves it within 1.5 ulp.
func rsqrt512(x archsimd.Float32x16) archsimd.Float32x16 { return reciprocal512(x.Sqrt()) }

func reciprocal512(x archsimd.Float32x16) archsimd.Float32x16 {
	return archsimd.BroadcastFloat32x16(1).Div(x)
}

func square512(x archsimd.Float32x16) archsimd.Float32x16 { return x.Mul(x) }

func floor512(x archsimd.Float32x16) archsimd.Float32x16 { return x.FloorScaled(0) }

func ceil512(x archsimd.Float32x16) archsimd.Float32x16 { return x.CeilScaled(0) }

func round512(x archsimd.Float32x16) archsimd.Float32x16 { return x.RoundToEvenScaled(0) }

func trunc512(x archsimd.Float32x16) archsimd.Float32x16 { return x.TruncScaled(0) }

func relu512(x archsimd.Float32x16) archsimd.Float32x16 {
	var nought archsimd.Float32x16
	return x.Masked(x.Greater(nought))
}

func sign512(x archsimd.Float32x16) archsimd.Float32x16 {
	var nought archsimd.Float32x16
	up := archsimd.BroadcastFloat32x16(1).Masked(x.Greater(nought))
	either := archsimd.BroadcastFloat32x16(-1).Merge(up, x.Less(nought))
	return x.Merge(either, x.IsNaN())
}
