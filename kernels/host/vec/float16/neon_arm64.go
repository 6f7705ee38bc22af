//go:build cgo && !race

package float16

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the conversions of package neon, which are exact or round once.
func (t *table) use(level vec.Level) {
	t.level = level
	t.f16ToF32, t.bf16ToF32 = vec.LeaveShort(neon.F16ToF32, t.f16ToF32), vec.LeaveShort(neon.BF16ToF32, t.bf16ToF32)
	t.f32ToF16, t.f32ToBF16 = vec.LeaveShort(neon.F32ToF16, t.f32ToF16), vec.LeaveShort(neon.F32ToBF16, t.f32ToBF16)
}
