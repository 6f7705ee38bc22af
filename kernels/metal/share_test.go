package metal

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
)

// sourceToShare is a kernel that no other test compiles.
const sourceToShare = "kernel void run(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = 20261123; }"

// Kernels of one source share its pipelines, which live as long as one of them.
func TestSharedPipelines(t *testing.T) {
	r := newRig(t, Config{})
	before, compiled := fakemetal.Count(t, "live_objects"), int64(0)
	for range 2 {
		a, err := r.Pipelines(sourceToShare, "run")
		require.NoError(t, err)
		require.Greater(t, fakemetal.Count(t, "compiles"), compiled, "it was not compiled before")
		compiled = fakemetal.Count(t, "compiles")
		b, err := r.Pipelines(sourceToShare, "run")
		require.NoError(t, err)
		require.Equal(t, a[0].State, b[0].State)
		a[0].Release()
		c, err := r.Pipelines(sourceToShare, "run")
		require.NoError(t, err)
		require.Equal(t, b[0].State, c[0].State, "b keeps it")
		require.Equal(t, compiled, fakemetal.Count(t, "compiles"))
		b[0].Release()
		c[0].Release()
		require.LessOrEqual(t, fakemetal.Count(t, "live_objects"), before, "what tests before have left may go meanwhile")
	}
}

// Goroutines that compile one source at the same time agree on its pipelines, and nothing is left of the others.
func TestSharedAtOnce(t *testing.T) {
	r := newRig(t, Config{})
	before := fakemetal.Count(t, "live_objects")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 5 {
				p, err := r.Pipelines(sourceToShare, "run")
				if err == nil {
					p[0].Release()
				}
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, fakemetal.Count(t, "live_objects"), before)
}
