package runtime_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// profileEvent is an event of a trace.
type profileEvent struct {
	Ph, Cat, Name string
	Tid           int64
	Ts, Dur       float64
	Args          map[string]any
}

// stopProfile ends the recording and reads it.
func stopProfile(t *testing.T, rt *runtime.Runtime) (events []profileEvent) {
	t.Helper()
	r, err := rt.StopProfile()
	require.NoError(t, err)
	require.Zero(t, r.Dropped())
	var d struct{ TraceEvents []profileEvent }
	require.NoError(t, json.Unmarshal(r.AppendTrace(nil), &d))
	return d.TraceEvents
}

// countOf is how often each name is there in a category.
func countOf(events []profileEvent, cat string) map[string]int {
	n := map[string]int{}
	for _, e := range events {
		if e.Cat == cat {
			n[e.Name]++
		}
	}
	return n
}

// dims is a shape.
func dims(t *testing.T, n ...int64) shape.Shape {
	t.Helper()
	s, err := shape.Of(n...)
	require.NoError(t, err)
	return s
}

// emulated is a runtime with an emulated mps device, on which nothing runs on the goroutine of its caller.
func emulated(t *testing.T) *runtime.Runtime {
	t.Helper()
	rt, err := runtime.New(runtime.Config{
		CPU: host.New(host.Config{Threads: 1}),
		MPS: []device.Device{host.New(host.Config{Threads: 1, Async: true, InlineLimit: -1})},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rt.Close()) })
	return rt
}

// TestProfile records all ways in which an operator is called, on both kinds of devices. Each call is there once.
func TestProfile(t *testing.T) {
	rt := emulated(t)
	for _, p := range []place.Place{place.CPU, place.MPS(0)} {
		t.Run(p.String(), func(t *testing.T) {
			c, err := rt.Context(p)
			require.NoError(t, err)
			x, err := rt.Empty(c, dtype.Float32, dims(t, 4, 8), nil)
			require.NoError(t, err)
			defer rt.Free(x.Handle())
			y, err := rt.Empty(c, dtype.Float16, dims(t, 8), nil)
			require.NoError(t, err)
			defer rt.Free(y.Handle())
			add, exp := op.ByID(op.IDAdd), op.ByID(op.IDExp)
			require.NoError(t, rt.StartProfile(profile.Options{Shapes: true, Memory: true}))
			var made []*runtime.Tensor
			keep := func(t *runtime.Tensor, e error) { made, err = append(made, t), e }
			keep(eager.Unary(rt, exp, x, nil)) // without a graph
			require.NoError(t, err)
			keep(eager.Binary(rt, add, runtime.Operand{Tensor: x}, runtime.Operand{Tensor: x}, nil))
			require.NoError(t, err)
			keep(eager.Binary(rt, add, runtime.Operand{Tensor: x}, runtime.Operand{Tensor: y}, nil)) // with a cast and a broadcast
			require.NoError(t, err)
			list, err := eager.Call(rt, add, []runtime.Operand{{Tensor: x}, {Tensor: x}}, nil, nil, nil)
			require.NoError(t, err)
			require.NoError(t, eager.CallInto(rt, exp, []runtime.Operand{{Tensor: x}}, nil, list[0], nil))
			for _, t := range append(made, list...) {
				rt.Free(t.Handle())
			}
			events := stopProfile(t, rt)
			require.Equal(t, map[string]int{"exp": 2, "add": 3}, countOf(events, "Operator"))
			kernels := countOf(events, "Kernel")
			require.Equal(t, 2, kernels["exp"])
			require.Equal(t, 3, kernels["add"])
			for _, e := range events {
				if e.Cat == "Kernel" {
					require.Equal(t, p != place.CPU, e.Tid >= 1_000_000_000, "%+v", e)
				}
			}
			stats := c.Stats()
			var last map[string]any
			for _, e := range events {
				if e.Ph == "C" && e.Name == "memory of "+p.String() {
					last = e.Args
				}
			}
			require.Equal(t, map[string]any{"allocated": float64(stats.Allocated.Current), "reserved": float64(stats.Reserved.Current)}, last)
		})
	}
}

// TestProfileStartsOnce: there is one recording at a time.
func TestProfileStartsOnce(t *testing.T) {
	rt := emulated(t)
	require.NoError(t, rt.StartProfile(profile.Options{}))
	require.ErrorContains(t, rt.StartProfile(profile.Options{}), "is under way")
	stopProfile(t, rt)
	_, err := rt.StopProfile()
	require.ErrorContains(t, err, "there is no recording")
}

// TestProfileHammer calls operators on many goroutines while recordings begin and end. Under -race it tests all hooks.
func TestProfileHammer(t *testing.T) {
	rt := emulated(t)
	c, err := rt.Context(place.MPS(0))
	require.NoError(t, err)
	var group sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		group.Go(func() {
			s, err := c.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = s.Close() }()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := step(rt, c, s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 30 {
		require.NoError(t, rt.StartProfile(profile.Options{Shapes: i%2 == 0, Memory: i%3 == 0, Events: 512}))
		_, err := rt.StopProfile()
		require.NoError(t, err)
	}
	close(stop)
	group.Wait()
}

// step is a few calls on a stream, with a read at the end.
func step(rt *runtime.Runtime, c *runtime.Context, s *runtime.Stream) error {
	dims, err := shape.Of(64)
	if err != nil {
		return err
	}
	x, err := rt.Empty(c, dtype.Float32, dims, s)
	if err != nil {
		return err
	}
	defer rt.Free(x.Handle())
	if err := x.Write(make([]byte, 256)); err != nil {
		return err
	}
	y, err := eager.Binary(rt, op.ByID(op.IDAdd), runtime.Operand{Tensor: x}, runtime.Operand{Tensor: x}, s)
	if err != nil {
		return err
	}
	defer rt.Free(y.Handle())
	got := make([]byte, 256)
	if err := y.Read(got); err != nil {
		return err
	}
	if got[0] != 0 {
		return fmt.Errorf("got %d; want 0", got[0])
	}
	return s.Synchronize()
}
