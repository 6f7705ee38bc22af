//go:build cgo && !race

package reduction

import (
	"math"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the loops of package neon for one row or several.
func (t *table) use(level vec.Level) {
	t.level = level
	t.sum, t.sumSquares = reductionInC(neon.Sum, t.sum), reductionInC(neon.SumSquares, t.sumSquares)
	t.max, t.min = reductionInC(neon.Top, t.max), reductionInC(neon.Bottom, t.min)
	t.sumColumns = columnsInC(neon.SumColumns, t.sumColumns)
	t.maxColumns, t.minColumns = columnsInC(neon.MaxColumns, t.maxColumns), columnsInC(neon.MinColumns, t.minColumns)
	t.searchesInC()
}

// searchesInC chooses loops that look for the largest element.
func (t *table) searchesInC() {
	largest, find, columns := t.largest, t.find, t.argColumns
	t.largest = func(x []float32, flip uint32) (float32, int) {
		if len(x) < vec.ShortRow {
			return largest(x, flip)
		}
		return neon.Largest(x, flip), 0
	}
	t.find = func(x []float32, v float32, flip uint32) int {
		if len(x) < vec.ShortRow {
			return find(x, v, flip)
		}
		// C looks for the element as it lies in memory.
		if i := neon.Find(x, math.Float32frombits(math.Float32bits(v)^flip)); i < len(x) {
			return i
		}
		return -1
	}
	t.argColumns = func(best []float32, at []int32, x []float32, flip uint32, index int32) {
		if len(x) < vec.ShortRow {
			columns(best, at, x, flip, index)
			return
		}
		neon.ArgColumns(best, at, x, flip, index)
	}
}

// reductionInC leaves short rows to a portable loop.
func reductionInC[R any](long, short func(x []float32) R) func(x []float32) R {
	return func(x []float32) R {
		if len(x) < vec.ShortRow {
			return short(x)
		}
		return long(x)
	}
}

// columnsInC leaves few elements to a portable loop, which folds a column in the same order, with the same roundings.
func columnsInC[A any](long, short func(as []A, x []float32, stride, rows int)) func(as []A, x []float32, stride, rows int) {
	return func(as []A, x []float32, stride, rows int) {
		if len(as)*rows < vec.ShortRow {
			short(as, x, stride, rows)
			return
		}
		long(as, x, stride, rows)
	}
}
