package op

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

var described = Descriptions()

func TestTableIsWellFormed(t *testing.T) {
	names := map[string]bool{}
	last := ID(0)
	for i := range Table {
		row := &Table[i]
		require.Greater(t, row.ID, last, "%s: ids are unique and ascending", row.Name)
		last = row.ID
		require.False(t, names[row.Name], row.Name)
		names[row.Name] = true
		require.Same(t, row, ByID(row.ID))
		require.Equal(t, row, MustByName(row.Name))
		require.NotZero(t, row.Accepts, row.Name)
		require.Equal(t, row.Kind != View, row.Infer != nil, row.Name)
		require.Equal(t, row.Kind == View, row.View != nil, row.Name)
		require.True(t, strings.HasSuffix(described[row.Name].Doc, "."), "%s: Doc is a sentence", row.Name)
		for j, in := range row.In {
			require.False(t, in.Variadic && j != len(row.In)-1, "%s: only the last input is variadic", row.Name)
		}
		for j, out := range row.Out {
			require.False(t, out.Variadic && j != len(row.Out)-1, "%s: only the last result is variadic", row.Name)
			require.False(t, out.Optional && (j == 0 || out.Variadic), "%s: a result that may be left out is one, and not the first", row.Name)
		}
		if row.IsComposite() {
			require.Len(t, described[row.Name].Attrs, len(row.Attrs), "%s: what each attribute is", row.Name)
		}
		for j, a := range row.Attrs {
			require.False(t, a.Needed && a.Default.Set(), "%s.%s is needed and has a default", row.Name, a.Name)
			require.NotEmpty(t, described[row.Name].AttrDoc(row, j))
		}
	}
	require.Len(t, described, len(Table), "a description of each row, and of no other")
	require.Nil(t, ByID(0))
	require.Nil(t, ByID(65535))
	_, err := ByName("conv9d")
	require.Equal(t, status.NotFound, status.CodeOf(err))
}

// A number above 255 needs no change elsewhere: the table of rows by number grows with it.
func TestNumbersMayBeLarge(t *testing.T) {
	rows := index([]Row{{ID: 1, Name: "first"}, {ID: 300, Name: "middle"}, {ID: 60000, Name: "last"}})
	require.Len(t, rows, 60001)
	require.Equal(t, "middle", rows[300].Name)
	require.Equal(t, "last", rows[60000].Name)
	require.Nil(t, rows[299])
	require.Empty(t, index(nil))
}

