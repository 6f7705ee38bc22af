//go:build !invariants

package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// resident is the memory of this process, in bytes, after Go has returned what it collected to the system.
func resident(t *testing.T) int64 {
	goruntime.GC()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("there is no /proc/self/statm to read the resident memory from")
	}
	var size, pages int64
	_, err = fmt.Sscan(string(text), &size, &pages)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}

// TestSoak: three million small operators of new shapes, ten with PADDLE_MPS_LONG=1, leak no memory: the process is no
// larger at the end than near the beginning, within 2 %. Medians of three measurements, because Go's runtime varies by a
// megabyte.
func TestSoak(t *testing.T) {
	ops := 3_000_000
	switch {
	case os.Getenv("PADDLE_MPS_LONG") == "1":
		ops = 10_000_000
	case testing.Short(): // one goroutine makes the calls: more of them show the race detector nothing new
		ops = 50_000
	}
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(1, 2))
	rows := []*op.Row{op.MustByName("add"), op.MustByName("multiply"), op.MustByName("maximum")}
	step := func(c *runtime.Context) {
		s, err := shape.Of(1+rng.Int64N(40), 1+rng.Int64N(40))
		require.NoError(t, err)
		x, err := w.rt.Empty(c, dtype.Int32, s, nil)
		require.NoError(t, err)
		y, err := eager.Binary(w.rt, rows[rng.IntN(len(rows))], runtime.Operand{Tensor: x}, runtime.Operand{Value: op.Value{Kind: op.Int, I: 3}}, nil)
		require.NoError(t, err)
		w.rt.Free(x.Handle())
		w.rt.Free(y.Handle())
	}
	var tenths []int64 // resident after each
	for i := range ops {
		step([]*runtime.Context{w.cpu, w.mps}[i%2])
		if (i+1)%(ops/10) == 0 {
			require.NoError(t, w.mps.Synchronize())
			tenths = append(tenths, resident(t))
		}
	}
	require.Zero(t, w.rt.Live())
	early, late := median(tenths[1:4]), median(tenths[7:])
	t.Logf("%d operators; resident %.1f MiB after two to four tenths, %.1f MiB at the end", ops, float64(early)/(1<<20), float64(late)/(1<<20))
	if !testing.Short() { // few operators do not fill what Go's runtime keeps for itself
		require.LessOrEqual(t, float64(late), 1.02*float64(early))
	}
}

func median(values []int64) int64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
