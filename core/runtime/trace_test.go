package runtime_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/tape"
	"github.com/paddle-mps/paddle-mps/core/trace"
)

// These are tests of what a trace is: what it captures, changes, differentiates and refuses, and that nothing is left of it.
// Whether traced calls compute what they would compute one by one is tested from Python, by thousands of expressions
// (tests/peers, --traced) and random programs (tests/differential, --traced).

// tracer makes calls that are traced.
type tracer struct {
	*world
	*trace.Trace
	in   []*runtime.Tensor // what stands for the arguments
	made []*runtime.Tensor
}

// tracer begins a trace with these arguments.
func (w *world) tracer(c *runtime.Context, args ...*runtime.Tensor) *tracer {
	tr, in, err := trace.New(c, args)
	require.NoError(w, err)
	return &tracer{world: w, Trace: tr, in: in}
}

// operands are tensors as operands.
func operands(ts ...*runtime.Tensor) []runtime.Operand {
	in := make([]runtime.Operand, len(ts))
	for i, t := range ts {
		in[i].Tensor = t
	}
	return in
}

// try makes a call in mode Recording, with a place for every attribute.
func (tr *tracer) try(name string, in []runtime.Operand, at ...op.Value) (*runtime.Tensor, error) {
	row := op.MustByName(name)
	full := make(op.Attrs, len(row.Attrs))
	copy(full, at)
	made, err := eager.In(tr.rt, runtime.Recording).Call(row, in, full, tr.Context(), tr.Stream())
	if err != nil {
		return nil, err
	}
	tr.made = append(tr.made, made...)
	return made[0], nil
}

// do is try for what works.
func (tr *tracer) do(name string, in []runtime.Operand, at ...op.Value) *runtime.Tensor {
	t, err := tr.try(name, in, at...)
	require.NoError(tr, err)
	return t
}

// into makes a call that writes into a tensor.
func (tr *tracer) into(out *runtime.Tensor, name string, in ...*runtime.Tensor) error {
	row := op.MustByName(name)
	return eager.In(tr.rt, runtime.Recording).CallInto(row, operands(in...), make(op.Attrs, len(row.Attrs)), out, tr.Stream())
}

// end makes the program, and frees what the trace has made.
func (tr *tracer) end(out ...*runtime.Tensor) *execute.Program {
	p, err := tr.End(out)
	require.NoError(tr, err)
	for _, t := range append(tr.made, tr.in...) {
		tr.free(t)
	}
	return p
}

// run runs a program in mode Recording.
func (w *world) run(p *execute.Program, in ...*runtime.Tensor) []*runtime.Tensor {
	out, err := execute.RunAs(eager.In(w.rt, runtime.Recording), p, in, nil, nil)
	require.NoError(w, err)
	return out
}

// TestTraceCapturesByReference: a program reads at each run what a captured tensor holds then.
func TestTraceCapturesByReference(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x, b := w.f32(c, []float32{1, 2, 3}, 3), w.f32(c, []float32{10, 20, 30}, 3)
		tr := w.tracer(c, x)
		y := tr.do("add", operands(tr.in[0], b))
		z := tr.do("multiply", []runtime.Operand{{Tensor: y}, {Value: double(2)}})
		require.Equal(w, []int64{3}, z.Dims[:z.Rank])
		p := tr.end(z)
		out := w.run(p, x)
		require.Equal(w, []float32{22, 44, 66}, w.floats(out[0]))
		require.NoError(w, eager.CallInto(w.rt, op.MustByName("add"), operands(b, b), nil, b, nil))
		again := w.run(p, x)
		require.Equal(w, []float32{42, 84, 126}, w.floats(again[0]))
		require.Len(w, p.Captured(), 1)
		require.Equal(w, 1, p.Info().Captured)
		require.Contains(w, p.Explain(), "add(in0, in1)")
		w.free(x, b, out[0], again[0])
		p.Close()
		require.Equal(w, live, w.rt.Live())
	})
}

