// The order of the steps. Calls come first, since descriptors may be made in one function and used in another; descriptors
// come before folding, which makes their masks small.

package clean

import (
	"slices"
	"strconv"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Raw is the attribute of a module that no pass has run on. Its value is the version of Triton.
const Raw = "paddle_mps.raw"

// Needed reports whether no pass has run on a module.
func Needed(m *ttir.Module) bool {
	return slices.ContainsFunc(m.Attrs, func(a ttir.Attr) bool { return a.Name == Raw })
}

// Run cleans a module that the verifier has passed. The error is *ttir.Unsupported.
func Run(m *ttir.Module) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *ttir.Unsupported:
			err = x
		default:
			panic(x)
		}
	}()
	// Functions that nothing calls any more go: what is left is the kernel, and what stays a call.
	in := &inliner{module: m, done: map[*ttir.Func]bool{}}
	for _, f := range m.Funcs {
		if f.Visibility == "public" {
			in.function(f, nil)
		}
	}
	m.Funcs = slices.DeleteFunc(m.Funcs, func(f *ttir.Func) bool { return !in.done[f] || f.Visibility != "public" && !in.called[f] })
	for _, f := range m.Funcs {
		flags := roundingFlags(m)
		lowerDescriptors(f, flags)
		simplify(f)
		relabel(f.Body)
		name(f)
	}
	m.Attrs = slices.DeleteFunc(m.Attrs, func(a ttir.Attr) bool { return a.Name == Raw })
	return nil
}

// roundingFlags is how many flags a host descriptor passes behind its strides: padding, and since 3.7 rounding to tf32.
func roundingFlags(m *ttir.Module) int {
	for _, a := range m.Attrs {
		if a.Name == Raw && len(a.Value.Word) >= 3 && a.Value.Word[:3] == "3.6" {
			return 1
		}
	}
	return 2
}

// refuse leaves by a panic, which Run returns.
func refuse(o *ttir.Op, why string) {
	panic(&ttir.Unsupported{Op: o.Name, Where: o.Where(), Why: why})
}

// relabel gives the blocks of a region new labels, since copies have those of their originals.
func relabel(r *ttir.Region) {
	// MLIR prints no label in front of a first block whose arguments stand elsewhere.
	for i, b := range r.Blocks {
		b.Label = ""
		if i > 0 || len(b.Args) > 0 && labelled(r) {
			b.Label = "^bb" + strconv.Itoa(i)
		}
		for _, o := range b.Ops {
			for _, inner := range o.Regions {
				relabel(inner)
			}
		}
	}
}

// labelled reports whether arguments of a region's first block stand in no other place of the text.
func labelled(r *ttir.Region) bool {
	if r.Parent == nil || r.Parent.Name == "scf.for" || r.Parent.Name == ttir.Inlined {
		return false
	}
	return r.Parent.Name != "scf.while" || r == r.Parent.Regions[1]
}

// substitution says what values have become.
type substitution map[*ttir.Value]*ttir.Value

// of is what a value has become, after all steps.
func (s substitution) of(v *ttir.Value) *ttir.Value {
	// Chains are short: a value is replaced once or twice in a round.
	for {
		w, ok := s[v]
		if !ok {
			return v
		}
		v = w
	}
}

// operands replaces the operands of an operation, and the values that it gives to blocks.
func (s substitution) operands(o *ttir.Op) {
	for i, v := range o.Operands {
		o.Operands[i] = s.of(v)
	}
	for _, succ := range o.Succs {
		for i, v := range succ.Args {
			succ.Args[i] = s.of(v)
		}
	}
}

// name gives each value a name that no other of the function has: copies have those of their originals.
func name(f *ttir.Func) {
	used, count := map[string]bool{}, 0
	fresh := func(wanted string) string {
		// A number is no name of the program's.
		if len(wanted) < 2 || wanted[1] >= '0' && wanted[1] <= '9' {
			count++
			return "%" + strconv.Itoa(count-1)
		}
		out := wanted
		for i := 0; used[out]; i++ {
			out = wanted + "_" + strconv.Itoa(i)
		}
		used[out] = true
		return out
	}
	// In the order of the text, so that numbers grow with it.
	var region func(*ttir.Region)
	region = func(r *ttir.Region) {
		for _, b := range r.Blocks {
			for _, v := range b.Args {
				v.Name = fresh(v.Name)
			}
			for _, o := range b.Ops {
				// Results of one operation share its name, and have numbers.
				for i, v := range o.Results {
					if v.Name = o.Results[0].Name; i == 0 {
						v.Name = fresh(v.Name)
					}
				}
				for _, inner := range o.Regions {
					region(inner)
				}
			}
		}
	}
	region(f.Body)
}
