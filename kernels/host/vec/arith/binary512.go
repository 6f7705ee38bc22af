//go:build goexperiment.simd && amd64 && !race

package arith

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

func (t *table) binary512() {
	tail32, tail64 := portableRows[float32](), portableRows[float64]()
	for op, rows := range rows512() {
		t.binary32[op] = rows.withTail(tail32[op], vec.Lanes512)
	}
	for op, rows := range wideRows512() {
		t.binary64[op] = rows.withTail(tail64[op], vec.WideLanes512)
	}
}

func rows512() [BinaryCount]Rows[float32] {
	return [BinaryCount]Rows[float32]{
		Add: {
			VV: func(dst, a, b []float32) { vv512(dst, a, b, add512) },
			VS: func(dst, a []float32, b float32) { vs512(dst, a, b, add512) },
			SV: func(dst []float32, a float32, b []float32) { sv512(dst, a, b, add512) },
		},
		Sub: {
			VV: func(dst, a, b []float32) { vv512(dst, a, b, sub512) },
			VS: func(dst, a []float32, b float32) { vs512(dst, a, b, sub512) },
			SV: func(dst []float32, a float32, b []float32) { sv512(dst, a, b, sub512) },
		},
		Mul: {
			VV: func(dst, a, b []float32) { vv512(dst, a, b, mul512) },
			VS: func(dst, a []float32, b float32) { vs512(dst, a, b, mul512) },
			SV: func(dst []float32, a float32, b []float32) { sv512(dst, a, b, mul512) },
		},
		Div: {
			VV: func(dst, a, b []float32) { vv512(dst, a, b, div512) },
			VS: func(dst, a []float32, b float32) { vs512(dst, a, b, div512) },
			SV: func(dst []float32, a float32, b []float32) { sv512(dst, a, b, div512) },
		},
		Max: {
			VV: func(dst, a, b []float32) { vv512(dst, a, b, vec.Larger512) },
			VS: func(dst, a []float32, b float32) { vs512(dst, a, b, vec.Larger512) },
			SV: func(dst []float32, a float32, b []float32) { sv512(dst, a, b, vec.Larger512) },
		},
		Min: {
			VV: func(dst, a, b []float32) { vv512(dst, a, b, vec.Smaller512) },
			VS: func(dst, a []float32, b float32) { vs512(dst, a, b, vec.Smaller512) },
			SV: func(dst []float32, a float32, b []float32) { sv512(dst, a, b, vec.Smaller512) },
		},
	}
}

func wideRows512() [BinaryCount]Rows[float64] {
	return [BinaryCount]Rows[float64]{
		Add: {
			VV: func(dst, a, b []float64) { wideVV512(dst, a, b, wideAdd512) },
			VS: func(dst, a []float64, b float64) { wideVS512(dst, a, b, wideAdd512) },
			SV: func(dst []float64, a float64, b []float64) { wideSV512(dst, a, b, wideAdd512) },
		},
		Sub: {
			VV: func(dst, a, b []float64) { wideVV512(dst, a, b, wideSub512) },
			VS: func(dst, a []float64, b float64) { wideVS512(dst, a, b, wideSub512) },
			SV: func(dst []float64, a float64, b []float64) { wideSV512(dst, a, b, wideSub512) },
		},
		Mul: {
			VV: func(dst, a, b []float64) { wideVV512(dst, a, b, wideMul512) },
			VS: func(dst, a []float64, b float64) { wideVS512(dst, a, b, wideMul512) },
			SV: func(dst []float64, a float64, b []float64) { wideSV512(dst, a, b, wideMul512) },
		},
		Div: {
			VV: func(dst, a, b []float64) { wideVV512(dst, a, b, wideDiv512) },
			VS: func(dst, a []float64, b float64) { wideVS512(dst, a, b, wideDiv512) },
			SV: func(dst []float64, a float64, b []float64) { wideSV512(dst, a, b, wideDiv512) },
		},
		Max: {
			VV: func(dst, a, b []float64) { wideVV512(dst, a, b, vec.WideLarger512) },
			VS: func(dst, a []float64, b float64) { wideVS512(dst, a, b, vec.WideLarger512) },
			SV: func(dst []float64, a float64, b []float64) { wideSV512(dst, a, b, vec.WideLarger512) },
		},
		Min: {
			VV: func(dst, a, b []float64) { wideVV512(dst, a, b, vec.WideSmaller512) },
			VS: func(dst, a []float64, b float64) { wideVS512(dst, a, b, vec.WideSmaller512) },
			SV: func(dst []float64, a float64, b []float64) { wideSV512(dst, a, b, vec.WideSmaller512) },
		},
	}
}

