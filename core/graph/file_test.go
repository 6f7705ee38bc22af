package graph

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// contents is a graph as a file.
func contents(t testing.TB, g *Graph) []byte {
	var b bytes.Buffer
	n, err := g.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	return b.Bytes()
}

// Every graph of the golden tests is what it was after it has been written and read, and gives the same plan.
func TestFilesKeepGraphs(t *testing.T) {
	for _, set := range []map[string]func(testing.TB, *Builder) []Value{graphs, rewritten} {
		for name, build := range set {
			t.Run(name, func(t *testing.T) {
				b := NewBuilder()
				g := b.Build(build(t, b)...)
				file := contents(t, g)
				again, err := ReadFile(file)
				require.NoError(t, err)
				require.Equal(t, g.String(), again.String())
				require.Equal(t, g.Inputs(), again.Inputs())
				require.Equal(t, g.Outputs(), again.Outputs())
				require.Equal(t, file, contents(t, again))
				p, err := g.Plan()
				require.NoError(t, err)
				q, err := again.Plan()
				require.NoError(t, err)
				require.Equal(t, Explain(&p.Plan, nothing), Explain(&q.Plan, nothing))
			})
		}
	}
}

func nothing(int) string { return "" }

// Numbers keep their kind and their bits, and symbols keep saying which sizes are equal.
func TestTextsKeepNumbersAndSymbols(t *testing.T) {
	b := NewBuilder()
	b.Symbol() // which no shape has
	n := b.Symbol()
	x := b.Input(op.Type{DType: dtype.Float64, Shape: shape.Shape{Rank: 2, Dims: [shape.MaxRank]int64{n, 3}}})
	for _, v := range []op.Value{
		{Kind: op.Float, F: 2},
		{Kind: op.Float, F: math.Copysign(0, -1)},
		{Kind: op.Float, F: 0.1},
		{Kind: op.Float, F: 1e300},
		{Kind: op.Float, F: math.Inf(-1)},
		{Kind: op.Float, F: 5e-324},
		{Kind: op.Int, I: -7},
		{Kind: op.Bool, I: 1},
	} {
		x = b.must(t, "add", nil, x, b.Scalar(v))
	}
	g := b.Build(x)
	again, err := Parse(g.String(), nil)
	require.NoError(t, err)
	require.Equal(t, g.String(), again.String())
	require.Contains(t, g.String(), "float64[s0, 3] = add(%1, -0.0)")
	for i := range g.nodes {
		require.Equal(t, *g.values[g.nodes[i].In[1]].number, *again.values[again.nodes[i].In[1]].number)
	}
}

// What is no graph is an error that names the line, and never a graph.
func TestTextsThatAreWrong(t *testing.T) {
	const good = "input %0 float32[2, 3]\n%1 float32[2] = sum(%0) axis=[1] keepdim=false\noutput %1\n"
	_, err := Parse(good, nil)
	require.NoError(t, err)
	for was, is := range map[string]string{
		"input %0":        "input %1",
		"float32[2, 3]":   "float99[2, 3]",
		"[2, 3]":          "[2, -3]",
		"[2, 3]\n":        "[2, 3\n",
		"2, 3]":           "9223372036854775807, 3]",
		"%1 float32[2] =": "%1 float32[3] =",
		"%1 float32[2]":   "%1 int32[2]",
		"sum(%0)":         "sums(%0)",
		"(%0)":            "(%1)",
		"sum(%0":          "sum(0.5x",
		"axis=[1]":        "axis=[7]",
		"axis=":           "axes=",
		"keepdim=false":   "keepdim=7.5",
		" keepdim":        " axis=[1] keepdim",
		"output %1":       "output %2",
		"output %1\n":     "output 3\n",
		"output":          "result",
		"%1 float32[2] = sum(%0) axis=[1] keepdim=false": "constant %1 float32[s1]",
	} {
		require.Contains(t, good, was)
		_, err := Parse(strings.Replace(good, was, is, 1), func(int64) ([]byte, error) { return nil, nil })
		require.ErrorContains(t, err, "[program] line ", "%s -> %s", was, is)
	}
}

