//go:build cgo && !race

package vec

// ShortRow is the number of elements below which a call to C, some 35 ns, takes longer than a portable loop that adds. Functions that
// round correctly or not at all leave shorter rows to it, and so do reductions, which depend on their row as a whole; the others must
// not, because the length of a row does not show in its results.
const ShortRow = 64

// LeaveShort leaves short rows of one operand to a portable loop.
func LeaveShort[D, S any](long, short func(dst []D, src []S)) func(dst []D, src []S) {
	return func(dst []D, src []S) {
		if len(dst) < ShortRow {
			short(dst, src)
			return
		}
		long(dst, src)
	}
}

// LeaveShortPairs leaves short rows of two operands to a portable loop.
func LeaveShortPairs[D, S any](long, short func(dst []D, a, b []S)) func(dst []D, a, b []S) {
	return func(dst []D, a, b []S) {
		if len(dst) < ShortRow {
			short(dst, a, b)
			return
		}
		long(dst, a, b)
	}
}
