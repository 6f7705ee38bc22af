// Loops. Triton's front end builds everything in the place where the program has it, so that a loop is full of what is the
// same in each turn: constants, ranges, masks, the spreading of scalars.

package clean

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// hoist moves operations in front of the loops that they do not depend on, inner loops first. They are pure, so
// that computing them once more or less changes nothing.
//
// Divisions stay unless their divisor is known: a loop that does not run must not divide by zero.
func (p *pass) hoist(r *ttir.Region) {
	for _, b := range r.Blocks {
		var out []*ttir.Op
		for _, o := range b.Ops {
			for _, inner := range o.Regions {
				p.hoist(inner)
			}
			if o.Name == "scf.for" || o.Name == "scf.while" {
				out = append(out, p.outOf(o)...)
			}
			out = append(out, o)
		}
		b.Ops = out
	}
}

// outOf takes the operations out of a loop that need nothing that is made in it.
func (p *pass) outOf(loop *ttir.Op) (moved []*ttir.Op) {
	// All that is made in the loop, at any depth.
	inside := map[*ttir.Value]bool{}
	for _, r := range loop.Regions {
		for _, b := range r.Blocks {
			for _, v := range b.Args {
				inside[v] = true
			}
		}
		r.Walk(func(o *ttir.Op) {
			for _, v := range o.Results {
				inside[v] = true
			}
			for _, inner := range o.Regions {
				for _, b := range inner.Blocks {
					for _, v := range b.Args {
						inside[v] = true
					}
				}
			}
		})
	}
	// What was moved is outside, so that what uses it may follow.
	for _, r := range loop.Regions {
		b := r.Blocks[0]
		b.Ops = slices.DeleteFunc(b.Ops, func(o *ttir.Op) bool {
			if !pure(o) || !harmless(o) || len(o.Regions) > 0 || slices.ContainsFunc(o.Operands, func(v *ttir.Value) bool { return inside[v] }) {
				return false
			}
			for _, v := range o.Results {
				delete(inside, v)
			}
			moved = append(moved, o)
			return true
		})
	}
	if len(moved) > 0 {
		p.changed = true
	}
	return moved
}

// harmless reports whether an operation may be computed although the program might not have come to it.
func harmless(o *ttir.Op) bool {
	switch o.Name {
	case "arith.divsi", "arith.divui", "arith.remsi", "arith.remui":
		n, ok := number(o.Operands[1])
		// -1 is no better: the least number divided by it is too large.
		return ok && n != 0 && n != -1
	}
	return true
}
