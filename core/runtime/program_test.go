package runtime_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
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
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// chain is softmax((x @ w) * 2 + y) and tanh of it, for x of n rows and of side columns; w is a constant of
// ones over side.
func chain(t testing.TB, side int64) *graph.Graph {
	b := graph.NewBuilder()
	must := func(name string, in ...graph.Value) graph.Value {
		out, err := b.Call(op.MustByName(name), in, nil)
		require.NoError(t, err)
		return out[0]
	}
	x, y := b.Input(typed(dtype.Float32, b.Symbol(), side)), b.Input(typed(dtype.Float32, side))
	share := double(1 / float64(side))
	one := binary.LittleEndian.AppendUint32(nil, uint32(share.Bits(dtype.Float32)))
	weights := op.Const{Type: typed(dtype.Float32, side, side), Bytes: bytes.Repeat(one, int(side*side))}
	h := must("softmax", must("add", must("multiply", must("matmul", x, b.Constant(&weights)), b.Scalar(integer(2))), y))
	return b.Build(h, must("tanh", h))
}

// filled is a float32 tensor with all elements alike.
func (w *world) filled(c *runtime.Context, value float32, dims ...int64) *runtime.Tensor {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = value
	}
	return w.f32(c, values, dims...)
}

// runChain runs a program of chain on n rows and holds the result against what it has to be.
func (w *world) runChain(p *execute.Program, n, side int64, on *runtime.Stream) error {
	x, y := w.filled(p.Context(), 1, n, side), w.filled(p.Context(), 3, side)
	out, err := p.Run([]*runtime.Tensor{x, y}, on)
	w.rt.Free(x.Handle())
	w.rt.Free(y.Handle())
	if err != nil {
		return err
	}
	defer w.free(out...)
	b := make([]byte, 4*n*side)
	if err := out[0].Read(b); err != nil {
		return err
	}
	if got, want := math.Float32frombits(binary.LittleEndian.Uint32(b)), 1/float32(side); got != want {
		return fmt.Errorf("the first element is %g; want %g", got, want)
	}
	return nil
}

// program runs a program of three parts for two shapes, with an input that has strides.
func (m *machine) program(side int64) error {
	w := &world{T: m.T, rt: m.rt}
	p := execute.New(m.c, chain(m, side))
	defer p.Close()
	one := func(n int64) error {
		s, _ := shape.Of(side, n)
		x, err := m.rt.Empty(m.c, dtype.Float32, s, nil)
		if err != nil {
			return err
		}
		defer w.free(x)
		turned, err := eager.Call(m.rt, op.MustByName("transpose"), of(x), op.Attrs{ints(1, 0)}, nil, nil)
		if err != nil {
			return err
		}
		defer w.free(turned...)
		y, err := m.rt.Empty(m.c, dtype.Float32, shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{side}}, nil)
		if err != nil {
			return err
		}
		defer w.free(y)
		out, err := p.Run([]*runtime.Tensor{turned[0], y}, nil)
		if err != nil {
			return err
		}
		w.free(out...)
		return m.c.Synchronize()
	}
	for _, n := range []int64{side, side + 1, side} {
		if err := one(n); err != nil {
			_ = m.c.Synchronize() // may say it again
			return err
		}
	}
	return nil
}

