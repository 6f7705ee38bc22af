package metal

import (
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
)

// TestMain lets command buffers wait for a random time before they run, so that a missing wait shows. The
// stand-in reads the environment when it is loaded.
func TestMain(m *testing.M) {
	if os.Getenv("FAKEMETAL_DELAY_US") == "" {
		os.Setenv("FAKEMETAL_DELAY_US", "200")
	}
	os.Setenv("FAKEMETAL_STRICT", "1") // what a kernel does wrong ends the process: no test overlooks it
	os.Exit(m.Run())
}

// rig is a device with memory and a stream, over the stand-in for Metal.
type rig struct {
	*Device
	t      testing.TB
	heap   device.Heap
	used   int64
	stream *stream
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
	r := &rig{Device: d, t: t}
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

// needGraphs skips a test of MPSGraph where what stands in for Metal has none.
func needGraphs(t testing.TB, d *Device) {
	if d.graphs == 0 {
		t.Skip("the stand-in for Metal has no MPSGraph yet")
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

// graphOf is a call of an addition as a graph.
func graphOf(c *device.Call) *graph.Graph {
	row := op.MustByName("add")
	c.Op = row.ID
	values := func(os []device.Operand) (vs []graph.Value) {
		for i := range os {
			vs = append(vs, graph.Value{DType: os[i].DType, Layout: os[i].Layout})
		}
		return vs
	}
	return graph.Single(row, c.Attrs, c.Axes, values(c.In), values(c.Out))
}

// compile makes the program for a call of an addition.
func (r *rig) compile(c *device.Call) device.Program {
	p, err := r.Compile(graphOf(c))
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, p.Close()) })
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
