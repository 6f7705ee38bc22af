package winograd

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// table is one complete set of loops; see vec.UpTo.
type table struct {
	level vec.Level

	// The loops, or nil. kernelCells transforms groups of tileLanes kernels.
	kernelCells func(to, w []float32, groups, cell int)
	imageTiles  func(t *Tiles, to, x []float32, cell int)
	tileSums    func(t *Tiles, to, m []float32, cell int) (finite bool)
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

func portableTable() table { return table{} }
