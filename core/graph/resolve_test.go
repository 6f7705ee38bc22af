package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/describe"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// attributes are a setting of a row as attributes, the dtype that operators that create need among them.
func attributesOf(t *testing.T, row *op.Row, s describe.Setting) op.Attrs {
	at := make(op.Attrs, len(row.Attrs))
	for i, a := range row.Attrs {
		given, ok := s.Map()[a.Name]
		switch v := given.(type) {
		case nil:
		case bool:
			at[i] = op.Value{Kind: op.Bool}
			if v {
				at[i].I = 1
			}
		case int:
			at[i] = integer(int64(v))
		case float64:
			at[i] = float(v)
		case []int:
			at[i] = op.Value{Kind: op.Ints}
			for _, n := range v {
				at[i].Ints = append(at[i].Ints, int64(n))
			}
		case string:
			if a.Type == op.StringAttr {
				at[i] = op.Value{Kind: op.String, Ref: v}
				continue
			}
			d, err := dtype.Parse(v)
			require.NoError(t, err)
			at[i] = op.Value{Kind: op.DType, I: int64(d)}
		default:
			t.Fatalf("%s: %T in a setting", row.Name, v)
		}
		if !ok && a.Needed && a.Type == op.DTypeAttr {
			at[i] = op.Value{Kind: op.DType, I: int64(dtype.Float32)}
		}
	}
	return at
}

// operandsOf are operands of a row as tests give them: of one shape, or what its domains ask for.
func operandsOf(row *op.Row, s shape.Shape) (in []op.Type) {
	d := dtype.Float32
	if !row.Accepts.Has(d) {
		d = dtype.Int32
	}
	for i := range row.In {
		x := op.Type{DType: d, Shape: s}
		switch {
		case row.In[i].Domain == op.Condition:
			x.DType = dtype.Bool
		case row.In[i].Domain == op.Position:
			x = op.Type{DType: dtype.Int64, Shape: shape.Shape{Rank: 1, Dims: s.Dims}}
		}
		in = append(in, x)
	}
	return in
}

// What a row infers with symbols holds for every size but 0: resolved, each result has the dtype and the rank that
// was inferred, its numbers, and the numbers that its symbols stand for. For tensors without elements dtype and rank
// hold: Paddle's reshape reads the dimensions that it is given in another way there.
func TestInferenceWithSymbolsHoldsForNumbers(t *testing.T) {
	symbols := shape.Shape{Rank: 2, Dims: [shape.MaxRank]int64{shape.Symbol(0), shape.Symbol(1)}}
	tried := 0
	for i := range op.Table {
		row := &op.Table[i]
		settings := describe.All()[row.Name].Settings
		if len(settings) == 0 {
			settings = []describe.Setting{{}}
		}
		for _, setting := range settings {
			for _, sizes := range [][2]int64{{5, 5}, {10, 3}, {1, 1}, {0, 4}, {5, 0}} {
				b := NewBuilder()
				var in []Value
				types := operandsOf(row, symbols)
				for _, x := range types {
					in = append(in, b.Input(x))
				}
				out, err := b.Call(row, in, attributesOf(t, row, setting))
				if err != nil {
					continue // says that it cannot know
				}
				g := b.Build(out...)
				concrete := operandsOf(row, shape.Shape{Rank: 2, Dims: [shape.MaxRank]int64{sizes[0], sizes[1]}})
				r, err := g.Resolve(concrete)
				if err != nil {
					continue // not of these sizes
				}
				tried++
				holds(t, row, g, r, sizes)
			}
		}
	}
	require.Greater(t, tried, 400)
}

// holds checks the outputs of a graph against those of the same graph with numbers.
func holds(t *testing.T, row *op.Row, g, r *Graph, sizes [2]int64) {
	stands := map[int64]int64{shape.Symbol(0): sizes[0], shape.Symbol(1): sizes[1]}
	got := r.Outputs()
	require.Len(t, got, len(g.Outputs()), row.Name)
	for j, was := range g.Outputs() {
		require.Equal(t, was.DType, got[j].DType, row.Name)
		require.Equal(t, was.Shape.Rank, got[j].Shape.Rank, "%s of %v", row.Name, sizes)
		for k, d := range was.Shape.Slice() {
			if sizes[0]*sizes[1] == 0 {
				break
			}
			n, known := stands[d]
			if !shape.IsSymbol(d) {
				n, known = d, true
			}
			if !known {
				stands[d] = got[j].Shape.Dims[k]
				continue
			}
			require.Equal(t, n, got[j].Shape.Dims[k], "%s of %v, result %d, axis %d:\n%s", row.Name, sizes, j, k, g)
		}
	}
}
