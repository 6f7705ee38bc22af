//go:build !race

package host

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// A program may write to a tensor on one thread while another thread reads it. That gives any of the values
// that were there, and never an access outside of a tensor or a panic. These tests are races by intention,
// so the race detector does not run them.

// flicker writes two values in turn to all elements of x until the test ends.
func flicker(t *testing.T, x []int64, values ...int64) {
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !stop.Load() {
			for _, v := range values {
				for i := range x {
					atomic.StoreInt64(&x[i], v)
				}
			}
		}
	}()
	t.Cleanup(func() {
		stop.Store(true)
		<-ended
	})
}

// elements is the memory of a contiguous tensor of int64.
func elements(x *tensor) []int64 { return engine.Slice[int64](x.Addr, x.Numel()) }

// hammer makes a call many times, while other threads write to its inputs. Each time it succeeds, or ends
// with one error; both must have happened.
func hammer(t *testing.T, r *rig, name string, c *device.Call, code status.Code) {
	good, bad := 0, 0
	for i := 0; i < 1000 || good == 0 || bad == 0; i++ {
		require.Less(t, i, 1_000_000, "%d calls succeeded and %d failed; want some of each", good, bad)
		if err := r.call(name, c); err == nil {
			good++
		} else {
			require.Equal(t, code, status.CodeOf(err), "%s", err)
			bad++
		}
	}
}

func TestIndexWhileIndicesChange(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	const n = 64
	x, out := of(dtype.Float64, dims(n), 3), of(dtype.Float64, dims(n))
	where := of(dtype.Int64, dims(n), 0)
	flicker(t, elements(where), 1e12, 0)
	hammer(t, r, "index", &device.Call{In: operands(x, where), Out: operands(out)}, status.Index)
	hammer(t, r, "index_put", &device.Call{In: operands(out, where), Out: operands(x)}, status.Index)
}

// TestDivideWhileDivisorsChange changes the last divisor of a block, which is the one that is looked at longest
// before it divides.
func TestDivideWhileDivisorsChange(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	x, y, out := of(dtype.Int64, dims(engine.Block), 7), of(dtype.Int64, dims(engine.Block), 1), of(dtype.Int64, dims(engine.Block))
	flicker(t, elements(y)[engine.Block-1:], 0, 1)
	for _, name := range []string{"floor_divide", "remainder"} {
		hammer(t, r, name, &device.Call{In: operands(x, y), Out: operands(out)}, status.Math)
	}
}

// TestNonzeroWhileElementsChange counts no more rows than there are elements, and writes each of them.
func TestNonzeroWhileElementsChange(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	const n = 1000
	x, out := of(dtype.Int64, dims(n), 1), of(dtype.Int64, dims(n, 1))
	flicker(t, elements(x), 0, 1)
	for range 500 {
		for i := range n {
			elements(out)[i] = -1
		}
		c := &device.Call{In: operands(x), Out: operands(out)}
		require.NoError(t, r.call("nonzero", c))
		last := int64(-1)
		for _, at := range elements(out)[:c.Count] {
			require.Less(t, last, at)
			require.Less(t, at, int64(n))
			last = at
		}
	}
}
