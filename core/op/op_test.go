package op_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/describe"
	_ "github.com/paddle-mps/paddle-mps/core/op/table" // the rows
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

var described = describe.All()

func TestTableIsWellFormed(t *testing.T) {
	names := map[string]bool{}
	last := op.ID(0)
	for i := range op.Table {
		row := &op.Table[i]
		require.Greater(t, row.ID, last, "%s: ids are unique and ascending", row.Name)
		last = row.ID
		require.False(t, names[row.Name], row.Name)
		names[row.Name] = true
		require.Same(t, row, op.ByID(row.ID))
		require.Equal(t, row, op.MustByName(row.Name))
		require.NotZero(t, row.Accepts, row.Name)
		require.Equal(t, row.Kind != op.View, row.Infer != nil, row.Name)
		require.Equal(t, row.Kind == op.View, row.View != nil, row.Name)
		require.True(t, strings.HasSuffix(described[row.Name].Doc, "."), "%s: Doc is a sentence", row.Name)
		for j, in := range row.In {
			require.False(t, in.Variadic && j != len(row.In)-1, "%s: only the last input is variadic", row.Name)
		}
		for j, out := range row.Out {
			require.False(t, out.Variadic && j != len(row.Out)-1, "%s: only the last result is variadic", row.Name)
			require.False(t, out.Optional && (j == 0 || out.Variadic), "%s: a result that may be left out is one, and not the first", row.Name)
		}
		require.Len(t, described[row.Name].Attrs, len(row.Attrs), "%s: what each attribute is", row.Name)
		for j, a := range row.Attrs {
			require.False(t, a.Needed && a.Default.Set(), "%s.%s is needed and has a default", row.Name, a.Name)
			require.NotEmpty(t, described[row.Name].Attrs[j])
		}
	}
	require.Len(t, described, len(op.Table), "a description of each row, and of no other")
	require.Nil(t, op.ByID(0))
	require.Nil(t, op.ByID(65535))
	_, err := op.ByName("conv9d")
	require.Equal(t, status.NotFound, status.CodeOf(err))
}

func TestAttributesOfEveryKind(t *testing.T) {
	text := op.Value{Kind: op.String, Ref: "edge"}
	one, two := 1.5, 2.5
	for _, c := range []struct {
		kind op.AttrType
		give op.Value
		want op.Value
	}{
		{op.StringAttr, text, text},
		{op.StringsAttr, text, op.Value{Kind: op.Strings, Ref: []string{"edge"}}},
		{op.StringsAttr, op.Value{Kind: op.Strings, Ref: []string{"a", ""}}, op.Value{Kind: op.Strings, Ref: []string{"a", ""}}},
		{op.FloatsAttr, op.Value{Kind: op.Float, F: one}, op.Value{Kind: op.Floats, F: one, Ref: []float64{one}}},
		{op.FloatsAttr, op.Value{Kind: op.Int, I: 3}, op.Value{Kind: op.Floats, I: 3, Ref: []float64{3}}},
		{op.FloatsAttr, list(1, -2), op.Value{Kind: op.Floats, Ref: []float64{1, -2}}},
		{op.FloatsAttr, op.Value{Kind: op.Floats, Ref: []float64{one, two}}, op.Value{Kind: op.Floats, Ref: []float64{one, two}}},
		{op.TensorAttr, op.Value{Kind: op.Tensor, Ref: 7}, op.Value{Kind: op.Tensor, Ref: 7}},
		{op.GraphAttr, op.Value{Kind: op.Graph, Ref: 8}, op.Value{Kind: op.Graph, Ref: 8}},
		{op.StringAttr, number(1), op.Value{}},
		{op.StringsAttr, list(1), op.Value{}},
		{op.FloatsAttr, text, op.Value{}},
		{op.IntsAttr, op.Value{Kind: op.Floats, Ref: []float64{1}}, op.Value{}},
		{op.TensorAttr, text, op.Value{}},
		{op.GraphAttr, number(1), op.Value{}},
	} {
		row := op.Row{Name: "try", Attrs: []op.Attr{{Name: "a", Type: c.kind}}}
		at := op.Attrs{c.give}
		err := row.Fill(at)
		if !c.want.Set() {
			require.Equal(t, status.Type, status.CodeOf(err), "%s as %s", c.give.Kind, c.kind)
			require.ErrorContains(t, err, c.give.Kind.String()+"; want "+c.kind.String())
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, at[0])
	}
}

