package runtime_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// soon is how long a test waits for something that should not happen.
const soon = 5 * time.Millisecond

// neg makes the negative of x on a stream.
func (w *world) neg(x *runtime.Tensor, on *runtime.Stream) *runtime.Tensor {
	y, err := eager.Unary(w.rt, op.MustByName("neg"), x, on)
	require.NoError(w, err)
	return y
}

// returns runs f elsewhere; the channel says that it has returned.
func returns(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	return done
}

func (w *world) blocked(done <-chan struct{}) {
	select {
	case <-done:
		require.Fail(w, "did not wait")
	case <-time.After(soon):
	}
}

func (w *world) ended(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		require.Fail(w, "hangs")
	}
}

// TestWaitsComeInSlices: waits in slices return while the work runs, end with the work submitted before, and do not
// wait for later work of other callers.
func TestWaitsComeInSlices(t *testing.T) {
	w, device := newSteeredWorld(t, -1)
	s := w.streams(1)[0]
	x := w.f32(w.mps, []float32{1, 2}, 2)
	for name, slice := range map[string]func(y *runtime.Tensor, e *runtime.Event, on runtime.Wait, d time.Duration) (runtime.Wait, error){
		"context": func(_ *runtime.Tensor, _ *runtime.Event, on runtime.Wait, d time.Duration) (runtime.Wait, error) {
			return w.mps.WaitFor(on, d)
		},
		"stream": func(_ *runtime.Tensor, _ *runtime.Event, on runtime.Wait, d time.Duration) (runtime.Wait, error) {
			return s.WaitFor(on, d)
		},
		"event": func(_ *runtime.Tensor, e *runtime.Event, on runtime.Wait, d time.Duration) (runtime.Wait, error) {
			return e.WaitFor(on, d), nil
		},
		"tensor": func(y *runtime.Tensor, _ *runtime.Event, on runtime.Wait, d time.Duration) (runtime.Wait, error) {
			return y.WaitFor(on, d, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			open, openLater := device.gate(), device.gate()
			e, err := w.mps.NewEvent(false)
			require.NoError(t, err)
			y := w.neg(x, s)
			require.NoError(t, e.Record(s))
			wait, err := slice(y, e, 0, time.Millisecond)
			require.NoError(t, err)
			require.NotZero(t, wait, "the work has not run")
			later := w.neg(x, s)
			open()
			for range 10000 {
				if wait, err = slice(y, e, wait, time.Millisecond); wait == 0 {
					break
				}
			}
			require.NoError(t, err)
			require.Zero(t, wait)
			require.False(t, s.Query(), "later work still runs")
			openLater()
			require.NoError(t, s.Synchronize())
			w.free(y, later)
			require.NoError(t, e.Close())
		})
	}
	wait, err := w.mps.WaitFor(99, time.Hour)
	require.NoError(t, err)
	require.Zero(t, wait, "a number that names no wait")
	w.free(x)
}

// TestEventsAreTimedByTheWorker: the time of an event is when the worker reaches it, not when it is recorded.
func TestEventsAreTimedByTheWorker(t *testing.T) {
	w, device := newSteeredWorld(t, -1)
	x := w.f32(w.mps, []float32{1, 2}, 2)
	start, err := w.mps.NewEvent(true)
	require.NoError(t, err)
	end, err := w.mps.NewEvent(true)
	require.NoError(t, err)
	_, err = start.Elapsed(end)
	require.ErrorContains(t, err, "recorded")
	device.next(func() error { time.Sleep(50 * time.Millisecond); return nil })
	require.NoError(t, start.Record(w.mps.Default()))
	y := w.neg(x, nil)
	require.NoError(t, end.Record(w.mps.Default()))
	require.False(t, end.Query(), "recording does not wait")
	_, err = start.Elapsed(end)
	require.ErrorContains(t, err, "synchronize first")
	end.Synchronize()
	ms, err := start.Elapsed(end)
	require.NoError(t, err)
	require.GreaterOrEqual(t, ms, 50.0)
	require.Less(t, ms, 5000.0)

	plain, err := w.mps.NewEvent(false)
	require.NoError(t, err)
	require.NoError(t, plain.Record(w.mps.Default()))
	for _, pair := range [][2]*runtime.Event{{plain, end}, {start, plain}} {
		_, err = pair[0].Elapsed(pair[1])
		require.ErrorContains(t, err, "enable_timing")
	}
	w.free(x, y)
}

