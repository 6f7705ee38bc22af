package runtime_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/tape"
)

// sumAndDouble is x + y and 2x, for vectors of any length.
func sumAndDouble(t testing.TB) *graph.Graph {
	b := graph.NewBuilder()
	n := b.Symbol()
	x, y := b.Input(typed(dtype.Float32, n)), b.Input(typed(dtype.Float32, n))
	must := func(name string, in ...graph.Value) graph.Value {
		out, err := b.Call(op.MustByName(name), in, nil)
		require.NoError(t, err)
		return out[0]
	}
	return b.Build(must("add", x, y), must("multiply", x, b.Scalar(integer(2))))
}

// into runs a program into tensors that exist.
func (w *world) into(p *execute.Program, in, out []*runtime.Tensor) error {
	return execute.RunInto(eager.In(w.rt, runtime.Recording), p, in, out, nil)
}

// Outputs that fit are computed in place, without further memory; others get the same elements.
func TestRunInto(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		p := execute.New(c, sumAndDouble(w))
		defer p.Close()
		list := func(of ...float32) *runtime.Tensor { return w.f32(c, of, int64(len(of))) }
		x, y, a, b := list(1, 2, 3), list(10, 20, 30), list(0, 0, 0), list(0, 0, 0)
		defer w.free(x, y, a, b)
		check := func(a, b *runtime.Tensor) {
			w.Helper()
			require.Equal(w, []float32{11, 22, 33}, w.floats(a))
			require.Equal(w, []float32{2, 4, 6}, w.floats(b))
		}
		require.NoError(w, w.into(p, []*runtime.Tensor{x, y}, []*runtime.Tensor{a, b}))
		check(a, b)

		made, live := w.memory(c), w.rt.Live()
		require.NoError(w, w.into(p, []*runtime.Tensor{x, y}, []*runtime.Tensor{b, a}))
		require.Equal(w, made, w.memory(c), "allocations of a run that is in place")
		require.Equal(w, live, w.rt.Live())
		check(b, a)

		large := w.f32(c, make([]float32, 9), 3, 3)
		column := w.call("slice", of(large), ints(1), ints(1), ints(2), ints(1))
		flat := w.call("squeeze", of(column), ints(1))
		half := w.call("cast", of(a), kind(dtype.Float16))
		defer w.free(large, column, flat, half)
		require.NoError(w, w.into(p, []*runtime.Tensor{x, y}, []*runtime.Tensor{flat, half}))
		wide := w.call("cast", of(half), kind(dtype.Float32))
		defer w.free(wide)
		check(flat, wide)
		require.Equal(w, []float32{0, 11, 0, 0, 22, 0, 0, 33, 0}, w.floats(large), "neighbours of a strided output")

		require.NoError(w, w.into(p, []*runtime.Tensor{x, y}, []*runtime.Tensor{a, a}))
		require.Equal(w, []float32{2, 4, 6}, w.floats(a), "the later of two outputs that are one tensor")
		require.NoError(w, w.into(p, []*runtime.Tensor{x, y}, []*runtime.Tensor{y, x}))
		check(y, x)
	})
}

// memory is how many blocks a device has allocated so far.
func (w *world) memory(c *runtime.Context) int64 {
	require.NoError(w, c.Synchronize())
	return c.Stats().Blocks.Allocated
}

// What cannot be written leaves the outputs as they are.
func TestRunIntoRefuses(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		p := execute.New(c, sumAndDouble(w))
		defer p.Close()
		x, a, long := w.f32(c, []float32{1, 2}, 2), w.f32(c, []float32{5, 5}, 2), w.f32(c, []float32{7, 7, 7}, 3)
		leaf := w.f32(c, []float32{8, 8}, 2)
		require.NoError(w, leaf.Ask(true))
		defer w.free(x, a, long, leaf)
		for _, k := range []struct {
			in, out []*runtime.Tensor
			says    string
		}{
			{[]*runtime.Tensor{x, x}, []*runtime.Tensor{a}, "[program] got 1 outputs; want 2"},
			{[]*runtime.Tensor{x}, []*runtime.Tensor{a, a}, "[program] got 1 inputs; want 2"},
			{[]*runtime.Tensor{x, x}, []*runtime.Tensor{a, long}, "[program] output 1 has shape [3]; want [2] of float32"},
			{[]*runtime.Tensor{x, x}, []*runtime.Tensor{a, leaf}, "[assign] the output is a leaf that asks for gradients; want no_grad() to change it in place, or a new tensor"},
		} {
			err := w.into(p, k.in, k.out)
			require.EqualError(w, err, k.says)
			require.Equal(w, []float32{5, 5}, w.floats(a), k.says)
		}
		if c != w.cpu {
			there := w.f32(w.cpu, []float32{0, 0}, 2)
			defer w.free(there)
			err := w.into(p, []*runtime.Tensor{x, x}, []*runtime.Tensor{a, there})
			require.Equal(w, status.Invalid, status.CodeOf(err))
			require.EqualError(w, err, fmt.Sprintf("[program] output 1 is on cpu; want %s", c.Place()))
		}
	})
}

