package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
)

// TestGroupsAreCounted dispatches threadgroups by their number, because a grid of 2**27 groups of 32 threads has more
// threads than 32 bits number. What follows in the same record counts threads again.
func TestGroupsAreCounted(t *testing.T) {
	var d objc.Dispatch
	gpu.Groups(&d, 1<<27, 32)
	require.Equal(t, objc.Size{Width: 1 << 27, Height: 1, Depth: 1}, d.Threads)
	require.Equal(t, objc.Size{Width: 32, Height: 1, Depth: 1}, d.Group)
	require.NotZero(t, d.InGroups)
	d.Clear()
	require.Zero(t, d.InGroups)
}

// TestGroupsFitThePipeline never has more threads in a group than the pipeline takes.
func TestGroupsFitThePipeline(t *testing.T) {
	for most := uint64(32); most <= 1024; most += 32 {
		p := gpu.Pipeline{Width: 32, Most: most}
		var d objc.Dispatch
		p.Line(&d, 5000)
		require.LessOrEqual(t, d.Group.Width, most)
		for _, n := range []int64{1, 33, 5000} {
			width := p.ThreadsOf(n)
			require.LessOrEqual(t, width, most)
			require.Zero(t, width&(width-1), "%d is no power of two", width)
		}
	}
}
