package runtime_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/kernels/host"
)

// steered is the emulated mps device with a hook: the test sets what each call does before it runs, on the
// worker that runs it.
type steered struct {
	device.Device
	mu    sync.Mutex
	hooks []func() error // for the next calls, one each
	each  func() error   // for all others; nil: nothing

	refusal           error // of memory to share
	adopted, returned atomic.Int64
}

// newSteeredWorld is newWorld with a steered device; inline as in host.Config.
func newSteeredWorld(t *testing.T, inline int64) (*world, *steered) {
	d := &steered{Device: host.New(host.Config{Async: true, InlineLimit: inline})}
	return newWorldOn(t, d), d
}

// next sets a hook for the next call that is submitted; if it returns an error, the call fails.
func (d *steered) next(do func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hooks = append(d.hooks, do)
}

// gate blocks the next call until open is called.
func (d *steered) gate() (open func()) {
	gate := make(chan struct{})
	d.next(func() error { <-gate; return nil })
	return sync.OnceFunc(func() { close(gate) })
}

// Adopt counts the heaps over foreign memory.
func (d *steered) Adopt(memory []byte) (device.Heap, error) {
	if d.refusal != nil {
		return nil, d.refusal
	}
	h, err := d.Device.(device.Adopter).Adopt(memory)
	d.adopted.Add(1)
	return &lentHeap{h, d}, err
}

type lentHeap struct {
	device.Heap
	device *steered
}

func (h *lentHeap) Close() error {
	h.device.returned.Add(1)
	return h.Heap.Close()
}

func (d *steered) take() func() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.hooks) == 0 {
		return d.each
	}
	do := d.hooks[0]
	d.hooks = d.hooks[1:]
	return do
}

func (d *steered) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return &steeredStream{s, d}, err
}

type steeredStream struct {
	device.Stream
	device *steered
}

func (s *steeredStream) Run(p device.Program, c *device.Call) device.Ticket {
	s.steer(c)
	return s.Stream.Run(p, c)
}

func (s *steeredStream) Copy(c *device.Call) device.Ticket {
	s.steer(c)
	return s.Stream.Copy(c)
}

func (s *steeredStream) steer(c *device.Call) {
	if do := s.device.take(); do != nil {
		c.Owner = &steeredOwner{c.Owner, do}
	}
}

type steeredOwner struct {
	device.Owner
	do func() error
}

func (o *steeredOwner) Ready() error {
	if err := o.do(); err != nil {
		return err
	}
	return o.Owner.Ready()
}

// naps sleeps for a random time, usually not at all.
func naps(seed uint64) func() error {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	return func() error {
		mu.Lock()
		n := rng.IntN(4)
		mu.Unlock()
		if n > 0 {
			time.Sleep(time.Duration(n) * 40 * time.Microsecond)
		}
		return nil
	}
}

// streams makes streams that are closed when the test ends.
func (w *world) streams(n int) (ss []*runtime.Stream) {
	for range n {
		s, err := w.mps.NewStream()
		require.NoError(w, err)
		w.Cleanup(func() { require.NoError(w, s.Close()) })
		ss = append(ss, s)
	}
	return ss
}
