package runtime_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// learning is a device that finds out, when it first compiles exp, that it lacks the kernel that serves all lengths:
// from then on a program is for one length.
type learning struct {
	steered
	revision, compiled, closed atomic.Int64
	warn                       func(text string)
	counts                     device.Refusals
}

func (d *learning) OnRefusal(warn func(text string)) { d.warn = warn }
func (d *learning) Refusals() device.Refusals        { return d.counts }
func (d *learning) Revision() uint64                 { return uint64(d.revision.Load()) }
func (d *learning) Retry()                           { d.revision.Add(1) }

func (d *learning) Key(id op.ID, c *device.Call) device.Key {
	k := d.Device.Key(id, c)
	if id == op.IDExp && d.revision.Load() > 0 {
		k.AppendRest([]byte{byte(c.Out[0].Numel())})
	}
	return k
}

func (d *learning) Compile(p *device.Plan) (device.Program, error) {
	made, err := d.Device.Compile(p)
	if c := p.Single(); err != nil || c == nil || c.Op != op.IDExp {
		return made, err
	}
	d.compiled.Add(1)
	if d.revision.CompareAndSwap(0, 1) {
		d.warn("exp is refused")
		d.counts.Shaders++
	}
	return &learned{made, d}, nil
}

// learned is a program of a learning device.
type learned struct {
	device.Program
	device *learning
}

func (p *learned) Close() error {
	p.device.closed.Add(1)
	return p.Program.Close()
}

func (d *learning) NewStream() (device.Stream, error) {
	s, err := d.steered.NewStream()
	return &learnedStream{s}, err
}

type learnedStream struct{ device.Stream }

func (s *learnedStream) Run(p device.Program, c *device.Call) device.Ticket {
	if own, ok := p.(*learned); ok {
		p = own.Program
	}
	return s.Stream.Run(p, c)
}

// A program that was compiled while keys changed is not kept: it may be for the call alone.
func TestKeysThatChange(t *testing.T) {
	for name, nonBlocking := range map[string]bool{"waiting": false, "not blocking": true} {
		t.Run(name, func(t *testing.T) {
			d := &learning{steered: steered{Device: host.New(host.Config{Async: true, InlineLimit: -1})}}
			var warnings []string
			rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), MPS: []device.Device{d}, NoFallback: true, Log: func(warning bool, text string) {
				if warning {
					warnings = append(warnings, text)
				}
			}})
			require.NoError(t, err)
			w := &world{T: t, rt: rt}
			w.mps, _ = rt.Context(place.MPS(0))
			exp := op.MustByName("exp")
			for _, n := range []int64{4, 4, 8, 8} {
				x := w.filled(w.mps, 0, n)
				var y *runtime.Tensor
				for {
					if nonBlocking {
						y, err = eager.In(rt, runtime.NonBlocking).Unary(exp, x, nil)
					} else {
						y, err = eager.Unary(rt, exp, x, nil)
					}
					if wait := runtime.Refused(err); wait != 0 {
						rt.WaitFor(wait, time.Minute)
						continue
					}
					break
				}
				require.NoError(t, err)
				require.Equal(t, float32(1), w.floats(y)[n-1])
				w.free(x, y)
			}
			require.EqualValues(t, 3, d.compiled.Load(), "once in vain, and once for each length")
			require.EqualValues(t, 1, d.closed.Load())
			require.Equal(t, []string{"exp is refused"}, warnings)
			require.Equal(t, device.Refusals{Shaders: 1}, w.mps.Refusals())
			w.mps.ResetAccumulated()
			require.Zero(t, w.mps.Refusals())
			require.NoError(t, rt.Close())
		})
	}
}

// refusing claims a kernel for concat along axis 0, and then refuses it.
type refusing struct{ composing }

func (d *refusing) Compile(p *device.Plan) (device.Program, error) {
	for i := range p.Steps {
		if p.Steps[i].Call.Op == op.IDConcat {
			d.composed.Add(1)
			err := error(&device.Refused{Reason: "refused", Cause: status.Errorf(status.Unsupported, "[concat] refused")})
			if p.Single() == nil {
				err = &device.StepError{Step: i, Err: err}
			}
			return nil, err
		}
	}
	return d.Device.Compile(p)
}