// TestBackPressure: a caller that submits too much work waits, or is refused where it must not wait.
func TestBackPressure(t *testing.T) {
	w, device := newSteeredWorld(t, -1)
	x := w.f32(w.mps, []float32{1, 2}, 2)
	require.Zero(t, x.Busy(nil))
	require.Zero(t, w.mps.Busy(nil))
	open := device.gate()
	refused := false
	flood := returns(func() {
		for range 5000 {
			refused = refused || x.Busy(nil) != 0
			w.free(w.neg(x, nil))
		}
	})
	require.Eventually(t, func() bool { return x.Busy(nil) != 0 }, 10*time.Second, time.Millisecond)
	w.blocked(flood)
	wait := x.Busy(nil)
	require.Equal(t, wait, w.rt.WaitFor(wait, time.Millisecond))
	require.Equal(t, wait, x.Busy(nil), "all refused callers share one wait")
	require.NotZero(t, w.mps.Busy(nil))
	open()
	w.ended(flood)
	require.True(t, refused)
	require.NoError(t, w.mps.Synchronize())
	require.Zero(t, w.rt.WaitFor(wait, time.Hour))
	require.Zero(t, x.Busy(nil))
	w.free(x)
}

var errInjected = status.Errorf(status.Device, "[neg] the device has failed")

func fails() error { return errInjected }

// TestFailuresBlockNoStream: after work that fails, later events are reached, other streams continue, and each
// stream on which the failure had effects reports it once.
func TestFailuresBlockNoStream(t *testing.T) {
	w, device := newSteeredWorld(t, -1)
	ss := w.streams(2)
	x := w.f32(w.mps, []float32{1, 2}, 2)
	gate := make(chan struct{})
	device.next(func() error { <-gate; return errInjected })
	bad := w.neg(x, ss[0])
	e, err := w.mps.NewEvent(false)
	require.NoError(t, err)
	require.NoError(t, e.Record(ss[0]))
	ss[1].WaitEvent(e)
	fine := w.neg(x, ss[1])
	worse := w.neg(bad, ss[1])
	var reported error
	waiting := returns(func() { reported = ss[0].Synchronize() })
	passed := returns(e.Synchronize)
	w.blocked(waiting)
	close(gate)
	w.ended(waiting)
	w.ended(passed)
	require.Equal(t, error(errInjected), reported)
	require.NoError(t, ss[0].Synchronize(), "reported once")
	require.Equal(t, []float32{-1, -2}, w.floats(fine))
	for range 2 {
		require.Equal(t, error(errInjected), bad.Read(make([]byte, 8)))
		require.Equal(t, error(errInjected), worse.Read(make([]byte, 8)))
	}
	require.Equal(t, error(errInjected), ss[1].Synchronize())
	again := w.neg(bad, ss[0])
	require.NoError(t, w.mps.Synchronize(), "a failure that was reported is not reported again for what depends on it")
	require.Equal(t, error(errInjected), again.Read(make([]byte, 8)))
	w.free(x, bad, fine, worse, again)
}

// TestOverwritingClearsFailures: a tensor that is written completely is valid again.
func TestOverwritingClearsFailures(t *testing.T) {
	w, device := newSteeredWorld(t, -1)
	x := w.f32(w.mps, []float32{1, 2}, 2)
	for name, overwrite := range map[string]func(bad *runtime.Tensor){
		"operator": func(bad *runtime.Tensor) {
			require.NoError(t, eager.CallInto(w.rt, op.MustByName("neg"), of(x), nil, bad, nil))
		},
		"write": func(bad *runtime.Tensor) { require.NoError(t, bad.Write(make([]byte, 8))) },
	} {
		device.next(fails)
		bad := w.neg(x, nil)
		require.Error(t, bad.Read(make([]byte, 8)), name)
		require.Error(t, w.mps.Synchronize(), name)
		overwrite(bad)
		require.NoError(t, bad.Read(make([]byte, 8)), name)
		w.free(bad)
	}
	w.free(x)
}

