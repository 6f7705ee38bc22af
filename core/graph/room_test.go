package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// A graph may hold sequences, optionals and element types that no tensor has yet. Rows that do not ask for them refuse
// them, and so does the planner, because no device has memory for them.
func TestValuesThatAreNoTensors(t *testing.T) {
	for says, c := range map[string]struct {
		give op.Type
		text string
	}{
		"value 1 is a sequence; a device has only tensors": {
			op.Type{Form: op.SequenceForm, DType: dtype.Float32, Shape: known(dtype.Float32).Shape},
			"input %1 float32[2, 3] (a sequence)\n",
		},
		"value 1 is an optional tensor; a device has only tensors": {
			op.Type{Form: op.OptionalForm, DType: dtype.Float32, Shape: known(dtype.Float32).Shape},
			"input %1 float32[2, 3] (an optional tensor)\n",
		},
		"value 1 is of uint16; there are no tensors of it yet": {known(dtype.Uint16), "input %1 uint16[2, 3]\n"},
		"value 1 is of int4; there are no tensors of it yet":   {known(dtype.Int4), "input %1 int4[2, 3]\n"},
		"value 1 is of string; there are no tensors of it yet": {known(dtype.String), "input %1 string[2, 3]\n"},
	} {
		b := NewBuilder()
		x, y := b.Input(known(dtype.Float32)), b.Input(c.give)
		_, err := b.Call(op.ByID(op.IDAdd), []Value{x, y}, nil)
		require.Error(t, err, says)
		g := b.Build(x, y)
		require.Contains(t, g.String(), c.text)
		_, err = g.Plan()
		require.Equal(t, status.Unsupported, status.CodeOf(err))
		require.ErrorContains(t, err, says)

		r, err := g.Resolve([]op.Type{known(dtype.Float32), c.give})
		require.NoError(t, err)
		require.Equal(t, g.Outputs(), r.Outputs())
		_, err = g.Resolve([]op.Type{known(dtype.Float32), known(dtype.Float32)})
		require.Equal(t, status.Invalid, status.CodeOf(err))
	}

	row := &op.Row{Name: "count", In: []op.Input{{Name: "x", Form: op.SequenceForm}}, Accepts: dtype.All, Infer: []op.Rule{func(c *op.Inference) error {
		c.Out[0] = typed(dtype.Int64)
		return nil
	}}}
	b := NewBuilder()
	made, err := b.Call(row, []Value{b.Input(op.Type{Form: op.SequenceForm, DType: dtype.Float32})}, nil)
	require.NoError(t, err)
	require.Equal(t, typed(dtype.Int64), b.TypeOf(made[0]))
	_, err = b.Call(row, []Value{b.Input(known(dtype.Float32))}, nil)
	require.ErrorContains(t, err, "[count] operand x is a tensor; want a sequence")

	b = NewBuilder()
	_, err = b.Build(b.Scalar(integer(1))).Plan()
	require.ErrorContains(t, err, "output 0 is a scalar; want a tensor")
}

// divided is a row with an optional operand and an optional second result.
var divided = &op.Row{
	ID: op.IDSoftmax, Name: "divided", Kind: op.Scan, Accepts: dtype.Floats,
	In:  []op.Input{{Name: "x"}, {Name: "scale", Optional: true, Scalar: true}},
	Out: []op.Output{{Name: "quotient"}, {Name: "rest", Optional: true}},
	Infer: []op.Rule{func(c *op.Inference) error {
		c.Out = append(c.Out[:0], c.In[0].Type, c.In[0].Type)
		c.Cast[0], c.Cast[1] = c.In[0].DType, c.In[0].DType
		return nil
	}},
}

// An optional operand that is not given and an optional result that nothing reads keep their places in the lists of
// a step, without memory; everything else has some.
func TestOptionalOperandsAndResults(t *testing.T) {
	for _, reads := range []bool{false, true} {
		b := NewBuilder()
		x := b.Input(known(dtype.Float32))
		made, err := b.Call(divided, []Value{x, b.Scalar(op.Value{})}, nil)
		require.NoError(t, err)
		out := []Value{b.must(t, "exp", nil, made[0])}
		if reads {
			out = append(out, b.must(t, "transpose", op.Attrs{ints(1, 0)}, made[1]))
		}
		p, err := b.Build(out...).Plan()
		require.NoError(t, err)
		s := &p.Steps[0]
		require.Len(t, s.Call.In, 2)
		require.True(t, s.Call.In[1].Absent())
		require.Nil(t, s.Call.In[1].Addr)
		require.Equal(t, device.Own, s.In[1].Space)
		require.False(t, s.Call.In[0].Absent())
		require.Len(t, s.Call.Out, 2)
		require.Equal(t, !reads, s.Call.Out[1].Absent())
		require.Equal(t, !reads, s.Out[1].Space == device.Own)
		require.Equal(t, device.Output, s.Out[0].Space, "the output that is written over it")
		require.EqualValues(t, map[bool]int64{false: 0, true: granule}[reads], p.Arena, "nothing is kept for what is not made")
	}
}

// Buffers without elements take no room and leave no holes that could part others.
func TestHolesOfNothing(t *testing.T) {
	var h holes
	a, b := h.take(512), h.take(256)
	nothing := h.take(0)
	h.give(a, 512)
	h.give(nothing, 0)
	h.give(b, 256)
	require.Equal(t, []hole{{0, 768}}, h.list)
	require.EqualValues(t, 0, h.take(768))
}
