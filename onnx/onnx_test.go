package onnx

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// typeOf is a type of float32.
func typeOf(t *testing.T, dims ...int64) op.Type {
	t.Helper()
	s, err := shape.Of(dims...)
	require.NoError(t, err)
	return op.Type{DType: dtype.Float32, Shape: s}
}

// reshaping is a model whose result has the shape [size of axis 0 of x, -1]: y = Reshape(x, Concat(Shape(x)[0:1], [-1])).
func reshaping() []byte {
	return modelOf(graphOf(
		part{11, portAs("x", 1, -1, -1, 3)}, part{12, portAs("y", 1)}, part{5, vectorOf("rest", -1)},
		part{1, nodeOf("Shape", names("x"), names("s"), message{}.text(1, "end").int(3, 1))},
		part{1, nodeOf("Concat", names("s", "rest"), names("t"), message{}.text(1, "axis").int(3, 0))},
		part{1, nodeOf("Reshape", names("x", "t"), names("y"))},
	))
}

// What is known while a graph is built is an attribute of the graph.
func TestShapesAreFolded(t *testing.T) {
	joins := func(row *op.Row, _ op.Attrs, in []op.Known) ([]*op.Const, error) {
		require.Equal(t, op.IDConcat, row.ID)
		made := &op.Const{Type: in[0].Const.Type}
		made.Shape.Dims[0] = 2
		made.Bytes = append(append(made.Bytes, in[0].Const.Bytes...), in[1].Const.Bytes...)
		return []*op.Const{made}, nil
	}
	m, err := build.Parse(reshaping(), "", joins)
	require.NoError(t, err)
	require.Equal(t, "float[n, n, 3]", inputsOf(m)[0].Text())
	for _, test := range []struct{ in, out []int64 }{{[]int64{2, 5, 3}, []int64{2, 15}}, {[]int64{4, 1, 3}, []int64{4, 3}}} {
		g, err := m.Resolve([]op.Type{typeOf(t, test.in...)})
		require.NoError(t, err)
		require.Equal(t, 1, g.Calls())
		s := g.Outputs()[0].Shape
		require.Equal(t, test.out, s.Slice())
	}
	_, err = m.Resolve([]op.Type{typeOf(t, 2, 5, 4)})
	require.ErrorContains(t, err, `[onnx] input "x" is float32[2, 5, 4]; want float[n, n, 3]`)
	_, err = m.Resolve(nil)
	require.ErrorContains(t, err, "got 0 inputs; want 1")
}

// All operators that are missing are named, those in branches too.
func TestMissingOperatorsAreNamedTogether(t *testing.T) {
	branch := graphOf(part{1, nodeOf("Second", nil, names("z"))}, part{12, portAs("z", 1)})
	_, err := build.Parse(modelOf(graphOf(
		part{11, portAs("x", 1, 2)}, part{12, portAs("y", 1)},
		part{1, nodeOf("First", names("x"), names("c"))},
		part{1, nodeOf("If", names("c"), names("y"), message{}.text(1, "then_branch").sub(6, branch), message{}.text(1, "else_branch").sub(6, branch))},
	)), "", noFold)
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.EqualError(t, err, `[onnx] 2 operators are not supported: First-17 (node "the First"); Second-17 (node "the Second", node "the Second")`)
}

// An error says in which node it is, and what decides a shape is named by its input.
func TestErrorsNameTheNode(t *testing.T) {
	m, err := build.Parse(modelOf(graphOf(
		part{11, portAs("x", 1, 2, 3)}, part{11, portAs("s", 7, 1)}, part{12, portAs("y", 1)},
		part{1, nodeOf("Reshape", names("x", "s"), names("y"))},
	)), "", noFold)
	require.NoError(t, err)
	vector := typeOf(t, 1)
	vector.DType = dtype.Int64
	_, err = m.Resolve([]op.Type{typeOf(t, 2, 3), vector})
	var needs *graph.NeedsElements
	require.ErrorAs(t, err, &needs)
	require.Equal(t, []int{1}, needs.Inputs)
	require.ErrorContains(t, err, `[onnx] node "the Reshape" (Reshape-17): the shape depends on the elements of an input`)
	require.Equal(t, status.Unsupported, status.CodeOf(err))

	known := &op.Const{Type: vector, Bytes: file.AppendInt(nil, 6, 8)}
	g, err := m.Given(map[int]*op.Const{1: known}).Resolve([]op.Type{typeOf(t, 2, 3)})
	require.NoError(t, err)
	require.Len(t, g.Inputs(), 1)
	s := g.Outputs()[0].Shape
	require.Equal(t, []int64{6}, s.Slice())

	known.Bytes = file.AppendInt(nil, 7, 8)
	_, err = m.Given(map[int]*op.Const{1: known}).Resolve([]op.Type{typeOf(t, 2, 3)})
	require.ErrorContains(t, err, `[onnx] node "the Reshape" (Reshape-17): a tensor of shape [2, 3] cannot have shape [7]`)
}

