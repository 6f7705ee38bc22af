package float16

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// table is one complete set of loops; see vec.UpTo. Slices given to its functions have equal lengths: the exported functions see to that
// once per row.
type table struct {
	level vec.Level

	f16ToF32, bf16ToF32 func(dst []float32, src []uint16)
	f32ToF16, f32ToBF16 func(dst []uint16, src []float32)
	addBF16Rows         func(sums, a []float32, b []uint16, step int)
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
		f16ToF32:    f16ToF32Row,
		bf16ToF32:   bf16ToF32Row,
		f32ToF16:    f32ToF16Row,
		f32ToBF16:   f32ToBF16Row,
		addBF16Rows: addBF16Rows,
	}
}