func TestValuesAnswerForTheirOwnKind(t *testing.T) {
	text, floats, texts := op.Value{Kind: op.String, Ref: "x"}, op.Value{Kind: op.Floats, Ref: []float64{1}}, op.Value{Kind: op.Strings, Ref: []string{"y"}}
	require.Equal(t, "x", text.Str())
	require.Equal(t, []float64{1}, floats.Floats())
	require.Equal(t, []string{"y"}, texts.Strings())
	require.Empty(t, floats.Str())
	require.Nil(t, text.Floats())
	require.Nil(t, text.Strings())
}

// tensor and scalar are arguments as inference sees them.
func tensor(d dtype.DType, dims ...int64) op.Arg {
	s, err := shape.Of(dims...)
	if err != nil {
		panic(err)
	}
	return op.Arg{Type: op.Type{DType: d, Shape: s}}
}

func scalar(d dtype.DType) op.Arg { return op.Arg{Type: op.Type{DType: d}, Scalar: true} }

func list(v ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }
func number(v int64) op.Value  { return op.Value{Kind: op.Int, I: v} }

const f32, i64, boolean = dtype.Float32, dtype.Int64, dtype.Bool

// question is an inference that has not been answered.
func question(row *op.Row, args []op.Arg, at op.Attrs) *op.Inference {
	symbols := 100
	c := &op.Inference{Open: true, NewSymbol: func() int64 { symbols++; return shape.Symbol(symbols) }}
	c.Reset(row, at)
	c.In = append(c.In, args...)
	return c
}

