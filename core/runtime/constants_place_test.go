package runtime_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/paddle-mps/paddle-mps/core/execute"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	files "github.com/paddle-mps/paddle-mps/core/mapped"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// encoded are n float32 numbers behind some bytes, so that they need not be aligned: i*step + first.
func encoded(skip, n int, first, step float32) []byte {
	b := make([]byte, skip, skip+4*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(first+step*float32(i)))
	}
	return b[skip:]
}

// dense is tanh((x @ weight) * 3 + bias), for x of any number of rows. The factor goes into the weight if it is to.
func dense(t testing.TB, weight, bias *op.Const, factor bool) *graph.Graph {
	b := graph.NewBuilder()
	call := func(name string, in ...graph.Value) graph.Value {
		out, err := b.Call(op.MustByName(name), in, nil)
		require.NoError(t, err)
		return out[0]
	}
	y := call("matmul", b.Input(typed(dtype.Float32, b.Symbol(), weight.Shape.Dims[0])), b.Constant(weight))
	if factor {
		three := &op.Const{Type: typed(dtype.Float32, 1), Bytes: encoded(0, 1, 3, 0)}
		y = call("multiply", y, b.Constant(three))
	}
	return b.Build(call("tanh", call("add", y, b.Constant(bias))))
}

// A program has no copy of a weight that its device has packed. The CPU reads other constants where they are, if they are
// aligned, and has one copy of those that are not.
func TestConstantsWithoutCopies(t *testing.T) {
	const side = 64
	newWorld(t).each(func(w *world, c *runtime.Context) {
		results := [2][]float32{}
		for skip := range results {
			weight := &op.Const{Type: typed(dtype.Float32, side, side), Bytes: encoded(skip, side*side, -0.01, 1e-5)}
			bias := &op.Const{Type: typed(dtype.Float32, side), Bytes: encoded(skip, side, -0.2, 0.01)}
			before := c.Stats().Allocated.Current
			p := execute.New(c, dense(w, weight, bias, false))
			for _, n := range []int64{3, 2, 5} {
				in := w.filled(c, 0.3, n, side)
				out := w.run(p, in)
				results[skip] = append(results[skip], w.floats(out[0])...)
				w.free(out[0], in)
			}
			require.NoError(w, c.Synchronize())
			copied := c.Stats().Allocated.Current - before
			if where, _ := w.rt.Context(c.Place()); where == w.cpu && skip == 0 {
				require.Zero(w, copied, "all is where it was")
			} else {
				require.Positive(w, copied, "the bias has to be copied")
				require.Less(w, copied, int64(4*side*side), "the weight is packed")
			}
			require.EqualValues(w, 4*side*(side+1), p.Info().Constants)
			p.Close()
			require.Equal(w, before, c.Stats().Allocated.Current)
		}
		require.Equal(w, results[0], results[1])
		sum := 0.0 // of a row of x and the last column of the weight
		for k := range side {
			sum += 0.3 * (-0.01 + 1e-5*float64(k*side+side-1))
		}
		require.InDelta(w, math.Tanh(sum-0.2+0.01*(side-1)), results[0][side-1], 1e-5)
	})
}

// Pages of a mapped file are given back once they were read, and read again for other shapes. That changes no bit.
func TestConstantsOfMappedFiles(t *testing.T) {
	const side = 300
	path := filepath.Join(t.TempDir(), "weights")
	all := encoded(3, side*side+side, -0.01, 1e-7)
	require.NoError(t, os.WriteFile(path, append([]byte("abc"), all...), 0o600))
	file, err := files.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	newWorld(t).each(func(w *world, c *runtime.Context) {
		for _, factor := range []bool{false, true} {
			results := [2][]float32{}
			for i, b := range [][]byte{all, file.Bytes[3:]} {
				weight := &op.Const{Type: typed(dtype.Float32, side, side), Bytes: b[:4*side*side], Mapped: i > 0}
				bias := &op.Const{Type: typed(dtype.Float32, side), Bytes: b[4*side*side:], Mapped: i > 0}
				p := execute.New(c, dense(w, weight, bias, factor))
				for _, n := range []int64{3, 20, 1} {
					in := w.filled(c, 0.3, n, side)
					out := w.run(p, in)
					results[i] = append(results[i], w.floats(out[0])...)
					w.free(out[0], in)
				}
				p.Close()
			}
			require.Equal(w, results[0], results[1])
		}
	})
}

// bySize is a source with another graph for each number of rows.
type bySize struct {
	execute.Source
	graphs map[int64]*graph.Graph
}

func (s bySize) Resolve(in []op.Type) (*graph.Graph, error) {
	return s.graphs[in[0].Shape.Dims[0]].Resolve(in)
}

// A constant that one graph of a program only packs may be one that another reads: then it is copied, once.
func TestConstantsThatAreReadLater(t *testing.T) {
	const side = 64
	newWorld(t).each(func(w *world, c *runtime.Context) {
		weight := &op.Const{Type: typed(dtype.Float32, side, side), Bytes: encoded(1, side*side, 0.5, 1)}
		with := func(name string, rows int64) *graph.Graph {
			b := graph.NewBuilder()
			out, err := b.Call(op.MustByName(name), []graph.Value{b.Input(typed(dtype.Float32, rows, side)), b.Constant(weight)}, nil)
			require.NoError(w, err)
			return b.Build(out...)
		}
		product, sum := with("matmul", 2), with("add", side)
		before := c.Stats().Allocated.Current
		p := execute.New(c, bySize{product, map[int64]*graph.Graph{2: product, 3: with("matmul", 3), side: sum}})
		held := int64(0)
		for i, n := range []int64{2, side, 3, side, 2} {
			in := w.filled(c, 1, n, side)
			out := w.run(p, in)
			if got := w.floats(out[0]); n == side {
				require.Equal(w, float32(0.5+1), got[0])
				require.Equal(w, float32(side*side-0.5+1), got[side*side-1])
			} else {
				require.Equal(w, float32(side*(0.5+side*(side-1)/2)), got[0]) // whole numbers and halves, so that the sum is exact
			}
			w.free(out[0], in)
			require.NoError(w, c.Synchronize())
			switch now := c.Stats().Allocated.Current - before; i {
			case 0:
				require.Zero(w, now)
			case 1:
				held = now
				require.GreaterOrEqual(w, held, int64(4*side*side))
			default:
				require.Equal(w, held, now)
			}
		}
		p.Close()
		require.Equal(w, before, c.Stats().Allocated.Current)
	})
}
