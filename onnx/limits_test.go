package onnx

import (
	"encoding/binary"
	"math"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Attributes of nodes.

func intAttr(name string, v int64) message { return message{}.text(1, name).int(3, v) }

func intsAttr(name string, list ...int64) message {
	m := message{}.text(1, name)
	for _, v := range list {
		m = m.int(8, v)
	}
	return m
}

func textAttr(name, v string) message { return message{}.text(1, name).text(4, v) }

func graphAttr(name string, g message) message { return message{}.text(1, name).sub(6, g) }

// scalarOf is a 0-d TensorProto of int64.
func scalarOf(name string, v int64) message { return tensorOf(name, 7, file.AppendInt(nil, v, 8)) }

// floatOf is a 0-d TensorProto of float32.
func floatOf(name string, v float32) message {
	return tensorOf(name, 1, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
}

// image is the input of the models of this file: float32 [1, 1, 4, 4] under the name x.
var image = part{11, portAs("x", 1, 1, 1, 4, 4)}

// resolveAt reads a model of an opset with the input x and the output y, and resolves it. bytes is how many
// bytes that has allocated, whether they are in use or not.
func resolveAt(t *testing.T, opset int64, parts ...part) (bytes uint64, err error) {
	t.Helper()
	file := message{}.int(1, 8).sub(7, graphOf(append(parts, image, part{12, portAs("y", 1)})...)).sub(8, message{}.int(2, opset))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := build.Parse(file, "", zeros)
	if err == nil {
		_, err = m.Resolve([]op.Type{typeOf(t, 1, 1, 4, 4)})
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// Sizes of a small file are checked before anything is made by them. Each of these models would take gigabytes, or
// has sizes whose product overflows to a small number.
func TestSizesAreLimited(t *testing.T) {
	const room = "want at most 67108864 in all nodes"
	// big is a tensor of many zeros that is part of the graph, since it is too large to be folded.
	big := func(dims ...int64) []part {
		return []part{{5, vectorOf("d", dims...)}, {1, nodeOf("ConstantOfShape", names("d"), names("big"))}}
	}
	init := func(list ...message) (parts []part) {
		for _, m := range list {
			parts = append(parts, part{5, m})
		}
		return parts
	}
	for _, test := range []struct {
		name, want string
		opset      int64
		parts      []part
		node       message
	}{
		{
			"MelWeightMatrix", room, 18, init(scalarOf("b", 1<<32), scalarOf("l", 2*(1<<32-1)), scalarOf("r", 8000), scalarOf("lo", 0), scalarOf("hi", 4000)),
			nodeOf("MelWeightMatrix", names("b", "l", "r", "lo", "hi"), names("y")),
		},
		{
			"MelWeightMatrix with a rate below 0", "want none below 0", 18, init(scalarOf("b", 4), scalarOf("l", 16), floatOf("r", -1e-30), scalarOf("lo", 0), scalarOf("hi", 4000)),
			nodeOf("MelWeightMatrix", names("b", "l", "r", "lo", "hi"), names("y")),
		},
		{
			"HannWindow", "the size is", 18, init(scalarOf("n", 1<<40)),
			nodeOf("HannWindow", names("n"), names("y")),
		},
		{
			"MaxPool with dilations", room, 18, nil,
			nodeOf("MaxPool", names("x"), names("y"), intsAttr("kernel_shape", 1, 1<<16), intsAttr("pads", 0, 1<<17, 0, 1<<17), intsAttr("dilations", 1, 2)),
		},
		{
			"MaxPool with indices", room, 18, nil,
			nodeOf("MaxPool", names("x"), names("y", "i"), intsAttr("kernel_shape", 1<<20, 1<<20), intsAttr("pads", 1<<30, 1<<30, 1<<30, 1<<30)),
		},
		{
			"AveragePool", room, 18, nil,
			nodeOf("AveragePool", names("x"), names("y"), intsAttr("kernel_shape", 1, 1<<30), intsAttr("pads", 0, 1<<30, 0, 1<<30)),
		},
		{
			"LpPool", room, 18, nil,
			nodeOf("LpPool", names("x"), names("y"), intsAttr("kernel_shape", 1, 1<<30), intsAttr("pads", 0, 1<<30, 0, 1<<30)),
		},
		{
			"STFT", room, 18, append(big(1, 1<<35+1<<30-1, 1), init(scalarOf("st", 1), scalarOf("fl", 1<<30))...),
			nodeOf("STFT", names("big", "st", "", "fl"), names("y")),
		},
		{
			"DFT", "a transform of 4294967296 elements", 18, big(1, 1<<32, 1),
			nodeOf("DFT", names("big"), names("y")),
		},
		{
			"SplitToSequence", "makes 1099511627776 tensors; want at most 4096", 18, append(big(1<<40), init(scalarOf("one", 1))...),
			nodeOf("SplitToSequence", names("big", "one"), names("y")),
		},
		{
			"Resize nearest", room, 18, init(vectorOf("s", 1, 1, 4, 1<<31)),
			nodeOf("Resize", names("x", "", "", "s"), names("y"), textAttr("mode", "nearest")),
		},
		{
			"Resize linear", room, 18, init(vectorOf("s", 1, 1, 4, 1<<25)),
			nodeOf("Resize", names("x", "", "", "s"), names("y"), textAttr("mode", "linear")),
		},
		{
			"Resize by a matrix", "a scale of", 18, append(big(1, 1, 1, 1<<30), init(vectorOf("s", 1, 1, 1, 1<<20))...),
			nodeOf("Resize", names("big", "", "", "s"), names("y"), textAttr("mode", "cubic"), intAttr("antialias", 1)),
		},
		{
			"Upsample", room, 9, init(floatsOf32("s", 1, 1, 1, 1<<28)),
			nodeOf("Upsample", names("x", "s"), names("y"), textAttr("mode", "nearest")),
		},
		{
			"Col2Im", "pads is [1099511627776", 18, append(init(vectorOf("ax", 0), vectorOf("im", 4), vectorOf("bl", 1<<24)), part{1, nodeOf("Squeeze", names("x", "ax"), names("q"))}),
			nodeOf("Col2Im", names("q", "im", "bl"), names("y"), intsAttr("pads", 1<<40, 1<<40)),
		},
		{
			"Col2Im of a negative block", "want no negative dimension", 18, append(init(vectorOf("ax", 0), vectorOf("im", 4), vectorOf("bl", -4)), part{1, nodeOf("Squeeze", names("x", "ax"), names("q"))}),
			nodeOf("Col2Im", names("q", "im", "bl"), names("y")),
		},
		{
			"AffineGrid", "the size is", 20, append(init(vectorOf("s", 1, 1, 1<<12, 1<<13)), big(1, 2, 3)...),
			nodeOf("AffineGrid", names("big", "s"), names("y")),
		},
		{
			"AffineGrid whose size overflows", "exceeds the address space", 20, append(init(vectorOf("s", 1, 1, 1<<32, 1<<32)), big(1, 2, 3)...),
			nodeOf("AffineGrid", names("big", "s"), names("y")),
		},
		{
			"Reshape", "exceeds the address space", 18, append(init(vectorOf("s", 1<<32, 1<<32)), big(0)...),
			nodeOf("Reshape", names("big", "s"), names("y"), intAttr("allowzero", 1)),
		},
		{
			"Reshape of nothing", "exceeds the address space", 18, append(init(vectorOf("s", 1<<25, 1<<25, 1<<25, 0)), big(0)...),
			nodeOf("Reshape", names("big", "s"), names("y"), intAttr("allowzero", 1)),
		},
		{
			"ConstantOfShape", "exceeds the address space", 18, init(vectorOf("s", 1<<32, 1<<32)),
			nodeOf("ConstantOfShape", names("s"), names("y")),
		},
		{
			"Loop that stacks nothing", "exceeds the address space", 18, init(scalarOf("t", 0)),
			nodeOf("Loop", names("t", ""), names("y"), graphAttr("body", graphOf(
				part{11, portAs("i", 7)}, part{11, portAs("c", 9)}, part{12, portAs("c", 9)}, part{12, portAs("z", 1, 1<<32, 1<<32)},
			))),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			bytes, err := resolveAt(t, test.opset, append(test.parts, part{1, test.node})...)
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, `[onnx] node "the `)
			require.Less(t, bytes, uint64(4<<20))
		})
	}
}

// A mask that was folded has bits for elements, and lists of it many bytes for each.
func TestListsOfElementsAreLimited(t *testing.T) {
	value := message{}.text(1, "value").sub(5, tensorOf("v", 9, []byte{0}, 1))
	for _, consumer := range []message{
		nodeOf("NonZero", names("mask"), names("y")),
		nodeOf("Compress", names("x", "mask"), names("y")),
		nodeOf("Expand", names("x", "mask"), names("y")),
	} {
		const elements = 1<<26 + 1
		bytes, err := resolveAt(t, 18, part{5, vectorOf("d", elements)}, part{1, nodeOf("ConstantOfShape", names("d"), names("mask"), value)}, part{1, consumer})
		require.ErrorContains(t, err, "needs room for [67108865] elements; want at most 67108864")
		require.Less(t, bytes, uint64(elements+2<<20), "the mask and no list")
	}
}

// A room that is used up by many nodes is an error like one that a single node exceeds.
func TestRoomIsThatOfAllNodes(t *testing.T) {
	b := &build.Budget{}
	require.NoError(t, b.Draw(1<<13, 1<<12))
	require.NoError(t, b.Draw(1<<25))
	require.NoError(t, b.Draw(0, math.MaxInt64, math.MaxInt64))
	err := b.Draw(1)
	require.ErrorContains(t, err, "needs room for [1] elements; want at most 67108864")
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.Equal(t, status.Invalid, status.CodeOf((&build.Budget{}).Draw(1, -1)))
	for _, factors := range [][]int64{{1 << 32, 1 << 32}, {math.MaxInt64, 2, 3}, {1 << 21, 1 << 21, 1 << 22}} {
		require.Equal(t, int64(math.MaxInt64), build.Times(factors...))
		require.Error(t, (&build.Budget{}).Draw(factors...))
	}
}

// Small results are counted together: a loop makes as many of them as it has rounds.
func TestSmallFoldsAreLimited(t *testing.T) {
	const each = build.SmallFold / 4
	body := graphOf(
		part{11, portAs("i", 7)}, part{11, portAs("c", 9)},
		part{1, nodeOf("Cast", names("i"), names("f"), intAttr("to", 1))},
		part{1, nodeOf("ConstantOfShape", names("d"), names("v"))}, part{1, nodeOf("Add", names("v", "f"), names("w"))},
		part{1, nodeOf("Add", names("w", "f"), names("w2"))}, part{12, portAs("c", 9)}, part{12, portAs("w2", 1, each)},
	)
	loop := func(rounds int64) (uint64, error) {
		return resolveAt(t, 18, part{5, scalarOf("t", rounds)}, part{5, vectorOf("d", each)}, part{1, nodeOf("Loop", names("t", ""), names("y"), graphAttr("body", body))})
	}
	_, err := loop(16)
	require.NoError(t, err)
	bytes, err := loop(4096)
	require.ErrorContains(t, err, `node "the Add" (Add-18): the small results that are computed before the model runs take more than 268435456 bytes`)
	require.Less(t, bytes, uint64(2*build.SmallFolds))
}

// What is computed before a model runs is limited by the elements that it reads, too: here each round sorts a constant
// of many elements, and keeps as few as x has. The shape of x is no constant of the file, so that the result is not
// kept from round to round.
func TestWorkOfFoldsIsLimited(t *testing.T) {
	body := graphOf(
		part{11, portAs("i", 7)}, part{11, portAs("c", 9)}, part{11, portAs("v", 1)}, part{12, portAs("c", 9)}, part{12, portAs("v", 1)},
		part{1, nodeOf("Size", names("x"), names("k"))}, part{1, nodeOf("TopK", names("big", "k"), names("w", "which"))},
	)
	_, err := resolveAt(t, 18, part{5, scalarOf("t", 4096)}, part{5, vectorOf("d", 1<<22)}, part{1, nodeOf("ConstantOfShape", names("d"), names("big"))},
		part{1, nodeOf("Loop", names("t", "", "x"), names("y"), graphAttr("body", body))})
	require.ErrorContains(t, err, `node "the TopK" (TopK-18): takes too much work before the model runs; want at most 4294967296 elements`)

	b := &build.Budget{}
	ok, err := b.Folding(build.MostWork, build.SmallFold)
	require.True(t, ok)
	require.NoError(t, err)
	ok, err = b.Folding(1, build.SmallFold+1)
	require.False(t, ok)
	require.NoError(t, err, "a large result is computed when the model runs")
	_, err = b.Folding(1, 8)
	require.ErrorContains(t, err, "takes too much work before the model runs; want at most 4294967296 elements")
}

// The work of products, convolutions and pools is what they multiply, which elements alone do not say.
func TestWorkCountsProducts(t *testing.T) {
	of := func(dims ...int64) *build.Value { return &build.Value{Type: typeOf(t, dims...)} }
	for _, test := range []struct {
		id      op.ID
		at      op.Attrs
		in, out []int64
		other   []int64
		want    int64
	}{
		{op.IDAdd, nil, []int64{4}, []int64{4}, []int64{4}, 12},
		{op.IDMatmul, build.With(op.MatmulTransposeX, false, op.MatmulTransposeY, false), []int64{3, 5}, []int64{3, 7}, []int64{5, 7}, 15 + 35 + 21 + 21*5},
		{op.IDMatmul, build.With(op.MatmulTransposeX, true, op.MatmulTransposeY, false), []int64{5, 3}, []int64{3, 7}, []int64{5, 7}, 15 + 35 + 21 + 21*5},
		{op.IDGather, nil, []int64{1 << 30}, []int64{3}, []int64{3}, 3 + 3},
		{op.IDConv, nil, []int64{1, 2, 8}, []int64{1, 3, 6}, []int64{3, 2, 3}, 16 + 18 + 18 + 18*6},
		{op.IDMatmul, build.With(op.MatmulTransposeX, false), []int64{1 << 31, 1 << 30}, []int64{1 << 31, 1 << 30}, []int64{1 << 30, 1 << 30}, math.MaxInt64},
	} {
		require.Equal(t, test.want, build.WorkOf(op.ByID(test.id), test.at, []*build.Value{of(test.in...), of(test.other...)}, []*build.Value{of(test.out...)}))
	}
}

// A node may become many calls: a recurrent network one for each step and gate. The budget is nearly used up here, by
// nodes before it.
func TestCallsAreLimited(t *testing.T) {
	g := graphOf(
		image, part{12, portAs("y", 1)}, part{5, vectorOf("s", 16, 1, 1)}, part{1, nodeOf("Reshape", names("x", "s"), names("steps"))},
		part{5, tensorOf("w", 1, make([]byte, 4*16), 1, 16, 1)}, part{5, tensorOf("r", 1, make([]byte, 4*64), 1, 16, 4)},
		part{1, nodeOf("LSTM", names("steps", "w", "r"), names("y"), intAttr("hidden_size", 4))},
	)
	m, err := build.Parse(modelOf(g), "", zeros)
	require.NoError(t, err)
	for _, test := range []struct {
		before int64
		want   string
	}{{0, ""}, {build.MostCalls - 2000, ""}, {build.MostCalls - 500, `node "the LSTM" (LSTM-17): the model becomes too many calls of rows; want at most 2097152`}} {
		b := &build.Builder{Model: m, Graph: graph.NewBuilder(), Budget: build.Budget{Calls: test.before}}
		x := typeOf(t, 1, 1, 4, 4)
		top := &build.Scope{Values: map[string]*build.Value{"x": {Type: x, At: b.Graph.Input(x), Placed: true}}, Opsets: m.File().Opsets}
		_, err := b.Body(top, m.File().Graph, 0)
		if test.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, test.want)
		require.Equal(t, status.Unsupported, status.CodeOf(err))
	}
}

// Copies of sequences are counted: a loop may insert one tensor after the other.
func TestSequencesAreLimited(t *testing.T) {
	var many []string
	for range 1 << 15 {
		many = append(many, "x")
	}
	last := "s"
	parts := []part{{1, nodeOf("SequenceConstruct", many, names(last))}}
	for i := range 1 << 11 {
		next := "s" + strconv.Itoa(i)
		parts = append(parts, part{1, nodeOf("SequenceInsert", names(last, "x"), names(next))})
		last = next
	}
	bytes, err := resolveAt(t, 17, append(parts, part{1, nodeOf("SequenceLength", names(last), names("y"))})...)
	require.ErrorContains(t, err, "needs room for")
	require.Less(t, bytes, uint64(3*8*build.MostRoom))
}

// A file of many empty messages is refused while it is read: each takes a hundred times the bytes of the file.
func TestMessagesAreLimited(t *testing.T) {
	repeat := func(field uint64, n int) message {
		m := make(message, 0, 2*n)
		for range n {
			m = append(m, byte(field<<3|2), 0)
		}
		return m
	}
	for _, test := range []struct {
		graph message
		want  string
	}{
		{repeat(1, 2<<20), "the file has more than 200000 nodes"},
		{repeat(5, 2<<20), "the file has more than 1048576 nodes, attributes, tensors, inputs and outputs"},
		{message{}.sub(1, repeat(5, 2<<20)), "the file has more than 1048576 nodes, attributes"},
	} {
		file := modelOf(test.graph)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := build.Parse(file, "", zeros)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, test.want)
		require.Equal(t, status.Unsupported, status.CodeOf(err))
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(400<<20))
	}
}

