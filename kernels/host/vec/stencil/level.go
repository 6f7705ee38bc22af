package stencil

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// table is one complete set of loops; see vec.UpTo. Slices given to its functions have equal lengths: the exported functions see to that
// once per row.
type table struct {
	level vec.Level

	depthwiseChannelsLast func(to, x, w []float32, taps []Tap, n, step, channels int)
	maxPoolChannelsLast   func(to, x []float32, taps []Tap, n, step, channels int)
	maxPoolRow            func(best []float32, at []int32, x []float32, taps []Tap, n, step, reach int, first int32) // or nil

	evenElements   func(to, x []float32)
	splitLines     func(to, x []float32, lines, width, from, pitch, first, second int)     // of 1 to mostSplit elements; or nil
	mostSplit      int                                                                     // elements of a line that splitLines takes
	depthwisePlane func(to, x, w []float32, offsets []int, lines, width, apart, pitch int) // or nil
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
	return table{depthwiseChannelsLast: depthwiseChannelsLastRow, maxPoolChannelsLast: maxPoolChannelsLastRow, evenElements: evenElementsRow}
}