// TestRunsIntoOneList: what the gradient of a run has kept does not lie in the list that its caller gave for the results, and uses
// again for the next run.
func TestRunsIntoOneList(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x := w.leaf(c, 1, 2)
		tr := w.tracer(c, x)
		y := tr.do("multiply", operands(tr.do("exp", operands(tr.in[0])), tr.in[0])) // the gradient reads the exponentials
		p := tr.end(y)
		room := make([]*runtime.Tensor, 0, 8)
		var results []*runtime.Tensor
		for range 3 {
			out, err := execute.RunAs(eager.In(w.rt, runtime.Recording), p, one(x), nil, room)
			require.NoError(w, err)
			results = append(results, out[0])
		}
		for i, y := range results {
			w.backward(tape.Pass{Of: one(y)})
			e := math.E
			// Each of three shares has 2 ulp of exp and two roundings, and two more are of their sum.
			require.InEpsilonSlice(w, []float64{float64(i+1) * 2 * e, float64(i+1) * 3 * e * e}, widened(w.gradient(x)), 8*0x1p-23)
		}
		w.free(append(results, x)...)
		p.Close()
		require.Equal(w, live, w.rt.Live())
	})
}

// widened are numbers as float64.
func widened(list []float32) (out []float64) {
	for _, v := range list {
		out = append(out, float64(v))
	}
	return out
}

// TestTraceWritesBack: calls that write into arguments and captured tensors do so at each run, and not before.
func TestTraceWritesBack(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x, total := w.f32(c, []float32{1, 2}, 2), w.f32(c, []float32{0, 0}, 2)
		tr := w.tracer(c, x)
		require.NoError(w, tr.into(total, "add", total, tr.in[0]))
		require.NoError(w, tr.into(tr.in[0], "neg", tr.in[0]))
		y := tr.do("multiply", operands(total, tr.in[0]))
		require.Equal(w, []float32{0, 0}, w.floats(total), "nothing runs while a function is traced")
		p := tr.end(y)
		require.Equal(w, []int{0, 1}, p.Changed())
		for _, want := range [][3][]float32{
			{{-1, -4}, {1, 2}, {-1, -2}},
			{{0, 0}, {0, 0}, {1, 2}},
		} {
			out := w.run(p, x)
			require.Equal(w, want[0], w.floats(out[0]))
			require.Equal(w, want[1], w.floats(total))
			require.Equal(w, want[2], w.floats(x))
			w.free(out[0])
		}
		_, err := p.Run(one(total), nil)
		require.ErrorContains(w, err, "[program] input 0, which the program changes, shares memory with input 1")
		w.free(x, total)
		p.Close()
		require.Equal(w, live, w.rt.Live())
	})
}

// TestTraceViews: a write into a view is seen by all that share its memory.
func TestTraceViews(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		ints := func(v ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }
		f := func(x *runtime.Tensor, on *tracer) (out []*runtime.Tensor) {
			m := on.do("reshape", operands(x), ints(2, 3))
			turned := on.do("transpose", operands(m), ints(1, 0))
			column := on.do("slice", operands(m), ints(1), ints(0), ints(3), ints(2))
			require.NoError(w, on.into(column, "neg", column))
			diagonal := on.do("as_strided", operands(turned), ints(2), ints(4), integer(0))
			require.NoError(w, on.into(diagonal, "add", diagonal, diagonal))
			copied := on.do("add", operands(turned, turned))
			require.NoError(w, on.into(turned, "add", turned, turned))
			return []*runtime.Tensor{m, turned, column, diagonal, copied, x}
		}
		read := func(ts []*runtime.Tensor) (all [][]float32) {
			for _, t := range ts {
				all = append(all, w.floats(t))
			}
			return all
		}
		x, y := w.f32(c, []float32{1, 2, 3, 4, 5, 6}, 6), w.f32(c, []float32{1, 2, 3, 4, 5, 6}, 6)
		eager := &tracer{world: w, Trace: &trace.Trace{}}
		want := read(f(x, eager))
		tr := w.tracer(c, y)
		p := tr.end(f(tr.in[0], tr)...)
		out := w.run(p, y)
		require.Equal(w, want, read(out))
		require.Equal(w, w.floats(x), w.floats(y))
		for _, t := range append(append(out, eager.made...), x, y) {
			w.free(t)
		}
		p.Close()
		require.Equal(w, live, w.rt.Live())
	})
}

