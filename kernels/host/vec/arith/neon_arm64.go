//go:build cgo && !race

package arith

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the loops of package neon, which leave short rows to the portable ones.
func (t *table) use(level vec.Level) {
	t.level = level
	operations := [BinaryCount]neon.Operation{Add: neon.Add, Sub: neon.Sub, Mul: neon.Mul, Div: neon.Div, Max: neon.Max, Min: neon.Min}
	for op, f := range operations {
		short := t.binary32[op]
		t.binary32[op] = Rows[float32]{
			VV: func(dst, a, b []float32) {
				if len(dst) < vec.ShortRow {
					short.VV(dst, a, b)
					return
				}
				f.VV(dst, a, b)
			},
			VS: func(dst, a []float32, b float32) {
				if len(dst) < vec.ShortRow {
					short.VS(dst, a, b)
					return
				}
				f.VS(dst, a, b)
			},
			SV: func(dst []float32, a float32, b []float32) {
				if len(dst) < vec.ShortRow {
					short.SV(dst, a, b)
					return
				}
				f.SV(dst, a, b)
			},
		}
	}
	t.less, t.lessEqual = vec.LeaveShortPairs(neon.Less.Row, t.less), vec.LeaveShortPairs(neon.LessEqual.Row, t.lessEqual)
	t.equal, t.notEqual = vec.LeaveShortPairs(neon.Equal.Row, t.equal), vec.LeaveShortPairs(neon.NotEqual.Row, t.notEqual)
	t.lessInt32 = vec.LeaveShortPairs(neon.LessInt32, t.lessInt32)
	t.toInt32, t.toFloat32 = vec.LeaveShort(neon.ToInt32, t.toInt32), vec.LeaveShort(neon.ToFloat32, t.toFloat32)
}
