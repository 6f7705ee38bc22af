//go:build goexperiment.simd && amd64 && !race

package arith

// withTail runs r on whole vectors of the given number of lanes, a power of
// two, and tail on what is left. Both compute the same bits: all six functions
// round correctly or not at all.
func (r Rows[T]) withTail(tail Rows[T], lanes int) Rows[T] {
	return Rows[T]{
		VV: func(dst, a, b []T) {
			m := len(dst) &^ (lanes - 1)
			if m > 0 {
				r.VV(dst[:m], a[:m], b[:m])
			}
			tail.VV(dst[m:], a[m:], b[m:])
		},
		VS: func(dst, a []T, b T) {
			m := len(dst) &^ (lanes - 1)
			if m > 0 {
				r.VS(dst[:m], a[:m], b)
			}
			tail.VS(dst[m:], a[m:], b)
		},
		SV: func(dst []T, a T, b []T) {
			m := len(dst) &^ (lanes - 1)
			if m > 0 {
				r.SV(dst[:m], a, b[:m])
			}
			tail.SV(dst[m:], a, b[m:])
		},
	}
}
