package onnx

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/text"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
	"github.com/paddle-mps/paddle-mps/onnx/ops"
)

// tests/python/test_onnx_strings.py runs models with strings.

// Strings of a file have one number each, wherever they are, and the same ones each time that the file is read.
func TestStringsOfTheFile(t *testing.T) {
	branch := graphOf(part{1, nodeOf("Constant", nil, names("z"), textAttr("value_string", "within"))}, part{12, portAs("z", 8)})
	file := modelOf(graphOf(
		part{11, portAs("c", 9)}, part{12, portAs("y", 8)},
		part{5, message{}.int(2, 8).text(6, "b").text(6, "a").text(6, "b").text(6, "").text(8, "w").int(1, 4)},
		part{1, nodeOf("If", names("c"), names("y"), graphAttr("then_branch", branch), graphAttr("else_branch", branch))},
		part{1, nodeOf("Relu", names("c"), names("d"), message{}.text(1, "list").text(9, "a").text(9, "listed"))},
	))
	m, err := build.Parse(file, "", zeros)
	require.NoError(t, err)
	require.Equal(t, int64(4), m.Strings().Len())
	for s, want := range map[string]int64{"": 0, "a": -1, "b": -2, "listed": -3, "within": -4} {
		id, ok := m.Strings().ID(s)
		require.True(t, ok)
		require.Equal(t, want, id, s)
	}
	_, ok := m.Strings().ID("c")
	require.False(t, ok)
	k, err := m.Constant(m.File().Graph.Initializers[0])
	require.NoError(t, err)
	ids, _ := k.Ints()
	require.Equal(t, []int64{-2, -1, -2, 0}, ids)
	require.Nil(t, m.StringInputs())
	outputs, formed := m.StringOutputs()
	require.Equal(t, []bool{true}, outputs)
	require.False(t, formed)
}

// A call on strings ends the graph, and its results are the first inputs of the rest.
func TestCallsOnStringsEndTheGraph(t *testing.T) {
	m, err := build.Parse(message{}.int(1, 8).sub(7, graphOf(
		part{11, portAs("x", 8, -1)}, part{12, portAs("y", 8)}, part{12, portAs("n", 7)},
		part{1, nodeOf("StringConcat", names("x", "x"), names("twice"))},
		part{1, nodeOf("StringSplit", names("twice"), names("y", "n"))},
	)).sub(8, message{}.text(1, "").int(2, 20)), "", zeros)
	require.NoError(t, err)
	require.Equal(t, []string{`input "x", string[n]`}, m.StringInputs())
	require.True(t, m.Counts())
	in := typeOf(t, 2)
	in.DType = dtype.Int64
	_, err = m.Resolve([]op.Type{in})
	require.EqualError(t, err, "[onnx] the model computes with strings, which takes a run")
	table := text.New(m.Strings())
	a, err := table.ID("a b")
	require.NoError(t, err)
	_, next, err := m.Stage([]op.Type{in})
	require.NoError(t, err)
	require.Equal(t, 2, next.Operands)
	x := &op.Const{Type: in, Bytes: file.AppendInt(file.AppendInt(nil, a, 8), 0, 8)}
	made, err := next.Strings(table, []*op.Const{x, x})
	require.NoError(t, err)
	list, err := build.StringList(table, made[0])
	require.NoError(t, err)
	require.Equal(t, []string{"a ba b", ""}, list)
	// Then comes what the node has read, because it runs again.
	_, last, err := next.Rest.(*build.Rest).Stage([]op.Type{in, in})
	require.NoError(t, err)
	made, err = last.Strings(table, made)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 3}, made[0].Shape.Slice())
	list, err = build.StringList(table, made[0])
	require.NoError(t, err)
	require.Equal(t, []string{"a", "ba", "b", "", "", ""}, list)
	counts, _ := made[1].Ints()
	require.Equal(t, []int64{3, 0}, counts)
	g, end, err := last.Rest.(*build.Rest).Stage([]op.Type{made[0].Type, made[1].Type, in})
	require.NoError(t, err)
	require.Nil(t, end)
	require.Len(t, g.Outputs(), 2)
}

// A few long strings that are repeated very often take no more memory than the table has, also while a call on strings runs.
func TestMemoryOfCallsOnStrings(t *testing.T) {
	long := strings.Repeat("A ", 1<<18)
	for _, node := range []message{
		nodeOf("StringSplit", names("x"), names("y", "n")),
		nodeOf("StringNormalizer", names("x"), names("y"), textAttr("case_change_action", "LOWER")),
	} {
		m, err := build.Parse(message{}.int(1, 8).sub(7, graphOf(part{11, portAs("x", 8, -1)}, part{12, portAs("y", 8)}, part{1, node})).sub(8, message{}.text(1, "").int(2, 20)), "", zeros)
		require.NoError(t, err)
		in := typeOf(t, 1000)
		in.DType = dtype.Int64
		_, next, err := m.Stage([]op.Type{in})
		require.NoError(t, err)
		table := text.New(m.Strings())
		id, err := table.ID(long)
		require.NoError(t, err)
		x := &op.Const{Type: in}
		for range 1000 {
			x.Bytes = file.AppendInt(x.Bytes, id, 8)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		made, err := next.Strings(table, []*op.Const{x})
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
		if err != nil {
			require.EqualError(t, err, "[onnx] node \"the StringSplit\" (StringSplit-20): the parts of 1000 strings are up to 262144; want at most 67108864 in all")
			continue
		}
		list, err := build.StringList(table, made[0])
		require.NoError(t, err)
		require.Equal(t, strings.ToLower(long), list[999])
	}
}

func TestNumbersOfStrings(t *testing.T) {
	for _, test := range []struct {
		s        string
		d        dtype.DType
		unsigned bool
		want     int64
		ok       bool
	}{
		{"-128", dtype.Int8, false, -128, true},
		{"128", dtype.Int8, false, 0, false},
		{"1e2", dtype.Int8, false, 100, true},
		{"-0.9", dtype.Uint8, false, 0, true},
		{"255.9", dtype.Uint8, false, 255, true},
		{"256.0", dtype.Uint8, false, 0, false},
		{"18446744073709551615", dtype.Int64, true, -1, true},
		{"1.8e19", dtype.Int64, true, -446744073709551616, true},
		{"1e20", dtype.Int64, true, 0, false},
		{"9223372036854775808", dtype.Int64, false, 0, false},
		{"0x1p3", dtype.Float64, false, int64(math.Float64bits(8)), true},
		{"1e400", dtype.Float64, false, int64(math.Float64bits(math.Inf(1))), true},
		{"-2.5", dtype.Bool, false, 1, true},
		{"TRUE", dtype.Bool, false, 1, true},
		{"0", dtype.Bool, false, 0, true},
		{"yes", dtype.Bool, false, 0, false},
		{"nan", dtype.Bool, false, 0, false},
		{"+7", dtype.Uint8, false, 7, true},
		{"++7", dtype.Uint8, false, 0, false},
		{"", dtype.Int64, false, 0, false},
		{"one", dtype.Float32, false, 0, false},
	} {
		bits, ok := ops.Parsed(test.s, test.d, test.unsigned)
		require.Equal(t, test.ok, ok, "%q", test.s)
		if ok {
			require.Equal(t, test.want, bits, "%q", test.s)
		}
	}
}
