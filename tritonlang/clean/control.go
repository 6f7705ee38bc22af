// Branches and conditions that are decided, blocks that nothing or one branch leads to, and values that a loop does not change.

package clean

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

func init() {
	folds["scf.if"] = append(folds["scf.if"], foldIf)
	folds["scf.for"] = append(folds["scf.for"], foldFor, foldCarried)
}

// flow decides branches on constants, drops blocks that nothing leads to, and joins a block to the one that leads to it.
//
// Python's early returns make many blocks: the front end opens one behind each return, and leaves it empty or unreachable.
func (p *pass) flow(r *ttir.Region) {
	for _, b := range r.Blocks {
		if end := last(b); end != nil && end.Name == "cf.cond_br" {
			p.decide(b, end)
		}
	}
	p.unreachable(r)
	for i := 0; i < len(r.Blocks); i++ {
		for p.join(r, r.Blocks[i]) {
			p.changed = true
		}
	}
	for _, b := range r.Blocks {
		for _, o := range b.Ops {
			for _, inner := range o.Regions {
				p.flow(inner)
			}
		}
	}
}

// last is the last operation of a block, nil if there is none.
func last(b *ttir.Block) *ttir.Op {
	if len(b.Ops) == 0 {
		return nil
	}
	return b.Ops[len(b.Ops)-1]
}

// decide makes a branch on a constant, or to one block both ways, a branch without a condition.
func (p *pass) decide(b *ttir.Block, end *ttir.Op) {
	s := end.Succs[0]
	n, ok := number(end.Operands[0])
	switch {
	case ok && n == 0:
		s = end.Succs[1]
	case ok:
	case s.To != end.Succs[1].To || len(s.Args) > 0:
		return
	}
	br := ttir.New("cf.br", nil, nil)
	br.Succs, br.Loc = []ttir.Succ{s}, end.Loc
	b.Ops[len(b.Ops)-1] = br
	p.changed = true
}

// unreachable drops blocks that the first does not lead to.
func (p *pass) unreachable(r *ttir.Region) {
	seen := map[*ttir.Block]bool{}
	var visit func(*ttir.Block)
	visit = func(b *ttir.Block) {
		if seen[b] {
			return
		}
		seen[b] = true
		if end := last(b); end != nil {
			for _, s := range end.Succs {
				visit(s.To)
			}
		}
	}
	visit(r.Blocks[0])
	r.Blocks = slices.DeleteFunc(r.Blocks, func(b *ttir.Block) bool { return !seen[b] })
}

// join appends to a block the one that it alone leads to, and reports whether it did.
func (p *pass) join(r *ttir.Region, b *ttir.Block) bool {
	end := last(b)
	if end == nil || end.Name != "cf.br" {
		return false
	}
	s := end.Succs[0]
	// A block that several branches lead to stays apart.
	count := 0
	for _, x := range r.Blocks {
		if e := last(x); e != nil {
			for _, t := range e.Succs {
				if t.To == s.To {
					count++
				}
			}
		}
	}
	if count != 1 || s.To == r.Blocks[0] || s.To == b {
		return false
	}
	// The arguments are what the one branch gives.
	for i, v := range s.To.Args {
		p.sub[v] = p.sub.of(s.Args[i])
	}
	b.Ops = append(b.Ops[:len(b.Ops)-1:len(b.Ops)-1], s.To.Ops...)
	r.Blocks = slices.DeleteFunc(r.Blocks, func(x *ttir.Block) bool { return x == s.To })
	return true
}

// taken are the operations of a region of one block, and what it yields.
func (p *pass) taken(r *ttir.Region) []*ttir.Value {
	b := r.Blocks[0]
	end := last(b)
	if end == nil || end.Name != "scf.yield" {
		p.made = append(p.made, b.Ops...)
		return nil
	}
	p.made = append(p.made, b.Ops[:len(b.Ops)-1]...)
	return end.Operands
}

// foldIf takes the branch of a condition that is known.
func foldIf(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	n, ok := number(o.Operands[0])
	switch {
	case !ok:
		return nil, false
	case n != 0:
		return p.taken(o.Regions[0]), true
	case len(o.Regions) > 1:
		return p.taken(o.Regions[1]), true
	}
	return nil, true
}

// foldFor drops a loop that does not run, and takes the body of one that runs once.
func foldFor(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	low, ok := number(o.Operands[0])
	high, ok2 := number(o.Operands[1])
	step, ok3 := number(o.Operands[2])
	if _, other := o.Attr("unsigned"); !ok || !ok2 || !ok3 || step <= 0 || other {
		return nil, false
	}
	initial := o.Operands[3:]
	if low >= high {
		return initial, true
	}
	// Without signs the difference of bounds cannot wrap, since the lower one is smaller.
	if uint64(high)-uint64(low) > uint64(step) {
		return nil, false
	}
	// The body once, with the first values in place of what is carried.
	args := o.Regions[0].Blocks[0].Args
	p.sub[args[0]] = o.Operands[0]
	for i, v := range initial {
		p.sub[args[i+1]] = v
	}
	return p.taken(o.Regions[0]), true
}

// foldCarried takes values out of a loop that each turn leaves as they are.
func foldCarried(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	b := o.Regions[0].Blocks[0]
	end := last(b)
	if end == nil || end.Name != "scf.yield" {
		return nil, false
	}
	same := make([]bool, len(o.Results))
	for i := range same {
		y := p.sub.of(end.Operands[i])
		same[i] = y == b.Args[i+1] || y == o.Operands[i+3]
	}
	if !slices.Contains(same, true) {
		return nil, false
	}
	// A new loop carries the rest, and takes over the body.
	operands, args := slices.Clone(o.Operands[:3]), []*ttir.Value{b.Args[0]}
	var types []*ttir.Type
	var yields []*ttir.Value
	for i, v := range o.Results {
		if same[i] {
			p.sub[b.Args[i+1]] = o.Operands[i+3]
			continue
		}
		operands, args = append(operands, o.Operands[i+3]), append(args, b.Args[i+1])
		types, yields = append(types, v.Type), append(yields, end.Operands[i])
	}
	loop := ttir.New("scf.for", operands, types, o.Attrs...)
	loop.Loc, loop.Regions = o.Loc, o.Regions
	o.Regions[0].Parent = loop
	for i, v := range args {
		v.Index = i
	}
	b.Args, end.Operands = args, yields
	p.made = append(p.made, loop)
	// Results that stay are the new loop's, in order.
	with, k := make([]*ttir.Value, len(o.Results)), 0
	for i := range with {
		if with[i] = o.Operands[i+3]; !same[i] {
			with[i] = loop.Results[k]
			with[i].Name = o.Results[i].Name
			k++
		}
	}
	return with, true
}
