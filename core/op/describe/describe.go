// Package describe says what each operator is: a line for readers, the reference in NumPy, and the attributes that the conformance
// suite tries.
//
// Only the generator and tests import it, so that the library has none of it. Each file describes the rows of the file with its name
// in core/op/rows, or those of core/op/formula/composites_*.go. What a row must compute, and how exactly, is said by the row.
package describe

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Description is what is said of a row for readers and for tests.
type Description struct {
	Name      string
	Doc       string    // one line: what the operator computes, with the formula
	Attrs     []string  // what each attribute of a composite is, in their order; rows of kernels say it themselves
	NumPy     string    // the same in NumPy; see python/paddle_mps/selftest/oracle.py
	Scale     string    // in NumPy: what roundings are relative to, where that is not the result for the operands' magnitudes
	Settings  []Setting // that the conformance suite tries; empty: the defaults alone
	Elsewhere string    // the test that covers the row, where the conformance suite cannot
}

// AttrDoc says what attribute i of a row is.
func (d *Description) AttrDoc(row *op.Row, i int) string {
	if row.IsComposite() {
		return d.Attrs[i]
	}
	return row.Attrs[i].Doc
}

// All are those of all rows, by name. Each row of op.Table has one.
func All() map[string]*Description {
	all := slices.Concat(describedArray(), describedAttention(), describedCompositesActivation(), describedCompositesLoss(), describedCompositesNorm(), describedCompositesMath(), describedCompositesProduct(), describedCompositesIndex(), describedCompositesImage(), describedCompositesStep(), describedCompositesAttention(), describedCompositesDetection(), describedElementwise(), describedNormalize(), describedRecurrent(), describedWindow(), describedSpecial())
	byName := map[string]*Description{}
	for i := range all {
		if byName[all[i].Name] != nil {
			panic("describe: " + all[i].Name + " has two descriptions")
		}
		byName[all[i].Name] = &all[i]
	}
	return byName
}

// Setting is a choice of attributes that the conformance suite tries, by name: nil, bool, int, float64, []int or,
// for a dtype, its name. An attribute that is not named has its default. The suite chooses the dtype of
// operators that create.
//
// Rows of kinds Window and Normalize say the shapes of their operands too, [][]int under [OperandShapes].
//
// It is a list and no map, because the compiler lays a list out in the library's data, and makes a map by code that runs
// whenever the library is loaded.
type Setting []struct {
	Name  string
	Value any
}

// Map is the setting by names.
func (s Setting) Map() map[string]any {
	m := map[string]any{}
	for _, named := range s {
		m[named.Name] = named.Value
	}
	return m
}

// OperandShapes is where a setting has the shapes of operands that depend on each other.
const OperandShapes = "operands"

// The settings of a row are those in which something else happens: each attribute by itself, an axis counted from either
// end, and what the lowering or the frame distinguishes. The suite multiplies them by dtypes, layouts and sizes.

// Settings that several rows share.
var (
	someAxes = []Setting{
		{{"axis", nil}, {"keepdim", false}},
		{{"axis", []int{0}}, {"keepdim", false}},
		{{"axis", []int{-1}}, {"keepdim", true}},
		{{"axis", []int{1, 0}}, {"keepdim", true}},
	}
	someAxis     = []Setting{{{"axis", nil}, {"keepdim", false}}, {{"axis", 0}, {"keepdim", true}}, {{"axis", -1}, {"keepdim", false}}}
	firstAndLast = []Setting{{{"axis", 0}}, {{"axis", -1}}}
)

func everyDTypeOf(set dtype.Set) (all []Setting) {
	for _, d := range set.Members() {
		all = append(all, Setting{{"dtype", d.String()}})
	}
	return all
}