func TestInference(t *testing.T) {
	yes := op.Value{Kind: op.Bool, I: 1}
	for _, test := range []struct {
		op    string
		args  []op.Arg
		at    []op.Value
		out   dtype.DType
		shape []int64
	}{
		{"add", []op.Arg{tensor(f32, 2, 3), tensor(f32, 3)}, nil, f32, []int64{2, 3}},
		{"add", []op.Arg{tensor(i64, 2), scalar(f32)}, nil, f32, []int64{2}},
		{"divide", []op.Arg{tensor(i64, 2), tensor(i64, 2)}, nil, f32, []int64{2}},
		{"divide", []op.Arg{tensor(boolean, 2), tensor(boolean, 2)}, nil, boolean, []int64{2}},
		{"floor_divide", []op.Arg{tensor(dtype.Uint8, 2), tensor(dtype.Int8)}, nil, dtype.Int16, []int64{2}},
		{"less_than", []op.Arg{tensor(f32, 2), scalar(i64)}, nil, boolean, []int64{2}},
		{"exp", []op.Arg{tensor(dtype.Int32, 2)}, nil, f32, []int64{2}},
		{"where", []op.Arg{tensor(boolean, 2, 1), tensor(f32, 3), tensor(dtype.Float16)}, nil, f32, []int64{2, 3}},
		{"clip", []op.Arg{tensor(i64, 2), scalar(f32), {Absent: true}}, nil, f32, []int64{2}},
		{"sum", []op.Arg{tensor(dtype.Int32, 2, 3)}, nil, i64, nil},
		{"sum", []op.Arg{tensor(dtype.Int8, 2, 3)}, []op.Value{list(1)}, dtype.Int8, []int64{2}},
		{"sum", []op.Arg{tensor(f32, 2, 3, 4)}, []op.Value{list(-1, 0), {}, yes}, f32, []int64{1, 3, 1}},
		{"mean", []op.Arg{tensor(f32, 0, 3)}, []op.Value{list(0)}, f32, []int64{3}},
		{"cumsum", []op.Arg{tensor(dtype.Int8, 2, 3)}, nil, i64, []int64{6}},
		{"cumsum", []op.Arg{tensor(boolean, 2, 3)}, []op.Value{number(-1)}, i64, []int64{2, 3}},
		{"cumsum", []op.Arg{tensor(f32)}, nil, f32, []int64{1}},
		{"cumsum", []op.Arg{tensor(f32)}, []op.Value{number(0), {Kind: op.DType, I: int64(dtype.Int8)}}, dtype.Int8, nil},
		{"argmax", []op.Arg{tensor(f32, 2, 3)}, []op.Value{number(-1)}, i64, []int64{2}},
		{"argmax", []op.Arg{tensor(f32, 2, 3)}, nil, i64, nil},
		{"argmax", []op.Arg{tensor(f32)}, []op.Value{number(0)}, i64, nil},
		{"matmul", []op.Arg{tensor(f32, 3), tensor(f32, 3)}, nil, f32, nil},
		{"matmul", []op.Arg{tensor(f32, 2, 3), tensor(f32, 2, 3)}, []op.Value{{}, yes}, f32, []int64{2, 2}},
		{"matmul", []op.Arg{tensor(f32, 2, 1, 3, 4), tensor(f32, 5, 4, 6)}, nil, f32, []int64{2, 5, 3, 6}},
		{"matmul", []op.Arg{tensor(f32, 2, 3, 4), tensor(f32, 4)}, nil, f32, []int64{2, 3}},
		{"concat", []op.Arg{tensor(f32, 2, 3), tensor(f32, 2, 1)}, []op.Value{number(-1)}, f32, []int64{2, 4}},
		{"stack", []op.Arg{tensor(f32, 2, 3), tensor(f32, 2, 3)}, []op.Value{number(-1)}, f32, []int64{2, 3, 2}},
		{"tile", []op.Arg{tensor(f32, 2, 3)}, []op.Value{list(2, 1, 2)}, f32, []int64{2, 2, 6}},
		{"gather", []op.Arg{tensor(f32, 4, 5), tensor(i64, 2)}, []op.Value{number(1)}, f32, []int64{4, 2}},
		{"gather", []op.Arg{tensor(f32, 4, 5), tensor(i64)}, nil, f32, []int64{5}},
		{"index", []op.Arg{tensor(f32, 4, 5, 6), tensor(i64, 2, 1), tensor(i64, 3)}, nil, f32, []int64{2, 3, 6}},
		{"index_put", []op.Arg{tensor(f32, 4, 5, 6), tensor(f32, 6), tensor(i64, 2, 1), tensor(i64, 3)}, nil, f32, []int64{4, 5, 6}},
		{"full", nil, []op.Value{list(2, 0), number(1), {Kind: op.DType, I: int64(i64)}}, i64, []int64{2, 0}},
	} {
		row := op.MustByName(test.op)
		at := make(op.Attrs, len(row.Attrs))
		copy(at, test.at)
		require.NoError(t, row.Fill(at), test.op)
		c := question(row, test.args, at)
		require.NoError(t, c.Infer(), test.op)
		want, err := shape.Of(test.shape...)
		require.NoError(t, err)
		require.Equal(t, want, c.Out[0].Shape, test.op)
		require.Equal(t, test.out, c.Out[0].DType, test.op)
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		op   string
		args []op.Arg
		at   []op.Value
		code status.Code
		says string
	}{
		{"add", []op.Arg{tensor(f32, 2), tensor(i64, 2)}, nil, status.Type, "[add] got tensors of float32 and int64"},
		{"add", []op.Arg{tensor(f32, 2), tensor(f32, 3)}, nil, status.Invalid, "[add] shapes [2] and [3] do not broadcast"},
		{"clip", []op.Arg{tensor(f32, 2), tensor(f32, 3, 2), {Absent: true}}, nil, status.Invalid, "the bounds make shape [3, 2] of [2]"},
		{"subtract", []op.Arg{tensor(boolean, 2), tensor(boolean, 2)}, nil, status.Unsupported, "[subtract] has no kernel for bool"},
		{"where", []op.Arg{tensor(i64, 2), tensor(f32, 2), tensor(f32, 2)}, nil, status.Invalid, "condition is int64; want bool"},
		{"sum", []op.Arg{tensor(f32, 2)}, []op.Value{list(1)}, status.Invalid, "axis 1 is out of range"},
		{"sum", []op.Arg{tensor(f32, 2, 2)}, []op.Value{list(0, -2)}, status.Invalid, "twice"},
		{"sum", []op.Arg{tensor(f32, 2)}, []op.Value{{Kind: op.Float, F: 1}}, status.Type, "attribute axis is a float; want list of int"},
		{"cumsum", []op.Arg{tensor(f32, 2)}, []op.Value{number(1)}, status.Index, "[cumsum] axis 1 is out of range"},
		{"cumsum", []op.Arg{tensor(f32)}, []op.Value{number(1)}, status.Invalid, "axis 1 is out of range"},
		{"max", []op.Arg{tensor(f32, 0, 2)}, nil, status.Invalid, "no element along axis 0"},
		{"argmax", []op.Arg{tensor(f32, 2)}, []op.Value{{}, {}, {Kind: op.DType, I: int64(f32)}}, status.Invalid, "want int32 or int64"},
		{"matmul", []op.Arg{tensor(f32, 2, 3), tensor(f32, 2, 3)}, nil, status.Invalid, "x has 3 columns and y has 2 rows"},
		{"matmul", []op.Arg{tensor(f32), tensor(f32, 2)}, nil, status.Invalid, "at least one dimension"},
		{"concat", []op.Arg{tensor(f32, 2), tensor(i64, 2)}, nil, status.Invalid, "tensor 0 is float32 and tensor 1 is int64"},
		{"concat", []op.Arg{tensor(f32), tensor(f32)}, nil, status.Invalid, "no dimensions"},
		{"stack", []op.Arg{tensor(f32, 2), tensor(f32, 3)}, nil, status.Invalid, "want one shape"},
		{"gather", []op.Arg{tensor(f32, 2), tensor(f32, 2)}, nil, status.Invalid, "index is float32"},
		{"index_put", []op.Arg{tensor(f32, 4, 5), tensor(f32, 6), tensor(i64, 2)}, nil, status.Invalid, "the value has shape [6] and the indexed part [2, 5]"},
		{"index_put", []op.Arg{tensor(f32, 4), tensor(f32), tensor(i64), tensor(i64)}, nil, status.Index, "2 index tensors for a tensor of 1 dimension;"},
		{"full", nil, []op.Value{list(-1), number(1), {Kind: op.DType, I: int64(i64)}}, status.Invalid, "no negative dimension"},
		{"full", nil, []op.Value{{}, number(1)}, status.Invalid, "attribute shape is missing"},
		{"cast", []op.Arg{tensor(f32, 2)}, []op.Value{{Kind: op.DType, I: 99}}, status.Type, "attribute dtype"},
	} {
		row := op.MustByName(test.op)
		at := make(op.Attrs, len(row.Attrs))
		copy(at, test.at)
		err := row.Fill(at)
		if err == nil {
			err = question(row, test.args, at).Infer()
		}
		require.Equal(t, test.code, status.CodeOf(err), "%s: %v", test.op, err)
		require.ErrorContains(t, err, test.says)
	}
}

