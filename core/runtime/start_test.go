package runtime_test

import (
	"math"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/tape"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// watched is a device that calls a function before each run of a program.
type watched struct {
	device.Device
	before *func()
}

func (d *watched) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return &watchedStream{s, d.before}, err
}

// Compile has the CPU run tanh in place of a device with queues, so that its programs have several parts.
func (d *watched) Compile(g *device.Plan) (device.Program, error) {
	return (&faulty{Device: d.Device, faults: &faults{lacks: op.MustByName("tanh").ID}}).Compile(g)
}

type watchedStream struct {
	device.Stream
	before *func()
}

func (s *watchedStream) Run(p device.Program, c *device.Call) device.Ticket {
	if *s.before != nil {
		(*s.before)()
	}
	return s.Stream.Run(p, c)
}

// newWatchedWorld is a world of devices that call *before before each run.
func newWatchedWorld(t *testing.T, before *func()) *world {
	w := &world{T: t}
	var err error
	w.rt, err = runtime.New(runtime.Config{
		CPU: &watched{host.New(host.Config{}), before},
		MPS: []device.Device{&watched{host.New(host.Config{Async: true, InlineLimit: -1}), before}},
	})
	require.NoError(t, err)
	w.cpu, err = w.rt.Context(place.CPU)
	require.NoError(t, err)
	w.mps, err = w.rt.Context(place.MPS(0))
	require.NoError(t, err)
	t.Cleanup(func() {
		*before = nil
		require.Zero(t, w.rt.Live(), "tensors leaked")
		for _, c := range []*runtime.Context{w.cpu, w.mps} {
			require.NoError(t, c.Synchronize())
			require.Zero(t, c.Stats().Allocated.Current, "%s leaked", c.Place())
		}
		require.NoError(t, w.rt.Close())
	})
	return w
}

// These tests know when a run is where: a device calls them before each part of a program, and a source between two stages. No
// test waits for a time, and none can pass because a run was fast.

// start begins a run in mode Recording; *ends counts those that have ended.
func (w *world) start(p *execute.Program, ends *atomic.Int64, in ...*runtime.Tensor) *execute.Run {
	r, err := execute.Start(eager.In(w.rt, runtime.Recording), p, in, nil, func() { ends.Add(1) })
	require.NoError(w, err)
	return r
}

// wave is tanh(exp(x)) - x in steps that no device groups here: three parts where the CPU runs tanh.
func wave(t testing.TB) *graph.Graph {
	b := graph.NewBuilder()
	must := func(name string, in ...graph.Value) graph.Value {
		out, err := b.Call(op.MustByName(name), in, nil)
		require.NoError(t, err)
		return out[0]
	}
	x := b.Input(typed(dtype.Float32, b.Symbol()))
	return b.Build(must("subtract", must("tanh", must("exp", x)), x))
}

// TestStart: many runs at once, of which no more than there are processors are made at a time, with the results of runs that
// their callers wait for; each wait gets handles of its own.
func TestStart(t *testing.T) {
	var before func()
	newWatchedWorld(t, &before).each(func(w *world, c *runtime.Context) {
		p := execute.New(c, wave(w))
		defer p.Close()
		x := w.f32(c, []float32{-1, 0, 2}, 3)
		defer w.free(x)
		want := w.run(p, x)
		defer w.free(want...)
		var ends, making, most atomic.Int64
		// How many runs are in the device at a time is counted there; a run that is submitted is being made.
		before = func() {
			n := making.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			goruntime.Gosched()
			making.Add(-1)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				var runs []*execute.Run
				for range 50 {
					runs = append(runs, w.start(p, &ends, x))
				}
				for _, r := range runs {
					first, err := r.Wait()
					require.NoError(w, err)
					require.True(w, r.WaitFor(0))
					second, err := r.Wait()
					require.NoError(w, err)
					require.NotEqual(w, first[0].Handle(), second[0].Handle())
					r.Cancel() // too late to change anything
					r.Free()
					for _, got := range [][]*runtime.Tensor{first, second} {
						require.Equal(w, w.floats(want[0]), w.floats(got[0]))
						w.free(got...)
					}
				}
			})
		}
		all.Wait()
		before = nil
		require.EqualValues(w, 200, ends.Load())
		require.LessOrEqual(w, most.Load(), int64(goruntime.GOMAXPROCS(0)))
	})
}

