package onnx

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// graphAt is the graph of a node in a model of an opset, as text. Its input is x [2, 1, 3, 4].
func graphAt(t *testing.T, opset int64, node message, constants ...message) string {
	t.Helper()
	parts := []part{{11, portAs("x", 1, 2, 1, 3, 4)}, {12, portAs("y", 1)}, {1, node}}
	for _, c := range constants {
		parts = append(parts, part{5, c})
	}
	m, err := build.Parse(message{}.int(1, 8).sub(7, graphOf(parts...)).sub(8, message{}.text(1, "").int(2, opset)), "", zeros)
	require.NoError(t, err)
	g, err := m.Resolve(m.Inputs())
	require.NoError(t, err)
	return g.String()
}

// What was an attribute in older opsets and is an operand now means the same, and one function reads both.
func TestOperandsThatWereAttributes(t *testing.T) {
	for _, test := range []struct {
		name        string
		old, new    int64
		attributes  []message // of old
		operands    []string  // of new, behind x
		constants   []message
		row, result string // in the graph
	}{
		{"Reshape", 1, 5, []message{intsAttr("shape", 0, -1)}, names("a"), []message{vectorOf("a", 0, -1)}, "reshape", "[2, 12]"},
		{"Squeeze", 1, 13, []message{intsAttr("axes", 1)}, names("a"), []message{vectorOf("a", 1)}, "squeeze", "[2, 3, 4]"},
		{"Squeeze", 1, 13, nil, nil, nil, "squeeze", "[2, 3, 4]"},
		{"Unsqueeze", 1, 13, []message{intsAttr("axes", -1, 0)}, names("a"), []message{vectorOf("a", -1, 0)}, "reshape", "[1, 2, 1, 3, 4, 1]"},
		{
			"Slice", 1, 10,
			[]message{intsAttr("starts", 1), intsAttr("ends", 3), intsAttr("axes", 2)},
			names("s", "e", "a"),
			[]message{vectorOf("s", 1), vectorOf("e", 3), vectorOf("a", 2)},
			"slice", "[2, 1, 2, 4]",
		},
		{"Split", 2, 13, []message{intsAttr("split", 2)}, names("a"), []message{vectorOf("a", 2)}, "", "[2, 1, 3, 4]"},
		{"Pad", 2, 11, []message{intsAttr("pads", 0, 0, 0, 1, 0, 0, 2, 0)}, names("a"), []message{vectorOf("a", 0, 0, 0, 1, 0, 0, 2, 0)}, "pad", "[2, 1, 5, 5]"},
		{"Clip", 6, 11, nil, nil, nil, "clip", "[2, 1, 3, 4]"},
		{"TopK", 1, 10, []message{intAttr("k", 2)}, names("a"), []message{vectorOf("a", 2)}, "topk", "[2, 1, 3, 2]"},
		{"ReduceSum", 1, 13, []message{intsAttr("axes", 2)}, names("a"), []message{vectorOf("a", 2)}, "sum", "[2, 1, 1, 4]"},
		{"ReduceMax", 1, 18, []message{intsAttr("axes", 2)}, names("a"), []message{vectorOf("a", 2)}, "max", "[2, 1, 1, 4]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			now := nodeOf(test.name, append(names("x"), test.operands...), names("y"))
			was := graphAt(t, test.old, nodeOf(test.name, names("x"), names("y"), test.attributes...))
			require.Equal(t, was, graphAt(t, test.new, now, test.constants...))
			require.Contains(t, was, test.row)
			require.Contains(t, was, "float32"+test.result)
		})
	}
}

// What meant something else in older opsets still does: axes of Softmax, the default of Concat, and the axis of a vector that is added.
func TestMeaningsOfOlderOpsets(t *testing.T) {
	softmax := nodeOf("Softmax", names("x"), names("y"), intAttr("axis", 1))
	require.Contains(t, graphAt(t, 12, softmax), "softmax(%1) axis=1")
	require.Contains(t, graphAt(t, 12, softmax), "float32[2, 12]")
	require.NotContains(t, graphAt(t, 13, softmax), "reshape")
	require.Contains(t, graphAt(t, 3, nodeOf("Concat", names("x", "x"), names("y"))), "float32[2, 2, 3, 4]")
	require.Contains(t, graphAt(t, 4, nodeOf("Concat", names("x", "x"), names("y"), intAttr("axis", 0))), "float32[4, 1, 3, 4]")
	added := nodeOf("Add", names("x", "b"), names("y"), intAttr("broadcast", 1), intAttr("axis", 2))
	require.Contains(t, graphAt(t, 6, added, floatsOf32("b", 1, 2, 3)), "float32[3, 1]")
}

// An operand that a row may do without may be left out in the node; one that it needs is missing.
func TestOperandsOfRows(t *testing.T) {
	require.Contains(t, graphAt(t, 17, nodeOf("Einsum", names("x", "x"), names("y"), textAttr("equation", "abcd,abcd->ad"))), "float32[2, 4]")
	_, err := resolveAt(t, 17, part{1, nodeOf("Where", names("x"), names("y"))})
	require.ErrorContains(t, err, "operand 1 is missing")
	require.Equal(t, op.IDEinsum, build.Table["Einsum"][0].Row)
}