// Symbols pass through inference where they say the same, and become others where they do not.
func TestSymbols(t *testing.T) {
	n, m, fresh := shape.Symbol(0), shape.Symbol(1), shape.Symbol(101)
	of := func(dims ...int64) op.Arg {
		return op.Arg{Type: op.Type{DType: f32, Shape: shape.Shape{Rank: len(dims), Dims: [shape.MaxRank]int64(append(dims, make([]int64, shape.MaxRank-len(dims))...))}}}
	}
	for _, test := range []struct {
		op   string
		args []op.Arg
		at   []op.Value
		want []int64 // nil: refused
	}{
		{"add", []op.Arg{of(n, 3), of(n, 1)}, nil, []int64{n, 3}},
		{"add", []op.Arg{of(n, 3), of(5, 1)}, nil, []int64{5, 3}},
		{"add", []op.Arg{of(n), of(m)}, nil, []int64{fresh}},
		{"add", []op.Arg{of(n, 3), of(4)}, nil, nil},
		{"exp", []op.Arg{of(n, m)}, nil, []int64{n, m}},
		{"clip", []op.Arg{of(n, 3), of(m, 1), {Absent: true}}, nil, []int64{n, 3}},
		{"clip", []op.Arg{of(n, 3), of(4), {Absent: true}}, nil, nil},
		{"sum", []op.Arg{of(n, m)}, []op.Value{list(1)}, []int64{n}},
		{"matmul", []op.Arg{of(n, m), of(m, 4)}, nil, []int64{n, 4}},
		{"matmul", []op.Arg{of(n, 3), of(4, 5)}, nil, nil},
		{"concat", []op.Arg{of(n, 2), of(3, 2)}, nil, []int64{fresh, 2}},
		{"concat", []op.Arg{of(n, 2), of(n, 3)}, []op.Value{number(1)}, []int64{n, 5}},
		{"stack", []op.Arg{of(n), of(m)}, nil, []int64{2, n}},
		{"tile", []op.Arg{of(n, 2)}, []op.Value{list(1, 3)}, []int64{n, 6}},
		{"tile", []op.Arg{of(n)}, []op.Value{list(2)}, []int64{fresh}},
		{"gather", []op.Arg{of(n, 5), {Type: op.Type{DType: i64, Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{m}}}}}, []op.Value{number(1)}, []int64{n, m}},
		{"nonzero", []op.Arg{of(n, 5)}, nil, []int64{fresh, 2}},
		{"nonzero", []op.Arg{of(4, 5)}, nil, []int64{fresh, 2}}, // how many there are is seen when it has run
		{"clip", []op.Arg{of(n, 3), of(4, 1), {Absent: true}}, nil, []int64{n, 3}},
		{"clip", []op.Arg{of(n, 3), of(n, 4), {Absent: true}}, nil, nil},
		{"reshape", []op.Arg{of(n, 4, 6)}, []op.Value{list(0, -1)}, []int64{n, 24}},
		{"reshape", []op.Arg{of(n, m, 6)}, []op.Value{list(0, 0, 2, -1)}, []int64{n, m, 2, 3}},
		{"reshape", []op.Arg{of(n, 6)}, []op.Value{list(-1, 3)}, []int64{fresh, 3}},
		{"reshape", []op.Arg{of(n, 6)}, []op.Value{list(-1, 6)}, []int64{n, 6}},
		{"reshape", []op.Arg{of(3, n)}, []op.Value{list(-1)}, []int64{fresh}},
		{"reshape", []op.Arg{of(2, n, 4)}, []op.Value{list(-1, 4)}, []int64{fresh, 4}},
		{"reshape", []op.Arg{of(2, n, m)}, []op.Value{list(0, -1)}, []int64{2, fresh}},
		{"reshape", []op.Arg{of(2, 3, n)}, []op.Value{list(6, 0)}, []int64{6, 3}},
		{"reshape", []op.Arg{of(n, 3)}, []op.Value{list(0, 1<<32, 1<<32, -1)}, nil},
		{"transpose", []op.Arg{of(n, m)}, []op.Value{list(1, 0)}, []int64{m, n}},
		{"squeeze", []op.Arg{of(n, 1)}, []op.Value{list(1)}, []int64{n}},
		{"squeeze", []op.Arg{of(n, 1)}, nil, nil},
		{"unsqueeze", []op.Arg{of(n)}, []op.Value{list(0)}, []int64{1, n}},
		{"expand", []op.Arg{of(n, 1)}, []op.Value{list(-1, 3)}, []int64{n, 3}},
		{"slice", []op.Arg{of(n, 9)}, []op.Value{list(0, 1), list(0, 2), list(1<<40, 5)}, []int64{n, 3}},
		{"slice", []op.Arg{of(n)}, []op.Value{list(0), list(1), list(4)}, []int64{fresh}},
		{"split", []op.Arg{of(n)}, []op.Value{number(2)}, []int64{fresh}},
		{"flip", []op.Arg{of(n, 2)}, []op.Value{list(0)}, []int64{n, 2}},
	} {
		row := op.MustByName(test.op)
		at := make(op.Attrs, len(row.Attrs))
		copy(at, test.at)
		require.NoError(t, row.Fill(at), test.op)
		c := question(row, test.args, at)
		err := c.Infer()
		if test.want == nil {
			require.Error(t, err, "%s", test.op)
			continue
		}
		require.NoError(t, err, test.op)
		require.Equal(t, test.want, c.Out[0].Shape.Slice(), test.op)
	}
}

