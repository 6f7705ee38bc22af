package metal

import (
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// TestMain lets command buffers wait for a random time before they run, so that a missing wait shows, and overlap and
// fail as on a Mac. The mock reads the environment when it is loaded.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"FAKEMETAL_DELAY_US": "200", "FAKEMETAL_STRICT": "1", // what a kernel does wrong ends the process: no test overlooks it
		"FAKEMETAL_OVERLAP": "1", "FAKEMETAL_TRACKED_ORDER": "1", "FAKEMETAL_ADDRESSES": "1", "FAKEMETAL_SILENT_FAILURES": "1",
		"FAKEMETAL_DEAD_QUEUES": "1", "FAKEMETAL_READONLY_PAGES": "1", "FAKEMETAL_WATCHDOG_MS": "5000",
	} {
		if os.Getenv(name) == "" {
			os.Setenv(name, value)
		}
	}
	os.Exit(m.Run())
}

// rig is a device with memory and a stream, over the mock of Metal.
type rig struct {
	*Device
	t      testing.TB
	heap   device.Heap
	used   int64
	stream *stream
	prefer Prefer
}

// room is the size of a rig's heap.
const room = 4 << 20

// newRig opens a device. Work lingers for ever, so that counts are exact.
func newRig(t testing.TB, c Config) *rig {
	c.Library = fakemetal.Library(t)
	if c.Linger == 0 {
		c.Linger = -1
	}
	d, err := Open(c)
	require.NoError(t, err)
	r := &rig{Device: d, t: t, prefer: c.Prefer}
	r.heap, err = d.NewHeap(room)
	require.NoError(t, err)
	r.stream = r.newStream()
	t.Cleanup(func() {
		require.NoError(t, r.stream.Close())
		require.NoError(t, r.heap.Close())
		require.NoError(t, d.Close())
	})
	fakemetal.Reset(t)
	return r
}

// bench is the rig for operands that lie anyhow; see metaltest.
func (r *rig) bench(t testing.TB) *metaltest.Bench {
	return metaltest.Over(t, r.Device, r.Device.Device, r.stream, r.prefer)
}

// needGraphs skips a test of MPSGraph where the mock of Metal has none.
func needGraphs(t testing.TB, d *Device) {
	if d.Graphs == 0 {
		t.Skip("the mock of Metal has no MPSGraph")
	}
}

func (r *rig) newStream() *stream {
	s, err := r.NewStream()
	require.NoError(r.t, err)
	return s.(*stream)
}

// owner waits for the end of one call.
type owner struct {
	ready error
	ended chan error
}

func newOwner() *owner          { return &owner{ended: make(chan error, 1)} }
func (o *owner) Ready() error   { return o.ready }
func (o *owner) Done(err error) { o.ended <- err }

// of is a tensor of float32 in the heap, at a multiple of 256 bytes.
func (r *rig) of(values ...float32) device.Operand {
	o := r.at(r.used, dtype.Float32, int64(len(values)))
	r.used += (int64(len(values))*4 + 255) &^ 255
	copy(floats(&o), values)
	return o
}

// at is a tensor in the heap from an offset on.
func (r *rig) at(offset int64, d dtype.DType, n int64) device.Operand {
	return device.Operand{Addr: unsafe.Pointer(&r.heap.Bytes()[offset]), Heap: r.heap, DType: d, Layout: line(n)}
}

func line(n int64) shape.Layout {
	s, err := shape.Of(n)
	if err != nil {
		panic(err)
	}
	return shape.Contiguous(s)
}

// scalar is a float32 that fills a line.
func scalar(v float32, n int64) device.Operand {
	l := line(n)
	l.Strides[0] = 0
	return device.Operand{Addr: unsafe.Pointer(&[2]float32{v}), DType: dtype.Float32, Layout: l}
}

func floats(o *device.Operand) []float32 { return unsafe.Slice((*float32)(o.Addr), o.Numel()) }

// planOf is a call of an addition as a plan.
func planOf(c *device.Call) *device.Plan { return metaltest.Single(op.MustByName("add"), c) }

// aside is a call with an output of its own, for a stream that is in no order with that of the other call.
func (r *rig) aside(c *device.Call) *device.Call {
	own := *c
	own.Out = []device.Operand{r.of(make([]float32, c.Out[0].Numel())...)}
	return &own
}

// compile makes the program for a call of an addition. It is closed at the end of the test, when the rig's stream has
// ended all its runs: a batch that waits for another stream has yet to be encoded.
func (r *rig) compile(c *device.Call) device.Program {
	p, err := r.Compile(planOf(c))
	require.NoError(r.t, err)
	r.t.Cleanup(func() {
		r.stream.Sync(r.stream.submitted)
		require.NoError(r.t, p.Close())
	})
	return p
}

// call is a call with an owner.
func call(out device.Operand, in ...device.Operand) (*device.Call, *owner) {
	o := newOwner()
	return &device.Call{In: in, Out: []device.Operand{out}, Owner: o}, o
}

// random is n numbers.
func random(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rand.NormFloat64())
	}
	return out
}