// Files of IR 3 list initializers as inputs; they are not what a call gives, and are one constant for all shapes.
func TestInitializersAreNoInputs(t *testing.T) {
	m, err := build.Parse(modelOf(graphOf(
		part{11, portAs("x", 1, -1)}, part{11, portAs("w", 1, 1)}, part{12, portAs("y", 1)}, part{5, floatsOf32("w", 2)},
		part{1, nodeOf("Mul", names("x", "w"), names("y"))},
	)), "", noFold)
	require.NoError(t, err)
	require.Len(t, m.Inputs(), 1)
	var seen []string
	for _, n := range []int64{1, 7} {
		g, err := m.Resolve([]op.Type{typeOf(t, n)})
		require.NoError(t, err)
		seen = append(seen, strings.SplitN(g.String(), "= ", 2)[1])
	}
	require.Equal(t, seen[0], seen[1], "operators that do not depend on the size")
	require.Len(t, m.Kept().Consts, 1)
}

// Whatever is wrong with a file is an error that says so.
func TestDamagedFilesAreRefused(t *testing.T) {
	deep := message{}
	for range 2 * file.Deepest {
		deep = graphOf(part{1, nodeOf("If", nil, nil, message{}.text(1, "then_branch").sub(6, deep))})
	}
	output, relu := part{12, portAs("y", 1)}, part{1, nodeOf("Relu", names("x"), names("y"))}
	many := make([]int64, 12)
	for _, test := range []struct {
		name, want string
		bytes      []byte
	}{
		{"empty", "the file is empty; want an ONNX model", nil},
		{"no graph", "has 0 graphs; want a model with one", message{}.int(1, 8)},
		{"pointer", "Git LFS; want an ONNX model: fetch", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")},
		{"archive", "a zip archive", []byte("PK\x03\x04\x14\x00")},
		{"pickle", "a pickle", []byte("\x80\x04\x95")},
		{"paddle", "convert it with paddle2onnx", []byte("\n\x1f\x08\x00\x10\xff\xff")},
		{"program", "a JSON file", []byte(`{"base_code": {"magic": "pir"}}`)},
		{"page", "an HTML or XML page", []byte("<!DOCTYPE html>")},
		{"text", `begins with the text "this is no model", as no ONNX model does; want an ONNX model: a binary file`, []byte("this is no model")},
		{"other text", `begins with the text "# paddle_mps\n\nBeschränk"`, []byte("# paddle_mps\n\nBeschränkt auf Zeichen")},
		{"cut character", `begins with the text "# 在苹果芯片的电"`, []byte("# 在苹果芯片的电脑上运行")},
		{"text of a field", `begins with the text "Before the model"`, []byte("Before the model")},
		{"bytes", "begins with the bytes 7f 45 4c 46 02 01 01 00, as no", []byte("\x7fELF\x02\x01\x01\x00\x00\x00")},
		{"truncated", "damaged", reshaping()[:40]},
		{"nested", "nests more than 100 messages", modelOf(deep)},
		{"no outputs", "has no outputs", modelOf(graphOf(relu))},
		{"rank", "has 12 dimensions", modelOf(graphOf(part{11, portAs("x", 1, many...)}, output, relu))},
		{"size", "address", modelOf(graphOf(part{11, portAs("x", 1, 1<<40, 1<<40)}, output, relu))},
		{"elements", "is undefined[2]; want a tensor", modelOf(graphOf(part{11, portAs("x", 0, 2)}, output, relu))},
		{"future", "opset 99", message{}.int(1, 8).sub(7, graphOf(part{11, portAs("x", 1, 2)}, output, relu)).sub(8, message{}.int(2, 99))},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := build.Parse(test.bytes, "", noFold)
			require.Error(t, err)
			if test.name != "size" {
				require.ErrorContains(t, err, test.want)
			}
			require.True(t, strings.HasPrefix(err.Error(), "[onnx]"), err)
		})
	}
}

