package runtime_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/tape"
	"github.com/paddle-mps/paddle-mps/core/trace"
)

// meanOfSquares is the mean of s x x as a program for n elements with gradients, for a captured s. after makes the result from
// the mean.
func (w *world) meanOfSquares(c *runtime.Context, s *runtime.Tensor, n int, after func(tr *tracer, mean *runtime.Tensor) *runtime.Tensor) *execute.Program {
	x := w.leaf(c, make([]float32, n)...)
	defer w.free(x)
	tr := w.tracer(c, x)
	y := tr.do("multiply", operands(tr.do("multiply", operands(tr.in[0], tr.in[0])), s))
	return tr.end(after(tr, tr.do("mean", operands(y))))
}

// The result of meanOfSquares may go through further calls, or have a hook: what after returns is the result of the program.
func unchanged(_ *tracer, mean *runtime.Tensor) *runtime.Tensor { return mean }

// openMean is meanOfSquares for all sizes.
func (w *world) openMean(c *runtime.Context, s *runtime.Tensor) *execute.Program {
	p, q := w.meanOfSquares(c, s, 5, unchanged), w.meanOfSquares(c, s, 7, unchanged)
	both, err := trace.Unify(p, q)
	require.NoError(w, err)
	p.Close()
	q.Close()
	return both
}

// TestUnifiedGradients: a program for all sizes has the gradients of the function for each of them, from many goroutines at
// once and for more sizes than it keeps; results outlive it, and nothing is left.
func TestUnifiedGradients(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		s := w.leaf(c, 3)
		p := w.openMean(c, s)
		require.Contains(w, p.String(), "input %0 float32[s0]")
		gradient := func(x *runtime.Tensor, n int, out []*runtime.Tensor) {
			list := w.floats(x)
			got := w.backward(tape.Pass{Of: out, To: one(x)})
			for i, v := range w.floats(got[0]) {
				want := 2 * 3 * float64(list[i]) / float64(n)
				require.LessOrEqual(w, math.Abs(float64(v)-want), 4*0x1p-24*math.Abs(want), "%d of %d", i, n)
			}
			w.free(append(append(got, out...), x)...)
		}
		argument := func(n int) *runtime.Tensor {
			list := make([]float32, n)
			for i := range list {
				list[i] = float32(i%5) - 2
			}
			return w.leaf(c, list...)
		}
		// Sizes that come again are compiled once: the count is of programs of the function.
		for i, n := range []int{3, 9, 3, 64, 9} {
			x := argument(n)
			require.True(w, p.Accepts(one(x), true, true))
			gradient(x, n, w.run(p, x))
			require.EqualValues(w, []int64{1, 2, 2, 3, 3}[i], p.Info().Compilations)
		}
		// 108 sizes are more than a program keeps, and each of them is met by one or two goroutines, so that programs are
		// dropped while others run them.
		var all sync.WaitGroup
		for first := range 4 {
			all.Go(func() {
				for n := 2 + first; n < 110; n += 3 {
					x := argument(n)
					gradient(x, n, w.run(p, x))
				}
			})
		}
		all.Wait()
		const fresh = 200
		x := argument(fresh)
		_, err := execute.RunAs(eager.In(w.rt, runtime.Recording|runtime.NonBlocking), p, one(x), nil, nil)
		var long *runtime.Long
		require.ErrorAs(w, err, &long, "a run that would have to trace")
		plain, err := execute.RunAs(eager.In(w.rt, 0), p, one(x), nil, nil)
		require.NoError(w, err)
		require.False(w, plain[0].Asks(), "nothing is recorded")
		// The record of a run holds the program of its backward pass, which the open one does not own.
		out := w.run(p, x)
		p.Close()
		gradient(x, fresh, out)
		w.free(append(plain, s)...)
		require.NoError(w, c.Synchronize())
		require.Equal(w, live, w.rt.Live())
	})
}

// TestUnifiedGradientsInto: results in tensors that exist have gradients too.
func TestUnifiedGradientsInto(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		s := w.f32(c, []float32{3}, 1)
		p := w.openMean(c, s)
		x, y := w.leaf(c, 1, 2, 3), w.f32(c, []float32{0})
		require.NoError(w, w.into(p, one(x), one(y)))
		w.backward(tape.Pass{Of: one(y)})
		require.Equal(w, []float32{2, 4, 6}, w.gradient(x))
		p.Close()
		w.free(x, y, s)
	})
}