// TestCancelBeforeEachPart: a run that is cancelled ends before its next part, changes nothing, and is no failure of its
// stream; the program then runs as before.
func TestCancelBeforeEachPart(t *testing.T) {
	var before func()
	newWatchedWorld(t, &before).each(func(w *world, c *runtime.Context) {
		x, total := w.f32(c, []float32{1, 2}, 2), w.f32(c, []float32{10, 20}, 2)
		tr := w.tracer(c, x)
		y := tr.do("subtract", operands(tr.do("tanh", operands(tr.do("exp", operands(tr.in[0])))), tr.in[0]))
		require.NoError(w, tr.into(total, "add", total, tr.in[0]))
		p := tr.end(y)
		defer p.Close()
		w.free(w.run(p, x)...) // compiles
		parts := p.Info().Parts
		require.Equal(w, map[bool]int{true: 1, false: 3}[c == w.cpu], parts)
		require.Equal(w, []float32{11, 22}, w.floats(total))
		var ends atomic.Int64
		// The last round cancels nothing, and shows that the runs before it have left the program as it was.
		for n := 1; n <= parts+1; n++ {
			var r *execute.Run
			// The first part may be submitted before start has returned: it waits until r is known.
			known, count := make(chan struct{}), 0
			before = func() {
				<-known
				if count++; count == n && n <= parts {
					r.Cancel()
				}
			}
			r = w.start(p, &ends, x)
			close(known)
			out, err := r.Wait()
			before = nil
			if n <= parts {
				require.Equal(w, status.Cancelled, status.CodeOf(err), "part %d", n)
				require.ErrorContains(w, err, "[program] the run was cancelled before it ended")
			} else {
				require.NoError(w, err)
			}
			w.free(out...)
			r.Free()
			require.NoError(w, c.Synchronize())
			require.Equal(w, []float32{11 + float32(n/(parts+1)), 22 + 2*float32(n/(parts+1))}, w.floats(total), "cancelled before part %d", n)
		}
		require.EqualValues(w, parts+1, ends.Load())
		w.free(x, total)
	})
}

// TestCancelInTurn: a run that has not begun ends at once when it is cancelled or freed, also while no other can begin.
func TestCancelInTurn(t *testing.T) {
	var before func()
	newWatchedWorld(t, &before).each(func(w *world, c *runtime.Context) {
		p := execute.New(c, wave(w))
		defer p.Close()
		x := w.f32(c, []float32{1, 2}, 2)
		defer w.free(x)
		w.free(w.run(p, x)...)
		var ends, begun atomic.Int64
		release := make(chan struct{})
		before = func() { begun.Add(1); <-release }
		// All goroutines that make runs are blocked in the device, so that none of the runs in waiting can begin.
		var busy []*execute.Run
		for range goruntime.GOMAXPROCS(0) {
			busy = append(busy, w.start(p, &ends, x))
		}
		var waiting []*execute.Run
		for range 20 {
			waiting = append(waiting, w.start(p, &ends, x))
		}
		for i, r := range waiting[:10] {
			require.False(w, r.WaitFor(0))
			r.Cancel()
			r.Cancel()
			require.True(w, r.WaitFor(0))
			_, err := r.Wait()
			require.Equal(w, status.Cancelled, status.CodeOf(err))
			require.EqualValues(w, i+1, ends.Load(), "the inputs of a run that has ended are released")
			r.Free()
		}
		waiting[10].Free()
		require.EqualValues(w, 11, ends.Load())
		for _, r := range busy { // which cancels them in the device
			r.Free()
		}
		close(release)
		for _, r := range waiting[11:] {
			out, err := r.Wait()
			require.NoError(w, err)
			w.free(out...)
			r.Free()
		}
		for _, r := range busy {
			_, err := r.Wait()
			require.Equal(w, status.Cancelled, status.CodeOf(err), "a run that was freed")
		}
	})
}

// stopping is a source of two stages that calls a function between them.
type stopping struct {
	positives
	between func()
}

func (s stopping) Stage(in []op.Type) (*graph.Graph, *graph.Stage, error) {
	g, next, err := s.positives.Stage(in)
	if next != nil {
		next.Rest = stoppingRest{doubled{}, s.between}
	}
	return g, next, err
}

type stoppingRest struct {
	doubled
	between func()
}

func (s stoppingRest) Resolve(in []op.Type) (*graph.Graph, error) {
	s.between()
	return s.doubled.Resolve(in)
}

