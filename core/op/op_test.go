package op

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

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
		require.NotNil(t, row.Types, row.Name)
		require.NotNil(t, row.Shape, row.Name)
		require.Equal(t, row.Kind == View, row.View != nil, row.Name)
		require.True(t, strings.HasSuffix(row.Doc, "."), "%s: Doc is a sentence", row.Name)
		for j, in := range row.In {
			require.False(t, in.Variadic && j != len(row.In)-1, "%s: only the last input is variadic", row.Name)
		}
		for _, a := range row.Attrs {
			require.Less(t, len(a.Name), 20, "%s.%s fits into pmps_attr", row.Name, a.Name)
			require.False(t, a.Needed && a.Default.Set(), "%s.%s is needed and has a default", row.Name, a.Name)
			require.NotEmpty(t, a.Doc)
		}
	}
	require.Nil(t, ByID(0))
	require.Nil(t, ByID(65535))
	_, err := ByName("conv9d")
	require.Equal(t, status.NotFound, status.CodeOf(err))
}

// tensor and scalar are arguments as inference sees them.
func tensor(d dtype.DType, dims ...int64) Arg {
	s, err := shape.Of(dims...)
	if err != nil {
		panic(err)
	}
	return Arg{DType: d, Shape: s}
}

func scalar(d dtype.DType) Arg { return Arg{DType: d, Scalar: true} }

func list(v ...int64) Value { return Value{Kind: Ints, Ints: v} }
func number(v int64) Value  { return Value{Kind: Int, I: v} }

const f32, i64, boolean = dtype.Float32, dtype.Int64, dtype.Bool

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
		{"full", nil, []Value{list(2, 0), number(1), {Kind: DType, I: int64(i64)}}, i64, []int64{2, 0}},
	} {
		row := MustByName(test.op)
		at := make(Attrs, len(row.Attrs))
		copy(at, test.at)
		require.NoError(t, row.Fill(at), test.op)
		var r Result
		require.NoError(t, row.Infer(test.args, at, &r), test.op)
		want, err := shape.Of(test.shape...)
		require.NoError(t, err)
		require.Equal(t, want, r.Shape, test.op)
		require.Equal(t, test.out, r.Out, test.op)
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
		{"add", []Arg{tensor(f32, 2), tensor(i64, 2)}, nil, status.Type, "[add] got a float32 and a int64 tensor"},
		{"add", []Arg{tensor(f32, 2), tensor(f32, 3)}, nil, status.Invalid, "[add] shapes [2] and [3] do not broadcast"},
		{"clip", []Arg{tensor(f32, 2), tensor(f32, 3, 2), {Absent: true}}, nil, status.Invalid, "the bounds make shape [3, 2] of [2]"},
		{"subtract", []Arg{tensor(boolean, 2), tensor(boolean, 2)}, nil, status.Unsupported, "[subtract] has no kernel for bool"},
		{"where", []Arg{tensor(i64, 2), tensor(f32, 2), tensor(f32, 2)}, nil, status.Invalid, "condition is int64; want bool"},
		{"sum", []Arg{tensor(f32, 2)}, []Value{list(1)}, status.Invalid, "axis 1 is out of range"},
		{"sum", []Arg{tensor(f32, 2, 2)}, []Value{list(0, -2)}, status.Invalid, "twice"},
		{"sum", []Arg{tensor(f32, 2)}, []Value{{Kind: Float, F: 1}}, status.Type, "attribute axis is a float; want list of int"},
		{"max", []Arg{tensor(f32, 0, 2)}, nil, status.Invalid, "no element along axis 0"},
		{"argmax", []Arg{tensor(f32, 2)}, []Value{{}, {}, {Kind: DType, I: int64(f32)}}, status.Invalid, "want int32 or int64"},
		{"matmul", []Arg{tensor(f32, 2, 3), tensor(f32, 2, 3)}, nil, status.Invalid, "x has 3 columns and y has 2 rows"},
		{"matmul", []Arg{tensor(f32), tensor(f32, 2)}, nil, status.Invalid, "at least one dimension"},
		{"concat", []Arg{tensor(f32, 2), tensor(i64, 2)}, nil, status.Invalid, "tensor 0 is float32 and tensor 1 is int64"},
		{"concat", []Arg{tensor(f32), tensor(f32)}, nil, status.Invalid, "no dimensions"},
		{"stack", []Arg{tensor(f32, 2), tensor(f32, 3)}, nil, status.Invalid, "want one shape"},
		{"gather", []Arg{tensor(f32, 2), tensor(f32, 2)}, nil, status.Invalid, "index is float32"},
		{"full", nil, []Value{list(-1), number(1), {Kind: DType, I: int64(i64)}}, status.Invalid, "no negative dimension"},
		{"full", nil, []Value{{}, number(1)}, status.Invalid, "attribute shape is missing"},
		{"cast", []Arg{tensor(f32, 2)}, []Value{{Kind: DType, I: 99}}, status.Type, "attribute dtype"},
	} {
		row := MustByName(test.op)
		at := make(Attrs, len(row.Attrs))
		copy(at, test.at)
		err := row.Fill(at)
		if err == nil {
			err = row.Infer(test.args, at, new(Result))
		}
		require.Equal(t, test.code, status.CodeOf(err), "%s: %v", test.op, err)
		require.ErrorContains(t, err, test.says)
	}
}

func view(t *testing.T, name string, in *shape.Layout, at ...Value) ([]Part, error) {
	row := MustByName(name)
	full := make(Attrs, len(row.Attrs))
	copy(full, at)
	require.NoError(t, row.Fill(full))
	var parts []Part
	err := row.View(row, in, full, &parts)
	return parts, err
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