// A rule sees the elements of constant inputs.
func TestConstants(t *testing.T) {
	c := op.Const{Type: op.Type{DType: dtype.Int16}, Bytes: []byte{1, 0, 0xff, 0xff}}
	ints, ok := c.Ints()
	require.True(t, ok)
	require.Equal(t, []int64{1, -1}, ints)
	_, ok = (&op.Const{Type: op.Type{DType: f32}}).Ints()
	require.False(t, ok)
	row := &op.Row{Name: "shaped", Accepts: dtype.All, In: []op.Input{{Name: "x"}, {Name: "shape"}}, Infer: op.Rules{func(c *op.Inference) (err error) {
		dims, _ := c.In[1].Const.Ints()
		c.Out[0].Shape, err = shape.Of(dims...)
		return err
	}}}
	q := question(row, []op.Arg{tensor(f32, 6), {Const: &op.Const{Type: op.Type{DType: dtype.Uint8}, Bytes: []byte{2, 3}}}}, nil)
	require.NoError(t, q.Infer())
	require.Equal(t, []int64{2, 3}, q.Out[0].Shape.Slice())
}

func view(t *testing.T, name string, in *shape.Layout, at ...op.Value) ([]op.Part, error) {
	row := op.MustByName(name)
	full := make(op.Attrs, len(row.Attrs))
	copy(full, at)
	require.NoError(t, row.Fill(full))
	c := question(row, nil, full)
	err := row.View(c, in)
	return c.Parts, err
}

