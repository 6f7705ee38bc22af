package formula

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

func init() { op.Define(slices.Concat(rows.All, All)) } // as package table does, which imports this one

// allFormulas are the formulas of all files composites_*.go.
var allFormulas = [][]composite{activationFormulas, lossFormulas, normFormulas, mathFormulas, productFormulas, indexFormulas, imageFormulas, stepFormulas, attentionFormulas, detectionFormulas}

// texts is a calculator that writes calls down.
type texts struct {
	values []string
	types  []op.Type
}

func (t *texts) add(text string) op.Var {
	t.values = append(t.values, text)
	return op.Var(len(t.values) - 1)
}

func (t *texts) Call(row *op.Row, in []op.Var, at op.Attrs) ([]op.Var, error) {
	text := row.Name + "("
	for i, v := range in {
		if i > 0 {
			text += ", "
		}
		text += t.values[v]
	}
	for i := range at {
		if v := &at[i]; v.Set() && v.String() != row.Attrs[i].Default.String() {
			text += ", " + row.Attrs[i].Name + "=" + v.String()
		}
	}
	return []op.Var{t.add(text + ")"), t.add(text + ")[1]")}, nil
}

func (t *texts) Number(v op.Value) op.Var     { return t.add(v.String()) }
func (t *texts) IsNumber(v op.Var) bool       { return t.values[v][0] < 'a' }
func (t *texts) Absent(v op.Var) bool         { return t.values[v] == "none" }
func (t *texts) TypeOf(v op.Var) (ty op.Type) { return t.types[min(int(v), len(t.types)-1)] }

// ofFloats is the type of a tensor of float32.
func ofFloats(dims ...int64) op.Type {
	s, err := shape.Of(dims...)
	if err != nil {
		panic(err)
	}
	return op.Type{DType: dtype.Float32, Shape: s}
}

// written is the calls of a formula of x, y and z, which is left out.
func written(text string, at ...op.Value) string {
	f := readSignature(text)
	t := texts{values: []string{"x", "y", "none"}, types: []op.Type{ofFloats(2, 3), ofFloats(3)}}
	c := op.Calls{Calculator: &t}
	in := []op.Var{0, 1, 2}[:len(f.in)]
	out := f.calls(&c, in, at)
	if c.Err != nil {
		return c.Err.Error()
	}
	var list []string
	for _, v := range out {
		list = append(list, t.values[v])
	}
	return strings.Join(list, "; ")
}