// TestUnifyRefusesOwnGradients: a gradient that the calls do not tell is refused with the first call that is another one, and
// leaves nothing behind.
func TestUnifyRefusesOwnGradients(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		s := w.leaf(c, 3)
		hooked := func(tr *tracer, mean *runtime.Tensor) *runtime.Tensor {
			// The gradient that takes the place of g is the pass's to free, and no one's of the tracer.
			_, err := mean.AddHook(&runtime.Hook{See: func(g *runtime.Tensor) (*runtime.Tensor, error) { return tr.do("exp", operands(g)).Same() }})
			require.NoError(w, err)
			return tr.do("neg", operands(mean))
		}
		p, q := w.meanOfSquares(c, s, 5, hooked), w.meanOfSquares(c, s, 7, hooked)
		_, err := trace.Unify(p, q)
		require.Equal(w, status.Unsupported, status.CodeOf(err))
		require.ErrorContains(w, err, "the gradient of the function is not that of its calls alone: it has `%")
		require.ErrorContains(w, err, "exp(")
		plain := w.meanOfSquares(c, s, 7, func(tr *tracer, mean *runtime.Tensor) *runtime.Tensor { return tr.do("neg", operands(mean)) })
		_, err = trace.Unify(plain, p)
		require.Equal(w, status.Unsupported, status.CodeOf(err), "one of the two has a hook")
		for _, x := range []*execute.Program{p, q, plain} {
			x.Close()
		}
		w.free(s)
		require.Equal(w, live, w.rt.Live())
	})
}

// TestUnifyRefusesOtherReads: a gradient of the function's own may have the calls of theirs and read other tensors, ones on the
// way or captured ones. It is refused too.
func TestUnifyRefusesOtherReads(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		s, other := w.f32(c, []float32{2}), w.f32(c, []float32{7})
		ways := map[string]func(tr *tracer) (y, read *runtime.Tensor){
			"on the way": func(tr *tracer) (y, read *runtime.Tensor) {
				return tr.do("exp", operands(tr.in[0])), tr.do("sin", operands(tr.in[0]))
			},
			"captured": func(tr *tracer) (y, read *runtime.Tensor) { return tr.do("multiply", operands(tr.in[0], s)), other },
		}
		for name, way := range ways {
			traced := func(n int) *execute.Program {
				x := w.leaf(c, make([]float32, n)...)
				defer w.free(x)
				tr := w.tracer(c, x)
				y, read := way(tr)
				end := tr.do("multiply", operands(other, s)) // so that both ways have captured both
				eager.Apply(w.rt, &runtime.Function{Backward: func(of []*runtime.Tensor) ([]*runtime.Tensor, error) {
					return eager.In(tr.rt, 0).Call(op.MustByName("multiply"), operands(of[0], read), nil, tr.Context(), tr.Stream())
				}}, one(tr.in[0]), one(y))
				return tr.end(y, end)
			}
			p, q := traced(5), traced(7)
			_, err := trace.Unify(p, q)
			require.Equal(w, status.Unsupported, status.CodeOf(err), name)
			require.ErrorContains(w, err, "the gradient of the function is not that of its calls alone", name)
			p.Close()
			q.Close()
		}
		w.free(s, other)
		require.Equal(w, live, w.rt.Live())
	})
}

// TestUnifiedGradientFailuresAreClean makes each request of a run for new sizes, and of its backward pass, fail in turn: the
// failure is returned, nothing is left, and the same program works afterwards.
func TestUnifiedGradientFailuresAreClean(t *testing.T) {
	for kind, least := range map[string]int64{"run": 3, "compile": 3} {
		t.Run(kind, func(t *testing.T) {
			for n, over := int64(1), false; !over; n++ {
				m := &machine{T: t, faults: &faults{kind: kind}}
				require.NoError(t, m.start(false))
				w := &world{T: t, rt: m.rt}
				s := w.leaf(m.c, 3)
				p := w.openMean(m.c, s)
				step := func() error {
					x := w.leaf(m.c, 1, 2, 3, 4)
					defer w.free(x)
					out, err := execute.RunAs(eager.In(m.rt, runtime.Recording), p, one(x), nil, nil)
					if err != nil {
						return err
					}
					defer w.free(out...)
					found, err := tape.Backward(m.rt, &tape.Pass{Of: out, To: one(x)}, nil)
					if err != nil {
						return err
					}
					defer w.free(found...)
					var b [16]byte
					return found[0].Read(b[:])
				}
				require.NoError(t, m.c.Synchronize())
				m.at = m.count.Load() + n
				err := step()
				if err == nil { // a run may fail whose result is not read
					err = m.c.Synchronize()
				}
				if over = m.count.Load() < m.at; over {
					require.NoError(t, err)
					require.GreaterOrEqual(t, n-1, least)
				} else {
					require.ErrorContains(t, err, "injected", "failure %d", n)
				}
				m.at = 0
				_ = m.c.Synchronize()
				require.NoError(t, step(), "after failure %d", n)
				p.Close()
				w.free(s)
				require.NoError(t, m.c.Synchronize())
				m.end(t, n)
			}
		})
	}
}