// Everything that programs ask of their devices is made to fail in turn: an error each time, nothing left
// behind, and the same works afterwards.
func TestEveryFailureOfProgramsIsClean(t *testing.T) {
	for _, c := range []struct {
		kind string
		side int64 // with 3000 every tensor has a heap of its own
		idle bool
		min  int64
	}{
		{"run", 20, false, 12}, // three times a copy of the input and three parts
		{"compile", 20, false, 6},
		{"heap", 20, false, 1},
		{"heap", 3000, true, 5}, // the weight has none: the device has packed it
	} {
		t.Run(fmt.Sprintf("%s of side %d", c.kind, c.side), func(t *testing.T) {
			if testing.Short() {
				sample.Skip(t, 5, c.kind, int(c.side))
			}
			for n := int64(0); ; n++ {
				m := &machine{T: t, faults: &faults{kind: c.kind, at: n, lacks: op.IDSoftmax}}
				if err := m.start(c.idle); err != nil {
					require.ErrorContains(t, err, "injected")
					continue
				}
				err := m.program(c.side)
				over := m.count.Load() < n
				if n > 0 && !over {
					require.ErrorContains(t, err, "injected", "failure %d", n)
					m.at = 0
					err = m.program(c.side)
				}
				require.NoError(t, err, "failure %d, afterwards", n)
				require.GreaterOrEqual(t, m.c.Fallbacks()["softmax"], int64(3), "failure %d", n)
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

// TestEvictionDuringARun has the allocation of a run's outputs evict the run's own program: it stays until
// the run has ended.
func TestEvictionDuringARun(t *testing.T) {
	const side = 64
	d := &shaped{steered: steered{Device: host.New(host.Config{Async: true, InlineLimit: -1, Memory: 1 << 30})}}
	var c *runtime.Context
	pressed := 0
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), MPS: []device.Device{d}, Reclaim: func(int64) bool {
		pressed++
		return c.SetLimit(512<<20) == nil
	}})
	require.NoError(t, err)
	w := &world{T: t, rt: rt}
	c, err = rt.Context(place.MPS(0))
	require.NoError(t, err)
	p := execute.New(c, chain(t, side))
	const rows = 1 << 16 // two heaps hold no more than inputs and outputs
	x, y := w.filled(c, 1, rows, side), w.filled(c, 3, side)
	shapes := []op.Type{typed(dtype.Float32, rows, side), typed(dtype.Float32, side)}
	require.NoError(t, p.Prepare(shapes))
	require.NoError(t, c.SetLimit(c.Stats().Reserved.Current))
	open := d.gate()
	out, err := p.Run([]*runtime.Tensor{x, y}, nil)
	require.NoError(t, err)
	require.Positive(t, pressed)
	require.Zero(t, d.closed.Load(), "the program waits to run")
	open()
	require.Equal(t, float32(1)/side, w.floats(out[0])[0])
	require.EqualValues(t, 1, d.closed.Load())
	w.free(append(out, x, y)...)
	p.Close()
	require.Zero(t, c.Stats().Allocated.Current)
	require.NoError(t, rt.Close())
}

// TestCloseDuringARun closes a program whose runs are still queued.
func TestCloseDuringARun(t *testing.T) {
	w, d := newShapedWorld(t, 0)
	p := execute.New(w.mps, chain(t, 8))
	x, y := w.filled(w.mps, 1, 5, 8), w.filled(w.mps, 3, 8)
	open := d.gate()
	first, err := p.Run([]*runtime.Tensor{x, y}, nil)
	require.NoError(t, err)
	second, err := p.Run([]*runtime.Tensor{x, y}, nil)
	require.NoError(t, err)
	require.Positive(t, p.Info().Constants)
	p.Close()
	w.free(x, y)
	require.Zero(t, d.closed.Load())
	open()
	require.Equal(t, w.floats(first[0]), w.floats(second[0]))
	require.Equal(t, float32(0.125), w.floats(first[0])[7])
	w.free(append(first, second...)...)
	require.NoError(t, w.mps.Synchronize())
	require.Zero(t, w.mps.Stats().Allocated.Current, "constants went with the last run")
}

// Constants are loaded once, however many shapes there are, and stay when the cache is cleared.
func TestConstantsAreShared(t *testing.T) {
	const side = 100
	newWorld(t).each(func(w *world, c *runtime.Context) {
		before := c.Stats().Allocated.Current
		p := execute.New(c, chain(w, side))
		for n := range int64(5) {
			require.NoError(w, w.runChain(p, n+1, side, nil))
		}
		c.EmptyCache()
		require.NoError(w, w.runChain(p, 2, side, nil))
		require.NoError(w, c.Synchronize())
		info := p.Info()
		require.EqualValues(w, 6, info.Compilations)
		require.EqualValues(w, 4*side*side, info.Constants)
		require.Less(w, c.Stats().Allocated.Current-before, int64(2*4*side*side))
		p.Close()
		require.Equal(w, before, c.Stats().Allocated.Current)
	})
}

// TestProgramsOnThreads has callers with streams of their own run one program with more shapes than there is
// room for, while the cache is emptied. One operator is the CPU's.
func TestProgramsOnThreads(t *testing.T) {
	const side = 12
	d := &shaped{steered: steered{Device: &lacking{host.New(host.Config{Async: true, InlineLimit: -1}), func(id op.ID) bool { return id != op.IDSoftmax }}}}
	var warnings atomic.Int64
	rt, err := runtime.New(runtime.Config{
		CPU: host.New(host.Config{}), MPS: []device.Device{d}, Programs: program.Config{Entries: 3},
		Log: func(warning bool, text string) {
			if warning {
				warnings.Add(1)
			}
		},
	})
	require.NoError(t, err)
	w := &world{T: t, rt: rt}
	w.mps, _ = rt.Context(place.MPS(0))
	p := execute.New(w.mps, chain(t, side))
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			s, err := w.mps.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for range 60 {
				if err := w.runChain(p, 1+rng.Int64N(7), side, s); err != nil {
					t.Error(err)
					break
				}
				if rng.IntN(15) == 0 {
					w.mps.EmptyCache()
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.mps.Synchronize())
	require.Equal(t, 3, p.Info().Parts)
	require.EqualValues(t, 1, warnings.Load(), "softmax, once")
	require.EqualValues(t, 6*60, w.mps.Fallbacks()["softmax"])
	p.Close()
	require.Zero(t, rt.Live())
	require.Zero(t, w.mps.Stats().Allocated.Current)
	require.NoError(t, rt.Close())
	require.Equal(t, d.made.Load(), d.closed.Load())
}

// A failure on the device is that of all outputs and no matter of the next run.
func TestDivisionInAProgram(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		b := graph.NewBuilder()
		n := b.Symbol()
		x, y := b.Input(typed(dtype.Int32, n)), b.Input(typed(dtype.Int32, n))
		q, err := b.Call(op.MustByName("floor_divide"), []graph.Value{x, y}, nil)
		require.NoError(w, err)
		z, err := b.Call(op.MustByName("add"), []graph.Value{q[0], x}, nil)
		require.NoError(w, err)
		p := execute.New(c, b.Build(z[0], x))
		defer p.Close()
		make2 := func(a, b byte) *runtime.Tensor {
			t, err := w.rt.FromHost(c, dtype.Int32, typed(dtype.Int32, 2).Shape, []byte{a, 0, 0, 0, b, 0, 0, 0})
			require.NoError(w, err)
			return t
		}
		seven, two, zero := make2(7, 8), make2(2, 3), make2(2, 0)
		for range 2 {
			out, err := p.Run([]*runtime.Tensor{seven, zero}, nil)
			if c == w.cpu {
				require.Equal(w, status.Math, status.CodeOf(err))
			} else {
				require.NoError(w, err)
				for _, t := range out {
					require.Equal(w, status.Math, status.CodeOf(t.Read(make([]byte, 8))))
				}
				require.Equal(w, status.Math, status.CodeOf(c.Synchronize()))
			}
			w.free(out...)
			out, err = p.Run([]*runtime.Tensor{seven, two}, nil)
			require.NoError(w, err)
			require.Equal(w, []byte{10, 0, 0, 0, 10, 0, 0, 0}, w.bytes(out[0]))
			w.free(out...)
		}
		w.free(seven, two, zero)
	})
}

// What a device does not have as a dtype, its programs do not have either.
func TestProgramsWithoutFloat64(t *testing.T) {
	w := newWorldOn(t, &device.Null{Describe: device.Info{Name: "null", Backend: "fake", TotalMemory: 1 << 30, Recommended: 1 << 30}})
	b := graph.NewBuilder()
	wide, err := b.Call(op.MustByName("cast"), []graph.Value{b.Input(typed(dtype.Float32, 2))}, op.Attrs{kind(dtype.Float64)})
	require.NoError(t, err)
	back, err := b.Call(op.MustByName("cast"), wide, op.Attrs{kind(dtype.Float32)})
	require.NoError(t, err)
	p := execute.New(w.mps, b.Build(back...))
	err = p.Prepare(p.Inputs())
	require.Equal(t, status.Type, status.CodeOf(err))
	require.ErrorContains(t, err, "float64 does not exist on mps:0")
	p.Close()
}

// Sizes that cannot be are refused when a program is compiled, and ask for no memory.
func TestProgramsBeyondMemory(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		b := graph.NewBuilder()
		x := b.Input(typed(dtype.Float32, b.Symbol()))
		values := []graph.Value{x}
		for range 3 { // all alive at once
			y, err := b.Call(op.MustByName("exp"), []graph.Value{x}, nil)
			require.NoError(w, err)
			values = append(values, y...)
		}
		sum := x
		for _, v := range values {
			y, err := b.Call(op.MustByName("add"), []graph.Value{sum, v}, nil)
			require.NoError(w, err)
			sum = y[0]
		}
		p := execute.New(c, b.Build(sum))
		defer p.Close()
		err := p.Prepare([]op.Type{typed(dtype.Float32, 1<<60)})
		require.ErrorContains(w, err, "[program] the intermediate results take more bytes than the address space has")
		require.Equal(w, status.Invalid, status.CodeOf(err))
		require.NoError(w, p.Prepare([]op.Type{typed(dtype.Float32, 1<<50)}))
	})
}

func TestInputsOfPrograms(t *testing.T) {
	w := newWorld(t)
	p := execute.New(w.mps, chain(t, 4))
	defer p.Close()
	x, y, there := w.filled(w.mps, 1, 2, 4), w.filled(w.mps, 3, 4), w.filled(w.cpu, 3, 4)
	for says, in := range map[string][]*runtime.Tensor{
		"got 1 inputs; want 2":                {x},
		"input 1 is on cpu; want mps:0":       {x, there},
		"input 0 is float32 of shape [4]":     {y, y},
		"input 1 is float32 of shape [2, 4];": {x, x},
	} {
		_, err := p.Run(in, nil)
		require.ErrorContains(t, err, says)
		require.Equal(t, status.Invalid, status.CodeOf(err))
	}
	require.Zero(t, w.mps.Programs().Entries, "wrong shapes are not remembered")
	w.free(x, y, there)
}
