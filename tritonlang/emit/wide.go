// float64 where it is exact: a kernel that only widens to float64 what it stores.
//
// Python's numbers are float64 in NumPy, so that an array of results often is, though a kernel computes in float32 and
// widens at the end. Such values are kept as float32 and widened to the 64 bits of memory when they are stored: no bit is
// lost. Any arithmetic on float64 is another matter, and refused.

package emit

import (
	"math"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// exactly are operations that give a value which float32 holds, if it holds those of their operands: conversions, and what
// moves, compares or chooses values.
var exactly = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range []string{
		"arith.extf", "arith.truncf", "arith.cmpf", "arith.select", "arith.negf", "math.absf",
		"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.addptr", "tt.store",
	} {
		all[name] = true
	}
	return all
}()

// holdsFloat64 reports whether a function has float64, and whether float32 holds all that it computes of it.
func holdsFloat64(f *ttir.Func) (has, exact bool) {
	exact = true
	for _, v := range f.Params() {
		if isFloat64(v.Type) {
			has, exact = true, exact && v.Type.IsPointer()
		}
	}
	f.Body.Walk(func(o *ttir.Op) {
		for _, v := range append(append([]*ttir.Value{}, o.Operands...), o.Results...) {
			if isFloat64(v.Type) {
				has, exact = true, exact && isExact(o)
			}
		}
	})
	return has, exact
}

// isFloat64 reports whether a type is of float64, or of pointers to it.
func isFloat64(t *ttir.Type) bool {
	name, ok := supported(t)
	return !ok && name == "f64"
}

// isExact reports whether an operation keeps to what float32 holds.
func isExact(o *ttir.Op) bool {
	switch o.Name {
	case "arith.constant":
		all, _ := ttir.Literal(o)
		for _, n := range all {
			x := n.Float
			if n.IsBit {
				x = math.Float64frombits(n.Bits)
			}
			// A NaN is one with other bits, too.
			if x == x && float64(float32(x)) != x {
				return false
			}
		}
		return true
	case "arith.sitofp", "arith.uitofp":
		// float32 has 24 bits.
		return o.Operands[0].Type.Element().Bits <= 16
	}
	return exactly[o.Name]
}