func TestFormulas(t *testing.T) {
	half, one, yes := op.Value{Kind: op.Float, F: 0.5}, op.Value{Kind: op.Int, I: 1}, op.Value{Kind: op.Bool, I: 1}
	for _, test := range []struct {
		text string
		at   []op.Value
		want string
	}{
		{"f(x) = x", nil, "x"},
		{"f(x, y) = x + y * x", nil, "add(x, multiply(y, x))"},
		{"f(x, y) = (x + y) * x", nil, "multiply(add(x, y), x)"},
		{"f(x, y) = x - y - x", nil, "subtract(subtract(x, y), x)"},
		{"f(x) = -x ** 2", nil, "neg(pow(x, 2))"},
		{"f(x) = 2 ** -1 * x", nil, "multiply(0.5, x)"},
		{"f(x) = x * 1e-5 / 1.5e3", nil, "divide(multiply(x, 1e-05), 1500)"},
		{"f(x, y) = x < y & !(y >= x) | x != 1", nil, "logical_or(logical_and(less_than(x, y), logical_not(greater_equal(y, x))), not_equal(x, 1))"},
		{"f(x, a=1.0) = x * -a", []op.Value{half}, "multiply(x, -0.5)"},
		{"f(x, a=1.0) = x * (2 * a + 1) ** 2", []op.Value{half}, "multiply(x, 4)"},
		{"f(x, a=true) = a ? x : x + 1", []op.Value{yes}, "x"},
		{"f(x, a=1) =\n\ta == 1 ?\n\t-x :\n\tx", []op.Value{one}, "neg(x)"},
		{"f(x, a=\"sum\") = a != \"sum\" | 1 > 2 ? -x : x", []op.Value{{Kind: op.String, Ref: "sum"}}, "x"},
		{"f(x, y, z?) = given(z) ? z : given(y) ? y : x", nil, "y"},
		{"f(x, a=ints) = sum(x, axis=a, keepdim=true)", []op.Value{{Kind: op.Ints, Ints: []int64{0}}}, "sum(x, axis=[0], keepdim=true)"},
		{"f(x, a=1) = sum(x, [a, -1])", []op.Value{one}, "sum(x, axis=[1 -1])"},
		{"f(x, y) = concat([x, y], 1)", nil, "concat(x, y, axis=1)"},
		{"f(x) = split(x, [2], -1)[1]", nil, "split(x, sections=[2], axis=-1)[1]"},
		{"f(x) =\n\tparts = split(x, [2], -1)\n\tparts[1] + parts", nil, "add(split(x, sections=[2], axis=-1)[1], split(x, sections=[2], axis=-1))"},
		{"f(x) = clip(x, none, 0)", nil, "clip(x, none, 0)"},
		{"f(x) = clip(x, 1)", nil, "clip(x, 1, none)"},
		{"f(x) =\n\ta = b * x\n\tb = x + 1\n\tunused = 1 / x\n\ta - a", nil, "subtract(multiply(add(x, 1), x), multiply(add(x, 1), x))"},
		{"f(x) = x * single(0.1)", nil, "multiply(x, 0.10000000149011612)"},
		{"f(x) = x * size(x, -1) * rank(x) * numel(x)", nil, "multiply(multiply(multiply(x, 3), 2), 6)"},
		{"f(x, y) -> a, b = [x + y, y]", nil, "add(x, y); y"},
		{"f(x, y) -> a, b =\n\tz = x * 2\n\t[z, z - y]", nil, "multiply(x, 2); subtract(multiply(x, 2), y)"},
		{"f(x, a=float) = given(a) ? x * a : x", []op.Value{{}}, "x"},
		{"f(x, a=float) = given(a) ? x * a : x", []op.Value{half}, "multiply(x, 0.5)"},
		{"f(x) = x // 2 * (7 // 2)", nil, "multiply(floor_divide(x, 2), 3)"},
		{"f(x, y) = reshape(x, sizes(x, 0, -1) + sizes(y, 0, none))", nil, "reshape(x, shape=[2 3])"},
		{"f(x, y) = reshape(x, aligned(y, x) * sizes(x, 0, none))", nil, "reshape(x, shape=[2 9])"},
		{"f(x) = reshape(x, zipped(sizes(x, 0, none), 1))", nil, "reshape(x, shape=[2 1 3 1])"},
		{"f(x) = sum(x, others(x, -1))", nil, "sum(x, axis=[0])"},
		{"f(x) = part(x, -1, 1, none)", nil, "slice(x, axes=[-1], starts=[1], ends=[9223372036854775807], steps=[1])"},
		{"f(x) = x * largest(x)", nil, "multiply(x, 3.4028234663852886e+38)"},
		{"f(x) = diagonal_of(x, 0, 0, 0)", nil, "[f] the axes are both 0; want two different ones"},
		{"f(x) = diagonal_of(x, 0, 0, 2)", nil, "[f] an operand has 2 axes; want one at 2"},
		{"f(x) = scan(y, x, i, 2, z=y + 1, z * i)", nil, "stack(x, multiply(add(x, 1), 0), multiply(add(multiply(add(x, 1), 0), 1), 1))"},
		{"f(x) = row(x, 40)", nil, "slice(slice(x, axes=[0], starts=[32], ends=[64], steps=[1]), axes=[0], starts=[8], ends=[9], steps=[1])"},
		{"f(x) = x * size(x, 2)", nil, "[f] an operand has 2 axes; want one at 2"},
		{"f(x, y) =\n\tsame_shape(x, y)\n\tx", nil, "[f] shapes are [2, 3], [3]; want one shape"},
		{"f(x, a=\"mean\") = reduced(x, a)", []op.Value{{Kind: op.String, Ref: "most"}}, "[f] reduction is 'most'; want one of 'mean', 'sum', 'none'"},
	} {
		require.Equal(t, test.want, written(test.text, test.at...), test.text)
	}
}