// A composite that a device has claimed and then refuses is lowered: in calls, in calls with an output and in programs,
// which is no fallback.
func TestRefusedComposites(t *testing.T) {
	want := []float32{1, 2, 3, 4, 5, 6}
	each := map[string]func(w *world, x, y *runtime.Tensor) []float32{
		"call": func(w *world, x, y *runtime.Tensor) []float32 {
			z := w.call("concat", of(x, y))
			defer w.free(z)
			return w.floats(z)
		},
		"into": func(w *world, x, y *runtime.Tensor) []float32 {
			z := w.filled(w.mps, 0, 3, 2)
			defer w.free(z)
			require.NoError(w, eager.CallInto(w.rt, op.ByID(op.IDConcat), of(x, y), op.Attrs{integer(0)}, z, nil))
			return w.floats(z)
		},
		"program": func(w *world, x, y *runtime.Tensor) []float32 {
			b := graph.NewBuilder()
			joined, err := b.Call(op.ByID(op.IDConcat), []graph.Value{b.Input(typed(dtype.Float32, 1, 2)), b.Input(typed(dtype.Float32, 2, 2))}, nil)
			require.NoError(w, err)
			p := execute.New(w.mps, b.Build(joined...))
			defer p.Close()
			out, err := p.Run([]*runtime.Tensor{x, y}, nil)
			require.NoError(w, err)
			defer w.free(out...)
			require.Zero(w, p.Info().CPUSteps)
			return w.floats(out[0])
		},
	}
	for name, run := range each {
		t.Run(name, func(t *testing.T) {
			d := &refusing{composing{Device: host.New(host.Config{Async: true, InlineLimit: -1})}}
			w := newWorldOn(t, d)
			x, y := w.f32(w.mps, []float32{1, 2}, 1, 2), w.f32(w.mps, []float32{3, 4, 5, 6}, 2, 2)
			defer w.free(x, y)
			for range 4 {
				require.Equal(t, want, run(w, x, y))
			}
			require.EqualValues(t, 1, d.composed.Load(), "asked once")
			require.Empty(t, w.mps.Fallbacks())
		})
	}
}

// handing is a device that lacks operators and hands over what it has compiled before them. It counts steps.
type handing struct {
	steered
	has      func(id op.ID) bool
	compiled atomic.Int64
}

func (d *handing) Compile(p *device.Plan) (device.Program, error) {
	for i := range p.Steps {
		if id := p.Steps[i].Call.Op; !d.has(id) {
			lacks := &device.StepError{Step: i, Err: status.Errorf(status.Unsupported, "[%s] not here", op.ByID(id).Name)}
			if i > 0 {
				before := *p
				before.Steps = p.Steps[:i]
				var err error
				if lacks.Before, err = d.Compile(&before); err != nil {
					return nil, err
				}
			}
			return nil, lacks
		}
	}
	d.compiled.Add(int64(len(p.Steps)))
	return d.Device.Compile(p)
}

// Each step is compiled once, and neighbours that the device lacks are one part.
func TestStepsCompileOnce(t *testing.T) {
	d := &handing{has: func(id op.ID) bool { return id != op.IDExp && id != op.IDSoftmax }}
	d.Device = host.New(host.Config{Async: true, InlineLimit: -1})
	w := newWorldOn(t, d)
	b := graph.NewBuilder()
	x := b.Input(typed(dtype.Float32, 8))
	v := x
	names := []string{"tanh", "tanh", "exp", "softmax", "exp", "tanh", "exp", "tanh", "tanh"}
	for _, name := range names {
		out, err := b.Call(op.MustByName(name), []graph.Value{v}, nil)
		require.NoError(t, err)
		v = out[0]
	}
	p := execute.New(w.mps, b.Build(v))
	defer p.Close()
	in := w.filled(w.mps, 0.5, 8)
	out, err := p.Run([]*runtime.Tensor{in}, nil)
	require.NoError(t, err)
	want := in
	for _, name := range names {
		y, err := eager.Unary(w.rt, op.MustByName(name), want, nil)
		require.NoError(t, err)
		w.free(want)
		want = y
	}
	require.Equal(t, w.floats(want), w.floats(out[0]))
	info := p.Info()
	require.Equal(t, []int{9, 4, 5}, []int{info.Steps, info.CPUSteps, info.Parts})
	require.EqualValues(t, 5+1, d.compiled.Load(), "the five tanh of the program, and the one of the calls")
	require.Equal(t, map[string]int64{"exp": 6, "softmax": 2}, w.mps.Fallbacks())
	w.free(want, out[0])
}

// A part of the CPU waits for what it uses, and for nothing else of the program.
func TestPartsWaitForTheirOperands(t *testing.T) {
	d := &handing{has: func(id op.ID) bool { return id != op.IDExp }}
	d.Device = host.New(host.Config{Async: true, InlineLimit: -1})
	w := newWorldOn(t, d)
	b := graph.NewBuilder()
	x, y := b.Input(typed(dtype.Float32, 8)), b.Input(typed(dtype.Float32, 8))
	one, err := b.Call(op.MustByName("tanh"), []graph.Value{x}, nil)
	require.NoError(t, err)
	two, err := b.Call(op.MustByName("exp"), []graph.Value{y}, nil)
	require.NoError(t, err)
	p := execute.New(w.mps, b.Build(one[0], two[0]))
	defer p.Close()
	in := []*runtime.Tensor{w.filled(w.mps, 0, 8), w.filled(w.mps, 0, 8)}
	require.NoError(t, p.Prepare(p.Inputs()))
	open := d.gate() // tanh waits for it
	returned := make(chan []*runtime.Tensor)
	go func() {
		out, err := p.Run(in, nil)
		if err != nil {
			t.Error(err)
		}
		returned <- out
	}()
	var out []*runtime.Tensor
	select {
	case out = <-returned:
		require.Equal(t, []float32{1, 1, 1, 1, 1, 1, 1, 1}, w.floats(out[1]))
		open()
	case <-time.After(20 * time.Second):
		t.Error("the CPU waits for a part that it does not depend on")
		open()
		out = <-returned
	}
	require.Equal(t, make([]float32, 8), w.floats(out[0]))
	w.free(append(out, in...)...)
}
