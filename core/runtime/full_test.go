package runtime_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host"
)

// boundedDevice has streams that are full when a test says so.
type boundedDevice struct {
	*steered
	full atomic.Bool
}

func (d *boundedDevice) NewStream() (device.Stream, error) {
	s, err := d.steered.NewStream()
	return &boundedStream{s, d}, err
}

type boundedStream struct {
	device.Stream
	device *boundedDevice
}

func (s *boundedStream) Full() bool { return s.device.full.Load() }

// TestFullStreamIsBusy: while the device's stream is full, callers that must not wait are refused, until its
// oldest work has completed.
func TestFullStreamIsBusy(t *testing.T) {
	d := &boundedDevice{steered: &steered{Device: host.New(host.Config{Async: true, InlineLimit: -1})}}
	w := newWorldOn(t, d)
	x := w.f32(w.mps, []float32{1, 2}, 2)
	open := d.gate()
	y := w.call("exp", of(x))
	require.Zero(t, x.Busy(nil))
	d.full.Store(true)
	wait := x.Busy(nil)
	require.NotZero(t, wait)
	require.Equal(t, wait, w.mps.Busy(nil), "all refused callers share one wait")
	require.Equal(t, wait, w.rt.WaitFor(wait, time.Millisecond), "no work has completed")
	open()
	require.Zero(t, w.rt.WaitFor(wait, time.Minute))

	require.NoError(t, w.mps.Synchronize())
	wait = x.Busy(nil)
	require.Zero(t, w.rt.WaitFor(wait, time.Minute), "a wait on a stream without work is over")
	d.full.Store(false)
	require.Zero(t, x.Busy(nil))
	w.free(x, y)
}