// Names that nothing has made, whether by a cycle or by the order of nodes, are errors.
func TestCyclesAreErrors(t *testing.T) {
	m, err := build.Parse(modelOf(graphOf(
		part{11, portAs("x", 1, 2)}, part{12, portAs("y", 1)},
		part{1, nodeOf("Add", names("x", "z"), names("y"))}, part{1, nodeOf("Relu", names("y"), names("z"))},
	)), "", noFold)
	require.NoError(t, err)
	_, err = m.Resolve([]op.Type{typeOf(t, 2)})
	require.ErrorContains(t, err, `reads "z", which no node before it makes`)

	// A function that calls itself.
	self := message{}.text(1, "Again").text(4, "x").text(5, "y").sub(7, nodeOf("Again", names("x"), names("y")))
	m, err = build.Parse(message(modelOf(graphOf(
		part{11, portAs("x", 1, 2)}, part{12, portAs("y", 1)}, part{1, nodeOf("Again", names("x"), names("y"))},
	))).sub(25, self), "", noFold)
	require.NoError(t, err)
	_, err = m.Resolve([]op.Type{typeOf(t, 2)})
	require.ErrorContains(t, err, "is within 64 functions and branches")
}

// Tensors with the wrong number of bytes are refused before anything is computed with them.
func TestTensorsHaveTheirElements(t *testing.T) {
	for _, raw := range []int{0, 7, 9} {
		d := file.Decoder{}
		x, err := d.Tensor(tensorOf("w", 1, make([]byte, raw), 2))
		require.NoError(t, err)
		_, err = x.Const(nil)
		require.ErrorContains(t, err, `tensor "w" of float32[2] has`)
	}
	d := file.Decoder{}
	x, err := d.Tensor(message{}.int(1, 3).int(2, 3).text(5, "\x01\x02\x7f")) // int8 in packed int32_data
	require.NoError(t, err)
	c, err := x.Const(nil)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 127}, c.Bytes)
}

// External data is read from the folder of the model and nowhere else.
func TestExternalData(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "model"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model", "w.bin"), make([]byte, 16), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), make([]byte, 16), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "model", "link")))
	for _, test := range []struct{ location, offset, length, want string }{
		{"w.bin", "8", "8", ""},
		{"w.bin", "8", "", ""},
		{"./w.bin", "0", "8", ""},
		{"w.bin", "12", "8", "want bytes of that file, which has 16"},
		{"w.bin", "-8", "8", "want bytes of that file"},
		{"w.bin", "9223372036854775807", "8", "want bytes of that file"},
		{"w.bin", "x", "8", `offset "x"; want a number`},
		{"../secret", "0", "8", "want a path within the folder of the model"},
		{filepath.Join(dir, "secret"), "0", "8", "want a path within the folder of the model"},
		{"link", "0", "8", "escapes"},
		{"none", "0", "8", "no such file"},
		{".", "0", "8", "is a folder; want a file"},
		{"", "0", "8", "want a path within"},
	} {
		w := message{}.int(1, 2).int(2, 1).text(8, "w").int(14, 1).sub(13, message{}.text(1, "location").text(2, test.location)).
			sub(13, message{}.text(1, "offset").text(2, test.offset))
		if test.length != "" {
			w = w.sub(13, message{}.text(1, "length").text(2, test.length))
		}
		path := filepath.Join(dir, "model", "m.onnx")
		bytes := modelOf(graphOf(part{11, portAs("x", 1, 2)}, part{12, portAs("y", 1)}, part{5, w}, part{1, nodeOf("Add", names("x", "w"), names("y"))}))
		require.NoError(t, os.WriteFile(path, bytes, 0o600))
		m, err := build.Open(path, noFold)
		require.NoError(t, err)
		_, err = m.Resolve([]op.Type{typeOf(t, 2)})
		if test.want == "" {
			require.NoError(t, err, test)
		} else {
			require.ErrorContains(t, err, test.want)
		}
		require.NoError(t, m.Close())
		m, err = build.Parse(bytes, "", noFold)
		require.NoError(t, err)
		_, err = m.Resolve([]op.Type{typeOf(t, 2)})
		require.Error(t, err)
		if test.offset != "x" {
			require.ErrorContains(t, err, "want a model that was read from a file")
		}
	}
	_, err := build.Open(filepath.Join(dir, "none.onnx"), noFold)
	require.Equal(t, status.Invalid, status.CodeOf(err))
}

// Entries of one operator are in ascending order, since the last that fits counts.
func TestTableIsInOrder(t *testing.T) {
	for name, list := range build.Table {
		for i, e := range list {
			require.NotNil(t, e.Build, name)
			require.True(t, i == 0 || list[i-1].Since < e.Since, name)
		}
	}
}

