package reduction

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// table is one complete set of loops; see vec.UpTo. Slices given to its functions have equal lengths: the exported functions see to that
// once per row.
type table struct {
	level vec.Level

	sum        func(x []float32) float64
	sumSquares func(x []float32) float64
	product    func(x []float32) float64
	magnitudes func(x []float32) (largest, sum float64)
	sumLines   func(sums []float64, x []float32, stride, length int)
	sumRows    func(sums []float64, x []float32, stride, length int) // or nil
	countTrue  func(x []uint8) int64
	sumBlock64 func(x []float64) float64
	max, min   func(x []float32) float32

	sumColumns             func(sums []float64, x []float32, stride, rows int)
	maxColumns, minColumns func(tops, x []float32, stride, rows int)
	orColumns, andColumns  func(as, x []uint8, stride, rows int)
	argColumns             func(best []float32, at []int32, x []float32, flip uint32, index int32)
	largest                func(x []float32, flip uint32) (top float32, from int)
	find                   func(x []float32, v float32, flip uint32) int
	anyByte, allBytes      func(x []uint8) bool
	runningSums            func(sums []float64, dst, src []float32)
}

// active is chosen once, before main; only tests choose another.
var active = portableTable()

func init() { active.useUpTo(vec.Active()) }

// UseLevel has the room run the loops of a level. It is for tests, and no other thread may run a loop meanwhile.
func UseLevel(level vec.Level) { active = tableOf(level) }

// tableOf is the set of loops for a level.
func tableOf(level vec.Level) table {
	t := portableTable()
	t.useUpTo(level)
	return t
}

func (t *table) useUpTo(level vec.Level) {
	for _, l := range vec.UpTo(level) {
		t.use(l)
	}
}

func portableTable() table {
	return table{
		sum:        PortableSumRow,
		sumSquares: sumSquaresRow,
		product:    productRow,
		magnitudes: magnitudesRow,
		sumLines:   sumLinesRow,
		countTrue:  countTrueRow,
		sumBlock64: sumBlock64,
		max:        PortableMaxRow,
		min:        portableMinRow,

		sumColumns:  sumColumnsRow,
		maxColumns:  maxColumnsRow,
		minColumns:  minColumnsRow,
		orColumns:   orColumnsRow,
		andColumns:  andColumnsRow,
		argColumns:  argColumnsRow,
		largest:     largestRow,
		find:        findRow,
		anyByte:     anyByteRow,
		allBytes:    allBytesRow,
		runningSums: runningSumsRow,
	}
}
