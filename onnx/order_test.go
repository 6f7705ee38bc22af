package onnx

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// chain is nodes of which each reads the result of the one before, "0" first.
func chain(n int) []*file.Node {
	nodes := make([]*file.Node, n)
	for i := range nodes {
		nodes[i] = &file.Node{Op: "Neg", In: []string{strconv.Itoa(i)}, Out: []string{strconv.Itoa(i + 1)}}
	}
	return nodes
}

// runnable reports whether each node follows all that make what it reads.
func runnable(nodes []*file.Node) bool {
	at := map[string]int{}
	for i, n := range nodes {
		for _, name := range n.Out {
			at[name] = i
		}
	}
	for i, n := range nodes {
		names := map[string]bool{}
		n.Reads(names)
		for name := range names {
			if maker, ok := at[name]; ok && maker >= i {
				return false
			}
		}
	}
	return true
}

// TestOrder sorts graphs whose nodes are shuffled, and leaves those alone that are in order or have a cycle.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var nodes []*file.Node
		for i := range 40 {
			n := &file.Node{Op: "Sum", Out: []string{strconv.Itoa(i)}}
			for range random.IntN(4) {
				n.In = append(n.In, strconv.Itoa(random.IntN(i+1)-1)) // -1 is no node's
			}
			nodes = append(nodes, n)
		}
		require.Equal(t, nodes, file.Ordered(nodes))
		random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		sorted := file.Ordered(nodes)
		require.ElementsMatch(t, nodes, sorted)
		require.True(t, runnable(sorted))
	}
	circle := chain(3)
	circle[0].In = []string{"3"}
	require.Equal(t, circle, file.Ordered(circle))
	require.Equal(t, []*file.Node{circle[1]}, file.Ordered([]*file.Node{circle[1]}))
	require.Empty(t, file.Ordered(nil))
}

// TestOrderOfALongChain is of as many nodes as a file may have, the last one first.
func TestOrderOfALongChain(t *testing.T) {
	nodes := chain(file.MostNodes)
	for i := range len(nodes) / 2 {
		j := len(nodes) - 1 - i
		nodes[i], nodes[j] = nodes[j], nodes[i]
	}
	require.True(t, runnable(file.Ordered(nodes)))
}

// TestNodesOfAFileInAnyOrder has a branch that reads what a later node makes, and a function whose nodes are in reverse.
func TestNodesOfAFileInAnyOrder(t *testing.T) {
	branch := func(kind string) message {
		return graphOf(part{1, nodeOf(kind, names("late"), names("b"))}, part{12, portAs("b", 1)})
	}
	twice := message{}.text(1, "Twice").text(4, "a").text(5, "d").sub(7, nodeOf("Exp", names("c"), names("d"))).
		sub(7, nodeOf("Neg", names("a"), names("c"))).sub(9, message{}.text(1, "").int(2, 17)).text(10, "own")
	graph := graphOf(
		part{11, portAs("x", 1, 2)}, part{5, tensorOf("yes", 9, []byte{1})}, part{12, portAs("y", 1)},
		part{1, nodeOf("If", names("yes"), names("y"), graphAttr("then_branch", branch("Abs")), graphAttr("else_branch", branch("Neg")))},
		part{1, nodeOf("Twice", names("x"), names("late")).text(7, "own")},
	)
	m, err := build.Parse(message(modelOf(graph)).sub(25, twice), "", noFold)
	require.NoError(t, err)
	g, err := m.Resolve([]op.Type{typeOf(t, 2)})
	require.NoError(t, err)
	require.Equal(t, 3, g.Calls()) // Neg, Exp, Abs
}

// Names of a branch are its own: that a later node makes one of the same name, from the result of the branch, is no cycle.
func TestNamesOfABranch(t *testing.T) {
	inner := &file.Graph{Nodes: []*file.Node{{Op: "Neg", In: []string{"p"}, Out: []string{"a"}}, {Op: "Neg", In: []string{"a"}, Out: []string{"b"}}}, Inputs: []*file.Port{{Name: "p"}}, Outputs: []*file.Port{{Name: "b"}}}
	nodes := []*file.Node{
		{Op: "If", In: []string{"x"}, Out: []string{"y"}, Attrs: map[string]*file.Attribute{"then_branch": {G: inner}}},
		{Op: "Neg", In: []string{"y"}, Out: []string{"a"}},
		{Op: "Neg", In: []string{"a"}, Out: []string{"p"}},
	}
	require.Equal(t, nodes, file.Ordered(nodes))
}

// What a cycle and a name that nothing makes are is an error of the model.
func TestNodesThatReadWhatIsNotThere(t *testing.T) {
	for _, in := range []string{"b", "nothing"} {
		m, err := build.Parse(modelOf(graphOf(
			part{11, portAs("x", 1, 2)}, part{12, portAs("b", 1)},
			part{1, nodeOf("Add", names("x", in), names("a"))}, part{1, nodeOf("Neg", names("a"), names("b"))},
		)), "", noFold)
		require.NoError(t, err)
		_, err = m.Resolve([]op.Type{typeOf(t, 2)})
		require.ErrorContains(t, err, `node "the Add" (Add-17): reads "`+in+`", which no node before it makes`)
	}
}