func TestViews(t *testing.T) {
	in := shape.Contiguous(tensor(f32, 3, 4).Shape)
	for _, test := range []struct {
		op      string
		at      []op.Value
		offset  int64
		dims    []int64
		strides []int64
	}{
		{"reshape", []op.Value{list(0, -1, 2)}, 0, []int64{3, 2, 2}, []int64{4, 2, 1}},
		{"transpose", []op.Value{list(1, 0)}, 0, []int64{4, 3}, []int64{1, 4}},
		{"transpose", []op.Value{list(0)}, 0, []int64{3, 4}, []int64{4, 1}},
		{"squeeze", nil, 0, []int64{3, 4}, []int64{4, 1}},
		{"unsqueeze", []op.Value{list(0, -1)}, 0, []int64{1, 3, 4, 1}, []int64{12, 4, 1, 1}},
		{"expand", []op.Value{list(2, -1, 4)}, 0, []int64{2, 3, 4}, []int64{0, 4, 1}},
		{"slice", []op.Value{list(0, 1), list(1, -1), list(9, -5), list(1, -2)}, 7, []int64{2, 2}, []int64{4, -2}},
		{"flip", []op.Value{list(-1)}, 3, []int64{3, 4}, []int64{4, -1}},
		{"as_strided", []op.Value{list(2, 2), list(5, 1), {Kind: op.Int, I: 5}}, 5, []int64{2, 2}, []int64{5, 1}},
		{"as_strided", []op.Value{list(3), list(-4), {Kind: op.Int, I: 11}}, 11, []int64{3}, []int64{-4}},
		{"as_strided", []op.Value{list(0, 9), list(99, 99), {Kind: op.Int, I: 99}}, 0, []int64{0, 9}, []int64{99, 99}},
	} {
		parts, err := view(t, test.op, &in, test.at...)
		require.NoError(t, err, test.op)
		require.Len(t, parts, 1)
		require.Equal(t, test.offset, parts[0].Offset, test.op)
		require.Equal(t, test.dims, parts[0].Slice(), test.op)
		require.Equal(t, test.strides, parts[0].Strides[:parts[0].Rank], test.op)
	}
	turned := in.Permute([]int64{1, 0})
	_, err := view(t, "reshape", &turned, list(12))
	require.ErrorIs(t, err, op.ErrCopy)
}

