package onnx

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// A rest is resolved while programs of earlier stages are compiled, which read the constants that both have.
func TestRestsLeaveSharedConstants(t *testing.T) {
	m, err := build.Parse(modelOf(graphOf(
		part{11, portAs("x", 1, -1)}, part{12, portAs("y", 1)}, part{5, floatsOf32("a", 1)}, part{5, floatsOf32("b", 2)},
		part{1, nodeOf("Add", names("a", "b"), names("c"))}, part{1, nodeOf("Add", names("x", "c"), names("z"))},
		part{1, nodeOf("NonZero", names("z"), names("places"))},
		part{1, nodeOf("Add", names("b", "a"), names("d"))}, part{1, nodeOf("Add", names("z", "d"), names("y"))},
	)), "", zeros)
	require.NoError(t, err)
	_, next, err := m.Stage([]op.Type{typeOf(t, 3)})
	require.NoError(t, err)
	var shared []*op.Const
	for _, k := range m.Kept().Small {
		shared = append(shared, k)
	}
	require.NotEmpty(t, shared)
	done := make(chan bool)
	go func() { // as a compilation does
		local := false
		for _, k := range shared {
			local = local || k.Local
		}
		done <- local
	}()
	places := typeOf(t, 2, 1)
	places.DType = dtype.Int64
	_, _, err = next.Rest.(*build.Rest).Stage([]op.Type{places, typeOf(t, 3)})
	require.NoError(t, err)
	require.False(t, <-done)
}

// stagesOf resolves a model and its rests, as if each size that elements decide were 2, and returns what is between them.
func stagesOf(m *build.Model, inputs ...op.Type) (list []*graph.Stage, err error) {
	for source := graph.Staged(m); ; source = list[len(list)-1].Rest.(graph.Staged) {
		g, next, err := source.Stage(inputs)
		if err != nil || next == nil {
			return list, err
		}
		outputs := g.Outputs()[next.Operands:]
		result := next.Rest.Inputs()[:len(next.Rest.Inputs())-len(outputs)-len(next.Inputs)]
		result[0].Shape.Dims[0] = 2
		rest := append(result, outputs...)
		for _, i := range next.Inputs {
			rest = append(rest, inputs[i])
		}
		list, inputs = append(list, next), rest
	}
}

// What the rest reads of the inputs is no output of the graph before it, which would be a copy in each stage.
func TestRestsReadInputs(t *testing.T) {
	m, err := build.Parse(modelOf(graphOf(
		part{11, portAs("x", 1, -1)}, part{11, portAs("z", 1, -1)}, part{12, portAs("y", 1)}, part{12, portAs("b", 7)},
		part{1, nodeOf("NonZero", names("x"), names("a"))}, part{1, nodeOf("NonZero", names("x"), names("b"))},
		part{1, nodeOf("Add", names("x", "z"), names("y"))},
	)), "", zeros)
	require.NoError(t, err)
	list, err := stagesOf(m, typeOf(t, 3), typeOf(t, 3))
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, []int{0, 1}, list[0].Inputs)
	require.Equal(t, []int{1, 2}, list[1].Inputs, "behind the result of the first call")
}

// A small file may ask for any number of stages, each with a graph and a program.
func TestStagesHaveALimit(t *testing.T) {
	parts := []part{{11, portAs("x", 1, -1)}, {12, portAs("y0", 7)}}
	for i := range build.MostStages {
		parts = append(parts, part{1, nodeOf("NonZero", names("x"), names("y"+strconv.Itoa(i)))})
	}
	for n := range 2 {
		m, err := build.Parse(modelOf(graphOf(parts...)), "", zeros)
		require.NoError(t, err)
		list, err := stagesOf(m, typeOf(t, 3))
		require.Len(t, list, build.MostStages)
		if n == 0 {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "more than 1000 results whose sizes depend on elements")
		}
		parts = append(parts, part{1, nodeOf("NonZero", names("x"), names("more"))})
	}
}

// What counts may be in a branch, or in a function that calls itself and others.
func TestCountsWithinNodes(t *testing.T) {
	branch := graphOf(part{1, nodeOf("NonZero", names("x"), names("z"))}, part{12, portAs("z", 7)})
	choice := part{1, nodeOf("If", names("c"), names("y"), graphAttr("then_branch", branch), graphAttr("else_branch", branch))}
	inputs := []part{{11, portAs("x", 1, -1)}, {11, portAs("c", 9)}, {12, portAs("y", 7)}}
	m, err := build.Parse(modelOf(graphOf(append(inputs, choice)...)), "", zeros)
	require.NoError(t, err)
	require.True(t, m.Counts())
	m, err = build.Parse(modelOf(graphOf(append(inputs, part{1, nodeOf("Identity", names("x"), names("y"))})...)), "", zeros)
	require.NoError(t, err)
	require.False(t, m.Counts())

	f, g := file.FunctionName{Domain: "own", Name: "F"}, file.FunctionName{Domain: "own", Name: "G"}
	call := func(f file.FunctionName) *file.Node { return &file.Node{Op: f.Name, Domain: f.Domain} }
	m.File().Functions[f] = &file.Function{FunctionName: f, Nodes: []*file.Node{call(f), call(g), call(g)}}
	m.File().Functions[g] = &file.Function{FunctionName: g, Nodes: []*file.Node{call(f), call(f)}}
	require.False(t, m.Counting(call(f), map[*file.Function]bool{}))
	m.File().Functions[g].Nodes = append(m.File().Functions[g].Nodes, &file.Node{Op: "Compress"})
	require.True(t, m.Counting(call(f), map[*file.Function]bool{}))
}
