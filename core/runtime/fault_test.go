package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/place"
)

// program is a little of everything: casts, broadcasts, views that copy, several calls an operator.
func program(rt *runtime.Runtime, c *runtime.Context) (err error) {
	var made []*runtime.Tensor
	defer func() {
		for _, t := range made {
			rt.Free(t.Handle())
		}
	}()
	keep := func(ts []*runtime.Tensor, e error) *runtime.Tensor {
		made = append(made, ts...)
		if err == nil {
			err = e
		}
		if err != nil {
			return nil
		}
		return ts[0]
	}
	call := func(name string, in []runtime.Operand, at ...op.Value) *runtime.Tensor {
		if err != nil {
			return nil
		}
		row := op.MustByName(name)
		full := make(op.Attrs, len(row.Attrs))
		copy(full, at)
		return keep(rt.Call(row, in, full, c, nil))
	}
	half := op.Value{Kind: op.DType, I: int64(dtype.Float16)}
	x := call("full", nil, ints(4, 3<<20), op.Value{Kind: op.Int, I: 1}, half)
	y := call("full", nil, ints(3<<20), op.Value{Kind: op.Float, F: 2}, op.Value{Kind: op.DType, I: int64(dtype.Float32)})
	z := call("add", of(x, y)) // casts x
	turned := call("transpose", of(z), ints(1, 0))
	flat := call("reshape", of(turned), ints(-1)) // copies
	both := call("concat", of(flat, flat))
	call("split", of(both), ints(2))
	call("tile", of(y), ints(3))
	call("sum", of(both))
	return err
}

// Every heap, compilation and run is made to fail in turn, on a device with and without queues: an
// error each time, nothing left behind, and the next call works.
func TestEveryFailureIsClean(t *testing.T) {
	for _, async := range []bool{false, true} {
		failures := 0
		for _, fail := range []func(*device.Null, int64){
			func(d *device.Null, n int64) { d.FailHeap = n },
			func(d *device.Null, n int64) { d.FailCompile = n },
			func(d *device.Null, n int64) { d.FailRun = n },
		} {
			for n := int64(1); ; n++ {
				d := &device.Null{Describe: device.Info{Async: async, Recommended: 1 << 40, Float64: true}}
				fail(d, n)
				rt, err := runtime.New(runtime.Config{CPU: d})
				require.NoError(t, err)
				c, err := rt.Context(place.CPU)
				require.NoError(t, err)
				failed := program(rt, c)
				if failed == nil {
					failed = c.Synchronize()
				}
				require.Zero(t, rt.Live())
				require.Zero(t, c.Stats().Allocated.Current)
				if failed != nil {
					failures++
					s, _ := shape.Of(2)
					x, err := rt.Empty(c, dtype.Float32, s, nil)
					require.NoError(t, err)
					require.True(t, rt.Free(x.Handle()))
					require.NoError(t, program(rt, c))
					c.Synchronize() // an asynchronous failure is reported here, if it has not been
				}
				require.NoError(t, rt.Close())
				require.Zero(t, d.OpenHeaps.Load())
				if failed == nil {
					break
				}
			}
		}
		require.Greater(t, failures, 15)
		t.Logf("async=%v: %d injected failures", async, failures)
	}
}
