package op

import "slices"

// Description is what is said of a row for readers and for tests. The library does without: it stands in functions that only
// the generator and tests call, so that the linker leaves it out.
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
func (d *Description) AttrDoc(row *Row, i int) string {
	if row.IsComposite() {
		return d.Attrs[i]
	}
	return row.Attrs[i].Doc
}

// Descriptions are those of all rows, by name. They are in the files describe_*.go, one for each file of rows.
func Descriptions() map[string]*Description {
	all := slices.Concat(describedArray(), describedAttention(), describedCompositesActivation(), describedCompositesLoss(), describedCompositesNorm(), describedCompositesMath(), describedCompositesImage(), describedElementwise(), describedNormalize(), describedRecurrent(), describedWindow(), describedSpecial())
	byName := map[string]*Description{}
	for i := range all {
		if byName[all[i].Name] != nil {
			panic("op: " + all[i].Name + " has two descriptions")
		}
		byName[all[i].Name] = &all[i]
	}
	return byName
}
