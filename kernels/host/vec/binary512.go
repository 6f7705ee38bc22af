//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"simd/archsimd"
	"unsafe"
)

func (t *table) binary512() {
	tail32, tail64 := portableRows[float32](), portableRows[float64]()
	for op, rows := range rows512() {
		t.binary32[op] = rows.withTail(tail32[op], lanes512)
	}
	for op, rows := range wideRows512() {
		t.binary64[op] = rows.withTail(tail64[op], half512)
	}
}

func rows512() [binaryCount]Rows[float32] {
	return [binaryCount]Rows[float32]{
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
			VV: func(dst, a, b []float32) { vv512(dst, a, b, larger512) },
			VS: func(dst, a []float32, b float32) { vs512(dst, a, b, larger512) },
			SV: func(dst []float32, a float32, b []float32) { sv512(dst, a, b, larger512) },
		},
		Min: {
			VV: func(dst, a, b []float32) { vv512(dst, a, b, smaller512) },
			VS: func(dst, a []float32, b float32) { vs512(dst, a, b, smaller512) },
			SV: func(dst []float32, a float32, b []float32) { sv512(dst, a, b, smaller512) },
		},
	}
}

func wideRows512() [binaryCount]Rows[float64] {
	return [binaryCount]Rows[float64]{
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
			VV: func(dst, a, b []float64) { wideVV512(dst, a, b, wideLarger512) },
			VS: func(dst, a []float64, b float64) { wideVS512(dst, a, b, wideLarger512) },
			SV: func(dst []float64, a float64, b []float64) { wideSV512(dst, a, b, wideLarger512) },
		},
		Min: {
			VV: func(dst, a, b []float64) { wideVV512(dst, a, b, wideSmaller512) },
			VS: func(dst, a []float64, b float64) { wideVS512(dst, a, b, wideSmaller512) },
			SV: func(dst []float64, a float64, b []float64) { wideSV512(dst, a, b, wideSmaller512) },
		},
	}
}

// The drivers are inlined into each function above, and f into them.

// They step through rows of whole vectors by an index, because cutting three slices takes longer than the arithmetic.

func vv512(dst, a, b []float32, f func(x, y narrow512) narrow512) {
	for i := 0; i < len(dst); i += lanes512 {
		f(archsimd.LoadFloat32x16(at512(&a[i])), archsimd.LoadFloat32x16(at512(&b[i]))).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

func vs512(dst, a []float32, b float32, f func(x, y narrow512) narrow512) {
	y := archsimd.BroadcastFloat32x16(b)
	for i := 0; i < len(dst); i += lanes512 {
		f(archsimd.LoadFloat32x16(at512(&a[i])), y).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

func sv512(dst []float32, a float32, b []float32, f func(x, y narrow512) narrow512) {
	x := archsimd.BroadcastFloat32x16(a)
	for i := 0; i < len(dst); i += lanes512 {
		f(x, archsimd.LoadFloat32x16(at512(&b[i]))).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// at512 is the vector at an element.
// SAFETY: rows have whole vectors and equal lengths (withTail, checked), and the element is the first of one.
func at512(p *float32) *[lanes512]float32 { return (*[lanes512]float32)(unsafe.Pointer(p)) }

func wideVV512(dst, a, b []float64, f func(x, y wide512) wide512) {
	for len(dst) >= half512 && len(a) >= half512 && len(b) >= half512 {
		f(archsimd.LoadFloat64x8Slice(a), archsimd.LoadFloat64x8Slice(b)).StoreSlice(dst)
		dst, a, b = dst[half512:], a[half512:], b[half512:]
	}
	archsimd.ClearAVXUpperBits()
}

func wideVS512(dst, a []float64, b float64, f func(x, y wide512) wide512) {
	y := archsimd.BroadcastFloat64x8(b)
	for len(dst) >= half512 && len(a) >= half512 {
		f(archsimd.LoadFloat64x8Slice(a), y).StoreSlice(dst)
		dst, a = dst[half512:], a[half512:]
	}
	archsimd.ClearAVXUpperBits()
}

func wideSV512(dst []float64, a float64, b []float64, f func(x, y wide512) wide512) {
	x := archsimd.BroadcastFloat64x8(a)
	for len(dst) >= half512 && len(b) >= half512 {
		f(x, archsimd.LoadFloat64x8Slice(b)).StoreSlice(dst)
		dst, b = dst[half512:], b[half512:]
	}
	archsimd.ClearAVXUpperBits()
}

func add512(x, y narrow512) narrow512 { return x.Add(y) }
func sub512(x, y narrow512) narrow512 { return x.Sub(y) }
func mul512(x, y narrow512) narrow512 { return x.Mul(y) }
func div512(x, y narrow512) narrow512 { return x.Div(y) }

func wideAdd512(x, y wide512) wide512 { return x.Add(y) }
func wideSub512(x, y wide512) wide512 { return x.Sub(y) }
func wideMul512(x, y wide512) wide512 { return x.Mul(y) }
func wideDiv512(x, y wide512) wide512 { return x.Div(y) }
