package metal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// The shapes have short rows, which are staged, also of lengths that are no multiple of a vector; longer rows for some lanes each;
// and few rows so long that they are divided into parts. reduced is how many of the last axes are.
var shapesOfTails = []struct {
	dims    []int64
	reduced int
	parts   bool // for elements of 4 bytes and more
}{
	{dims: []int64{5, 7}, reduced: 1},
	{dims: []int64{300, 33}, reduced: 1},
	{dims: []int64{4, 3, 8}, reduced: 2},
	{dims: []int64{3, 1}, reduced: 1},
	{dims: []int64{6}, reduced: 1},
	{dims: []int64{9, 1025}, reduced: 1},
	{dims: []int64{2, 3, 700}, reduced: 2},
	{dims: []int64{2, 40003}, reduced: 1, parts: true},
	{dims: []int64{3, 11, 1300}, reduced: 3, parts: true},
}

// tailGraph is a few elementwise steps of two tensors, a row that all rows share and a number, that end in a reduction. With
// kept, what is reduced is a result too.
func tailGraph(t *testing.T, id op.ID, d dtype.DType, dims []int64, reduced int, kept bool) *graph.Graph {
	b := graph.NewBuilder()
	input := func(d dtype.DType, dims ...int64) graph.Value {
		s, err := shape.Of(dims...)
		require.NoError(t, err)
		return b.Input(op.Type{DType: d, Shape: s})
	}
	call := func(id op.ID, at op.Attrs, in ...graph.Value) graph.Value {
		out, err := b.Call(op.ByID(id), in, at)
		require.NoError(t, err)
		return out[0]
	}
	rank := len(dims)
	x, row := input(d, dims...), input(d, dims[rank-1])
	v := x
	if d == dtype.Bool {
		v = call(op.IDLogicalOr, nil, call(op.IDLogicalAnd, nil, x, input(d, dims...)), row)
	} else {
		v = call(op.IDAdd, nil, call(op.IDMaximum, nil, x, input(d, dims...)), row)
		v = call(op.IDSubtract, nil, v, b.Scalar(op.Value{Kind: op.Int, I: 2}))
		v = call(op.IDCast, op.Attrs{{Kind: op.DType, I: int64(d)}}, call(op.IDAbs, nil, v))
	}
	attrs := op.ByID(id).Attrs
	at := make(op.Attrs, len(attrs))
	for i := range attrs {
		if attrs[i].Name == "axis" {
			at[i] = op.Value{Kind: op.Ints}
			for axis := rank - reduced; axis < rank; axis++ {
				at[i].Ints = append(at[i].Ints, int64(axis))
			}
		}
	}
	out := call(id, at, v)
	if kept {
		return b.Build(out, v)
	}
	return b.Build(out)
}

// A group with a tail gives the bits of its steps one by one, by one dispatch, or two where parts of rows are joined.
func TestTails(t *testing.T) {
	r := newRig(t, Config{})
	for i := range op.Table {
		row := &op.Table[i]
		if !row.Tail || !r.Fuses(&op.Step{Row: row, In: []op.Ref{{DType: dtype.Int32}}, Out: []op.Ref{{DType: dtype.Int32}}}) {
			continue // of those that are lowered to others
		}
		t.Run(row.Name, func(t *testing.T) {
			sample.Skip(t, 7, "tails", i)
			for _, d := range row.Accepts.Members() {
				if !gpu.Elements.Has(d) {
					continue
				}
				for number, x := range shapesOfTails {
					kept := (number+int(d))%3 == 0
					g := tailGraph(t, row.ID, d, x.dims, x.reduced, kept)
					dispatches := compareGroups(t, r, g, uint64(number))
					if parts := x.parts && d.Size() >= 4; parts {
						require.EqualValues(t, 2, dispatches, "%s %v", d, x.dims)
					} else if !x.parts {
						require.EqualValues(t, 1, dispatches, "%s %v", d, x.dims)
					}
				}
			}
		})
	}
}

// compareGroups compares a graph that is one group with its steps, and answers how many dispatches the group is.
func compareGroups(t *testing.T, r *rig, g *graph.Graph, seed uint64) int64 {
	plain, err := g.PlanFor(r.Composes, nil)
	require.NoError(t, err)
	fused, err := g.PlanFor(r.Composes, r.Fuses)
	require.NoError(t, err)
	require.Len(t, fused.Groups, 1, "%s", g)
	require.True(t, fused.Groups[0].Tail, "%s", g)
	b := r.bench(t)
	want, got := callOf(b, plain, seed), callOf(b, fused, seed)
	program, err := b.Compile(&plain.Plan)
	require.NoError(t, err)
	require.NoError(t, b.Runs(program, want).Err)
	program, err = b.Compile(&fused.Plan)
	require.NoError(t, err, "%s", g)
	fakemetal.Reset(t)
	require.NoError(t, b.Runs(program, got).Err)
	require.Equal(t, outputs(want), outputs(got), "%s", g)
	return fakemetal.Count(t, "dispatches")
}
