package arith

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// table is one complete set of loops; see vec.UpTo. Slices given to its functions have equal lengths: the exported functions see to that
// once per row.
type table struct {
	level vec.Level

	binary32 [BinaryCount]Rows[float32]
	binary64 [BinaryCount]Rows[float64]

	toInt32                          func(dst []int32, src []float32)
	toFloat32                        func(dst []float32, src []float64)
	less, lessEqual, equal, notEqual func(dst []uint8, a, b []float32)

	lessInt32 func(dst []uint8, a, b []int32)

	bitwise    [BitwiseCount]func(dst, a, b []uint8)
	logicalNot func(dst, src []uint8)
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
		binary32:  portableRows[float32](),
		binary64:  portableRows[float64](),
		toInt32:   toInt32Row,
		toFloat32: toFloat32Row,
		less:      lessRow,
		lessEqual: lessEqualRow,
		equal:     equalRow,
		notEqual:  notEqualRow,
		lessInt32: lessInt32Row,

		bitwise:    wordLoops,
		logicalNot: logicalNotRow,
	}
}
