package emit

import "github.com/paddle-mps/paddle-mps/tritonlang/ttir"

// waits refuses a loop that goes on until another program has written something:
//
//	while tl.atomic_add(flag, 0) == 0:         # refused
//	    pass
//	while tl.atomic_cas(lock, 0, 1) == 1:      # a lock
//	    pass
//
// Threadgroups of a Metal GPU need not run at the same time, so that such a loop may never end. A lock is no such loop: who
// holds it runs, and will release it; it is taken by a compare-and-swap, an exchange or a bit that is set. Nor is a loop that
// draws numbers from a counter, until all are drawn:
//
//	while tl.atomic_add(counter, 1) < tiles:
//	    ...
func (e *emitter) waits(o *ttir.Op) {
	inside := map[*ttir.Op]bool{}
	stores := map[string]bool{}
	// A loop that writes what it reads may end by itself.
	for _, r := range o.Regions {
		r.Walk(func(x *ttir.Op) {
			inside[x] = true
			if x.Name == "tt.store" {
				stores[e.roots.Argument(x.Operands[0])] = true
			}
		})
	}
	// From the condition back to what it is computed from, in this round or in those before.
	w := &waiting{e, o, inside}
	polled := false
	all := w.reached(o.Regions[0].Blocks[0].Terminator().Operands[0], func(x *ttir.Op) {
		name := e.roots.Argument(x.Operands[0])
		polled = polled || !stores[name] && !stores[""]
	})
	// All that decides is computed from what the loop has, or from memory that it writes itself.
	if !polled {
		return
	}
	// A number that the loop itself changes, such as a counter, ends it.
	for i, v := range o.Regions[0].Blocks[0].Args {
		if next := w.next(i); all[v] && next != v && w.reached(next, nil)[v] {
			return
		}
	}
	refuse(o, "", "the kernel waits for other programs, which need not run at the same time on a Metal GPU")
}

// waiting is a loop of which is asked on what its condition depends.
type waiting struct {
	e      *emitter
	o      *ttir.Op
	inside map[*ttir.Op]bool
}

// reached are the values on which one depends, as far as they are computed in the loop, in this round or in the one before.
// It calls poll for what reads the same place in each round, and goes no further there.
func (w *waiting) reached(v *ttir.Value, poll func(*ttir.Op)) map[*ttir.Value]bool {
	all := map[*ttir.Value]bool{}
	var visit func(v *ttir.Value)
	visit = func(v *ttir.Value) {
		if all[v] {
			return
		}
		all[v] = true
		if x := v.Def; x != nil && w.inside[x] && w.e.polls(x) && steady(x.Operands[0], w.inside) {
			if poll != nil {
				poll(x)
			}
			return
		}
		for _, y := range w.sources(v) {
			visit(y)
		}
	}
	visit(v)
	return all
}

// sources are the values that one is made of.
func (w *waiting) sources(v *ttir.Value) []*ttir.Value {
	if x := v.Def; x != nil {
		if !w.inside[x] {
			return nil
		}
		all := x.Operands
		// Of an operation with regions, what these end with.
		for _, r := range x.Regions {
			for _, b := range r.Blocks {
				all = append(all[:len(all):len(all)], b.Terminator().Operands...)
			}
		}
		return all
	}
	for i, a := range w.o.Regions[0].Blocks[0].Args {
		if a == v {
			return []*ttir.Value{w.next(i)}
		}
	}
	// The body gets what stands behind the condition.
	for i, a := range w.o.Regions[1].Blocks[0].Args {
		if a == v {
			return []*ttir.Value{w.o.Regions[0].Blocks[0].Terminator().Operands[1+i]}
		}
	}
	return nil
}

// next is what a round gives the next one as argument i, seen through the body's arguments.
func (w *waiting) next(i int) *ttir.Value {
	v := w.o.Regions[1].Blocks[0].Terminator().Operands[i]
	if v.Def == nil {
		for _, y := range w.sources(v) {
			if v.Block == w.o.Regions[1].Blocks[0] {
				return y
			}
		}
	}
	return v
}

// polls reports whether an operation reads memory without taking anything. An atomic operation takes something if it changes
// what it finds, as a sum does that gives each program the next tile. Those with a neutral operand change nothing, and a
// maximum or minimum need not.
func (e *emitter) polls(x *ttir.Op) bool {
	switch x.Name {
	case "tt.load", "tt.atomic_load":
		return true
	case "tt.atomic_rmw":
		operand := x.Operands[1]
		known := e.plan.Facts.Of(operand).Known
		switch x.Word("atomic_rmw_op") {
		case "exch":
			return false
		case "add", "or", "xor":
			return known != nil && *known == 0
		case "and":
			return known != nil && *known == -1
		case "fadd":
			return isZero(operand)
		}
		return true
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
