// What an operation does beside computing its results, and what may go because nothing needs it.
//
// Every operation that is not named here is pure: it may be computed once instead of twice, in another place, or not at all.
// A wrong entry would show as a result that differs from the wheel's, since the wheel's own passes make the same choices.

package clean

import (
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// withEffects are operations that do more than to compute their results, or whose results depend on memory.
var withEffects = map[string]bool{
	"tt.load": true, "tt.store": true, "tt.atomic_rmw": true, "tt.atomic_cas": true, "tt.atomic_load": true, "tt.atomic_store": true,
	"tt.atomic_poll": true, "tt.call": true, "tt.print": true, "tt.assert": true, "tt.elementwise_inline_asm": true,
	"tt.descriptor_load": true, "tt.descriptor_store": true, "tt.descriptor_reduce": true, "tt.descriptor_gather": true,
	"tt.descriptor_scatter": true, "llvm.intr.assume": true, "gpu.barrier": true, "ttg.barrier": true,
	"scf.for": true, "scf.if": true, "scf.while": true, "scf.yield": true, "scf.condition": true, "cf.br": true, "cf.cond_br": true,
	"tt.return": true, "tt.reduce.return": true, "tt.scan.return": true, "tt.map_elementwise.return": true,
}

// pure reports whether an operation does nothing but compute its results from its operands.
func pure(o *ttir.Op) bool {
	if o.Name == "tt.extern_elementwise" {
		a, ok := o.Attr("pure")
		return ok && len(a.Ints) == 1 && a.Ints[0] == 1
	}
	for _, r := range o.Regions {
		ok := true
		r.Walk(func(x *ttir.Op) { ok = ok && (pure(x) || strings.HasSuffix(x.Name, ".return")) })
		if !ok {
			return false
		}
	}
	return !withEffects[o.Name]
}

// removable reports whether an operation may go if nothing uses its results: a load that is not volatile, too.
func removable(o *ttir.Op) bool {
	switch o.Name {
	case "tt.load":
		a, ok := o.Attr("isVolatile")
		return !ok || len(a.Ints) == 1 && a.Ints[0] == 0
	// A loop or condition goes if all in it may.
	case "scf.if", "scf.for":
		ok := true
		for _, r := range o.Regions {
			for _, b := range r.Blocks {
				for _, x := range b.Ops {
					ok = ok && (x.Name == "scf.yield" || removable(x))
				}
			}
		}
		return ok
	}
	return pure(o)
}

// address is a value's identity as text.
func address(v *ttir.Value) string { return fmt.Sprintf("%p", v) }

// sweep drops what nothing uses, from the end, so that what it used goes with it. It reports whether anything went.
func (p *pass) sweep(r *ttir.Region) bool {
	p.countUses()
	return p.sweepRegion(r)
}

func (p *pass) sweepRegion(r *ttir.Region) (changed bool) {
	// Backwards, so that an operation is met after all that use it.
	for i := len(r.Blocks) - 1; i >= 0; i-- {
		b := r.Blocks[i]
		keep := make([]*ttir.Op, 0, len(b.Ops))
		for k := len(b.Ops) - 1; k >= 0; k-- {
			o := b.Ops[k]
			used := false
			for _, v := range o.Results {
				used = used || p.uses[v] > 0
			}
			if !used && removable(o) {
				p.forget(o)
				changed = true
				continue
			}
			// What stays may hold what goes.
			for _, inner := range o.Regions {
				changed = p.sweepRegion(inner) || changed
			}
			keep = append(keep, o)
		}
		for x, y := 0, len(keep)-1; x < y; x, y = x+1, y-1 {
			keep[x], keep[y] = keep[y], keep[x]
		}
		b.Ops = keep
	}
	return changed
}

// forget takes back the uses of an operation that goes, and of those in it.
func (p *pass) forget(o *ttir.Op) {
	for _, v := range o.Operands {
		p.uses[v]--
	}
	for _, r := range o.Regions {
		r.Walk(func(x *ttir.Op) {
			for _, v := range x.Operands {
				p.uses[v]--
			}
		})
	}
}
