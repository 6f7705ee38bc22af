package onnx

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// An initializer that is an input as well becomes an input where that is asked for, and the graph then takes it.
func TestTake(t *testing.T) {
	parts := []part{
		{1, nodeOf("Mul", names("x", "w"), names("y"))},
		{5, floatsOf32("w", 1, 2)},
		{5, floatsOf32("fixed", 1, 2)},
		{11, portAs("x", 1, -1, 2)},
		{11, portAs("w", 1, 2)},
		{12, portAs("y", 1, -1, 2)},
	}
	m, err := build.Parse(modelOf(graphOf(parts...)), "", zeros)
	require.NoError(t, err)
	require.Len(t, m.Replaceable(), 1)
	for _, name := range []string{"x", "fixed", "none"} {
		_, err = m.Take(names(name))
		require.Equal(t, status.NotFound, status.CodeOf(err), name)
	}
	x, w := typeOf(t, 5, 2), typeOf(t, 2)
	g, err := m.Resolve([]op.Type{x})
	require.NoError(t, err)
	require.Len(t, g.Inputs(), 1)
	defaults, err := m.Take(names("w"))
	require.NoError(t, err)
	require.Equal(t, w, defaults[0].Type)
	require.Empty(t, m.Replaceable())
	g, err = m.Resolve([]op.Type{x, w})
	require.NoError(t, err)
	require.Len(t, g.Inputs(), 2)
	_, err = m.Resolve([]op.Type{x})
	require.ErrorContains(t, err, "got 1 input; want 2")
}