// What is wrong with a text is a panic; TestFormulasCallRows reads all of the table.
func TestWrongFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"f x = x":           "a formula has x where ( is wanted",
		"f(x = x":           "a formula has  where , is wanted",
		"f(x) x":            "a formula has x where = is wanted",
		"f(x) = (x":         "a formula has  where ) is wanted",
		"f(x) = x x":        "a formula has x where \n is wanted",
		"f(x) = +":          "a formula has + where a name is wanted",
		"f(x) = x ? 1":      "a formula has  where : is wanted",
		"f(x) = y":          "the formula of f has no y",
		"f(x) = nothing(x)": "the formula of f calls nothing, which is no row",
	} {
		require.PanicsWithValue(t, "op: "+want, func() {
			defer func() {
				if r := recover(); r != nil {
					panic(r.(string)[:min(len(r.(string)), len("op: "+want))])
				}
			}()
			written(text)
		}, text)
	}
}

// Names that formulas use are made of rows, functions and what stands in the formula: each line of each row is looked at, also
// those that no attribute of a test chooses.
func TestFormulasCallRows(t *testing.T) {
	looked := map[string]bool{}
	for _, list := range allFormulas {
		for i := range list {
			f := readSignature(list[i].formula)
			looked[f.name] = true
			looksUp(t, f)
			if list[i].gradient != "" {
				looksUp(t, f.slope(list[i].gradient))
			}
		}
	}
	for i := range op.Table {
		require.Equal(t, op.Table[i].IsComposite(), looked[op.Table[i].Name], op.Table[i].Name)
	}
}

// looksUp fails for a name in a formula that is nothing.
func looksUp(t *testing.T, f *formula) {
	names := map[string]bool{"pi": true, "inf": true, "nan": true}
	for _, in := range f.in {
		names[in.Name] = true
	}
	for j := range f.attrs {
		names[f.attrs[j].Name] = true
	}
	for _, l := range f.lines() {
		names[l.name] = true
	}
	var look func(e *expression)
	look = func(e *expression) {
		switch e.kind {
		case isName:
			require.True(t, names[e.text], "%s: %s", f.name, e.text)
		case isCall:
			if e.text == "scan" {
				names[e.args[0].text], names[e.args[2].text] = true, true
				for _, key := range e.keys {
					names[key] = true
				}
				break
			}
			called, _ := op.ByName(e.text)
			require.True(t, called != nil || functionNamed(e.text) != nil, "%s calls %s", f.name, e.text)
			for k, key := range e.keys {
				require.True(t, key == "" || called.AttrIndex(key) >= 0, "%s: %s has no attribute %s", f.name, e.text, e.keys[k])
			}
		}
		for _, arg := range e.args {
			look(arg)
		}
	}
	for _, l := range f.lines() {
		look(l.value)
	}
	require.Empty(t, f.lines()[len(f.lines())-1].name, "%s: the last line is the result", f.name)
}

// Functions are found by their order.
func TestFunctionsStandInOrder(t *testing.T) {
	require.True(t, slices.IsSortedFunc(formulaFunctions, func(a, b struct {
		name string
		call func(e *evaluation, args []*quantity) *quantity
	},
	) int {
		return strings.Compare(a.name, b.name)
	}))
	for _, f := range formulaFunctions {
		require.NotNil(t, functionNamed(f.name), f.name)
	}
	require.Nil(t, functionNamed("nothing"))
	require.Nil(t, functionNamed("zzz"))
}
