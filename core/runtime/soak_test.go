//go:build !invariants

package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// resident is the memory of this process, in bytes, after what Go has collected went back.
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

// Ten million small operators of ever new shapes leave nothing behind: the process is no larger after
// them than after the first tenth, within 2 %. (It may be smaller, by what earlier tests left.)
func TestSoak(t *testing.T) {
	ops := 10_000_000
	if testing.Short() {
		ops = 200_000
	}
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(1, 2))
	rows := []*op.Row{op.MustByName("add"), op.MustByName("multiply"), op.MustByName("maximum")}
	step := func(c *runtime.Context) {
		s, err := shape.Of(1+rng.Int64N(40), 1+rng.Int64N(40))
		require.NoError(t, err)
		x, err := w.rt.Empty(c, dtype.Int32, s, nil)
		require.NoError(t, err)
		y, err := w.rt.Binary(rows[rng.IntN(len(rows))], runtime.Operand{Tensor: x}, runtime.Operand{Value: op.Value{Kind: op.Int, I: 3}}, nil)
		require.NoError(t, err)
		w.rt.Free(x.Handle())
		w.rt.Free(y.Handle())
	}
	start := int64(0)
	for i := range ops {
		if i == ops/10 {
			start = resident(t)
		}
		step([]*runtime.Context{w.cpu, w.mps}[i%2])
	}
	require.NoError(t, w.mps.Synchronize())
	end := resident(t)
	t.Logf("%d operators; resident %.1f MiB after the first tenth, %.1f MiB at the end", ops, float64(start)/(1<<20), float64(end)/(1<<20))
	require.Zero(t, w.rt.Live())
	if !testing.Short() { // few operators do not fill what Go's runtime keeps for itself
		require.LessOrEqual(t, float64(end), 1.02*float64(start))
	}
}
