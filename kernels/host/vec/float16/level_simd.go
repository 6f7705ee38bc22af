//go:build goexperiment.simd && amd64 && !race

package float16

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
	t.f16ToF32, t.bf16ToF32, t.addBF16Rows = f16ToF32Row256, bf16ToF32Row256, addBF16Rows256
}

func (t *table) use512() {
	t.f16ToF32, t.bf16ToF32, t.addBF16Rows = f16ToF32Row512, bf16ToF32Row512, addBF16Rows512
	t.f32ToF16, t.f32ToBF16 = f32ToF16Row512, f32ToBF16Row512
}
