package op_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/describe"
)

// Each setting that the conformance suite is given fits the attributes of its row and leaves none out.
func TestSettingsFitTheAttributes(t *testing.T) {
	for i := range op.Table {
		row := &op.Table[i]
		settings := described[row.Name].Settings
		if len(settings) == 0 {
			settings = []describe.Setting{{}}
		}
		for _, s := range settings {
			require.NoError(t, fits(row, s))
		}
		require.Equal(t, described[row.Name].NumPy == "", described[row.Name].Elsewhere != "", "%s: an oracle in NumPy or the test that does without", row.Name)
	}
}

func TestSettingsThatDoNotFit(t *testing.T) {
	row := op.MustByName("softplus")
	require.NoError(t, fits(row, describe.Setting{{"beta", 2.0}}))
	require.ErrorContains(t, fits(row, describe.Setting{{"gamma", 2.0}}), "gamma")
	require.ErrorContains(t, fits(row, describe.Setting{{"beta", []int{1}}}), "attribute beta")
	require.ErrorContains(t, fits(op.MustByName("tile"), describe.Setting{}), "attribute repeat_times is missing")
}

// fits is an error if a setting is not one of the row's.
func fits(row *op.Row, s describe.Setting) error {
	left, at := s.Map(), make(op.Attrs, len(row.Attrs))
	for i := range row.Attrs {
		v, err := given(left[row.Attrs[i].Name], row.Attrs[i].Type)
		if err != nil {
			return err
		}
		at[i] = v
		delete(left, row.Attrs[i].Name)
		if row.Attrs[i].Type == op.DTypeAttr && row.Kind == op.Create || described[row.Name].Elsewhere != "" {
			at[i] = op.Value{Kind: op.DType, I: int64(dtype.Float32)} // of the suite's choice
		}
	}
	delete(left, describe.OperandShapes)
	for name := range left {
		return fmt.Errorf("[%s] has no attribute %s", row.Name, name)
	}
	if described[row.Name].Elsewhere != "" {
		return nil
	}
	return row.Fill(at)
}

// given is a setting's value as an attribute. Text is a dtype where one is wanted.
func given(v any, kind op.AttrType) (op.Value, error) {
	switch v := v.(type) {
	case nil:
		return op.Value{}, nil
	case bool:
		return op.Value{Kind: op.Bool, I: map[bool]int64{true: 1}[v]}, nil
	case int:
		return op.Value{Kind: op.Int, I: int64(v)}, nil
	case float64:
		return op.Value{Kind: op.Float, F: v}, nil
	case []int:
		list := op.Value{Kind: op.Ints}
		for _, n := range v {
			list.Ints = append(list.Ints, int64(n))
		}
		return list, nil
	case string:
		if kind == op.StringAttr {
			return op.Value{Kind: op.String, Ref: v}, nil
		}
		d, err := dtype.Parse(v)
		return op.Value{Kind: op.DType, I: int64(d)}, err
	}
	return op.Value{}, fmt.Errorf("%T is no value of a setting", v)
}

// A kernel that is missing is an error unless the row says so, and so is a row that says so without need.
func TestCheckKernels(t *testing.T) {
	row := op.Row{Name: "try", Kind: op.Scan, Accepts: dtype.Floats}
	without := dtype.Floats &^ dtype.SetOf(dtype.Float64)
	require.NoError(t, row.CheckKernels("host", dtype.All, dtype.Floats))
	require.NoError(t, row.CheckKernels("metal", without, without))
	require.ErrorContains(t, row.CheckKernels("host", dtype.All, without), "[try] host has no kernel for [float64]")
	row.Lacks = []op.Lack{{"metal", dtype.SetOf(dtype.BFloat16), "its compiler crashes"}}
	require.NoError(t, row.CheckKernels("metal", without, dtype.SetOf(dtype.Float16, dtype.Float32)))
	require.ErrorContains(t, row.CheckKernels("host", without, dtype.SetOf(dtype.Float16, dtype.Float32)), "no kernel for [bfloat16]")
	require.ErrorContains(t, row.CheckKernels("metal", without, without), "which the row says it lacks")
	row.Lower = func(op.Emitter, *op.Step) error { return nil }
	require.NoError(t, row.CheckKernels("metal", without, 0))
	row.Own = true
	require.ErrorContains(t, row.CheckKernels("host", without, 0), "no kernel for [float16 bfloat16 float32]")
}

// How many terms an element of a result has.
func TestTerms(t *testing.T) {
	x := tensor(dtype.Float32, 4, 5, 6).Shape
	require.EqualValues(t, 24, op.MustByName("sum").Terms(0b101, &x))
	require.EqualValues(t, 5, op.MustByName("softmax").Terms(0b010, &x))
	require.EqualValues(t, 6, op.MustByName("matmul").Terms(0, &x))
	require.EqualValues(t, 1, op.MustByName("add").Terms(0b111, &x))
	require.Equal(t, "position", op.LastDomain.String())
}