// TestClosedStreamsLoseNoFailure: the failure of a closed stream that was not reported is reported by the device.
func TestClosedStreamsLoseNoFailure(t *testing.T) {
	w, device := newSteeredWorld(t, -1)
	s, err := w.mps.NewStream()
	require.NoError(t, err)
	require.NotZero(t, s.ID())
	require.Zero(t, w.mps.Default().ID())
	x := w.f32(w.mps, []float32{1, 2}, 2)
	device.next(fails)
	bad := w.neg(x, s)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice")
	require.False(t, w.mps.Idle())
	require.Equal(t, error(errInjected), w.mps.Synchronize())
	require.True(t, w.mps.Idle())
	require.NoError(t, w.mps.Default().Close(), "the default stream stays")
	other, err := w.mps.NewStream()
	require.NoError(t, err)
	require.Greater(t, other.ID(), s.ID())
	require.NoError(t, other.Close())
	w.free(x, bad)
}

// TestCopiesDoNotWait: copies between places return before they have run; the source may be freed or written to at
// once, and the result fails where the source does.
func TestCopiesDoNotWait(t *testing.T) {
	w, device := newSteeredWorld(t, -1)
	x := w.f32(w.mps, []float32{1, 2, 3, 4}, 2, 2)
	turned := w.call("transpose", of(x), ints(1, 0))
	open := device.gate()
	y := w.neg(turned, nil)
	column, err := y.Index([]runtime.IndexItem{{Kind: runtime.IndexEllipsis}, {Kind: runtime.IndexInt, Start: 1}})
	require.NoError(t, err)
	home, err := y.To(w.cpu, false, nil)
	require.NoError(t, err)
	part, err := column.To(w.cpu, false, nil) // strided
	require.NoError(t, err)
	w.free(y, column)
	require.NotZero(t, home.Busy(nil), "an operator on it would wait")
	back, err := home.To(w.mps, false, nil)
	require.NoError(t, err)
	changed := returns(func() { // must let both copies pass
		require.NoError(t, eager.CallInto(w.rt, op.MustByName("add"), of(home, home), nil, home, nil))
	})
	w.blocked(changed)
	open()
	w.ended(changed)
	require.Equal(t, []float32{-2, -6, -4, -8}, w.floats(home))
	require.Equal(t, []float32{-3, -4}, w.floats(part))
	require.Equal(t, []float32{-1, -3, -2, -4}, w.floats(back))
	require.NoError(t, w.mps.Synchronize())
	require.Zero(t, home.Busy(nil))
	w.free(turned, home, part, back)

	device.next(fails)
	bad := w.neg(x, nil)
	lost, err := bad.To(w.cpu, false, nil)
	require.NoError(t, err)
	require.Error(t, w.mps.Synchronize())
	require.Equal(t, error(errInjected), lost.Read(make([]byte, 16)))
	_, err = eager.Unary(w.rt, op.MustByName("neg"), lost, nil)
	require.Equal(t, error(errInjected), err)
	whole := w.f32(w.cpu, []float32{5, 6, 7, 8}, 2, 2)
	require.NoError(t, eager.CallInto(w.rt, op.MustByName("neg"), of(whole), nil, lost, nil))
	require.Equal(t, []float32{-5, -6, -7, -8}, w.floats(lost), "written over")
	w.free(x, bad, lost, whole)
}

// TestSharedMemoryIsCopiedAtOnce: memory that may be written outside the runtime is copied before To returns.
func TestSharedMemoryIsCopiedAtOnce(t *testing.T) {
	w, device := newSteeredWorld(t, -1)
	busy := w.f32(w.mps, []float32{1, 2}, 2)
	open := device.gate()
	held := w.neg(busy, nil)
	x := w.f32(w.cpu, []float32{1, 2}, 2)
	p, err := x.Map()
	require.NoError(t, err)
	y, err := x.To(w.mps, false, nil)
	require.NoError(t, err)
	unsafe.Slice((*float32)(p), 2)[0] = 9
	foreign := []float32{3, 4}
	z, err := w.rt.Import(x.DType, x.Layout, unsafe.Pointer(&foreign[0]), nil)
	require.NoError(t, err)
	u, err := z.To(w.mps, false, nil)
	require.NoError(t, err)
	foreign[0] = 9
	open()
	require.Equal(t, []float32{1, 2}, w.floats(y))
	require.Equal(t, []float32{3, 4}, w.floats(u))
	w.free(busy, held, x, y, z, u)
}
