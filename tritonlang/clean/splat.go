// Views of what is the same everywhere, and operations on elements that are: computed once, and spread afterwards.

package clean

import (
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

func init() {
	for _, name := range []string{"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans"} {
		folds[name] = append(folds[name], foldView)
	}
	folds["tt.unsplat"] = append(folds["tt.unsplat"], foldUnsplat)
	for _, name := range ttir.Known() {
		if strings.HasPrefix(name, "arith.") && name != "arith.constant" || strings.HasPrefix(name, "math.") || name == "tt.addptr" || name == "tt.bitcast" {
			folds[name] = append(folds[name], foldSpread)
		}
	}
}

// foldView makes views of constants constants, views of splats splats, and drops views that change nothing.
func foldView(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	from, t := o.Operands[0], o.Results[0].Type
	if o.Name != "tt.splat" && o.Name != "tt.trans" && from.Type.Same(t) {
		return one(from)
	}
	if text, ok := spelled(from); ok {
		return one(p.spell(text, t))
	}
	// Two views of one kind are one.
	if from.Def == nil {
		return nil, false
	}
	switch {
	case o.Name == "tt.splat":
		return nil, false
	case from.Def.Name == "tt.splat":
		return one(p.make("tt.splat", from.Def.Operands, t))
	case o.Name == from.Def.Name && o.Name == "tt.broadcast":
		return one(p.make("tt.broadcast", from.Def.Operands, t))
	case o.Name == from.Def.Name && o.Name == "tt.reshape" && len(o.Attrs) == 0:
		return one(p.make("tt.reshape", from.Def.Operands, t))
	}
	return nil, false
}

// foldUnsplat takes the one element back out of a splat.
func foldUnsplat(_ *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	if d := o.Operands[0].Def; d != nil && d.Name == "tt.splat" {
		return one(d.Operands[0])
	}
	return nil, false
}

// foldSpread computes an operation on elements before its operands are spread: on scalars if all are splats or constants,
// else on the tensors that are broadcast, if these have one shape.
//
// The result is spread instead, so that one fold leads to the next: an expression of scalars ends as one splat.
func foldSpread(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	t := o.Results[0].Type
	if !t.IsTensor() || len(o.Results) != 1 {
		return nil, false
	}
	// All operands have to come from one scalar or small tensor each, and one of them at least.
	var shape []int // of what is broadcast
	spread := false
	for _, v := range o.Operands {
		_, constant := spelled(v)
		switch d := v.Def; {
		case constant:
		case d == nil || !v.Type.IsTensor():
			return nil, false
		case d.Name == "tt.splat":
			spread = true
		case d.Name == "tt.broadcast" && (shape == nil || slices.Equal(shape, d.Operands[0].Type.Shape)):
			shape, spread = d.Operands[0].Type.Shape, true
		default:
			return nil, false
		}
	}
	if !spread {
		return nil, false
	}
	with := func(t *ttir.Type) *ttir.Type {
		if shape == nil {
			return t.Element()
		}
		return ttir.TensorOf(shape, t.Element())
	}
	// Constants are made smaller, splats are spread less.
	operands := make([]*ttir.Value, len(o.Operands))
	for i, v := range o.Operands {
		if text, ok := spelled(v); ok {
			operands[i] = p.spell(text, with(v.Type))
			continue
		}
		operands[i] = v.Def.Operands[0]
		if shape != nil && v.Def.Name == "tt.splat" {
			operands[i] = p.make("tt.splat", v.Def.Operands, with(v.Type))
		}
	}
	small := p.make(o.Name, operands, with(t), o.Attrs...)
	if shape == nil {
		return one(p.make("tt.splat", []*ttir.Value{small}, t))
	}
	return one(p.make("tt.broadcast", []*ttir.Value{small}, t))
}
