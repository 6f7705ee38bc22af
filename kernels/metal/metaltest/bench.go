// Package metaltest is what tests of the packages under kernels/metal share: a device under test with operands that
// lie in every way, the host device as its oracle, and how closely the two have to agree.
//
// Only tests import it. It opens no device, so that the tests of every package can use it.
package metaltest

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// Bench is a device under test with a stream. Operands are each in a heap of its own of exact size, so that the
// mock of Metal sees every access beyond one.
type Bench struct {
	device.Device
	GPU    *gpu.Device // what is under the device
	T      testing.TB
	Stream device.Stream

	// Granules makes heaps as long as whole granules, which MPSGraph may need.
	Granules bool

	compiles *atomic.Int64 // shaders and graphs, so far
}

// New is a bench over a device that has just been opened, which it closes when the test is over.
func New(t testing.TB, d device.Device, g *gpu.Device, prefer gpu.Prefer) *Bench {
	s, err := d.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, d.Close())
	})
	if prefer == gpu.PreferGraphs && g.Graphs == 0 {
		t.Skip("the mock of Metal has no MPSGraph")
	}
	fakemetal.Reset(t)
	return Over(t, d, g, s, prefer)
}

// Over is a bench over a device that the test closes.
func Over(t testing.TB, d device.Device, g *gpu.Device, s device.Stream, prefer gpu.Prefer) *Bench {
	b := &Bench{Device: d, GPU: g, T: t, Stream: s, Granules: prefer == gpu.PreferGraphs, compiles: new(atomic.Int64)}
	g.Compiling = func() { b.compiles.Add(1) }
	return b
}

// For is the same bench for a part of the test, whose memory is freed when that is over.
func (b *Bench) For(t testing.TB) *Bench {
	part := *b
	part.T = t
	return &part
}

// Memory is so many bytes of a new heap, at least 4, which is freed when the test is over.
// SAFETY: the heap is as long as that, and stays until then.
func (b *Bench) Memory(n int64) (unsafe.Pointer, device.Heap) {
	size := max((n+3)&^3, 4)
	if b.Granules {
		size = int64(gpu.RoundUp(uint64(size), gpu.Granule))
	}
	h, err := b.NewHeap(size)
	require.NoError(b.T, err)
	b.T.Cleanup(func() { require.NoError(b.T, h.Close()) })
	return unsafe.Pointer(&h.Bytes()[0]), h
}

// Owner waits for the end of one call. What the device reports of it is in Ended.
type Owner struct {
	NotReady error // what Ready answers
	Ended    chan error
}

// NewOwner is the owner of one call.
func NewOwner() *Owner { return &Owner{Ended: make(chan error, 1)} }

// Ready is asked before Done.
func (o *Owner) Ready() error { return o.NotReady }

// Done is called once.
func (o *Owner) Done(err error) { o.Ended <- err }

// ByHost runs a call on the host device, the oracle, into memory of its own that begins as the call's output is, so
// that the device under test can run the same call afterwards.
// SAFETY: output and workspace are Go memory that is alive until the call has ended.
func ByHost(t testing.TB, row *op.Row, c device.Call) Outcome {
	d := host.New(host.Config{Threads: 1})
	p, err := d.Compile(Single(row, &c))
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	// Each result has memory of its own, one byte longer, so that the address of an empty one is valid too.
	results, memory := make([]device.Operand, len(c.Out)), make([][]byte, len(c.Out))
	for i, out := range c.Out {
		memory[i] = append(Contents(&out), 0)
		out.Addr, out.Heap, out.Layout = unsafe.Pointer(&memory[i][0]), nil, shape.Contiguous(out.Shape)
		results[i] = out
	}
	c.Out = results
	if n := p.Workspace(&c); n > 0 {
		scratch := make([]uint64, (n+7)/8+1) // an end that is inside, for checkptr
		c.Workspace = unsafe.Pointer(&scratch[0])
	}
	o := NewOwner()
	c.Owner = o
	s.Run(p, &c)
	outcome := Outcome{memory[0][:len(memory[0])-1], c.Count, <-o.Ended, nil}
	if len(memory) > 1 {
		outcome.Indices = memory[1][:len(memory[1])-1]
	}
	return outcome
}

// ByGPU runs a call on the device under test.
func (b *Bench) ByGPU(row *op.Row, c *device.Call) Outcome {
	p, err := b.Compile(Single(row, c))
	require.NoError(b.T, err)
	return b.Runs(p, c)
}

// Runs is the outcome of a run of a program, which is closed. Whatever a run needs has been compiled before: one that
// compiles fails the test.
func (b *Bench) Runs(p device.Program, c *device.Call) Outcome {
	if n := p.Workspace(c); n > 0 {
		c.Workspace, c.Scratch = b.Memory(n)
	}
	o := NewOwner()
	c.Owner = o
	compiles := b.compiles.Load()
	b.Stream.Sync(b.Stream.Run(p, c))
	err := <-o.Ended
	require.Equal(b.T, compiles, b.compiles.Load(), "a run has compiled")
	require.NoError(b.T, p.Close())
	outcome := Outcome{Contents(&c.Out[0]), c.Count, err, nil}
	if len(c.Out) > 1 {
		outcome.Indices = Contents(&c.Out[1])
	}
	return outcome
}

// Silent owns calls whose end is of no interest.
type Silent struct{}

// Ready is asked before Done.
func (Silent) Ready() error { return nil }

// Done is called once.
func (Silent) Done(error) {}

// Call is a call with an owner.
func Call(out device.Operand, in ...device.Operand) (*device.Call, *Owner) {
	o := NewOwner()
	return &device.Call{In: in, Out: []device.Operand{out}, Owner: o}, o
}

// Of is a line of float32.
func (b *Bench) Of(values ...float32) device.Operand {
	return b.Operand(dtype.Float32, "contiguous", func(i int64) float64 { return float64(values[i]) }, int64(len(values)))
}

// Scalar is a float32 of the CPU's that fills a line.
// SAFETY: the eight bytes are Go memory that the operand keeps alive.
func Scalar(v float32, n int64) device.Operand {
	l := Line(n)
	l.Strides[0] = 0
	return device.Operand{Addr: unsafe.Pointer(&[2]float32{v}), DType: dtype.Float32, Layout: l}
}

// Floats is the elements of a line of float32.
// SAFETY: the memory is alive as long as its test.
func Floats(o *device.Operand) []float32 { return unsafe.Slice((*float32)(o.Addr), o.Numel()) }

// Random is n normal numbers.
func Random(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rand.NormFloat64())
	}
	return out
}
