package runtime_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// compiling is the emulated mps device with a compiler that blocks: for exp until the test allows it to continue,
// for other operators not at all.
type compiling struct {
	*host.Device
	begun   chan struct{}
	proceed chan error // what becomes of the compilation
	blocked atomic.Int64
}

func (d *compiling) Info() *device.Info {
	info := *d.Device.Info()
	info.Compiles = true
	return &info
}

func (d *compiling) Compile(p *device.Plan) (device.Program, error) {
	if p.Steps[0].Call.Op == op.IDExp {
		d.blocked.Add(1)
		d.begun <- struct{}{}
		if err := <-d.proceed; err != nil {
			return nil, err
		}
	}
	return d.Device.Compile(p)
}

func newCompilingWorld(t *testing.T) (*world, *compiling) {
	d := &compiling{
		Device: host.New(host.Config{Async: true}), begun: make(chan struct{}, 8), proceed: make(chan error),
	}
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), MPS: []device.Device{d}})
	require.NoError(t, err)
	w := &world{T: t, rt: rt}
	w.cpu, _ = rt.Context(place.CPU)
	w.mps, _ = rt.Context(place.MPS(0))
	t.Cleanup(func() { require.NoError(t, rt.Close()) })
	return w, d
}

// TestCompilerDelaysNoOtherCall: while the program of one call is compiled, for as long as that takes, calls
// of other programs run, on the same stream and on others, and a call that must not wait is refused at once.
func TestCompilerDelaysNoOtherCall(t *testing.T) {
	w, d := newCompilingWorld(t)
	exp, neg := op.MustByName("exp"), op.MustByName("neg")
	x := w.f32(w.mps, []float32{1, 2, 3}, 3)
	defer w.rt.Free(x.Handle())
	other, err := w.mps.NewStream()
	require.NoError(t, err)

	waiting := make(chan error)
	go func() { // a caller that may wait does, with no lock held
		y, err := eager.Unary(w.rt, exp, x, nil)
		if err == nil {
			w.rt.Free(y.Handle())
		}
		waiting <- err
	}()
	<-d.begun
	w.rt.Free(w.neg(x, nil).Handle()) // a program of its own is compiled meanwhile
	quick := eager.In(w.rt, runtime.NonBlocking)
	for _, on := range []*runtime.Stream{nil, other} {
		y, err := quick.Unary(neg, x, on)
		require.NoError(t, err)
		require.Equal(t, []float32{-1, -2, -3}, w.floats(y))
		w.rt.Free(y.Handle())
		_, err = quick.Unary(exp, x, on)
		require.Equal(t, status.Busy, status.CodeOf(err))
		require.ErrorContains(t, err, "[exp] its program is being compiled")
		wait := runtime.Refused(err)
		require.NotZero(t, wait)
		require.Equal(t, wait, w.rt.WaitFor(wait, time.Microsecond), "the compiler is still running")
	}
	require.EqualValues(t, 1, d.blocked.Load(), "callers of one program share its compilation")
	_, err = quick.Unary(exp, x, nil)
	wait := runtime.Refused(err)
	d.proceed <- nil
	require.NoError(t, <-waiting)
	for w.rt.WaitFor(wait, time.Second) != 0 {
	}
	y, err := quick.Unary(exp, x, nil)
	require.NoError(t, err)
	w.rt.Free(y.Handle())
	require.NoError(t, other.Close())
}

// TestRefusedCallsGetTheCompilationError: the error of a compilation whose caller was refused is returned by the
// next try, once.
func TestRefusedCallsGetTheCompilationError(t *testing.T) {
	w, d := newCompilingWorld(t)
	exp := op.MustByName("exp")
	x := w.f32(w.mps, []float32{0}, 1)
	defer w.rt.Free(x.Handle())
	quick := eager.In(w.rt, runtime.NonBlocking)
	for _, outcome := range []error{status.Errorf(status.Device, "[exp] injected"), nil} {
		_, err := quick.Call(exp, []runtime.Operand{{Tensor: x}}, nil, nil, nil)
		wait := runtime.Refused(err)
		require.NotZero(t, wait, "%v", err)
		<-d.begun
		d.proceed <- outcome
		for w.rt.WaitFor(wait, time.Second) != 0 {
		}
		y, err := quick.Call(exp, []runtime.Operand{{Tensor: x}}, nil, nil, nil)
		if outcome != nil {
			require.Equal(t, outcome, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []float32{1}, w.floats(y[0]))
		w.rt.Free(y[0].Handle())
	}
	require.Zero(t, runtime.Refused(nil))
}

// A call that is refused takes no random numbers: the same call gives the same numbers for a seed, whether its
// program had to be compiled first or not.
func TestRefusedCallsDrawNothing(t *testing.T) {
	w, _ := newCompilingWorld(t)
	row := op.ByID(op.IDUniform)
	quick := eager.In(w.rt, runtime.NonBlocking)
	draw := func() (numbers []float32, refusals int) {
		w.mps.Seed(7)
		for {
			at := make(op.Attrs, len(row.Attrs))
			at[op.UniformShape] = ints(4)
			at[op.UniformDtype] = op.Value{Kind: op.DType, I: int64(dtype.Float32)}
			out, err := quick.Call(row, nil, at, w.mps, nil)
			if err == nil {
				defer w.free(out...)
				return w.floats(out[0]), refusals
			}
			refusals++
			require.Equal(t, status.Busy, status.CodeOf(err))
			require.Zero(t, w.rt.WaitFor(runtime.Refused(err), time.Minute))
		}
	}
	cold, refusals := draw()
	require.Positive(t, refusals)
	warm, refusals := draw()
	require.Zero(t, refusals)
	require.Equal(t, warm, cold)
}