// TestFunctionsWithInputsLeftOut calls a function with fewer inputs than it has, and with an empty name for one.
func TestFunctionsWithInputsLeftOut(t *testing.T) {
	clip := message{}.text(1, "Bounded").text(4, "a").text(4, "low").text(4, "high").text(5, "b").
		sub(7, nodeOf("Clip", names("a", "low", "high"), names("b"))).sub(9, message{}.text(1, "").int(2, 17)).text(10, "own")
	for _, in := range [][]string{{"x"}, {"x", ""}, {"x", "", "most"}} {
		m, err := build.Parse(message(modelOf(graphOf(
			part{11, portAs("x", 1, 2)}, part{12, portAs("y", 1)}, part{5, tensorOf("most", 1, make([]byte, 4))},
			part{1, nodeOf("Bounded", in, names("y")).text(7, "own")},
		))).sub(25, clip), "", noFold)
		require.NoError(t, err)
		_, err = m.Resolve([]op.Type{typeOf(t, 2)})
		require.NoError(t, err, in)
	}
}

// A loop that only its condition ends has the largest trip count, as exporters write it. It is no number of float64.
func TestLoopsWithTheLargestTripCount(t *testing.T) {
	body := graphOf(
		part{11, portAs("i", 7)}, part{11, portAs("c", 9)}, part{11, portAs("v", 1)}, part{5, tensorOf("two", 7, file.AppendInt(nil, 2, 8))},
		part{1, nodeOf("Neg", names("v"), names("w"))}, part{1, nodeOf("Less", names("i", "two"), names("d"))},
		part{12, portAs("d", 9)}, part{12, portAs("w", 1)},
	)
	less := func(row *op.Row, _ op.Attrs, in []op.Known) ([]*op.Const, error) {
		i, _ := in[0].Const.Ints()
		yes := byte(0)
		if i[0] < 2 {
			yes = 1
		}
		return []*op.Const{{Type: op.Type{DType: file.ElemType(9).DType()}, Bytes: []byte{yes}}}, nil
	}
	m, err := build.Parse(modelOf(graphOf(
		part{11, portAs("x", 1, 2)}, part{12, portAs("y", 1)}, part{5, tensorOf("n", 7, file.AppendInt(nil, math.MaxInt64, 8))},
		part{1, nodeOf("Loop", names("n", "", "x"), names("y"), graphAttr("body", body))},
	)), "", less)
	require.NoError(t, err)
	g, err := m.Resolve([]op.Type{typeOf(t, 2)})
	require.NoError(t, err)
	require.Equal(t, 3, g.Calls()) // rounds 0, 1 and 2
}

// An attribute of another type than its operator has is an error, and not 0; one without a type is of the first version.
func TestAttributesOfAnotherType(t *testing.T) {
	for _, test := range []struct {
		axis message
		want string
	}{
		{message{}.text(1, "axis").int(3, 0).int(20, 2), ""},
		{message{}.text(1, "axis").int(3, 0), ""},
		{message{}.text(1, "axis").int(20, 1), `node "the Softmax" (Softmax-17): attribute axis is of type 1; want 2, an int`},
		{message{}.text(1, "axis").int(20, 7), "attribute axis is of type 7; want 2, an int"},
		{message{}.text(1, "axis").int(20, -1), "attribute axis is of type -1; want 2, an int"},
	} {
		m, err := build.Parse(modelOf(graphOf(
			part{11, portAs("x", 1, 2)}, part{12, portAs("y", 1)}, part{1, nodeOf("Softmax", names("x"), names("y"), test.axis)},
		)), "", noFold)
		require.NoError(t, err)
		_, err = m.Resolve([]op.Type{typeOf(t, 2)})
		if test.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, test.want)
	}
}

// Weights of a recurrent network whose sizes do not fit each other are an error.
func TestRecurrentWeightsThatDoNotFit(t *testing.T) {
	for _, sizes := range [][2]int64{{16, 5}, {12, 4}, {20, 4}} { // rows of both, and columns of the second
		m, err := build.Parse(modelOf(graphOf(
			part{11, portAs("x", 1, 2, 1, 3)}, part{12, portAs("y", 1)},
			part{5, tensorOf("w", 1, make([]byte, 4*sizes[0]*3), 1, sizes[0], 3)},
			part{5, tensorOf("r", 1, make([]byte, 4*sizes[0]*sizes[1]), 1, sizes[0], sizes[1])},
			part{1, nodeOf("LSTM", names("x", "w", "r"), names("y"))},
		)), "", zeros)
		require.NoError(t, err)
		_, err = m.Resolve([]op.Type{typeOf(t, 2, 1, 3)})
		require.ErrorContains(t, err, "the weights of input and state are for", sizes)
	}
}

// The largest 0 elements of an axis, which may have none, are empty tensors.
func TestTheLargestNone(t *testing.T) {
	for _, n := range []int64{0, 4} {
		m, err := build.Parse(modelOf(graphOf(
			part{11, portAs("x", 1, 2, -1)}, part{12, portAs("v", 1)}, part{12, portAs("i", 7)}, part{5, vectorOf("k", 0)},
			part{1, nodeOf("TopK", names("x", "k"), names("v", "i"))},
		)), "", noFold)
		require.NoError(t, err)
		g, err := m.Resolve([]op.Type{typeOf(t, 2, n)})
		require.NoError(t, err)
		require.Equal(t, 0, g.Calls())
	}
}
