package maths

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// table is one complete set of loops; see vec.UpTo. Slices given to its functions have equal lengths: the exported functions see to that
// once per row.
type table struct {
	level vec.Level

	unary [FunctionCount]func(dst, src []float32)
	atan2 func(dst, y, x []float32)
	pow   func(dst, x, y []float32)
	exp2  func(dst, src []float32)

	leakyRelu func(dst, src []float32, slope float32)
	softplus  func(dst, src []float32, beta, threshold float32)
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
	t := table{
		atan2:     atan2Row,
		pow:       powRow,
		exp2:      exp2Row,
		leakyRelu: leakyReluRow[float32],
		softplus:  softplusRow,
	}
	for f, at := range scalars {
		t.unary[f] = throughFloat64(at)
	}
	t.unary[Lgamma], t.unary[Digamma] = throughFloat64(lgammaNarrow), throughFloat64(digammaNarrow)
	return t
}
