//go:build goexperiment.simd && amd64 && !race

package arith

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// use chooses the loops of a level.
func (t *table) use(level vec.Level) {
	if t.level = level; level == vec.AVX512 {
		t.use512()
	} else {
		t.use256()
	}
}

func (t *table) use256() {
	t.binary256()
	t.toInt32, t.toFloat32 = toInt32256, toFloat32256
	t.lessInt32 = lessInt32256
	t.less, t.lessEqual, t.equal, t.notEqual = less256, lessEqual256, equal256, notEqual256
	t.bitwise256()
}

func (t *table) use512() {
	t.binary512()
	t.toInt32, t.toFloat32 = toInt32512, toFloat32512
	t.lessInt32 = lessInt32512
	t.less, t.lessEqual, t.equal, t.notEqual = less512, lessEqual512, equal512, notEqual512
	t.bitwise512()
}
