package convert

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

func float32Of(t *testing.T, g *Building, dims ...int64) int64 {
	v, err := g.Input("test", op.Type{DType: dtype.Float32}, dims)
	require.NoError(t, err)
	return v
}

// A second thread that is inside is an error, whatever it wants.
func TestOneThreadBuilds(t *testing.T) {
	g := NewBuilding()
	require.NoError(t, g.Enter("first"))
	err := g.Enter("second")
	require.ErrorContains(t, err, "[second] another thread is using the graph; want one thread at a time")
	require.Equal(t, status.Invalid, status.CodeOf(err))
	g.Mu.Unlock()
	require.NoError(t, g.Enter("third"))
	_, err = g.End("third", []int64{float32Of(t, g, 2)})
	require.NoError(t, err)
	g.Mu.Unlock()
	require.ErrorContains(t, g.Enter("fourth"), "[fourth] the graph has become a program")
	require.True(t, g.Mu.TryLock(), "a graph that has ended is not held")
}

// Names of values and symbols belong to one graph, and are never small numbers.
func TestNamesBelongToAGraph(t *testing.T) {
	g, other := NewBuilding(), NewBuilding()
	n, theirs := g.Dim(g.Builder.Symbol()), other.Dim(other.Builder.Symbol())
	require.Less(t, n, int64(math.MinInt32))
	require.NotEqual(t, n, theirs)
	x, y := float32Of(t, g, n, 3), float32Of(t, other, theirs)
	require.Greater(t, x, int64(math.MaxInt32))
	for _, bad := range []int64{y, 0, 1, -1, x + 1, -x, math.MinInt64, math.MaxInt64} {
		_, err := g.Value("test", "operand", 2, bad)
		require.ErrorContains(t, err, "[test] operand 2 is ")
	}
	for _, bad := range []int64{theirs, -1, n - 1, math.MinInt64, -x - 1<<32} {
		_, err := g.size("test", bad)
		require.ErrorContains(t, err, "want a size, or a symbol of this graph")
	}
	d, err := g.size("test", n)
	require.NoError(t, err)
	require.Equal(t, shape.Symbol(0), d)
	require.Equal(t, n, g.Dim(d))
	require.Equal(t, int64(7), g.Dim(7))
}

// Numbers of graphs stay in their half of a name, however many graphs there have been.
func TestNumbersOfGraphsWrap(t *testing.T) {
	before := buildings.Swap(1<<31 - 3)
	defer buildings.Store(before)
	for range 4 {
		g := NewBuilding()
		require.Positive(t, g.number)
		require.Less(t, g.number, int64(1)<<31)
		x := float32Of(t, g, g.Dim(g.Builder.Symbol()))
		_, err := g.Value("test", "operand", 0, x)
		require.NoError(t, err)
	}
}

func TestSizesOfInputs(t *testing.T) {
	known := op.Type{DType: dtype.Float32, Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{3}}}
	open := op.Type{DType: dtype.Float32, Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{shape.Symbol(0)}}}
	of := func(lists ...[]int64) func(i, rank int) []int64 { return func(i, _ int) []int64 { return lists[i] } }
	types, err := Sizes("test", []op.Type{known, open}, of(nil, []int64{5}), 2)
	require.NoError(t, err)
	require.Equal(t, int64(3), types[0].Shape.Dims[0])
	require.Equal(t, int64(5), types[1].Shape.Dims[0])
	for says, lists := range map[string]func(i, rank int) []int64{
		"input 1 has symbols; want its sizes": of(nil, nil),
		"no negative dimension":               of(nil, []int64{-1}),
		"exceeds the address space":           of(nil, []int64{math.MaxInt64}),
	} {
		_, err := Sizes("test", []op.Type{known, open}, lists, 2)
		require.ErrorContains(t, err, says)
	}
	_, err = Sizes("test", []op.Type{known}, nil, 2)
	require.ErrorContains(t, err, "got sizes of 2 inputs; want 1")
}
