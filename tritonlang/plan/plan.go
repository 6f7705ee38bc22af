// Package plan decides, before any text is made, where each tensor of a function is computed and in which layouts it is wanted.
//
//   - facts.go: what is known of integers and pointers, forwards from arguments and hints.
//   - roots.go: which arguments a pointer may come from, and which of them are written.
//   - groups.go: tensors that are combined element by element are a group, and a group has one layout. layouts.go has layouts
//     that operations need.
//   - plan.go: in which layouts each tensor is wanted, found backwards from its uses.
//
// Package emit reads the plan and changes nothing in it. It adds to [WantRules], while packages are initialized, what its
// operations want of their operands. The result depends on the function alone: it has no names of Metal and makes no text.
package plan

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Plan says in which layouts each tensor is wanted. It is made before any text.
//
// Most tensors have a home, the layout in which their operation computes them; a use in another layout costs an exchange
// through threadgroup memory. Two kinds have none and are made in each layout that is wanted: views, whose registers are
// those of their operand, and what is cheap, because it follows from constants, ranges and scalars alone.
type Plan struct {
	// Bits.
	Warps  int
	Facts  *facts
	Cheap  map[*ttir.Value]bool
	home   map[*ttir.Value]layout.Layout
	Wanted map[*ttir.Value][]layout.Layout
	groups *groups
}

// Views are operations whose result has the registers of their operand.
var Views = map[string]bool{
	"tt.splat": true, "tt.broadcast": true, "tt.expand_dims": true, "tt.reshape": true, "tt.trans": true,
}

