package host

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// TestConvolutionsOfLines compares convolutions whose windows read lines with the kernels for any layout. The elements are small integers, so that sums are exact in every order. Images come with
// their channels last, and first.
func TestConvolutionsOfLines(t *testing.T) {
	triple := func(a, b, c int) [op.MaxSpatial]int { return [op.MaxSpatial]int{a, b, c} }
	one, none := triple(1, 1, 1), triple(0, 0, 0)
	cases := []struct {
		what string
		c    convCase
	}{
		{"a first layer", convCase{2, 1, 3, 24, triple(1, 35, 47), triple(1, 3, 3), triple(1, 2, 2), one, triple(0, 1, 1), 2}},
		{"columns of two panels and a half", convCase{1, 1, 7, 70, triple(1, 20, 24), triple(1, 3, 3), one, one, triple(0, 1, 1), 2}},
		{"a line of the kernel of several parts", convCase{1, 1, 130, 16, triple(1, 9, 24), triple(1, 2, 3), one, one, triple(0, 1, 1), 2}},
		{"more padding than image", convCase{1, 1, 2, 5, triple(1, 2, 2), triple(1, 5, 5), one, one, triple(0, 6, 13), 2}},
		{"lines of the kernel far apart", convCase{2, 1, 4, 9, triple(1, 17, 71), triple(1, 3, 2), triple(1, 3, 1), triple(1, 4, 1), triple(0, 3, 0), 2}},
		{"one line", convCase{3, 1, 5, 8, triple(1, 1, 64), triple(1, 1, 5), triple(1, 1, 1), one, triple(0, 0, 2), 1}},
		{"planes of a volume", convCase{1, 1, 4, 6, triple(3, 7, 24), triple(1, 3, 3), triple(2, 1, 1), one, triple(1, 1, 1), 3}},
		{"no overlap", convCase{1, 1, 3, 8, triple(1, 48, 48), triple(1, 4, 4), triple(1, 4, 4), one, none, 2}},
		{"short lines", convCase{1, 1, 8, 8, triple(1, 20, 9), triple(1, 3, 3), one, one, triple(0, 1, 1), 2}},
		{"three channels of one column", convCase{2, 1, 3, 8, triple(1, 9, 1), triple(1, 3, 3), one, one, triple(0, 1, 1), 2}},
		{"two channels", convCase{1, 1, 2, 8, triple(1, 9, 40), triple(1, 3, 3), one, one, triple(0, 1, 1), 2}},
		{"padding alone", convCase{1, 1, 3, 8, triple(1, 0, 5), triple(1, 3, 3), one, one, triple(0, 2, 2), 2}},
		{"no padding", convCase{2, 1, 9, 40, triple(1, 19, 20), triple(1, 3, 5), triple(1, 1, 2), triple(1, 2, 1), none, 2}},
		{"padding below and on the right alone", convCase{1, 1, 5, 16, triple(1, 15, 16), triple(1, 2, 2), triple(1, 2, 2), one, triple(0, 1, 1), 2}},
		{"one element, one stride", convCase{3, 1, 65, 40, triple(1, 9, 13), one, one, one, none, 2}},
		{"one element, strides", convCase{3, 1, 17, 33, triple(1, 9, 13), one, triple(1, 2, 3), one, none, 2}},
		{"one element of a volume", convCase{2, 1, 17, 33, triple(4, 5, 6), one, triple(2, 1, 1), one, none, 3}},
		{"one element and padding", convCase{2, 1, 17, 33, triple(3, 5, 6), one, one, one, triple(1, 2, 1), 3}},
		{"many channels of few windows", convCase{1, 1, 520, 300, triple(1, 7, 7), triple(1, 3, 3), one, one, triple(0, 1, 1), 2}},
		{"lines of many terms", convCase{1, 1, 1100, 30, triple(1, 5, 6), triple(1, 2, 1), one, one, none, 2}},
		{"a far column", convCase{1, 1, 8, 8, triple(1, 20, 28), triple(1, 3, 1), one, triple(1, 1, 2), triple(0, 1, 0), 2}},
		{"elements of the kernel far apart", convCase{1, 1, 8, 8, triple(1, 20, 28), triple(1, 3, 3), one, triple(1, 1, 2), triple(0, 1, 2), 2}},
		{"a volume and gaps", convCase{2, 1, 4, 40, triple(5, 9, 24), triple(2, 3, 2), triple(2, 1, 1), triple(2, 3, 5), triple(2, 1, 3), 3}},
		{"gaps without padding", convCase{1, 1, 33, 40, triple(1, 17, 24), triple(1, 3, 3), one, triple(1, 2, 2), none, 2}},
		{"a line with gaps", convCase{2, 1, 5, 40, triple(1, 1, 24), triple(1, 1, 3), one, triple(1, 1, 3), triple(0, 0, 2), 1}},
		{"a volume", convCase{1, 1, 4, 6, triple(3, 7, 24), triple(3, 3, 3), one, one, one, 3}},
	}
	r := rand.New(rand.NewPCG(33, 34))
	eachMode(t, func(t *testing.T, rig *rig) {
		for _, test := range cases {
			for _, turns := range []bool{false, true} {
				known, plain, call := channelsLastCase(r, rig, &test.c, turns)
				want, got := call(), call()
				fill := engine.Slice[float32](want.In[0].Addr, want.In[0].Numel())
				for i := range fill {
					fill[i] = float32(r.IntN(5) - 2)
				}
				copy(engine.Slice[float32](got.In[0].Addr, got.In[0].Numel()), fill)
				require.NoError(t, runPlan(rig, plain, want))
				require.NoError(t, runPlan(rig, known, got))
				require.Equal(t, bytesOut(want), bytesOut(got), "%s, turned %v", test.what, turns)
			}
		}
	})
}

// BenchmarkConvolutionOfLines is the first layer of many networks.
func BenchmarkConvolutionOfLines(b *testing.B) {
	rig := newRig(b, Config{Threads: 1})
	c := convCase{1, 1, 3, 24, [op.MaxSpatial]int{1, 224, 224}, [op.MaxSpatial]int{1, 3, 3}, [op.MaxSpatial]int{1, 2, 2}, [op.MaxSpatial]int{1, 1, 1}, [op.MaxSpatial]int{0, 1, 1}, 2}
	var known device.Program
	known, _, call := channelsLastCase(rand.New(rand.NewPCG(35, 36)), rig, &c, true)
	run := call()
	run.Workspace = room(known.Workspace(run))
	for b.Loop() {
		rig.stream.Run(known, run)
	}
}
