package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// shaped is the emulated mps device with a program per shape; a program that runs after its Close fails.
type shaped struct {
	steered
	refuse       atomic.Pointer[status.Error] // what Compile answers, once
	made, closed atomic.Int64
}

func (d *shaped) Key(id op.ID, c *device.Call) device.Key {
	k := d.Device.Key(id, c)
	k.AppendRest(fmt.Append(nil, c.Out[0].Slice()))
	return k
}

func (d *shaped) Compile(g *device.Plan) (device.Program, error) {
	if e := d.refuse.Swap(nil); e != nil {
		return nil, e
	}
	p, err := d.Device.Compile(g)
	if err != nil {
		return nil, err
	}
	d.made.Add(1)
	return &shapedProgram{Program: p, device: d}, nil
}

func (d *shaped) NewStream() (device.Stream, error) {
	s, err := d.steered.NewStream()
	return &shapedStream{s}, err
}

type shapedProgram struct {
	device.Program
	device *shaped
	ended  atomic.Bool
}

func (p *shapedProgram) Close() error {
	p.device.closed.Add(1)
	if p.ended.Swap(true) {
		return status.Errorf(status.Internal, "closed twice")
	}
	return p.Program.Close()
}

type shapedStream struct{ device.Stream }

func (s *shapedStream) Run(p device.Program, c *device.Call) device.Ticket {
	own := p.(*shapedProgram)
	c.Owner = &shapedOwner{c.Owner, own}
	return s.Stream.Run(own.Program, c)
}

// shapedOwner checks that the program is open before and after its run.
type shapedOwner struct {
	device.Owner
	program *shapedProgram
}

func (o *shapedOwner) Ready() error {
	if o.program.ended.Load() {
		return status.Errorf(status.Internal, "ran a closed program")
	}
	return o.Owner.Ready()
}

func (o *shapedOwner) Done(err error) {
	if o.program.ended.Load() {
		err = status.Errorf(status.Internal, "a program was closed while it ran")
	}
	o.Owner.Done(err)
}

// newShapedWorld is a world whose mps device keeps at most some programs.
func newShapedWorld(t *testing.T, most int64) (*world, *shaped) {
	d := &shaped{steered: steered{Device: host.New(host.Config{Async: true, InlineLimit: -1})}}
	rt, err := runtime.New(runtime.Config{
		CPU: host.New(host.Config{}), MPS: []device.Device{d}, Programs: program.Config{Entries: most},
		Log: func(warning bool, text string) {
			if warning {
				t.Error(text)
			}
		},
	})
	require.NoError(t, err)
	w := &world{T: t, rt: rt}
	w.cpu, _ = rt.Context(place.CPU)
	w.mps, _ = rt.Context(place.MPS(0))
	t.Cleanup(func() {
		require.NoError(t, rt.Close())
		require.Equal(t, d.made.Load(), d.closed.Load(), "Close closes the remaining programs")
	})
	return w, d
}

// TestEverNewShapes compiles more programs than the cache holds.
func TestEverNewShapes(t *testing.T) {
	const most = 10
	w, d := newShapedWorld(t, most)
	for n := range int64(300) {
		x := w.f32(w.mps, make([]float32, n+1), n+1)
		w.free(w.call("exp", of(x)), x)
		require.LessOrEqual(t, w.mps.Programs().Entries, int64(most))
	}
	require.NoError(t, w.mps.Synchronize())
	got := w.mps.Programs()
	require.EqualValues(t, 300, got.Misses)
	require.EqualValues(t, 300, got.Compilations)
	require.EqualValues(t, 300-most, got.Evictions)
	require.Equal(t, got.Evictions, d.closed.Load())

	w.mps.EmptyCache()
	got = w.mps.Programs()
	require.Zero(t, got.Entries+got.Bytes)
	require.EqualValues(t, most, got.Cleared)
	require.Equal(t, d.made.Load(), d.closed.Load())
	w.mps.ResetAccumulated()
	require.Zero(t, w.mps.Programs())
}

// TestProgramsOutliveTheirEviction clears the cache while a program waits to run and while it runs.
func TestProgramsOutliveTheirEviction(t *testing.T) {
	w, d := newShapedWorld(t, 0)
	x := w.f32(w.mps, []float32{1, 2}, 2)
	open := d.gate()
	y, z := w.call("neg", of(x)), w.call("neg", of(x))
	w.mps.EmptyCache()
	require.Zero(t, w.mps.Programs().Entries)
	require.Zero(t, d.closed.Load())
	open()
	require.Equal(t, []float32{-1, -2}, w.floats(y))
	require.Equal(t, []float32{-1, -2}, w.floats(z))
	require.EqualValues(t, 1, d.closed.Load())
	w.free(x, y, z)
}

// TestTransientFailures: a failed compilation is tried again; that the device lacks a program is remembered.
func TestTransientFailures(t *testing.T) {
	w, d := newShapedWorld(t, 0)
	x := w.f32(w.mps, []float32{1, 2}, 2)
	for _, code := range []status.Code{status.OutOfMemory, status.Device} {
		d.refuse.Store(status.Errorf(code, "[compile] not now"))
		_, err := w.try("exp", of(x))
		require.Equal(t, code, status.CodeOf(err))
	}
	w.free(w.call("exp", of(x)), x)
	got := w.mps.Programs()
	require.EqualValues(t, 2, got.Failures)
	require.EqualValues(t, 3, got.Compilations)
	require.EqualValues(t, 1, got.Entries)
}

// TestProgramsHammer: eight goroutines with their own streams use more shapes than the cache holds, while it is
// cleared repeatedly.
func TestProgramsHammer(t *testing.T) {
	w, d := newShapedWorld(t, 8)
	streams := w.streams(8)
	neg := op.MustByName("neg")
	var wg sync.WaitGroup
	for i, s := range streams {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			for range 300 {
				n := 1 + rng.Int64N(12)
				x := w.f32(w.mps, make([]float32, n), n)
				y, err := eager.Unary(w.rt, neg, x, s)
				if err != nil {
					t.Error(err)
					return
				}
				w.rt.Free(y.Handle())
				w.rt.Free(x.Handle())
				if rng.IntN(40) == 0 {
					w.mps.EmptyCache()
				}
			}
			if err := s.Synchronize(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := w.mps.Programs()
	require.EqualValues(t, 8*300, got.Hits+got.Misses)
	require.Equal(t, got.Evictions+got.Cleared, d.closed.Load())
	require.Equal(t, d.made.Load(), d.closed.Load()+got.Entries)
}
