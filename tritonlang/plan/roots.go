// Which argument a pointer comes from. A launch has to know which buffers a kernel writes, and it reads that from const
// in the text: so a pointer's type must be the same wherever it goes.
//
//	%p = arith.select %c, %x, %y               one set with the arguments x and y
//	tt.store %p, %v                            both are written: device float *x, device float *y
//	%q = tt.int_to_ptr %n                      a set of addresses of the CPU; see addresses.go

package plan

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Roots says which arguments a pointer may come from: pointers that one operation, loop or condition makes out of others
// are one set. A set that nothing is stored through is const in Metal, so that a launch knows what a kernel writes.
type Roots struct {
	parent map[*ttir.Value]*ttir.Value
	// Of a set, by its root.
	params map[*ttir.Value][]string
	// A set with a pointer made from an integer or loaded.
	unknown map[*ttir.Value]bool
	Written map[*ttir.Value]bool
	// A set of addresses of the CPU; see addresses.go.
	Addresses map[*ttir.Value]bool
}

// FindRoots joins the pointers of a function to sets and marks those that are written.
func FindRoots(f *ttir.Func) *Roots {
	r := &Roots{map[*ttir.Value]*ttir.Value{}, map[*ttir.Value][]string{}, map[*ttir.Value]bool{}, map[*ttir.Value]bool{}, map[*ttir.Value]bool{}}
	f.Body.Walk(r.join)
	for _, v := range f.Params() {
		if v.Type.IsPointer() {
			r.params[r.Root(v)] = append(r.params[r.Root(v)], v.Name)
		}
	}
	f.Body.Walk(r.markWritten)
	return r
}

// Root is the value that stands for a set. The path to it is made short.
func (r *Roots) Root(v *ttir.Value) *ttir.Value {
	for r.parent[v] != nil {
		v = r.parent[v]
	}
	return v
}

// union joins the sets of pointers, pair by pair.
func (r *Roots) union(a, b []*ttir.Value) {
	for i := range min(len(a), len(b)) {
		if a[i].Type.IsPointer() && b[i].Type.IsPointer() {
			if x, y := r.Root(a[i]), r.Root(b[i]); x != y {
				r.parent[y] = x
			}
		}
	}
}

// join unites the pointers that an operation makes out of each other.
func (r *Roots) join(o *ttir.Op) {
	switch o.Name {
	case "scf.for":
		b := o.Regions[0].Blocks[0]
		r.union(b.Args[1:], o.Operands[3:])
		r.union(b.Args[1:], o.Results)
		r.union(b.Args[1:], b.Terminator().Operands)
	case "scf.if":
		for _, g := range o.Regions {
			r.union(o.Results, g.Blocks[0].Terminator().Operands)
		}
	case "scf.while":
		before, after := o.Regions[0].Blocks[0], o.Regions[1].Blocks[0]
		r.union(before.Args, o.Operands)
		r.union(before.Args, after.Terminator().Operands)
		r.union(after.Args, before.Terminator().Operands[1:])
		r.union(after.Args, o.Results)
	case "cf.br", "cf.cond_br":
		for _, s := range o.Succs {
			r.union(s.To.Args, s.Args)
		}
	case ttir.Inlined:
		r.union(o.Regions[0].Blocks[0].Args, o.Operands)
		for _, b := range o.Regions[0].Blocks {
			if end := b.Terminator(); end.Name == "tt.return" {
				r.union(o.Results, end.Operands)
			}
		}
	case "tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_load", "tt.atomic_store":
	default:
		// Whatever makes pointers out of pointers.
		for _, v := range o.Results {
			for _, x := range o.Operands {
				r.union([]*ttir.Value{v}, []*ttir.Value{x})
			}
		}
	}
}

// markWritten marks sets that are written, and those of unknown origin.
func (r *Roots) markWritten(o *ttir.Op) {
	switch o.Name {
	case "tt.store", "tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_store", "tt.atomic_load":
		r.Written[r.Root(o.Operands[0])] = true
	}
	for _, v := range o.Results {
		if v.Type.IsPointer() && !slices.ContainsFunc(o.Operands, func(x *ttir.Value) bool { return x.Type.IsPointer() }) && len(o.Regions) == 0 {
			r.unknown[r.Root(v)] = true
			r.Addresses[r.Root(v)] = r.Addresses[r.Root(v)] || o.Name == "tt.int_to_ptr"
		}
	}
}

// Argument is the argument that a pointer comes from, "" if there may be several.
func (r *Roots) Argument(v *ttir.Value) string {
	v = r.Root(v)
	if len(r.params[v]) != 1 || r.unknown[v] {
		return ""
	}
	return r.params[v][0]
}
