package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/tape"
	"github.com/paddle-mps/paddle-mps/core/trace"
)

// TestTraceMakesConstants: a tensor that the function makes of elements begins each run with these, whatever it writes there.
func TestTraceMakesConstants(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x := w.f32(c, []float32{1, 2}, 2)
		tr := w.tracer(c, x)
		total := w.f32(c, []float32{10, 20}, 2)
		require.False(w, trace.IsMadeHere(tr.Stream(), total))
		trace.MadeHere(tr.Stream(), total)
		require.True(w, trace.IsMadeHere(tr.Stream(), total))
		require.NoError(w, trace.ReadsElements(tr.Stream(), total))
		require.NoError(w, tr.into(total, "add", total, tr.in[0]))
		require.Equal(w, status.Traced, status.CodeOf(trace.ReadsElements(tr.Stream(), total)))
		p := tr.end(total)
		w.free(total)
		require.Empty(w, p.Changed())
		for range 3 {
			out := w.run(p, x)
			require.Equal(w, []float32{11, 22}, w.floats(out[0]))
			w.free(out[0])
		}
		w.free(x)
		p.Close()
		require.Equal(w, live, w.rt.Live())
	})
}

// TestTraceNotesWhatIsRead: a program accepts no arguments any more when something that its function has read is written to.
func TestTraceNotesWhatIsRead(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x, read, other := w.f32(c, []float32{1}, 1), w.f32(c, []float32{2}, 1), w.f32(c, []float32{3}, 1)
		var programs []*execute.Program
		for range 2 {
			tr := w.tracer(c, x)
			require.NoError(w, trace.ReadsElements(tr.Stream(), read))
			require.NoError(w, trace.ReadsElements(tr.Stream(), read))
			require.NoError(w, tr.into(other, "add", other, tr.in[0]))
			programs = append(programs, tr.end(tr.do("neg", operands(tr.in[0]))))
		}
		both, err := trace.Unify(programs[0], programs[1])
		require.NoError(w, err)
		programs = append(programs, both)
		accepted := func(want bool) {
			for _, p := range programs {
				require.Equal(w, want, p.Accepts(one(x), true, true))
			}
		}
		accepted(true)
		w.free(w.run(programs[0], x)[0])
		accepted(true) // what a run changes was not read
		require.NoError(w, read.Write(make([]byte, 4)))
		accepted(false)
		w.free(x, read, other)
		for _, p := range programs {
			p.Close()
		}
		require.Equal(w, live, w.rt.Live())
	})
}

// TestTraceReadsBeforeItWrites: the write of the function itself does not make what it has read another value before a run.
func TestTraceReadsBeforeItWrites(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x, count := w.f32(c, []float32{1}, 1), w.f32(c, []float32{2}, 1)
		tr := w.tracer(c, x)
		require.NoError(w, trace.ReadsElements(tr.Stream(), count))
		require.NoError(w, tr.into(count, "add", count, tr.in[0]))
		p := tr.end()
		require.True(w, p.Accepts(one(x), true, true))
		require.Empty(w, w.run(p, x))
		require.False(w, p.Accepts(one(x), true, true))
		tr = w.tracer(c, x)
		require.NoError(w, trace.ReadsElements(tr.Stream(), count))
		tr.Abort()
		w.free(tr.in...)
		w.free(x, count)
		p.Close()
		require.Equal(w, live, w.rt.Live())
	})
}

// TestTraceGivesHistoriesBack: a captured tensor that the function writes to leads to what was written within the trace, and to
// what it was computed from after it, also where the trace has no end. A run gives it the history that the calls would.
func TestTraceGivesHistoriesBack(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		live := w.rt.Live()
		x, plain := w.leaf(c, 3, 4), w.f32(c, []float32{1, 1}, 2)
		for _, ends := range []bool{false, true} {
			k := w.leaf(c, 1, 1)
			twice := w.record("add", operands(k, k))
			gone := w.f32(c, []float32{0, 0}, 2)
			tr := w.tracer(c, x)
			for _, out := range []*runtime.Tensor{plain, twice, gone} {
				require.NoError(w, tr.into(out, "add", out, tr.in[0]))
				require.True(w, out.Asks())
			}
			y := tr.do("multiply", operands(plain, tr.in[0])) // (1 + x) x
			w.free(gone)
			if ends {
				p := tr.end(y)
				out := w.run(p, x)
				w.backward(tape.Pass{Of: one(out[0]), Keep: true}) // the run is one call
				require.Equal(w, []float32{7, 9}, w.gradient(x))
				require.True(w, plain.Asks())
				w.backward(tape.Pass{Of: one(twice)}) // twice + x
				require.Equal(w, []float32{8, 10}, w.gradient(x))
				require.Equal(w, []float32{2, 2}, w.gradient(k))
				w.free(out[0])
				p.Close()
			} else {
				tr.Abort()
				w.free(append(tr.made, tr.in...)...)
				require.False(w, plain.Asks())
				require.True(w, twice.Asks())
				w.backward(tape.Pass{Of: one(twice)})
				require.Equal(w, []float32{2, 2}, w.gradient(k))
			}
			w.free(k, twice)
		}
		w.free(x, plain)
		require.NoError(w, c.Synchronize())
		require.Equal(w, live, w.rt.Live())
	})
}
