package dots

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// table is one complete set of loops; see vec.UpTo.
type table struct {
	level vec.Level

	dots32 dots[float32]
	dots64 dots[float64]

	lineDots func(to *[lineRows * lineCols]float32, a, b []float32, offsets *[lineCols]int, l *Lines) // or nil
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
	return table{dots32: dotsPortable[float32], dots64: dotsPortable[float64]}
}
