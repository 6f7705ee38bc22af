package runtime_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/trace"
)

// traced is x * x of n elements as a program, with what then adds to it.
func (w *world) traced(c *runtime.Context, n int, then func(tr *tracer, y *runtime.Tensor)) *execute.Program {
	x := w.f32(c, make([]float32, n), int64(n))
	defer w.free(x)
	tr := w.tracer(c, x)
	y := tr.do("multiply", operands(tr.in[0], tr.in[0]))
	if then != nil {
		then(tr, y)
	}
	return tr.end(y)
}

// TestUnifiedPrograms: two traces for other sizes make a program that computes what the function computes for a third one, with
// its changes; it can be saved, and nothing is left of any of them.
func TestUnifiedPrograms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "open.program")
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		total := w.f32(c, []float32{0}, 1)
		for _, then := range []func(*tracer, *runtime.Tensor){nil, func(tr *tracer, y *runtime.Tensor) {
			require.NoError(w, tr.into(total, "add", total, tr.do("sum", operands(y), op.Value{Kind: op.Ints, Ints: []int64{0}}, op.Value{}, op.Value{Kind: op.Bool, I: 1})))
		}} {
			p, q := w.traced(c, 5, then), w.traced(c, 7, then)
			both, err := trace.Unify(p, q)
			require.NoError(w, err)
			p.Close()
			q.Close()
			x, single := w.f32(c, []float32{1, 2, 3}, 3), w.f32(c, []float32{1}, 1)
			require.True(w, both.Accepts(one(x), true, true))
			require.False(w, both.Accepts(one(single), true, true), "functions often do something else for one element")
			out := w.run(both, x)
			require.Equal(w, []float32{1, 4, 9}, w.floats(out[0]))
			require.Contains(w, both.String(), "input %0 float32[s0]")
			if then == nil {
				require.NoError(w, both.Save(path))
				source, err := execute.Load(path)
				require.NoError(w, err)
				loaded := execute.New(c, source)
				again := w.run(loaded, single)
				require.Equal(w, []float32{1}, w.floats(again[0]), "what is saved takes all sizes")
				w.free(again[0])
				require.NoError(w, loaded.Save(path))
				loaded.Close()
			}
			w.free(x, single, out[0])
			both.Close()
		}
		require.Equal(w, []float32{14}, w.floats(total), "a run writes into what was captured")
		w.free(total)
		require.Equal(w, live, w.rt.Live())
	})
}

// TestUnifyRefusesOtherPrograms: programs that differ in more than sizes are refused.
func TestUnifyRefusesOtherPrograms(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		reads := func(t *runtime.Tensor) func(*tracer, *runtime.Tensor) {
			return func(tr *tracer, y *runtime.Tensor) { tr.do("add", operands(y, t)) }
		}
		a, same, b := w.f32(c, []float32{1}, 1), w.f32(c, []float32{1}, 1), w.f32(c, []float32{2}, 1)
		p := w.traced(c, 5, reads(a))
		for _, q := range []struct {
			then func(*tracer, *runtime.Tensor)
			want string
		}{
			{reads(same), ""},
			{reads(b), "[add] it reads a captured tensor of shape [1] for some sizes, and another one of shape [1] for others; want one"},
			{nil, "have other captured tensors"},
			{func(tr *tracer, y *runtime.Tensor) {
				reads(a)(tr, y)
				require.NoError(w, tr.into(a, "neg", a))
			}, "have other arguments, results or changes"},
			{func(tr *tracer, y *runtime.Tensor) {
				reads(a)(tr, y)
				tr.do("neg", operands(y))
			}, "there are 2 calls and 1 results for some sizes, 3 and 1 for others"},
		} {
			other := w.traced(c, 7, q.then)
			both, err := trace.Unify(p, other)
			if q.want == "" {
				require.NoError(w, err, "each trace may make its own constant")
				_, err = trace.Unify(both, both)
				require.ErrorContains(w, err, "have other origins or places; want two traces", "it is no trace any more")
				both.Close()
			} else {
				require.ErrorContains(w, err, q.want)
				require.Equal(w, status.Unsupported, status.CodeOf(err))
			}
			other.Close()
		}
		p.Close()
		w.free(a, same, b)
		require.Equal(w, live, w.rt.Live())
	})
}