// A trip count below 0 is a loop without rounds, as in onnxruntime; one that is left out has no end.
func TestLoopsOfNegativeTripCounts(t *testing.T) {
	body := graphOf(
		part{11, portAs("i", 7)}, part{11, portAs("c", 9)}, part{11, portAs("v", 1)},
		part{1, nodeOf("Relu", names("v"), names("w"))}, part{12, portAs("c", 9)}, part{12, portAs("w", 1)},
	)
	for _, trips := range []int64{0, -1, -5, math.MinInt64} {
		m, err := build.Parse(modelOf(graphOf(
			image, part{12, portAs("y", 1)}, part{5, scalarOf("t", trips)},
			part{1, nodeOf("Loop", names("t", "", "x"), names("y"), graphAttr("body", body))},
		)), "", zeros)
		require.NoError(t, err)
		g, err := m.Resolve([]op.Type{typeOf(t, 1, 1, 4, 4)})
		require.NoError(t, err)
		require.Zero(t, g.Calls())
	}
	_, err := resolveAt(t, 17, part{1, nodeOf("Loop", names("", "", "x"), names("y"), graphAttr("body", body))})
	require.ErrorContains(t, err, "runs more than 4096 times")
}

// A large result is computed early only where the model keeps it: others would be made again by each node.
func TestLargeFoldsAreKept(t *testing.T) {
	parts := []part{{5, vectorOf("d", build.SmallFold)}, {1, nodeOf("ConstantOfShape", names("d"), names("big"))}, {1, nodeOf("Neg", names("big"), names("y"))}}
	for _, full := range []bool{false, true} {
		m, err := build.Parse(modelOf(graphOf(append(parts, image, part{12, portAs("y", 1)})...)), "", zeros)
		require.NoError(t, err)
		for i := 0; full && i < build.MostShared; i++ {
			m.Kept().Folded[strconv.Itoa(i)] = nil
		}
		g, err := m.Resolve([]op.Type{typeOf(t, 1, 1, 4, 4)})
		require.NoError(t, err)
		require.Equal(t, full, g.Calls() > 0)
	}
}
