package runtime_test

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/internal/script"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// faults makes the n-th request of one kind to any of its devices fail. Heaps fail from the n-th on, because the
// allocator tries again after a failure.
type faults struct {
	kind  string
	at    int64 // from 1; 0 for never
	count atomic.Int64
	heaps atomic.Int64 // open
	lacks op.ID        // an operator that only the CPU has; 0: none
}

func (f *faults) failsNow(kind string) bool {
	if f.kind != kind {
		return false
	}
	n := f.count.Add(1)
	return n == f.at || kind == "heap" && f.at > 0 && n > f.at
}

// faulty is a device that fails on demand. With idle it computes nothing, which tensors of any size
// survive; their memory is address space that is never touched.
type faulty struct {
	device.Device
	*faults
	idle bool
}

func (d *faulty) NewHeap(size int64) (device.Heap, error) {
	if d.failsNow("heap") {
		return nil, status.Errorf(status.OutOfMemory, "[heap] injected")
	}
	memory, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, err
	}
	d.heaps.Add(1)
	return &mapped{memory, d.faults}, nil
}

type mapped struct {
	memory []byte
	*faults
}

func (h *mapped) Bytes() []byte { return h.memory }

func (h *mapped) Close() error {
	h.heaps.Add(-1)
	return syscall.Munmap(h.memory)
}

func (d *faulty) Compile(g *device.Plan) (device.Program, error) {
	if d.failsNow("compile") {
		return nil, status.Errorf(status.Device, "[compile] injected")
	}
	for i := range g.Steps {
		if d.lacks != 0 && g.Steps[i].Call.Op == d.lacks && d.Info().Async {
			return nil, &device.StepError{Step: i, Err: status.Errorf(status.Unsupported, "[compile] not here")}
		}
	}
	return d.Device.Compile(g)
}

func (d *faulty) NewEvent() (device.Event, error) {
	if d.failsNow("event") {
		return nil, status.Errorf(status.Device, "[event] injected")
	}
	return d.Device.NewEvent()
}

func (d *faulty) NewStream() (device.Stream, error) {
	if d.failsNow("stream") {
		return nil, status.Errorf(status.Device, "[stream] injected")
	}
	s, err := d.Device.NewStream()
	return &faultyStream{s, d}, err
}

type faultyStream struct {
	device.Stream
	device *faulty
}

func (s *faultyStream) Run(p device.Program, c *device.Call) device.Ticket {
	s.spoil("run", c)
	return s.Stream.Run(p, c)
}

func (s *faultyStream) Copy(c *device.Call) device.Ticket {
	s.spoil("copy", c)
	return s.Stream.Copy(c)
}

var errSkipped = status.Errorf(status.Device, "[run] skipped")

func (s *faultyStream) spoil(kind string, c *device.Call) {
	switch {
	case s.device.failsNow(kind):
		c.Owner = &spoiled{c.Owner, status.Errorf(status.Device, "[%s] injected", kind)}
	case s.device.idle:
		c.Owner = &spoiled{c.Owner, errSkipped}
	}
}

// spoiled completes a call before it runs: with an error, or as if it had run.
type spoiled struct {
	device.Owner
	err error
}

func (o *spoiled) Ready() error {
	if err := o.Owner.Ready(); err != nil {
		return err
	}
	return o.err
}

func (o *spoiled) Done(err error) {
	if err == errSkipped {
		err = nil
	}
	o.Owner.Done(err)
}

// machine is a runtime over faulty devices.
type machine struct {
	*testing.T
	*faults
	rt *runtime.Runtime
	c  *runtime.Context
}

func (m *machine) start(idle bool) error {
	wrap := func(c host.Config) device.Device { return &faulty{host.New(c), m.faults, idle} }
	rt, err := runtime.New(runtime.Config{CPU: wrap(host.Config{Threads: 1}), MPS: []device.Device{wrap(host.Config{Threads: 1, Async: true, InlineLimit: -1})}})
	if err != nil {
		return err
	}
	m.rt = rt
	m.c, err = rt.Context(place.MPS(0))
	return err
}

// end closes the machine after failure n, which has to have left nothing.
func (m *machine) end(t *testing.T, n int64) {
	require.Zero(t, m.rt.Live(), "failure %d", n)
	require.Zero(t, m.c.Stats().Allocated.Current, "failure %d", n)
	require.NoError(t, m.rt.Close())
	require.Zero(t, m.heaps.Load())
}

// TestEveryFailureIsClean makes each request of a program to its devices fail in turn: the program gets an error
// each time, nothing leaks, and the same program works afterwards, with the same result.
func TestEveryFailureIsClean(t *testing.T) {
	for _, c := range []struct {
		kind string
		n    int64 // elements along a side; with 3000 every tensor has a heap of its own
		idle bool
		min  int64
	}{
		{"run", 40, false, 30},
		{"copy", 40, false, 6},
		{"compile", 40, false, 9},
		{"stream", 40, false, 4},
		{"heap", 40, false, 1},
		{"heap", 3000, true, 20}, // every allocation that no freed memory serves
	} {
		t.Run(fmt.Sprintf("%s of side %d", c.kind, c.n), func(t *testing.T) {
			if testing.Short() {
				sample.Skip(t, 5, c.kind, int(c.n)+2)
			}
			want := 0.0
			for n := int64(0); ; n++ { // 0 is the run without a failure
				m := &machine{T: t, faults: &faults{kind: c.kind, at: n}}
				if err := m.start(c.idle); err != nil {
					require.ErrorContains(t, err, "injected")
					continue
				}
				result, err := script.Run(m.rt, m.c, c.n)
				over := m.count.Load() < n // there was no n-th one
				if n == 0 {
					require.NoError(t, err)
					want = result
				} else if !over {
					require.ErrorContains(t, err, "injected", "failure %d", n)
					m.at = 0
					result, err = script.Run(m.rt, m.c, c.n)
				}
				require.NoError(t, err, "failure %d, afterwards", n)
				require.Equal(t, want, result, "failure %d, afterwards", n)
				m.end(t, n)
				if over {
					require.GreaterOrEqual(t, n-1, c.min)
					t.Logf("%d failures of kind %s, each clean", n-1, c.kind)
					return
				}
			}
		})
	}
}