// TestStridesStayInside refuses every layout with an element before the first of the operand or behind its last.
func TestStridesStayInside(t *testing.T) {
	in := shape.Contiguous(tensor(f32, 3, 4).Shape)
	for name, at := range map[string][]op.Value{
		"behind":        {list(2, 2), list(5, 2), {Kind: op.Int, I: 5}},
		"before":        {list(2), list(-1), {Kind: op.Int, I: 0}},
		"offset":        {list(), list(), {Kind: op.Int, I: 12}},
		"negative":      {list(), list(), {Kind: op.Int, I: -1}},
		"overflow":      {list(3, 3), list(1<<62, 1<<62), {Kind: op.Int, I: 0}},
		"two cancel":    {list(2, 2), list(20, -20), {Kind: op.Int, I: 0}},
		"dimension":     {list(-1), list(1), {Kind: op.Int, I: 0}},
		"lengths":       {list(1), list(1, 1), {Kind: op.Int, I: 0}},
		"address space": {list(1<<40, 1<<40), list(0, 0), {Kind: op.Int, I: 0}},
	} {
		_, err := view(t, "as_strided", &in, at...)
		require.Equal(t, status.Invalid, status.CodeOf(err), name)
	}
	back := shape.Layout{Shape: in.Shape, Strides: in.Strides}
	back.Strides[1] = -1 // rows are read backwards: elements -3 to 8
	_, err := view(t, "as_strided", &back, list(12), list(1), op.Value{Kind: op.Int, I: -3})
	require.NoError(t, err)
	_, err = view(t, "as_strided", &back, list(12), list(1), op.Value{Kind: op.Int, I: 0})
	require.Error(t, err)
}

func TestSplit(t *testing.T) {
	in := shape.Contiguous(tensor(f32, 3, 4).Shape)
	parts, err := view(t, "split", &in, list(1, -1), number(1))
	require.NoError(t, err)
	require.Equal(t, []int64{3, 3}, parts[1].Slice())
	require.EqualValues(t, 1, parts[1].Offset)
	parts, err = view(t, "split", &in, number(3))
	require.NoError(t, err)
	require.Len(t, parts, 3)
	for _, bad := range []op.Value{number(2), number(0), number(-1), list(1, 1), list(-1, -1), list(4, -1), list(2, -2)} {
		_, err := view(t, "split", &in, bad)
		require.Equal(t, status.Invalid, status.CodeOf(err), "%v", bad)
	}
	nothing := shape.Contiguous(tensor(f32, 0).Shape) // divides by every number
	_, err = view(t, "split", &nothing, number(1<<40))
	require.ErrorContains(t, err, "[split] got 1099511627776 sections; want at most 65536")
	parts, err = view(t, "split", &nothing, number(5))
	require.NoError(t, err)
	require.Len(t, parts, 5)
}

