package onnx

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// A name stands for one value of a graph or function, and no size is negative but that of a dimension that is not known.
func TestDefinitions(t *testing.T) {
	x, y := part{11, portAs("x", 1, 2)}, part{12, portAs("y", 1, 2)}
	relu, weight := part{1, nodeOf("Relu", names("x"), names("y"))}, part{5, tensorOf("w", 1, make([]byte, 4), 1)}
	body := graphOf(part{1, nodeOf("Relu", names("x"), names("z"))}, part{1, nodeOf("Abs", names("x"), names("z"))}, part{12, portAs("z", 1)})
	branch := part{1, nodeOf("If", names("w"), names("y"), graphAttr("then_branch", body), graphAttr("else_branch", body))}
	own := message{}.text(1, "Own").text(4, "a").text(4, "a").sub(7, nodeOf("Relu", names("a"), names("b"))).text(5, "b").text(10, "own")
	for _, test := range []struct {
		parts []part
		more  message
		want  string
	}{
		{parts: []part{x, y, relu}},
		{parts: []part{x, {11, portAs("w", 1, 1)}, y, relu, weight}}, // an initializer is the default of an input
		{parts: []part{x, {11, portAs("z", 1, -1)}, y, relu}},
		{parts: []part{x, x, y, relu}, want: `defines "x" twice`},
		{parts: []part{x, y, relu, weight, weight}, want: `defines "w" twice`},
		{parts: []part{x, y, relu, relu}, want: `defines "y" twice`},
		{parts: []part{x, y, weight, {1, nodeOf("Split", names("x"), names("y", "y"))}}, want: `defines "y" twice`},
		{parts: []part{x, y, {1, nodeOf("Relu", names("x"), names("x"))}, relu}, want: `defines "x" twice`},
		{parts: []part{x, y, relu, weight, {1, nodeOf("Relu", names("x"), names("w"))}}, want: `defines "w" twice`},
		{parts: []part{x, y, weight, branch}, want: `defines "z" twice`},
		{parts: []part{x, y, relu}, more: message{}.sub(25, own), want: `function "Own" defines "a" twice`},
		{parts: []part{{11, portAs("x", 1, -5)}, y, relu}, want: `"x" of graph "main" has a dimension of -5; want 0 or more, or -1 where it is not known`},
		{parts: []part{x, {12, portAs("y", 1, -2)}, relu}, want: `"y" of graph "main" has a dimension of -2`},
		{parts: []part{x, y, relu, {5, tensorOf("w", 1, nil, -5)}}, want: `tensor "w" has dimensions [-5]; want at most 9, none negative`},
	} {
		_, err := build.Parse(append(modelOf(graphOf(test.parts...)), test.more...), "", zeros)
		if test.want == "" {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, status.Invalid, status.CodeOf(err), test.want)
		require.ErrorContains(t, err, test.want)
	}
}

// Constants that nodes double are computed before the model runs up to a limit that follows from the size of the file; the graph
// computes what is beyond.
func TestConstantsGrowWithTheFile(t *testing.T) {
	for _, weights := range []int64{1 << 10, 4 << 20} { // bytes
		last := "w"
		parts := []part{image, {12, portAs("y", 1)}, {5, tensorOf(last, 1, make([]byte, weights), weights/4)}}
		for i := range 20 {
			next := "w" + strconv.Itoa(i)
			parts = append(parts, part{1, nodeOf("Concat", names(last, last), names(next), intAttr("axis", 0))})
			last = next
		}
		m, err := build.Parse(modelOf(graphOf(append(parts, part{1, nodeOf("Size", names(last), names("y"))})...)), "", zeros)
		require.NoError(t, err)
		_, err = m.Resolve([]op.Type{typeOf(t, 1, 1, 4, 4)})
		require.NoError(t, err)
		limit := build.FreeFolds + build.FoldGrowth*m.Size()
		require.LessOrEqual(t, m.Kept().Spent, limit)
		require.Greater(t, 2*m.Kept().Spent, limit/2)
	}
}
