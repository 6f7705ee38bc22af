// Where each tensor is computed and in which layouts it is wanted, found backwards from its uses before any text is made.

package emit

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// plan says in which layouts each tensor is wanted. It is made before any text.
//
// Most tensors have a home, the layout in which their operation computes them; a use in another layout costs an exchange
// through threadgroup memory. Two kinds have none and are made in each layout that is wanted: views, whose registers are
// those of their operand, and what is cheap, because it follows from constants, ranges and scalars alone.
type plan struct {
	// Bits.
	warps  int
	facts  *facts
	cheap  map[*ttir.Value]bool
	home   map[*ttir.Value]layout.Layout
	wanted map[*ttir.Value][]layout.Layout
	groups *groups
}

// views are operations whose result has the registers of their operand.
var views = map[string]bool{
	"tt.splat": true, "tt.broadcast": true, "tt.expand_dims": true, "tt.reshape": true, "tt.trans": true,
}

// costless are operations that are made again wherever another layout is wanted, if their operands can be.
var costless = func() map[string]bool {
	all := map[string]bool{"tt.make_range": true, "arith.constant": true, "tt.addptr": true, "tt.bitcast": true, "ub.poison": true}
	for name := range views {
		all[name] = true
	}
	for _, name := range []string{
		"addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui", "divsi", "divui", "remsi", "remui", "maxsi", "maxui",
		"minsi", "minui", "cmpi", "select", "extsi", "extui", "trunci", "index_cast", "sitofp", "uitofp", "addf", "subf", "mulf", "negf",
	} {
		all["arith."+name] = true
	}
	return all
}()

// makePlan analyses a function whose calls are inlined.
func makePlan(f *ttir.Func, warps int) *plan {
	p := &plan{
		warps: warps, facts: analyse(f), cheap: map[*ttir.Value]bool{}, home: map[*ttir.Value]layout.Layout{},
		wanted: map[*ttir.Value][]layout.Layout{},
	}
	// Cheap tensors first, since groups leave them out, and layouts before wishes.
	f.Body.Walk(p.findCheap)
	p.groups = makeGroups(p, f)
	p.wants(f.Body)
	return p
}

// findCheap is called for operations in the order of the text.
func (p *plan) findCheap(o *ttir.Op) {
	if !costless[o.Name] || !o.Results[0].Type.IsTensor() {
		return
	}
	// One operand that is not cheap makes the result a tensor with a home.
	for _, v := range o.Operands {
		if v.Type.IsTensor() && !p.cheap[v] {
			return
		}
	}
	p.cheap[o.Results[0]] = true
}

// follows reports whether a value is made in each layout that is wanted.
func (p *plan) follows(v *ttir.Value) bool {
	return p.cheap[v] || v.Def != nil && views[v.Def.Name]
}

// want notes that a tensor is wanted in a layout.
func (p *plan) want(v *ttir.Value, l layout.Layout) {
	if !v.Type.IsTensor() {
		return
	}
	if !slices.ContainsFunc(p.wanted[v], l.Same) {
		p.wanted[v] = append(p.wanted[v], l)
	}
}

// wants goes through a region backwards, so that all uses of a value are seen before it.
func (p *plan) wants(r *ttir.Region) {
	for i := len(r.Blocks) - 1; i >= 0; i-- {
		ops := r.Blocks[i].Ops
		for k := len(ops) - 1; k >= 0; k-- {
			p.op(ops[k])
		}
	}
}

// op wants the operands of an operation in the layouts that its results are wanted in.
func (p *plan) op(o *ttir.Op) {
	if rule := wantRules[o.Name]; rule != nil {
		rule(p, o)
		return
	}
	// Made in each layout that is wanted, from operands in the fitting ones.
	if len(o.Results) == 1 && p.follows(o.Results[0]) {
		for _, l := range p.wanted[o.Results[0]] {
			for i, v := range o.Operands {
				p.want(v, operandLayout(o, i, l))
			}
		}
		return
	}
	if p.dead(o) {
		return
	}
	// All operands in the home of the result, or of the first tensor.
	var l layout.Layout
	for _, v := range slices.Concat(o.Results, o.Operands) {
		if v.Type.IsTensor() {
			l = p.homeOf(v)
			break
		}
	}
	for _, v := range o.Operands {
		p.want(v, l)
	}
}

// dead reports whether an operation has no effect and no result that is wanted.
func (p *plan) dead(o *ttir.Op) bool {
	if len(o.Results) == 0 || len(o.Regions) > 0 || effects[o.Name] {
		return false
	}
	for _, v := range o.Results {
		if !v.Type.IsTensor() || len(p.wanted[v]) > 0 {
			return false
		}
	}
	return true
}

// effects are operations that are done even if their result is not used.
var effects = map[string]bool{
	"tt.store": true, "tt.atomic_rmw": true, "tt.atomic_cas": true, "tt.atomic_store": true, "tt.atomic_poll": true, "tt.atomic_load": true,
	"tt.call": true, "tt.assert": true, "tt.print": true,
}