// TestDescribe reads what a file says about its model back from the JSON: texts that are no UTF-8, keys that are there
// twice, and inputs of every kind.
func TestDescribe(t *testing.T) {
	graph := graphOf(
		part{11, portAs("x", 1, -1, 3)}, part{11, portAs("w", 1, 2)}, part{12, portAs("y", 1)},
		part{5, floatsOf32("w", 1, 2)}, part{1, nodeOf("Identity", names("x"), names("y"))},
	).text(2, "net").text(10, "a graph")
	about := func(ir int64) []byte {
		pair := func(k, v string) message { return message{}.text(1, k).text(2, v) }
		file := message(modelOf(graph)).int(1, ir).text(2, "maker").text(3, "1").text(4, "org").int(5, 9).text(6, "a model")
		return file.sub(14, pair("k", "one")).sub(14, pair("k", "two")).sub(14, pair("\x00", "\xff\n"))
	}
	for ir, replaceable := range map[int64]string{3: `[]`, 8: `[{"name":"w","elem":"float","shape":[2]}]`} {
		m, err := build.Parse(about(ir), "", noFold)
		require.NoError(t, err)
		said := m.Describe()
		require.JSONEq(t, `{"producer_name":"maker","producer_version":"1","domain":"org","model_version":9,"description":"a model",
			"graph_name":"net","graph_description":"a graph","metadata":{"k":"two","\u0000":"\ufffd\n"},"opsets":{"":17},
			"inputs":[{"name":"x","elem":"float","shape":["n",3]}],"outputs":[{"name":"y","elem":"float","shape":[]}],
			"replaceable":`+replaceable+`}`, string(said))
	}
}

// Small constants with another shape are constants of the file like others: what is made of several, however large, is a
// constant too. Exporters make the weights of recurrent networks that way.
func TestViewsOfSmallConstantsAreFixed(t *testing.T) {
	raw := make([]byte, build.SmallFold) // each as large as a small one may be
	m, err := build.Parse(modelOf(graphOf(
		part{11, portAs("x", 1, -1)}, part{12, portAs("y", 1)}, part{5, tensorOf("a", 1, raw, build.SmallFold/4)}, part{5, tensorOf("b", 1, raw, build.SmallFold/4)},
		part{5, vectorOf("axis", 0)},
		part{1, nodeOf("Unsqueeze", names("a", "axis"), names("c"))}, part{1, nodeOf("Unsqueeze", names("b", "axis"), names("d"))},
		part{1, nodeOf("Concat", names("c", "d"), names("e"), message{}.text(1, "axis").int(3, 0))},
		part{1, nodeOf("Mul", names("e", "x"), names("y"))},
	)), "", zeros)
	require.NoError(t, err)
	for _, n := range []int64{1, build.SmallFold / 4} {
		g, err := m.Resolve([]op.Type{typeOf(t, n)})
		require.NoError(t, err)
		require.Equal(t, 1, g.Calls())
	}
}

// What is in a sequence, or nothing, is refused where it cannot be.
func TestSequencesOfWhatIsNoTensor(t *testing.T) {
	kind := func(name string, fields ...protowire.Number) message {
		m := message{}.sub(1, message{}.int(1, 1))
		for _, f := range fields {
			m = message{}.sub(f, message{}.sub(1, m))
		}
		return message{}.text(1, name).sub(2, m)
	}
	same := graphOf(part{11, kind("v")}, part{1, nodeOf("SequenceConstruct", names("v"), names("w"))}, part{12, kind("w", 4)})
	for _, test := range []struct {
		name, want string
		parts      []part
	}{
		{"constructed", "operand 0 is missing", []part{
			{11, kind("o", 9)}, {12, kind("y", 4)}, {1, nodeOf("SequenceConstruct", names("o"), names("y"))},
		}},
		{"left out", "operand 0 is missing", []part{
			{11, kind("o", 9)}, {12, kind("y", 4)}, {1, nodeOf("SequenceConstruct", names(""), names("y"))},
		}},
		{"operand", "operand 0 is missing", []part{
			{11, kind("o", 9)}, {12, kind("y")}, {1, nodeOf("Neg", names("o"), names("y"))},
		}},
		{"nested", "an output is a sequence of sequences or optionals; want tensors", []part{
			{11, kind("s", 4)}, {12, kind("y", 4)}, {1, nodeOf("SequenceMap", names("s"), names("y"), graphAttr("body", same))},
		}},
		{"undeclared", `output "y" is a sequence or nothing; want float`, []part{
			{11, kind("o", 9)}, {12, kind("y")}, {1, nodeOf("Identity", names("o"), names("y"))},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := build.Parse(modelOf(graphOf(test.parts...)), "", noFold)
			require.NoError(t, err)
			counts, types := []int64{build.Nothing}, []op.Type{}
			if inputsOf(m)[0].Sequence {
				counts, types = []int64{1}, []op.Type{typeOf(t, 2)}
			}
			f, err := m.Form(counts)
			require.NoError(t, err)
			_, err = f.Resolve(types)
			require.ErrorContains(t, err, test.want)
			_, err = m.Resolve(m.Inputs())
			require.ErrorContains(t, err, "takes a sequence or an optional; want a call with the number of tensors")
			_, err = m.Form(nil)
			require.ErrorContains(t, err, "the form has 0 numbers; want one for each of 1 inputs")
		})
	}
}