func TestAttributesOfEveryKind(t *testing.T) {
	text := Value{Kind: String, Ref: "edge"}
	one, two := 1.5, 2.5
	for _, c := range []struct {
		kind AttrType
		give Value
		want Value
	}{
		{StringAttr, text, text},
		{StringsAttr, text, Value{Kind: Strings, Ref: []string{"edge"}}},
		{StringsAttr, Value{Kind: Strings, Ref: []string{"a", ""}}, Value{Kind: Strings, Ref: []string{"a", ""}}},
		{FloatsAttr, Value{Kind: Float, F: one}, Value{Kind: Floats, F: one, Ref: []float64{one}}},
		{FloatsAttr, Value{Kind: Int, I: 3}, Value{Kind: Floats, I: 3, Ref: []float64{3}}},
		{FloatsAttr, list(1, -2), Value{Kind: Floats, Ref: []float64{1, -2}}},
		{FloatsAttr, Value{Kind: Floats, Ref: []float64{one, two}}, Value{Kind: Floats, Ref: []float64{one, two}}},
		{TensorAttr, Value{Kind: Tensor, Ref: 7}, Value{Kind: Tensor, Ref: 7}},
		{GraphAttr, Value{Kind: Graph, Ref: 8}, Value{Kind: Graph, Ref: 8}},
		{StringAttr, number(1), Value{}},
		{StringsAttr, list(1), Value{}},
		{FloatsAttr, text, Value{}},
		{IntsAttr, Value{Kind: Floats, Ref: []float64{1}}, Value{}},
		{TensorAttr, text, Value{}},
		{GraphAttr, number(1), Value{}},
	} {
		row := Row{Name: "try", Attrs: []Attr{{Name: "a", Type: c.kind}}}
		at := Attrs{c.give}
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
	text, floats, texts := Value{Kind: String, Ref: "x"}, Value{Kind: Floats, Ref: []float64{1}}, Value{Kind: Strings, Ref: []string{"y"}}
	require.Equal(t, "x", text.Str())
	require.Equal(t, []float64{1}, floats.Floats())
	require.Equal(t, []string{"y"}, texts.Strings())
	require.Empty(t, floats.Str())
	require.Nil(t, text.Floats())
	require.Nil(t, text.Strings())
}

// tensor and scalar are arguments as inference sees them.
func tensor(d dtype.DType, dims ...int64) Arg {
	s, err := shape.Of(dims...)
	if err != nil {
		panic(err)
	}
	return Arg{Type: Type{DType: d, Shape: s}}
}

func scalar(d dtype.DType) Arg { return Arg{Type: Type{DType: d}, Scalar: true} }

func list(v ...int64) Value { return Value{Kind: Ints, Ints: v} }
func number(v int64) Value  { return Value{Kind: Int, I: v} }

const f32, i64, boolean = dtype.Float32, dtype.Int64, dtype.Bool

// question is an inference that has not been answered.
func question(row *Row, args []Arg, at Attrs) *Inference {
	symbols := 100
	c := &Inference{Open: true, NewSymbol: func() int64 { symbols++; return shape.Symbol(symbols) }}
	c.Reset(row, at)
	c.In = append(c.In, args...)
	return c
}

func TestInference(t *testing.T) {
	yes := Value{Kind: Bool, I: 1}
	for _, test := range []struct {
		op    string
		args  []Arg
		at    []Value
		out   dtype.DType
		shape []int64
	}{
		{"add", []Arg{tensor(f32, 2, 3), tensor(f32, 3)}, nil, f32, []int64{2, 3}},
		{"add", []Arg{tensor(i64, 2), scalar(f32)}, nil, f32, []int64{2}},
		{"divide", []Arg{tensor(i64, 2), tensor(i64, 2)}, nil, f32, []int64{2}},
		{"divide", []Arg{tensor(boolean, 2), tensor(boolean, 2)}, nil, boolean, []int64{2}},
		{"floor_divide", []Arg{tensor(dtype.Uint8, 2), tensor(dtype.Int8)}, nil, dtype.Int16, []int64{2}},
		{"less_than", []Arg{tensor(f32, 2), scalar(i64)}, nil, boolean, []int64{2}},
		{"exp", []Arg{tensor(dtype.Int32, 2)}, nil, f32, []int64{2}},
		{"where", []Arg{tensor(boolean, 2, 1), tensor(f32, 3), tensor(dtype.Float16)}, nil, f32, []int64{2, 3}},
		{"clip", []Arg{tensor(i64, 2), scalar(f32), {Absent: true}}, nil, f32, []int64{2}},
		{"sum", []Arg{tensor(dtype.Int32, 2, 3)}, nil, i64, nil},
		{"sum", []Arg{tensor(dtype.Int8, 2, 3)}, []Value{list(1)}, dtype.Int8, []int64{2}},
		{"sum", []Arg{tensor(f32, 2, 3, 4)}, []Value{list(-1, 0), {}, yes}, f32, []int64{1, 3, 1}},
		{"mean", []Arg{tensor(f32, 0, 3)}, []Value{list(0)}, f32, []int64{3}},
		{"cumsum", []Arg{tensor(dtype.Int8, 2, 3)}, nil, i64, []int64{6}},
		{"cumsum", []Arg{tensor(boolean, 2, 3)}, []Value{number(-1)}, i64, []int64{2, 3}},
		{"cumsum", []Arg{tensor(f32)}, nil, f32, []int64{1}},
		{"cumsum", []Arg{tensor(f32)}, []Value{number(0), {Kind: DType, I: int64(dtype.Int8)}}, dtype.Int8, nil},
		{"argmax", []Arg{tensor(f32, 2, 3)}, []Value{number(-1)}, i64, []int64{2}},
		{"argmax", []Arg{tensor(f32, 2, 3)}, nil, i64, nil},
		{"argmax", []Arg{tensor(f32)}, []Value{number(0)}, i64, nil},
		{"matmul", []Arg{tensor(f32, 3), tensor(f32, 3)}, nil, f32, nil},
		{"matmul", []Arg{tensor(f32, 2, 3), tensor(f32, 2, 3)}, []Value{{}, yes}, f32, []int64{2, 2}},
		{"matmul", []Arg{tensor(f32, 2, 1, 3, 4), tensor(f32, 5, 4, 6)}, nil, f32, []int64{2, 5, 3, 6}},
		{"matmul", []Arg{tensor(f32, 2, 3, 4), tensor(f32, 4)}, nil, f32, []int64{2, 3}},
		{"concat", []Arg{tensor(f32, 2, 3), tensor(f32, 2, 1)}, []Value{number(-1)}, f32, []int64{2, 4}},
		{"stack", []Arg{tensor(f32, 2, 3), tensor(f32, 2, 3)}, []Value{number(-1)}, f32, []int64{2, 3, 2}},
		{"tile", []Arg{tensor(f32, 2, 3)}, []Value{list(2, 1, 2)}, f32, []int64{2, 2, 6}},
		{"gather", []Arg{tensor(f32, 4, 5), tensor(i64, 2)}, []Value{number(1)}, f32, []int64{4, 2}},
		{"gather", []Arg{tensor(f32, 4, 5), tensor(i64)}, nil, f32, []int64{5}},
		{"index", []Arg{tensor(f32, 4, 5, 6), tensor(i64, 2, 1), tensor(i64, 3)}, nil, f32, []int64{2, 3, 6}},
		{"index_put", []Arg{tensor(f32, 4, 5, 6), tensor(f32, 6), tensor(i64, 2, 1), tensor(i64, 3)}, nil, f32, []int64{4, 5, 6}},
		{"full", nil, []Value{list(2, 0), number(1), {Kind: DType, I: int64(i64)}}, i64, []int64{2, 0}},
	} {
		row := MustByName(test.op)
		at := make(Attrs, len(row.Attrs))
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
		args []Arg
		at   []Value
		code status.Code
		says string
	}{
		{"add", []Arg{tensor(f32, 2), tensor(i64, 2)}, nil, status.Type, "[add] got tensors of float32 and int64"},
		{"add", []Arg{tensor(f32, 2), tensor(f32, 3)}, nil, status.Invalid, "[add] shapes [2] and [3] do not broadcast"},
		{"clip", []Arg{tensor(f32, 2), tensor(f32, 3, 2), {Absent: true}}, nil, status.Invalid, "the bounds make shape [3, 2] of [2]"},
		{"subtract", []Arg{tensor(boolean, 2), tensor(boolean, 2)}, nil, status.Unsupported, "[subtract] has no kernel for bool"},
		{"where", []Arg{tensor(i64, 2), tensor(f32, 2), tensor(f32, 2)}, nil, status.Invalid, "condition is int64; want bool"},
		{"sum", []Arg{tensor(f32, 2)}, []Value{list(1)}, status.Invalid, "axis 1 is out of range"},
		{"sum", []Arg{tensor(f32, 2, 2)}, []Value{list(0, -2)}, status.Invalid, "twice"},
		{"sum", []Arg{tensor(f32, 2)}, []Value{{Kind: Float, F: 1}}, status.Type, "attribute axis is a float; want list of int"},
		{"cumsum", []Arg{tensor(f32, 2)}, []Value{number(1)}, status.Index, "[cumsum] axis 1 is out of range"},
		{"cumsum", []Arg{tensor(f32)}, []Value{number(1)}, status.Invalid, "axis 1 is out of range"},
		{"max", []Arg{tensor(f32, 0, 2)}, nil, status.Invalid, "no element along axis 0"},
		{"argmax", []Arg{tensor(f32, 2)}, []Value{{}, {}, {Kind: DType, I: int64(f32)}}, status.Invalid, "want int32 or int64"},
		{"matmul", []Arg{tensor(f32, 2, 3), tensor(f32, 2, 3)}, nil, status.Invalid, "x has 3 columns and y has 2 rows"},
		{"matmul", []Arg{tensor(f32), tensor(f32, 2)}, nil, status.Invalid, "at least one dimension"},
		{"concat", []Arg{tensor(f32, 2), tensor(i64, 2)}, nil, status.Invalid, "tensor 0 is float32 and tensor 1 is int64"},
		{"concat", []Arg{tensor(f32), tensor(f32)}, nil, status.Invalid, "no dimensions"},
		{"stack", []Arg{tensor(f32, 2), tensor(f32, 3)}, nil, status.Invalid, "want one shape"},
		{"gather", []Arg{tensor(f32, 2), tensor(f32, 2)}, nil, status.Invalid, "index is float32"},
		{"index_put", []Arg{tensor(f32, 4, 5), tensor(f32, 6), tensor(i64, 2)}, nil, status.Invalid, "the value has shape [6] and the indexed part [2, 5]"},
		{"index_put", []Arg{tensor(f32, 4), tensor(f32), tensor(i64), tensor(i64)}, nil, status.Index, "2 index tensors for a tensor of 1 dimension;"},
		{"full", nil, []Value{list(-1), number(1), {Kind: DType, I: int64(i64)}}, status.Invalid, "no negative dimension"},
		{"full", nil, []Value{{}, number(1)}, status.Invalid, "attribute shape is missing"},
		{"cast", []Arg{tensor(f32, 2)}, []Value{{Kind: DType, I: 99}}, status.Type, "attribute dtype"},
	} {
		row := MustByName(test.op)
		at := make(Attrs, len(row.Attrs))
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
	of := func(dims ...int64) Arg {
		return Arg{Type: Type{DType: f32, Shape: shape.Shape{Rank: len(dims), Dims: [shape.MaxRank]int64(append(dims, make([]int64, shape.MaxRank-len(dims))...))}}}
	}
	for _, test := range []struct {
		op   string
		args []Arg
		at   []Value
		want []int64 // nil: refused
	}{
		{"add", []Arg{of(n, 3), of(n, 1)}, nil, []int64{n, 3}},
		{"add", []Arg{of(n, 3), of(5, 1)}, nil, []int64{5, 3}},
		{"add", []Arg{of(n), of(m)}, nil, []int64{fresh}},
		{"add", []Arg{of(n, 3), of(4)}, nil, nil},
		{"exp", []Arg{of(n, m)}, nil, []int64{n, m}},
		{"clip", []Arg{of(n, 3), of(m, 1), {Absent: true}}, nil, []int64{n, 3}},
		{"clip", []Arg{of(n, 3), of(4), {Absent: true}}, nil, nil},
		{"sum", []Arg{of(n, m)}, []Value{list(1)}, []int64{n}},
		{"matmul", []Arg{of(n, m), of(m, 4)}, nil, []int64{n, 4}},
		{"matmul", []Arg{of(n, 3), of(4, 5)}, nil, nil},
		{"concat", []Arg{of(n, 2), of(3, 2)}, nil, []int64{fresh, 2}},
		{"concat", []Arg{of(n, 2), of(n, 3)}, []Value{number(1)}, []int64{n, 5}},
		{"stack", []Arg{of(n), of(m)}, nil, []int64{2, n}},
		{"tile", []Arg{of(n, 2)}, []Value{list(1, 3)}, []int64{n, 6}},
		{"tile", []Arg{of(n)}, []Value{list(2)}, []int64{fresh}},
		{"gather", []Arg{of(n, 5), {Type: Type{DType: i64, Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{m}}}}}, []Value{number(1)}, []int64{n, m}},
		{"nonzero", []Arg{of(n, 5)}, nil, []int64{fresh, 2}},
		{"nonzero", []Arg{of(4, 5)}, nil, []int64{fresh, 2}}, // how many there are is seen when it has run
		{"clip", []Arg{of(n, 3), of(4, 1), {Absent: true}}, nil, []int64{n, 3}},
		{"clip", []Arg{of(n, 3), of(n, 4), {Absent: true}}, nil, nil},
		{"reshape", []Arg{of(n, 4, 6)}, []Value{list(0, -1)}, []int64{n, 24}},
		{"reshape", []Arg{of(n, m, 6)}, []Value{list(0, 0, 2, -1)}, []int64{n, m, 2, 3}},
		{"reshape", []Arg{of(n, 6)}, []Value{list(-1, 3)}, []int64{fresh, 3}},
		{"reshape", []Arg{of(n, 6)}, []Value{list(-1, 6)}, []int64{n, 6}},
		{"reshape", []Arg{of(3, n)}, []Value{list(-1)}, []int64{fresh}},
		{"reshape", []Arg{of(2, n, 4)}, []Value{list(-1, 4)}, []int64{fresh, 4}},
		{"reshape", []Arg{of(2, n, m)}, []Value{list(0, -1)}, []int64{2, fresh}},
		{"reshape", []Arg{of(2, 3, n)}, []Value{list(6, 0)}, []int64{6, 3}},
		{"reshape", []Arg{of(n, 3)}, []Value{list(0, 1<<32, 1<<32, -1)}, nil},
		{"transpose", []Arg{of(n, m)}, []Value{list(1, 0)}, []int64{m, n}},
		{"squeeze", []Arg{of(n, 1)}, []Value{list(1)}, []int64{n}},
		{"squeeze", []Arg{of(n, 1)}, nil, nil},
		{"unsqueeze", []Arg{of(n)}, []Value{list(0)}, []int64{1, n}},
		{"expand", []Arg{of(n, 1)}, []Value{list(-1, 3)}, []int64{n, 3}},
		{"slice", []Arg{of(n, 9)}, []Value{list(0, 1), list(0, 2), list(1<<40, 5)}, []int64{n, 3}},
		{"slice", []Arg{of(n)}, []Value{list(0), list(1), list(4)}, []int64{fresh}},
		{"split", []Arg{of(n)}, []Value{number(2)}, []int64{fresh}},
		{"flip", []Arg{of(n, 2)}, []Value{list(0)}, []int64{n, 2}},
	} {
		row := MustByName(test.op)
		at := make(Attrs, len(row.Attrs))
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
	c := Const{Type: Type{DType: dtype.Int16}, Bytes: []byte{1, 0, 0xff, 0xff}}
	ints, ok := c.Ints()
	require.True(t, ok)
	require.Equal(t, []int64{1, -1}, ints)
	_, ok = (&Const{Type: Type{DType: f32}}).Ints()
	require.False(t, ok)
	row := &Row{Name: "shaped", Accepts: dtype.All, In: []Input{{Name: "x"}, {Name: "shape"}}, Infer: rules{func(c *Inference) (err error) {
		dims, _ := c.In[1].Const.Ints()
		c.Out[0].Shape, err = shape.Of(dims...)
		return err
	}}}
	q := question(row, []Arg{tensor(f32, 6), {Const: &Const{Type: Type{DType: dtype.Uint8}, Bytes: []byte{2, 3}}}}, nil)
	require.NoError(t, q.Infer())
	require.Equal(t, []int64{2, 3}, q.Out[0].Shape.Slice())
}

func view(t *testing.T, name string, in *shape.Layout, at ...Value) ([]Part, error) {
	row := MustByName(name)
	full := make(Attrs, len(row.Attrs))
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
		at      []Value
		offset  int64
		dims    []int64
		strides []int64
	}{
		{"reshape", []Value{list(0, -1, 2)}, 0, []int64{3, 2, 2}, []int64{4, 2, 1}},
		{"transpose", []Value{list(1, 0)}, 0, []int64{4, 3}, []int64{1, 4}},
		{"transpose", []Value{list(0)}, 0, []int64{3, 4}, []int64{4, 1}},
		{"squeeze", nil, 0, []int64{3, 4}, []int64{4, 1}},
		{"unsqueeze", []Value{list(0, -1)}, 0, []int64{1, 3, 4, 1}, []int64{12, 4, 1, 1}},
		{"expand", []Value{list(2, -1, 4)}, 0, []int64{2, 3, 4}, []int64{0, 4, 1}},
		{"slice", []Value{list(0, 1), list(1, -1), list(9, -5), list(1, -2)}, 7, []int64{2, 2}, []int64{4, -2}},
		{"flip", []Value{list(-1)}, 3, []int64{3, 4}, []int64{4, -1}},
		{"as_strided", []Value{list(2, 2), list(5, 1), {Kind: Int, I: 5}}, 5, []int64{2, 2}, []int64{5, 1}},
		{"as_strided", []Value{list(3), list(-4), {Kind: Int, I: 11}}, 11, []int64{3}, []int64{-4}},
		{"as_strided", []Value{list(0, 9), list(99, 99), {Kind: Int, I: 99}}, 0, []int64{0, 9}, []int64{99, 99}},
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
	require.ErrorIs(t, err, ErrCopy)
}

// TestStridesStayInside refuses every layout with an element before the first of the operand or behind its last.
func TestStridesStayInside(t *testing.T) {
	in := shape.Contiguous(tensor(f32, 3, 4).Shape)
	for name, at := range map[string][]Value{
		"behind":        {list(2, 2), list(5, 2), {Kind: Int, I: 5}},
		"before":        {list(2), list(-1), {Kind: Int, I: 0}},
		"offset":        {list(), list(), {Kind: Int, I: 12}},
		"negative":      {list(), list(), {Kind: Int, I: -1}},
		"overflow":      {list(3, 3), list(1<<62, 1<<62), {Kind: Int, I: 0}},
		"two cancel":    {list(2, 2), list(20, -20), {Kind: Int, I: 0}},
		"dimension":     {list(-1), list(1), {Kind: Int, I: 0}},
		"lengths":       {list(1), list(1, 1), {Kind: Int, I: 0}},
		"address space": {list(1<<40, 1<<40), list(0, 0), {Kind: Int, I: 0}},
	} {
		_, err := view(t, "as_strided", &in, at...)
		require.Equal(t, status.Invalid, status.CodeOf(err), name)
	}
	back := shape.Layout{Shape: in.Shape, Strides: in.Strides}
	back.Strides[1] = -1 // rows are read backwards: elements -3 to 8
	_, err := view(t, "as_strided", &back, list(12), list(1), Value{Kind: Int, I: -3})
	require.NoError(t, err)
	_, err = view(t, "as_strided", &back, list(12), list(1), Value{Kind: Int, I: 0})
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
	for _, bad := range []Value{number(2), number(0), number(-1), list(1, 1), list(-1, -1), list(4, -1), list(2, -2)} {
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
	row := MustByName("concat")
	at := make(Attrs, len(row.Attrs))
	require.NoError(t, row.Fill(at))
	half := tensor(dtype.Bool, 1<<62)
	c := question(row, []Arg{half, half, half}, at)
	require.NoError(t, c.Infer())
	require.EqualValues(t, math.MaxInt64, c.Out[0].Shape.Dims[0])
}

func TestPossible(t *testing.T) {
	of := func(dims ...int64) Arg {
		a := Arg{Type: Type{DType: f32, Shape: shape.Shape{Rank: len(dims)}}}
		copy(a.Shape.Dims[:], dims)
		return a
	}
	for _, fits := range []Arg{tensor(f32), tensor(f32, 0, 1<<40), of(-1, -2, 1<<40), tensor(dtype.Bool, math.MaxInt64)} {
		require.NoError(t, fits.Type.Possible("add"))
	}
	for _, beyond := range []Arg{tensor(f32, math.MaxInt64), of(-1, 1<<40, 1<<40)} {
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
		p := Part{Layout: shape.Contiguous(tensor(f32, int64(n)).Shape)}
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