// A sum of sizes is never taken for a symbol.
func TestSumsOfSizes(t *testing.T) {
	row := op.MustByName("concat")
	at := make(op.Attrs, len(row.Attrs))
	require.NoError(t, row.Fill(at))
	half := tensor(dtype.Bool, 1<<62)
	c := question(row, []op.Arg{half, half, half}, at)
	require.NoError(t, c.Infer())
	require.EqualValues(t, math.MaxInt64, c.Out[0].Shape.Dims[0])
}

func TestPossible(t *testing.T) {
	of := func(dims ...int64) op.Arg {
		a := op.Arg{Type: op.Type{DType: f32, Shape: shape.Shape{Rank: len(dims)}}}
		copy(a.Shape.Dims[:], dims)
		return a
	}
	for _, fits := range []op.Arg{tensor(f32), tensor(f32, 0, 1<<40), of(-1, -2, 1<<40), tensor(dtype.Bool, math.MaxInt64)} {
		require.NoError(t, fits.Type.Possible("add"))
	}
	for _, beyond := range []op.Arg{tensor(f32, math.MaxInt64), of(-1, 1<<40, 1<<40)} {
		require.ErrorContains(t, beyond.Type.Possible("add"), "[add] [")
	}
}

// Cut keeps exactly the indices that stepping through the bounds by hand does.
func FuzzCut(f *testing.F) {
	f.Add(int8(5), int8(1), int8(-1), int8(2))
	f.Add(int8(5), int8(-1), int8(-9), int8(-2))
	f.Add(int8(0), int8(3), int8(-3), int8(-1))
	f.Fuzz(func(t *testing.T, n, start, end, step int8) {
		if n < 0 || step == 0 {
			return
		}
		p := op.Part{Layout: shape.Contiguous(tensor(f32, int64(n)).Shape)}
		p.Cut(0, int64(start), int64(end), int64(step))
		var want []int64
		from, to := int64(start), int64(end)
		if from < 0 {
			from += int64(n)
		}
		if to < 0 {
			to += int64(n)
		}
		if step > 0 {
			from = max(from, 0)
		} else {
			from = min(from, int64(n)-1)
		}
		for i := from; step > 0 && i < min(to, int64(n)) || step < 0 && i > max(to, -1) && i >= 0; i += int64(step) {
			want = append(want, i)
		}
		require.EqualValues(t, len(want), p.Dims[0], "range(%d)[%d:%d:%d]", n, start, end, step)
		for i, w := range want {
			require.Equal(t, w, p.Offset+int64(i)*p.Strides[0])
		}
	})
}

// FuzzReshape looks for shapes that are accepted although their elements do not add up.
func FuzzReshape(f *testing.F) {
	f.Add(int64(3), int64(4), int64(0), int64(-1), int64(2))
	f.Add(int64(0), int64(3), int64(-1), int64(0), int64(1))
	f.Add(int64(3), int64(4), int64(1<<40), int64(1<<40), int64(-1))
	f.Fuzz(func(t *testing.T, a, b, x, y, z int64) {
		s, err := shape.Of(a&7, b&7)
		require.NoError(t, err)
		in := shape.Contiguous(s)
		parts, err := view(t, "reshape", &in, list(x, y, z))
		if err != nil {
			require.Equal(t, status.Invalid, status.CodeOf(err))
			return
		}
		require.Equal(t, s.Numel(), parts[0].Numel(), "%v to %v", s.Slice(), parts[0].Slice())
	})
}