// TestCancelBetweenStages: also what waits for data between its graphs can be cancelled. A defect of the library that shows
// itself meanwhile is the error of the run.
func TestCancelBetweenStages(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		between func(*execute.Run)
		code    status.Code
	}{
		"cancel": {(*execute.Run).Cancel, status.Cancelled},
		"free":   {(*execute.Run).Free, status.Cancelled},
		"panic":  {func(*execute.Run) { panic("injected") }, status.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{t, w.rt, w.cpu, w.mps}
			var r *execute.Run
			known := make(chan struct{})
			p := execute.New(w.cpu, stopping{between: func() { <-known; c.between(r) }})
			defer p.Close()
			x := w.vector(1, -1, 2)
			var ends atomic.Int64
			r = w.start(p, &ends, x)
			close(known)
			_, err := r.Wait()
			require.Equal(t, c.code, status.CodeOf(err))
			require.EqualValues(t, 1, ends.Load())
			r.Free()
			w.free(x)
		})
	}
}

// TestStartErrors: what is wrong with a run is said by its waits; a function that is traced runs nothing.
func TestStartErrors(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		p := execute.New(c, wave(w))
		defer p.Close()
		x := w.f32(c, []float32{1, 2}, 2)
		defer w.free(x)
		var ends atomic.Int64
		for range 2 {
			// Start itself does not look at the inputs: that they are too many is found where they are read.
			r := w.start(p, &ends, x, x)
			_, err := r.Wait()
			require.ErrorContains(w, err, "[program] got 2 inputs; want 1")
			r.Free()
		}
		require.EqualValues(w, 2, ends.Load())
		tr := w.tracer(c, x)
		_, err := execute.Start(eager.In(w.rt, runtime.Recording), p, one(x), tr.Stream(), func() { ends.Add(1) })
		require.Equal(w, status.Unsupported, status.CodeOf(err))
		tr.Abort()
		w.free(tr.in...)
		require.EqualValues(w, 2, ends.Load())
	})
}

// TestStartRecords: results have gradients, as those of a run that its caller waits for.
func TestStartRecords(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		x := w.leaf(c, 1, 2, 3)
		tr := w.tracer(c, x)
		p := tr.end(tr.do("multiply", operands(tr.in[0], tr.in[0])))
		defer p.Close()
		var ends atomic.Int64
		r := w.start(p, &ends, x)
		out, err := r.Wait()
		require.NoError(w, err)
		r.Free()
		w.backward(tape.Pass{Of: out})
		require.Equal(w, []float32{2, 4, 6}, w.gradient(x))
		w.free(append(out, x)...)
	})
}

// TestStartFailuresAreClean makes each request of a started run to its devices fail in turn: waiting returns the failure,
// nothing is left, and the next run works.
func TestStartFailuresAreClean(t *testing.T) {
	// A failure of the n-th request of a kind: to run a part, to compile one, to make a heap. The loop ends when a run makes
	// fewer requests than that, and least says how many it has to have made until then.
	for _, c := range []struct {
		kind  string
		n     int64 // elements; of so many every tensor has a heap of its own, and nothing is computed
		least int64
	}{{"run", 2, 3}, {"compile", 2, 3}, {"heap", 3000 * 3000, 1}} {
		kind, least, idle := c.kind, c.least, c.n > 2
		t.Run(kind, func(t *testing.T) {
			for n, over := int64(1), false; !over; n++ {
				m := &machine{T: t, faults: &faults{kind: kind, lacks: op.MustByName("tanh").ID}}
				require.NoError(t, m.start(idle))
				x, err := m.rt.Empty(m.c, dtype.Float32, typed(dtype.Float32, c.n).Shape, nil)
				require.NoError(t, err)
				if !idle {
					require.NoError(t, x.Write(make([]byte, 8)))
				}
				p := execute.New(m.c, wave(t))
				run := func() error {
					var ends atomic.Int64
					w := &world{T: t, rt: m.rt}
					r := w.start(p, &ends, x)
					defer r.Free()
					out, err := r.Wait()
					require.EqualValues(t, 1, ends.Load())
					if err == nil && !idle {
						require.Equal(t, []float32{float32(math.Tanh(1)), float32(math.Tanh(1))}, w.floats(out[0]))
					}
					w.free(out...)
					return err
				}
				m.at = m.count.Load() + n
				err = run()
				if over = m.count.Load() < m.at; over {
					require.NoError(t, err)
					require.GreaterOrEqual(t, n-1, least)
				} else {
					require.ErrorContains(t, err, "injected", "failure %d", n)
				}
				m.at = 0
				_ = m.c.Synchronize() // reports the failure, once
				require.NoError(t, run(), "after failure %d", n)
				p.Close()
				m.rt.Free(x.Handle())
				m.end(t, n)
			}
		})
	}
}
