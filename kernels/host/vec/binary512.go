//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

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

func vv512(dst, a, b []float32, f func(x, y narrow512) narrow512) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		f(archsimd.LoadFloat32x16Slice(a), archsimd.LoadFloat32x16Slice(b)).StoreSlice(dst)
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

func vs512(dst, a []float32, b float32, f func(x, y narrow512) narrow512) {
	y := archsimd.BroadcastFloat32x16(b)
	for len(dst) >= lanes512 && len(a) >= lanes512 {
		f(archsimd.LoadFloat32x16Slice(a), y).StoreSlice(dst)
		dst, a = dst[lanes512:], a[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

func sv512(dst []float32, a float32, b []float32, f func(x, y narrow512) narrow512) {
	x := archsimd.BroadcastFloat32x16(a)
	for len(dst) >= lanes512 && len(b) >= lanes512 {
		f(x, archsimd.LoadFloat32x16Slice(b)).StoreSlice(dst)
		dst, b = dst[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
}

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

// larger512 and smaller512 spell out what larger and smaller say.

func larger512(x, y narrow512) narrow512  { return x.Merge(y, x.Greater(y).Or(x.IsNaN())) }
func smaller512(x, y narrow512) narrow512 { return x.Merge(y, x.Less(y).Or(x.IsNaN())) }

func wideAdd512(x, y wide512) wide512     { return x.Add(y) }
func wideSub512(x, y wide512) wide512     { return x.Sub(y) }
func wideMul512(x, y wide512) wide512     { return x.Mul(y) }
func wideDiv512(x, y wide512) wide512     { return x.Div(y) }
func wideLarger512(x, y wide512) wide512  { return x.Merge(y, x.Greater(y).Or(x.IsNaN())) }
func wideSmaller512(x, y wide512) wide512 { return x.Merge(y, x.Less(y).Or(x.IsNaN())) }
