package op

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// Each setting that the conformance suite is given fits the attributes of its row and leaves none out.
func TestSettingsFitTheAttributes(t *testing.T) {
	for i := range Table {
		row := &Table[i]
		settings := described[row.Name].Settings
		if len(settings) == 0 {
			settings = []Setting{{}}
		}
		for _, s := range settings {
			require.NoError(t, row.fits(s))
		}
		require.Equal(t, described[row.Name].NumPy == "", described[row.Name].Elsewhere != "", "%s: an oracle in NumPy or the test that does without", row.Name)
	}
}

func TestSettingsThatDoNotFit(t *testing.T) {
	row := MustByName("softplus")
	require.NoError(t, row.fits(Setting{{"beta", 2.0}}))
	require.ErrorContains(t, row.fits(Setting{{"gamma", 2.0}}), "gamma")
	require.ErrorContains(t, row.fits(Setting{{"beta", []int{1}}}), "attribute beta")
	require.ErrorContains(t, MustByName("tile").fits(Setting{}), "attribute repeat_times is missing")
}

// fits is an error if a setting is not one of the row's.
func (row *Row) fits(s Setting) error {
	left, at := s.Map(), make(Attrs, len(row.Attrs))
	for i := range row.Attrs {
		v, err := given(left[row.Attrs[i].Name], row.Attrs[i].Type)
		if err != nil {
			return err
		}
		at[i] = v
		delete(left, row.Attrs[i].Name)
		if row.Attrs[i].Type == DTypeAttr && row.Kind == Create || described[row.Name].Elsewhere != "" {
			at[i] = Value{Kind: DType, I: int64(dtype.Float32)} // of the suite's choice
		}
	}
	delete(left, OperandShapes)
	for name := range left {
		return fmt.Errorf("[%s] has no attribute %s", row.Name, name)
	}
	if described[row.Name].Elsewhere != "" {
		return nil
	}
	return row.Fill(at)
}

// given is a setting's value as an attribute. Text is a dtype where one is wanted.
func given(v any, kind AttrType) (Value, error) {
	switch v := v.(type) {
	case nil:
		return Value{}, nil
	case bool:
		return Value{Kind: Bool, I: map[bool]int64{true: 1}[v]}, nil
	case int:
		return Value{Kind: Int, I: int64(v)}, nil
	case float64:
		return Value{Kind: Float, F: v}, nil
	case []int:
		list := Value{Kind: Ints}
		for _, n := range v {
			list.Ints = append(list.Ints, int64(n))
		}
		return list, nil
	case string:
		if kind == StringAttr {
			return Value{Kind: String, Ref: v}, nil
		}
		d, err := dtype.Parse(v)
		return Value{Kind: DType, I: int64(d)}, err
	}
	return Value{}, fmt.Errorf("%T is no value of a setting", v)
}

// A tolerance adds the roundings of its terms to the units of the result.
func TestTolerance(t *testing.T) {
	said := Tolerance{Float32: 2, Float64: 4, Half: 1, Metal: 10, Roundings: Roundings{Once: 1, Level: 2, Term: 3, Metal: 5}}
	require.Equal(t, []float64{2, 10, 4, 1, 1}, []float64{
		said.ULPs(f32, false), said.ULPs(f32, true), said.ULPs(dtype.Float64, false), said.ULPs(dtype.Float16, true), said.ULPs(dtype.BFloat16, false),
	})
	require.InDelta(t, 1+2*3+3*8, said.Roundings.Count(8, false), 0)
	require.InDelta(t, 5+2*3+3*8, said.Roundings.Count(8, true), 0)
	require.InDelta(t, 1, Roundings{Once: 1, Level: 9}.Count(0, false), 0)
	x := tensor(f32, 4, 5, 6).Shape
	require.EqualValues(t, 24, MustByName("sum").Terms(0b101, &x))
	require.EqualValues(t, 5, MustByName("softmax").Terms(0b010, &x))
	require.EqualValues(t, 6, MustByName("matmul").Terms(0, &x))
	require.EqualValues(t, 1, MustByName("add").Terms(0b111, &x))
	require.Equal(t, "position", lastDomain.String())
}

// A kernel that is missing is an error unless the row says so, and so is a row that says so without need.
func TestCheckKernels(t *testing.T) {
	row := Row{Name: "try", Kind: Scan, Accepts: dtype.Floats}
	without := dtype.Floats &^ dtype.SetOf(dtype.Float64)
	require.NoError(t, row.CheckKernels("host", dtype.All, dtype.Floats))
	require.NoError(t, row.CheckKernels("metal", without, without))
	require.ErrorContains(t, row.CheckKernels("host", dtype.All, without), "[try] host has no kernel for [float64]")
	row.Lacks = []Lack{{"metal", dtype.SetOf(dtype.BFloat16), "its compiler crashes"}}
	require.NoError(t, row.CheckKernels("metal", without, dtype.SetOf(dtype.Float16, dtype.Float32)))
	require.ErrorContains(t, row.CheckKernels("host", without, dtype.SetOf(dtype.Float16, dtype.Float32)), "no kernel for [bfloat16]")
	require.ErrorContains(t, row.CheckKernels("metal", without, without), "which the row says it lacks")
	row.Lower = func(Emitter, *Step) error { return nil }
	require.NoError(t, row.CheckKernels("metal", without, 0))
	row.Own = true
	require.ErrorContains(t, row.CheckKernels("host", without, 0), "no kernel for [float16 bfloat16 float32]")
}