// costless are operations that are made again wherever another layout is wanted, if their operands can be.
var costless = func() map[string]bool {
	all := map[string]bool{"tt.make_range": true, "arith.constant": true, "tt.addptr": true, "tt.bitcast": true, "ub.poison": true}
	for name := range Views {
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

// Make analyses a function whose calls are inlined.
func Make(f *ttir.Func, warps int) *Plan {
	p := &Plan{
		Warps: warps, Facts: analyse(f), Cheap: map[*ttir.Value]bool{}, home: map[*ttir.Value]layout.Layout{},
		Wanted: map[*ttir.Value][]layout.Layout{},
	}
	// Cheap tensors first, since groups leave them out, and layouts before wishes.
	f.Body.Walk(p.findCheap)
	p.groups = makeGroups(p, f)
	p.wants(f.Body)
	return p
}

// findCheap is called for operations in the order of the text.
func (p *Plan) findCheap(o *ttir.Op) {
	if !costless[o.Name] || !o.Results[0].Type.IsTensor() {
		return
	}
	// One operand that is not cheap makes the result a tensor with a home.
	for _, v := range o.Operands {
		if v.Type.IsTensor() && !p.Cheap[v] {
			return
		}
	}
	p.Cheap[o.Results[0]] = true
}

// Follows reports whether a value is made in each layout that is wanted.
func (p *Plan) Follows(v *ttir.Value) bool {
	return p.Cheap[v] || v.Def != nil && Views[v.Def.Name]
}

// Want notes that a tensor is wanted in a layout.
func (p *Plan) Want(v *ttir.Value, l layout.Layout) {
	if !v.Type.IsTensor() {
		return
	}
	if !slices.ContainsFunc(p.Wanted[v], l.Same) {
		p.Wanted[v] = append(p.Wanted[v], l)
	}
}

// wants goes through a region backwards, so that all uses of a value are seen before it.
func (p *Plan) wants(r *ttir.Region) {
	for i := len(r.Blocks) - 1; i >= 0; i-- {
		ops := r.Blocks[i].Ops
		for k := len(ops) - 1; k >= 0; k-- {
			p.op(ops[k])
		}
	}
}

// op wants the operands of an operation in the layouts that its results are wanted in.
func (p *Plan) op(o *ttir.Op) {
	if rule := WantRules[o.Name]; rule != nil {
		rule(p, o)
		return
	}
	// Made in each layout that is wanted, from operands in the fitting ones.
	if len(o.Results) == 1 && p.Follows(o.Results[0]) {
		for _, l := range p.Wanted[o.Results[0]] {
			for i, v := range o.Operands {
				p.Want(v, OperandLayout(o, i, l))
			}
		}
		return
	}
	if p.Dead(o) {
		return
	}
	// All operands in the home of the result, or of the first tensor.
	var l layout.Layout
	for _, v := range slices.Concat(o.Results, o.Operands) {
		if v.Type.IsTensor() {
			l = p.HomeOf(v)
			break
		}
	}
	for _, v := range o.Operands {
		p.Want(v, l)
	}
}

// Dead reports whether an operation has no effect and no result that is wanted.
func (p *Plan) Dead(o *ttir.Op) bool {
	if len(o.Results) == 0 || len(o.Regions) > 0 || effects[o.Name] {
		return false
	}
	for _, v := range o.Results {
		if !v.Type.IsTensor() || len(p.Wanted[v]) > 0 {
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

// OperandLayout is the layout of an operand of a view, or of an operation on elements, from that of the result.
func OperandLayout(o *ttir.Op, _ int, l layout.Layout) layout.Layout {
	switch o.Name {
	case "tt.broadcast":
		return l.Shrink(o.Results[0].Type.Shape, o.Operands[0].Type.Shape)
	case "tt.join":
		return WithoutBit(l, 0)
	case "tt.cat":
		return WithoutBit(l, layout.Dims(o.Results[0].Type.Shape)[len(o.Results[0].Type.Shape)]-1)
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

// HomeOf is the layout in which a tensor is computed, or, of one without a home, the one that suits its uses.
func (p *Plan) HomeOf(v *ttir.Value) layout.Layout {
	if l, ok := p.home[v]; ok {
		return l
	}
	l := p.groups.layoutOf(v)
	p.home[v] = l
	return l
}

// WantRules are for operations whose operands are wanted in other layouts than their results. Filled where the operations
// are emitted.
var WantRules = map[string]func(*Plan, *ttir.Op){}

// Regions and operations without a result say themselves what they want.
func init() {
	WantRules["scf.for"] = (*Plan).forLoop
	WantRules["scf.if"] = (*Plan).condition
	WantRules["scf.while"] = (*Plan).while
	WantRules["scf.yield"] = func(*Plan, *ttir.Op) {}
	WantRules["scf.condition"] = func(*Plan, *ttir.Op) {}
	WantRules["cf.br"] = (*Plan).branch
	WantRules["cf.cond_br"] = (*Plan).branch
	WantRules[ttir.Inlined] = (*Plan).call
	WantRules["tt.return"] = func(*Plan, *ttir.Op) {}
	WantRules["tt.store"] = (*Plan).Store
	WantRules["tt.atomic_rmw"] = (*Plan).Store
	WantRules["tt.atomic_cas"] = (*Plan).Store
}

// ends wants what a region yields in the homes of what it becomes.
func (p *Plan) ends(values, become []*ttir.Value) {
	for i, v := range values {
		if v.Type.IsTensor() {
			p.Want(v, p.HomeOf(become[i]))
		}
	}
}

// forLoop wants what the loop carries in its home, before, in and behind the loop.
func (p *Plan) forLoop(o *ttir.Op) {
	b := o.Regions[0].Blocks[0]
	// What the body wants of values from outside must be known before their operations are looked at.
	p.ends(b.Terminator().Operands, b.Args[1:])
	p.wants(o.Regions[0])
	p.ends(o.Operands[3:], b.Args[1:])
}

// condition wants what both regions yield in the home of the result.
func (p *Plan) condition(o *ttir.Op) {
	for _, r := range o.Regions {
		p.ends(r.Blocks[0].Terminator().Operands, o.Results)
		p.wants(r)
	}
}

// while wants what each region gives in the home of what it becomes.
func (p *Plan) while(o *ttir.Op) {
	before, after := o.Regions[0].Blocks[0], o.Regions[1].Blocks[0]
	p.ends(after.Terminator().Operands, before.Args)
	p.wants(o.Regions[1])
	p.ends(before.Terminator().Operands[1:], after.Args)
	p.wants(o.Regions[0])
	p.ends(o.Operands, before.Args)
}

// call wants operands and results in the homes of parameters and of the call's results.
func (p *Plan) call(o *ttir.Op) {
	for _, b := range o.Regions[0].Blocks {
		if end := b.Terminator(); end.Name == "tt.return" {
			p.ends(end.Operands, o.Results)
		}
	}
	p.wants(o.Regions[0])
	p.ends(o.Operands, o.Regions[0].Blocks[0].Args)
}

// branch wants what blocks are given in the homes of their arguments.
func (p *Plan) branch(o *ttir.Op) {
	for _, s := range o.Succs {
		p.ends(s.Args, s.To.Args)
	}
}

// Store has no result to say the layout: the value stored does, or what suits the pointer.
func (p *Plan) Store(o *ttir.Op) {
	if !o.Operands[0].Type.IsTensor() {
		return
	}
	l := p.AccessLayout(o)
	for _, v := range o.Operands {
		p.Want(v, l)
	}
}

// AccessLayout is the layout in which a store or an atomic operation takes its operands.
func (p *Plan) AccessLayout(o *ttir.Op) layout.Layout {
	for _, v := range slices.Concat(o.Results, o.Operands[1:], o.Operands[:1]) {
		if v.Type.IsTensor() && !p.Cheap[v] {
			return p.HomeOf(v)
		}
	}
	return p.HomeOf(o.Operands[0])
}