// FuzzParse reads any bytes, and resolves what is a model. Neither may panic, nor take much memory.
func FuzzParse(f *testing.F) {
	for _, entry := range corpus(f) {
		f.Add(entry)
	}
	f.Add(reshaping())
	f.Add(modelOf(graphOf(part{11, portAs("x", 1, 2)}, part{12, portAs("y", 1)}, part{5, floatsOf32("w", 1, 2)}, part{1, nodeOf("Add", names("x", "w"), names("y"))})))
	f.Add(modelOf(graphOf(
		part{12, portAs("y", 1)}, part{1, nodeOf("Constant", nil, names("s"), message{}.text(1, "value_ints").int(8, 3))},
		part{1, nodeOf("ConstantOfShape", names("s"), names("y"))},
	)))
	body := graphOf(
		part{11, portAs("i", 7)}, part{11, portAs("c", 9)}, part{12, portAs("c", 9)}, part{12, portAs("i", 7)},
	)
	f.Add(modelOf(graphOf(
		part{5, tensorOf("n", 7, file.AppendInt(nil, 3, 8))}, part{12, portAs("y", 7)},
		part{1, nodeOf("Loop", names("n", ""), names("y"), message{}.text(1, "body").sub(6, body))},
	)))
	f.Add(modelOf(graphOf(
		part{11, portAs("b", 1, 1, -1, 4)}, part{11, portAs("s", 1, 1, 1, -1)}, part{12, portAs("y", 1)}, part{12, portAs("p", 7)},
		part{5, vectorOf("most", 3)}, part{1, nodeOf("NonMaxSuppression", names("b", "s", "most"), names("p"))},
		part{1, nodeOf("NonZero", names("p"), names("q"))}, part{1, nodeOf("Compress", names("s", "s"), names("y"))},
	)))
	list := message{}.text(1, "s").sub(2, message{}.sub(9, message{}.sub(1, message{}.sub(4, message{}.sub(1, message{}.sub(1, message{}.int(1, 1)))))))
	f.Add(modelOf(graphOf(
		part{11, list}, part{12, list}, part{1, nodeOf("Identity", names("s"), names("t"))}, part{12, portAs("n", 7)},
		part{1, nodeOf("SequenceLength", names("t"), names("n"))}, part{1, nodeOf("Unique", names("n"), names("u"))},
	)))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		m, err := build.Parse(bytes, "", zeros)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "[onnx]"), err)
			return
		}
		m.Kept().Spent = m.MostFolded() - 1<<20
		var source graph.Source = m
		if counts := make([]int64, len(inputsOf(m))); build.Varies(inputsOf(m)) {
			for i, p := range inputsOf(m) {
				if counts[i] = 1; p.Optional && len(bytes)%2 == 0 {
					counts[i] = build.Nothing
				}
			}
			form, err := m.Form(counts)
			if err != nil {
				return
			}
			source = form
		}
		for range 4 { // stages
			staged, ok := source.(graph.Staged)
			if !ok {
				break
			}
			inputs := slices.Clone(source.Inputs())
			for i := range inputs {
				for j, d := range inputs[i].Shape.Slice() {
					if d < 0 {
						inputs[i].Shape.Dims[j] = 2
					}
				}
			}
			_, next, err := staged.Stage(inputs)
			if err != nil || next == nil {
				break
			}
			source = next.Rest
		}
		require.NotEmpty(t, m.String())
		require.True(t, json.Valid(m.Describe()))
	})
}