// A tensor of a function that is being traced, or was, has no memory to write to.
func TestRunIntoOfTraces(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		p := execute.New(c, sumAndDouble(w))
		defer p.Close()
		x, a := w.f32(c, []float32{1, 2}, 2), w.f32(c, []float32{5, 5}, 2)
		tr := w.tracer(c, x)
		defer w.free(x, a, tr.in[0])
		in, out := []*runtime.Tensor{x, x}, []*runtime.Tensor{a, tr.in[0]}
		const says = "[program] output 1 is a tensor of a function that was traced, which has no elements; want another tensor"
		require.EqualError(w, w.into(p, in, out), says)
		require.EqualError(w, execute.RunInto(eager.In(w.rt, runtime.Recording), p, in, out, tr.Stream()), says)
		tr.Abort()
		require.EqualError(w, w.into(p, in, out), says)
		require.Equal(w, []float32{5, 5}, w.floats(a))
	})
}

// A program in stages has sizes that no caller can know before the run; its outputs are copied once they are there.
func TestRunIntoOfStages(t *testing.T) {
	w := newWorld(t)
	p := execute.New(w.cpu, positives{})
	defer p.Close()
	in, sum, twice := w.vector(1, -1, 2), w.f32(w.cpu, []float32{0}), w.vector(0, 0, 0)
	defer w.free(in, sum, twice)
	require.NoError(t, w.into(p, []*runtime.Tensor{in}, []*runtime.Tensor{sum, twice}))
	require.Equal(t, []float32{3}, w.floats(sum))
	require.Equal(t, []float32{2, -2, 4}, w.floats(twice))
	require.EqualError(t, w.into(p, []*runtime.Tensor{in}, []*runtime.Tensor{twice, sum}), "[program] output 0 has shape [3]; want [] of float32")
	require.Equal(t, []float32{2, -2, 4}, w.floats(twice))
}

// taking is listing with the sum alone as its output, so that only inputs are lists.
type taking struct{ listing }

func (taking) Varies() (inputs, outputs bool) { return true, false }
func (t taking) Formed(counts []int64) (execute.Source, error) {
	s, err := t.listing.Formed(counts)
	if err != nil {
		return nil, err
	}
	return total{s.(summing)}, nil
}

// total is taking for a form.
type total struct{ summing }

func (total) Varies() (inputs, outputs bool) { return false, false }
func (s total) Resolve(in []op.Type) (*graph.Graph, error) {
	b := graph.NewBuilder()
	sum := b.Input(in[0])
	for _, t := range in[1:] {
		out, err := b.Call(op.MustByName("add"), []graph.Value{sum, b.Input(t)}, nil)
		if err != nil {
			return nil, err
		}
		sum = out[0]
	}
	return b.Build(sum), nil
}

// Inputs may be lists; outputs that are lists are refused, because only the run says how many tensors they are.
func TestRunIntoOfLists(t *testing.T) {
	w := newWorld(t)
	in := []*runtime.Tensor{w.form(2, 1), w.vector(1, 2), w.vector(3, 4), w.vector(5, 6)}
	out := w.vector(0, 0)
	defer w.free(append(in, out)...)
	p := execute.New(w.cpu, taking{})
	defer p.Close()
	require.NoError(t, w.into(p, in, one(out)))
	require.Equal(t, []float32{9, 12}, w.floats(out))
	varies := execute.New(w.cpu, listing{})
	defer varies.Close()
	err := w.into(varies, in, one(out))
	require.Equal(t, status.Unsupported, status.CodeOf(err), err)
	require.ErrorContains(t, err, "outputs are lists")
}

// A saved tensor that a run has overwritten is found by the pass backward.
func TestRunIntoCountsAsAWrite(t *testing.T) {
	w := newWorld(t)
	p := execute.New(w.cpu, sumAndDouble(t))
	defer p.Close()
	x := w.leaf(w.cpu, 1, 2)
	kept, other := w.vector(3, 4), w.vector(0, 0)
	y := w.record("multiply", of(x, kept))
	defer w.free(x, kept, other, y)
	require.NoError(t, w.into(p, []*runtime.Tensor{other, other}, []*runtime.Tensor{kept, other}))
	_, err := tape.Backward(w.rt, &tape.Pass{Of: one(y)}, nil)
	require.ErrorContains(t, err, "changed in place")
}