// TestTraceRefuses: a read of elements is an error, within the trace, beside it and after it; nothing is left.
func TestTraceRefuses(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x := w.f32(c, []float32{1, 2, 3, 4}, 4)
		tr := w.tracer(c, x)
		in := tr.in[0]
		fails := func(err error, code status.Code, text string) {
			require.ErrorContains(w, err, text)
			require.Equal(w, code, status.From(err).Code)
		}
		var b [16]byte
		fails(in.Read(b[:]), status.Traced, "[read] got a tensor of a function that is being traced")
		fails(in.Write(b[:]), status.Traced, "[write] got")
		_, err := in.Map()
		fails(err, status.Traced, "[data_ptr] got")
		_, err = tr.try("nonzero", operands(in))
		fails(err, status.Traced, "the size of its result depends on elements")
		for _, name := range []string{"cummax", "squeeze", "nonzero"} { // as where calls are run
			fails(tr.into(in, name, in), status.Unsupported, "cannot write into a tensor")
		}
		_, err = eager.Call(w.rt, op.MustByName("neg"), operands(in), nil, nil, nil)
		fails(err, status.Traced, "this call is outside of it")
		_, err = eager.Unary(w.rt, op.MustByName("neg"), in, nil)
		fails(err, status.Traced, "this call is outside of it")
		fails(eager.CallInto(w.rt, op.MustByName("neg"), operands(x), nil, in, nil), status.Traced, "outside of it")
		_, err = tape.Backward(w.rt, &tape.Pass{Of: one(in)}, tr.Stream())
		fails(err, status.Traced, "[backward] a function that is traced")
		ints := func(v ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }
		tr.do("as_strided", operands(in), ints(2, 2), ints(1, 2))
		_, _, err = trace.New(c, one(in))
		fails(err, status.Traced, "[trace] got")
		other := w.tracer(c)
		_, err = other.End(one(in))
		fails(err, status.Traced, "operand 0 is a tensor of another trace")
		tr.Abort()
		tr.Abort()
		_, err = tr.try("neg", operands(in))
		fails(err, status.Traced, "has been traced to its end")
		_, err = tr.End(nil)
		fails(err, status.Invalid, "it has ended")
		w.free(x, in)
		for _, t := range tr.made {
			w.free(t)
		}
		require.Equal(w, live, w.rt.Live())
	})
}

// TestTraceGradients: the results of a traced function have the gradients that those of its calls have, for arguments
// and for what it captured, also after the program is closed and an argument that it changed has another value.
func TestTraceGradients(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x, k := w.leaf(c, 1, 2, 3), w.leaf(c, 4, 5, 6)
		h := w.record("multiply", []runtime.Operand{{Tensor: k}, {Value: double(2)}}) // not a leaf
		seen := w.f32(c, []float32{0, 0, 0}, 3)
		tr := w.tracer(c, x)
		require.True(w, tr.in[0].Asks())
		y := tr.do("multiply", operands(tr.in[0], h)) // 2 k x
		z := tr.do("multiply", operands(y, y))        // 4 k^2 x^2
		free := tr.do("neg", operands(seen))          // asks for nothing
		w.mustInto(eager.CallInto(tr.rt, op.MustByName("add"), operands(seen, seen), nil, seen, tr.Stream()))
		p := tr.end(z, free)
		out := w.run(p, x)
		require.Equal(w, []float32{64, 400, 1296}, w.floats(out[0]))
		require.True(w, out[0].Asks())
		require.False(w, out[1].Asks())
		p.Close()
		w.backward(tape.Pass{Of: one(out[0])})
		require.Equal(w, []float32{128, 400, 864}, w.gradient(x)) // 8 k^2 x
		require.Equal(w, []float32{32, 160, 432}, w.gradient(k))  // 8 k x^2
		w.free(x, k, h, seen, out[0], out[1])
		require.NoError(w, c.Synchronize())
		require.Equal(w, live, w.rt.Live())
	})
}

func (w *world) mustInto(err error) { require.NoError(w, err) }