// operandLayout is the layout of an operand of a view, or of an operation on elements, from that of the result.
func operandLayout(o *ttir.Op, _ int, l layout.Layout) layout.Layout {
	switch o.Name {
	case "tt.broadcast":
		return l.Shrink(o.Results[0].Type.Shape, o.Operands[0].Type.Shape)
	case "tt.join":
		return without(l, 0)
	case "tt.cat":
		return without(l, layout.Dims(o.Results[0].Type.Shape)[len(o.Results[0].Type.Shape)]-1)
	case "tt.trans":
		order, _ := o.Attr("order")
		// The operand is the result transposed back.
		back := make([]int, len(order.Ints))
		for i, d := range order.Ints {
			back[d] = i
		}
		return l.Transpose(o.Results[0].Type.Shape, back)
	}
	return l
}

// homeOf is the layout in which a tensor is computed, or, of one without a home, the one that suits its uses.
func (p *plan) homeOf(v *ttir.Value) layout.Layout {
	if l, ok := p.home[v]; ok {
		return l
	}
	l := p.groups.layoutOf(v)
	p.home[v] = l
	return l
}

// wantRules are for operations whose operands are wanted in other layouts than their results. Filled where the operations
// are emitted.
var wantRules = map[string]func(*plan, *ttir.Op){}

// Regions and operations without a result say themselves what they want.
func init() {
	wantRules["scf.for"] = (*plan).forLoop
	wantRules["scf.if"] = (*plan).condition
	wantRules["scf.while"] = (*plan).while
	wantRules["scf.yield"] = func(*plan, *ttir.Op) {}
	wantRules["scf.condition"] = func(*plan, *ttir.Op) {}
	wantRules["cf.br"] = (*plan).branch
	wantRules["cf.cond_br"] = (*plan).branch
	wantRules[ttir.Inlined] = (*plan).call
	wantRules["tt.return"] = func(*plan, *ttir.Op) {}
	wantRules["tt.store"] = (*plan).store
	wantRules["tt.atomic_rmw"] = (*plan).store
	wantRules["tt.atomic_cas"] = (*plan).store
}

// ends wants what a region yields in the homes of what it becomes.
func (p *plan) ends(values, become []*ttir.Value) {
	for i, v := range values {
		if v.Type.IsTensor() {
			p.want(v, p.homeOf(become[i]))
		}
	}
}

// forLoop wants what the loop carries in its home, before, in and behind the loop.
func (p *plan) forLoop(o *ttir.Op) {
	b := o.Regions[0].Blocks[0]
	// What the body wants of values from outside must be known before their operations are looked at.
	p.ends(b.Terminator().Operands, b.Args[1:])
	p.wants(o.Regions[0])
	p.ends(o.Operands[3:], b.Args[1:])
}

// condition wants what both regions yield in the home of the result.
func (p *plan) condition(o *ttir.Op) {
	for _, r := range o.Regions {
		p.ends(r.Blocks[0].Terminator().Operands, o.Results)
		p.wants(r)
	}
}

// while wants what each region gives in the home of what it becomes.
func (p *plan) while(o *ttir.Op) {
	before, after := o.Regions[0].Blocks[0], o.Regions[1].Blocks[0]
	p.ends(after.Terminator().Operands, before.Args)
	p.wants(o.Regions[1])
	p.ends(before.Terminator().Operands[1:], after.Args)
	p.wants(o.Regions[0])
	p.ends(o.Operands, before.Args)
}

// call wants operands and results in the homes of parameters and of the call's results.
func (p *plan) call(o *ttir.Op) {
	for _, b := range o.Regions[0].Blocks {
		if end := b.Terminator(); end.Name == "tt.return" {
			p.ends(end.Operands, o.Results)
		}
	}
	p.wants(o.Regions[0])
	p.ends(o.Operands, o.Regions[0].Blocks[0].Args)
}

// branch wants what blocks are given in the homes of their arguments.
func (p *plan) branch(o *ttir.Op) {
	for _, s := range o.Succs {
		p.ends(s.Args, s.To.Args)
	}
}

// store has no result to say the layout: the value stored does, or what suits the pointer.
func (p *plan) store(o *ttir.Op) {
	if !o.Operands[0].Type.IsTensor() {
		return
	}
	l := p.accessLayout(o)
	for _, v := range o.Operands {
		p.want(v, l)
	}
}

// accessLayout is the layout in which a store or an atomic operation takes its operands.
func (p *plan) accessLayout(o *ttir.Op) layout.Layout {
	for _, v := range slices.Concat(o.Results, o.Operands[1:], o.Operands[:1]) {
		if v.Type.IsTensor() && !p.cheap[v] {
			return p.homeOf(v)
		}
	}
	return p.homeOf(o.Operands[0])
}