// A file that was cut or changed is an error, or else what it was, if a byte of an element was changed.
func TestFilesThatAreDamaged(t *testing.T) {
	b := NewBuilder()
	x := b.Input(known(dtype.Float32))
	w := b.Constant(&op.Const{Type: known(dtype.Float32), Bytes: bytes.Repeat([]byte{1, 2, 3, 4}, 6)})
	file := contents(t, b.Build(b.must(t, "add", nil, x, w)))
	require.Zero(t, (len(file)-24)%fileAlign)
	for n := range file {
		_, err := ReadFile(file[:n])
		require.Error(t, err, "%d bytes", n)
	}
	_, err := ReadFile(append(bytes.Clone(file), 0))
	require.ErrorContains(t, err, "bytes; want")
	for i := range len(file) - 24 {
		changed := bytes.Clone(file)
		changed[i] ^= 0x15
		if g, err := ReadFile(changed); err == nil {
			require.Zero(t, file[i], "byte %d", i) // between text and elements
			require.NotNil(t, g)
		}
	}
}

// Each error of a damaged file says where it is and what was wanted there.
func TestErrorsOfFilesNameTheByte(t *testing.T) {
	b := NewBuilder()
	file := contents(t, b.Build(b.must(t, "exp", nil, b.Input(known(dtype.Float32)))))
	length := len(file) - fileHead
	about := fmt.Sprintf("%11d bytes", length)
	for want, changed := range map[string][]byte{
		fmt.Sprintf("the file ends at byte 21; want at least %d bytes", fileHead):                          file[:len(fileFormat)],
		`the file has "          x bytes, crc32`:                                                           bytes.Replace(file, []byte(about), []byte("          x bytes"), 1),
		fmt.Sprintf("the file ends at byte %d; want at least %d bytes", len(file), fileHead+99999999999):   bytes.Replace(file, []byte(about), []byte("99999999999 bytes"), 1),
		fmt.Sprintf("the text of the file, bytes %d to %d, is damaged: its checksum", fileHead, len(file)): bytes.Replace(file, []byte("exp("), []byte("abs("), 1),
		`the file has another version; want the line "paddle-mps program 1"`:                               bytes.Replace(file, []byte("program 1"), []byte("program 2"), 1),
		fmt.Sprintf("the file has %d bytes; want %d", len(file)+1, len(file)):                              append(bytes.Clone(file), 0),
	} {
		_, err := ReadFile(changed)
		require.ErrorContains(t, err, want)
	}
}

// mended is a file whose second line is right for a text of so many bytes, so that a change of the text is not found by its
// checksum.
func mended(contents []byte, length int) []byte {
	if len(contents) < fileHead {
		return contents
	}
	length = min(max(length, 0), len(contents)-fileHead)
	about := fmt.Sprintf(fileAbout, length, crc32.ChecksumIEEE(contents[fileHead:][:length]))
	return append(append(bytes.Clone(contents[:len(fileFormat)]), about...), contents[fileHead:]...)
}

// FuzzReadFile reads any contents, with a second line that is right or that is not. They become an error, or a graph that is
// the same after another round; memory is bounded by the length of the file.
func FuzzReadFile(f *testing.F) {
	for _, build := range graphs {
		b := NewBuilder()
		g := b.Build(build(f, b)...)
		file := contents(f, g)
		f.Add(file, len(g.String()))
		f.Add(file[:len(file)-1], -1)
	}
	f.Fuzz(func(t *testing.T, file []byte, length int) {
		if length >= 0 {
			file = mended(file, length)
		}
		g, err := ReadFile(file)
		if err != nil {
			require.ErrorContains(t, err, "[program] ")
			return
		}
		again, err := ReadFile(contents(t, g))
		require.NoError(t, err)
		require.Equal(t, g.String(), again.String())
		require.Equal(t, g.Inputs(), again.Inputs())
	})
}

// FuzzParse reads any text, which becomes an error or a graph that is the same after another round.
func FuzzParse(f *testing.F) {
	for _, set := range []map[string]func(testing.TB, *Builder) []Value{graphs, rewritten} {
		for _, build := range set {
			b := NewBuilder()
			f.Add(b.Build(build(f, b)...).String())
		}
	}
	f.Add("input %0 float32[s0]\n%1 float32[s0, 2] = full() shape=[s0, 2] fill_value=1.0 dtype=float32\noutput %1\n")
	f.Add("input %0 float32[s0, s1]\n%1 float32[s1, s0] = reshape(%0) shape=[s1, -1]\n%2 int64[s0] = randperm() count=s0 dtype=int64\noutput %1\n")
	f.Fuzz(func(t *testing.T, text string) {
		data := func(n int64) ([]byte, error) {
			if n > 1<<20 {
				return nil, wrong("a large constant", "a small one")
			}
			return make([]byte, n), nil
		}
		g, err := Parse(text, data)
		if err != nil {
			return
		}
		again, err := Parse(g.String(), data)
		require.NoError(t, err, "%s", g)
		require.Equal(t, g.String(), again.String())
	})
}