// TestTraceGradientNeedsItsValues: what a gradient reads and was changed since is an error, and so is a gradient of it.
func TestTraceGradientNeedsItsValues(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x := w.leaf(c, 1, 2)
		tr := w.tracer(c, x)
		p := tr.end(tr.do("multiply", operands(tr.in[0], tr.in[0])))
		out := w.run(p, x)
		again, err := tape.Backward(w.rt, &tape.Pass{Of: out, To: one(x), Again: true}, nil)
		require.NoError(w, err)
		w.mustInto(eager.CallInto(w.rt, op.MustByName("neg"), operands(x), nil, x, nil))
		for _, of := range [][]*runtime.Tensor{out, again} {
			_, err = tape.Backward(w.rt, &tape.Pass{Of: of, To: one(x)}, nil)
			require.ErrorContains(w, err, "[jit] a tensor that the gradient of the function reads was changed in place")
		}
		w.free(x, out[0], again[0])
		p.Close()
		require.Equal(w, live, w.rt.Live())
	})
}

// TestTraceIsEndedOnce: a hook that ends the trace while its gradient is traced makes the end an error.
func TestTraceIsEndedOnce(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x := w.leaf(c, 1, 2)
		tr := w.tracer(c, x)
		y := tr.do("exp", operands(tr.in[0]))
		_, err := y.AddHook(&runtime.Hook{See: func(*runtime.Tensor) (*runtime.Tensor, error) {
			tr.Abort()
			return nil, nil
		}})
		require.NoError(w, err)
		_, err = tr.End(one(y))
		require.Error(w, err)
		for _, t := range append(tr.made, tr.in[0], x) {
			w.free(t)
		}
		require.Equal(w, live, w.rt.Live())
	})
}

// TestTraceRandom: a program draws the numbers that its calls would.
func TestTraceRandom(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		at := []op.Value{{Kind: op.Ints, Ints: []int64{5}}, {}, {}, kind(dtype.Float32)}
		uniform := func(on *runtime.Stream) *runtime.Tensor {
			row := op.MustByName("uniform")
			full := make(op.Attrs, len(row.Attrs))
			copy(full, at)
			made, err := eager.Call(w.rt, row, nil, full, c, on)
			require.NoError(w, err)
			return made[0]
		}
		tr := w.tracer(c)
		a := uniform(tr.Stream())
		p := tr.end(a)
		w.free(a)
		c.Seed(7)
		out := w.run(p)
		c.Seed(7)
		eager := uniform(nil)
		require.Equal(w, w.floats(eager), w.floats(out[0]))
		w.free(out[0], eager)
		p.Close()
	})
}

// TestTraceGradientHasGradients: those of a cube, of three orders, also when the program has been closed; nothing is left.
func TestTraceGradientHasGradients(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x, s := w.leaf(c, 1, 2), w.leaf(c, 3, 5)
		tr := w.tracer(c, x)
		square := tr.do("multiply", operands(tr.in[0], tr.in[0]))
		p := tr.end(tr.do("multiply", operands(tr.do("multiply", operands(square, tr.in[0])), s)))
		of := w.run(p, x)
		p.Close()
		made := of
		for _, want := range [][]float32{{9, 60}, {18, 60}, {18, 30}} { // of s x**3 for s of 3 and 5
			of = w.backward(tape.Pass{Of: of, To: one(x), Again: true})
			require.Equal(w, want, w.floats(of[0]))
			made = append(made, of...)
		}
		by := w.backward(tape.Pass{Of: made[1:2], To: one(s)}) // 3 x**2 by s, for gradients of ones
		require.Equal(w, []float32{3, 12}, w.floats(by[0]))
		w.free(append(append(made, by...), x, s)...)
		require.Equal(w, live, w.rt.Live())
	})
}

// TestRecordedGradientsHoldNoProgram: a gradient that a recorded pass has left to a captured tensor holds the program, which holds
// the tensor. All of them go when callers have freed the tensor, before the program is closed or after.
func TestRecordedGradientsHoldNoProgram(t *testing.T) {
	for _, closed := range []bool{false, true} {
		newWorld(t).each(func(w *world, c *runtime.Context) {
			live := w.rt.Live()
			x, s := w.leaf(c, 1, 2), w.leaf(c, 3, 5)
			tr := w.tracer(c, x)
			p := tr.end(tr.do("multiply", operands(tr.do("multiply", operands(tr.in[0], tr.in[0])), s)))
			of := w.run(p, x)
			if closed {
				p.Close()
			}
			w.backward(tape.Pass{Of: of, Again: true})
			require.Equal(w, []float32{1, 4}, w.gradient(s))
			w.free(x, s, of[0])
			if !closed {
				p.Close()
			}
			require.Equal(w, live, w.rt.Live())
		})
	}
}
