package emit

import "github.com/paddle-mps/paddle-mps/tritonlang/ttir"

// waits refuses a loop that goes on until another program has written something. Threadgroups of a Metal GPU need not run at
// the same time, so that such a loop may never end. A lock is no such loop: who holds it runs, and will release it; it is
// taken by a compare-and-swap or an exchange.
func (e *emitter) waits(o *ttir.Op) {
	inside := map[*ttir.Op]bool{}
	stores := map[string]bool{}
	// A loop that writes what it reads may end by itself.
	for _, r := range o.Regions {
		r.Walk(func(x *ttir.Op) {
			inside[x] = true
			if x.Name == "tt.store" {
				stores[e.roots.name(x.Operands[0])] = true
			}
		})
	}
	before := o.Regions[0].Blocks[0]
	seen := map[*ttir.Value]bool{}
	var visit func(v *ttir.Value)
	visit = func(v *ttir.Value) {
		if v.Def == nil || !inside[v.Def] || seen[v] {
			return
		}
		seen[v] = true
		x := v.Def
		if polls(x) && steady(x.Operands[0], inside) && !stores[e.roots.name(x.Operands[0])] && !stores[""] {
			refuse(o, "", "the kernel waits for other programs, which need not run at the same time on a Metal GPU")
		}
		for _, y := range x.Operands {
			visit(y)
		}
	}
	// From the condition back to what it is computed from, as far as that is inside of the loop.
	visit(before.Terminator().Operands[0])
}

// polls reports whether an operation reads memory without taking anything.
func polls(x *ttir.Op) bool {
	switch x.Name {
	case "tt.load", "tt.atomic_load":
		return true
	case "tt.atomic_rmw":
		return x.Word("atomic_rmw_op") != "exch"
	}
	return false
}

// steady reports whether a pointer is the same in all rounds of a loop.
func steady(v *ttir.Value, inside map[*ttir.Op]bool) bool {
	if v.Def == nil {
		return v.Block == nil || v.Index >= 0 && !loopArgument(v, inside)
	}
	if !inside[v.Def] {
		return true
	}
	for _, y := range v.Def.Operands {
		if !steady(y, inside) {
			return false
		}
	}
	return v.Def.Name != "tt.load"
}

// loopArgument reports whether a value is an argument of a region of one of these operations' blocks, which changes.
func loopArgument(v *ttir.Value, inside map[*ttir.Op]bool) bool {
	for _, o := range v.Block.Ops {
		return inside[o]
	}
	return false
}