// The drivers are inlined into each function above, and f into them.

// They step through rows of whole vectors by an index, because cutting three slices takes longer than the arithmetic.

func vv512(dst, a, b []float32, f func(x, y archsimd.Float32x16) archsimd.Float32x16) {
	for i := 0; i < len(dst); i += vec.Lanes512 {
		f(archsimd.LoadFloat32x16(vec.At512(&a[i])), archsimd.LoadFloat32x16(vec.At512(&b[i]))).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

func vs512(dst, a []float32, b float32, f func(x, y archsimd.Float32x16) archsimd.Float32x16) {
	y := archsimd.BroadcastFloat32x16(b)
	for i := 0; i < len(dst); i += vec.Lanes512 {
		f(archsimd.LoadFloat32x16(vec.At512(&a[i])), y).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

func sv512(dst []float32, a float32, b []float32, f func(x, y archsimd.Float32x16) archsimd.Float32x16) {
	x := archsimd.BroadcastFloat32x16(a)
	for i := 0; i < len(dst); i += vec.Lanes512 {
		f(x, archsimd.LoadFloat32x16(vec.At512(&b[i]))).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

func wideVV512(dst, a, b []float64, f func(x, y archsimd.Float64x8) archsimd.Float64x8) {
	for len(dst) >= vec.WideLanes512 && len(a) >= vec.WideLanes512 && len(b) >= vec.WideLanes512 {
		f(archsimd.LoadFloat64x8Slice(a), archsimd.LoadFloat64x8Slice(b)).StoreSlice(dst)
		dst, a, b = dst[vec.WideLanes512:], a[vec.WideLanes512:], b[vec.WideLanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

func wideVS512(dst, a []float64, b float64, f func(x, y archsimd.Float64x8) archsimd.Float64x8) {
	y := archsimd.BroadcastFloat64x8(b)
	for len(dst) >= vec.WideLanes512 && len(a) >= vec.WideLanes512 {
		f(archsimd.LoadFloat64x8Slice(a), y).StoreSlice(dst)
		dst, a = dst[vec.WideLanes512:], a[vec.WideLanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

func wideSV512(dst []float64, a float64, b []float64, f func(x, y archsimd.Float64x8) archsimd.Float64x8) {
	x := archsimd.BroadcastFloat64x8(a)
	for len(dst) >= vec.WideLanes512 && len(b) >= vec.WideLanes512 {
		f(x, archsimd.LoadFloat64x8Slice(b)).StoreSlice(dst)
		dst, b = dst[vec.WideLanes512:], b[vec.WideLanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

func add512(x, y archsimd.Float32x16) archsimd.Float32x16 { return x.Add(y) }

func sub512(x, y archsimd.Float32x16) archsimd.Float32x16 { return x.Sub(y) }

func mul512(x, y archsimd.Float32x16) archsimd.Float32x16 { return x.Mul(y) }

func div512(x, y archsimd.Float32x16) archsimd.Float32x16 { return x.Div(y) }

func wideAdd512(x, y archsimd.Float64x8) archsimd.Float64x8 { return x.Add(y) }

func wideSub512(x, y archsimd.Float64x8) archsimd.Float64x8 { return x.Sub(y) }

func wideMul512(x, y archsimd.Float64x8) archsimd.Float64x8 { return x.Mul(y) }

func wideDiv512(x, y archsimd.Float64x8) archsimd.Float64x8 { return x.Div(y) }
