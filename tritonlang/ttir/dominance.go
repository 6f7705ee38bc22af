// Dominance: a value may be used where every path leads through its definition. Regions of one block need no check, since
// the parser defines names in order; functions that return early have several.

package ttir

// dominance fails at a use of a value in a block that can be reached without the value's own. The parser has seen that a
// definition comes first in the text, which says nothing of branches.
func (v *verifier) dominance(r *Region) {
	if len(r.Blocks) < 2 {
		return
	}
	// Values of regions inside a block are seen in those regions only, and have no home here.
	home := map[*Value]*Block{}
	for _, b := range r.Blocks {
		for _, a := range b.Args {
			home[a] = b
		}
		for _, o := range b.Ops {
			for _, x := range o.Results {
				home[x] = b
			}
		}
	}
	over := dominators(r)
	for _, b := range r.Blocks {
		// Uses inside of regions count for the block that the region's operation is in.
		// A value of the same block is defined earlier in it: the parser has seen to that.
		check := func(o *Op, all []*Value) {
			for _, x := range all {
				if d := home[x]; d != nil && d != b && !over[b][d] {
					v.fail(o, "value "+x.Ref()+" is not defined on every path to here")
				}
			}
		}
		visit := func(o *Op) {
			check(o, o.Operands)
			for _, s := range o.Succs {
				check(o, s.Args)
			}
		}
		for _, o := range b.Ops {
			visit(o)
			for _, inner := range o.Regions {
				inner.Walk(visit)
			}
		}
	}
}

// dominators are, for each block, the blocks that every path to it goes through. A block that nothing leads to has all of
// them: what it does is of no interest.
func dominators(r *Region) map[*Block]map[*Block]bool {
	// At first every block but the first has all above it.
	over := map[*Block]map[*Block]bool{}
	before := map[*Block][]*Block{}
	for _, b := range r.Blocks {
		over[b] = map[*Block]bool{}
		for _, c := range r.Blocks {
			over[b][c] = b != r.Blocks[0] || c == b
		}
		if len(b.Ops) > 0 {
			for _, s := range b.Terminator().Succs {
				before[s.To] = append(before[s.To], b)
			}
		}
	}
	// Sets only shrink, so that this ends.
	for changed := true; changed; {
		changed = false
		for _, b := range r.Blocks[1:] {
			for c := range over[b] {
				if !over[b][c] || c == b {
					continue
				}
				for _, p := range before[b] {
					if !over[p][c] {
						over[b][c], changed = false, true
						break
					}
				}
			}
		}
	}
	return over
}
