// Tensor descriptors and block pointers as values: lists of pointers and integers, which take their places wherever they go.

package clean

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// The parts of a descriptor of n dimensions are the base, n sizes, n strides and whether what lies outside reads as NaN;
// those of a block pointer the base, n sizes, n strides and n offsets. Sizes, strides and offsets are i64.

// aggregate reports whether values of a type have parts.
func aggregate(t *ttir.Type) bool {
	return t.Kind == ttir.Descriptor || t.Kind == ttir.Pointer && t.Elem.Kind == ttir.Tensor
}

// shapeOf is the shape of the blocks of a descriptor or block pointer.
func shapeOf(t *ttir.Type) []int {
	if t.Kind == ttir.Descriptor {
		return t.Shape
	}
	return t.Elem.Shape
}

// elementOf is the type of their elements.
func elementOf(t *ttir.Type) *ttir.Type {
	if t.Kind == ttir.Descriptor {
		return t.Elem
	}
	return t.Elem.Elem
}

// partTypes are the types of the parts of a value, or of a value without parts its own.
func partTypes(t *ttir.Type) (all []*ttir.Type) {
	if !aggregate(t) {
		return []*ttir.Type{t}
	}
	all = append(all, ttir.PointerTo(elementOf(t), 1))
	// Sizes and strides, and of block pointers offsets.
	n := 2 * len(shapeOf(t))
	if t.Kind != ttir.Descriptor {
		n += len(shapeOf(t))
	}
	for range n {
		all = append(all, ttir.IntType(64))
	}
	if t.Kind == ttir.Descriptor {
		all = append(all, ttir.IntType(1))
	}
	return all
}

// lowering replaces descriptors by their parts.
//
// Regions are gone through in the order of the text, so that the parts of a value are known before its uses; blocks get
// their arguments before any operation in them is looked at.
type lowering struct {
	// Of values with parts.
	parts map[*ttir.Value][]*ttir.Value
	// Of other values that are replaced: results of loads, and of operations whose results are more now.
	sub substitution
	// Where operations go, and the line that they come from.
	out []*ttir.Op
	loc *ttir.Loc
}

// lowerDescriptors works on a function. flags is how many flags follow the strides of a descriptor that is a parameter.
func lowerDescriptors(f *ttir.Func, flags int) {
	// Most kernels have none, and are left alone.
	has := slices.ContainsFunc(f.Params(), func(v *ttir.Value) bool { return aggregate(v.Type) })
	f.Body.Walk(func(o *ttir.Op) {
		has = has || slices.ContainsFunc(o.Results, func(v *ttir.Value) bool { return aggregate(v.Type) })
	})
	if !has {
		return
	}
	l := &lowering{parts: map[*ttir.Value][]*ttir.Value{}, sub: substitution{}}
	l.params(f, flags)
	l.region(f.Body)
	f.Body.Walk(l.sub.operands)
}

// params gives a function the parts of descriptors as parameters.
func (l *lowering) params(f *ttir.Func, flags int) {
	b := f.Body.Blocks[0]
	var args []*ttir.Value
	var attrs [][]ttir.Attr
	for i, v := range b.Args {
		if !aggregate(v.Type) {
			args, attrs = append(args, v), append(attrs, f.ParamAttrs[i])
			continue
		}
		if v.Type.Kind != ttir.Descriptor {
			panic(&ttir.Unsupported{Op: "argument " + v.Name[1:], Type: v.Type.String(), Where: v.Loc.Where(), Why: "block pointers are made in kernels"})
		}
		parts := l.split(v)
		if flags > 1 {
			// Rounding to tf32, which is of no interest here, is a parameter all the same.
			args = append(args, append(parts[:len(parts):len(parts)], &ttir.Value{Name: v.Name, Type: ttir.IntType(1), Block: b, Loc: v.Loc})...)
		} else {
			args = append(args, parts...)
		}
		for len(attrs) < len(args) {
			attrs = append(attrs, nil)
		}
	}
	for i, v := range args {
		v.Index = i
	}
	b.Args, f.ParamAttrs = args, attrs
}

// split makes the parts of an argument of a block.
func (l *lowering) split(v *ttir.Value) []*ttir.Value {
	var parts []*ttir.Value
	for _, t := range partTypes(v.Type) {
		parts = append(parts, &ttir.Value{Name: v.Name, Type: t, Block: v.Block, Loc: v.Loc})
	}
	l.parts[v] = parts
	return parts
}

// of are the parts of a value, or the value itself.
func (l *lowering) of(v *ttir.Value) []*ttir.Value {
	v = l.sub.of(v)
	if parts, ok := l.parts[v]; ok {
		return parts
	}
	return []*ttir.Value{v}
}

// all are the parts of values.
func (l *lowering) all(values []*ttir.Value) (out []*ttir.Value) {
	for _, v := range values {
		out = append(out, l.of(v)...)
	}
	return out
}

// region lowers the operations of a region. Arguments of all blocks come first, since a branch may give them early.
func (l *lowering) region(r *ttir.Region) {
	for _, b := range r.Blocks {
		var args []*ttir.Value
		for _, v := range b.Args {
			if aggregate(v.Type) {
				args = append(args, l.split(v)...)
			} else {
				args = append(args, v)
			}
		}
		for i, v := range args {
			v.Index = i
		}
		b.Args = args
	}
	// Operations go to the list of the block that they stand in.
	outer := l.out
	for _, b := range r.Blocks {
		l.out = nil
		for _, o := range b.Ops {
			l.loc = o.Loc
			l.op(o)
		}
		b.Ops = l.out
	}
	l.out = outer
}

// op lowers an operation, or gives it the parts of its operands and results.
func (l *lowering) op(o *ttir.Op) {
	l.sub.operands(o)
	if lower := lowerings[o.Name]; lower != nil && applies(o) {
		lower(l, o)
		return
	}
	of := func(v *ttir.Value) bool { return aggregate(v.Type) }
	if !carriers[o.Name] && (slices.ContainsFunc(o.Operands, of) || slices.ContainsFunc(o.Results, of)) {
		refuse(o, "tensor descriptors and block pointers cannot go through this operation")
	}
	before := o.Results
	if slices.ContainsFunc(before, of) {
		var types []*ttir.Type
		for _, v := range before {
			types = append(types, partTypes(v.Type)...)
		}
		o.SetResults(types)
		// The new results in the order of the old ones, some of which are several now.
		rest := o.Results
		for _, v := range before {
			n := len(partTypes(v.Type))
			if aggregate(v.Type) {
				l.parts[v] = rest[:n]
			} else {
				l.sub[v] = rest[0]
				rest[0].Name = v.Name
			}
			rest = rest[n:]
		}
	}
	// Operands and values for blocks are replaced after results, which need the old types.
	o.Operands = l.all(o.Operands)
	for i, s := range o.Succs {
		o.Succs[i].Args = l.all(s.Args)
	}
	l.out = append(l.out, o)
	for _, r := range o.Regions {
		l.region(r)
	}
}

// applies reports whether the types of an operation are those that its lowering is for: the parser takes any.
func applies(o *ttir.Op) bool {
	at := func(i int) *ttir.Type { return o.Operands[i].Type }
	results := map[string]int{"tt.store": 0, "tt.descriptor_store": 0, "tt.descriptor_scatter": 0, "tt.descriptor_reduce": 0}
	want, other := results[o.Name]
	if !other {
		want = 1
	}
	if len(o.Operands) == 0 || len(o.Results) != want {
		return false
	}
	switch o.Name {
	case "tt.make_tensor_descriptor", "tt.make_tensor_ptr":
		r := o.Results[0].Type
		return aggregate(r) && (r.Kind == ttir.Descriptor) == (o.Name == "tt.make_tensor_descriptor") && at(0).Same(ttir.PointerTo(elementOf(r), 1))
	case "tt.load", "tt.store", "tt.advance":
		return aggregate(at(0)) && at(0).Kind != ttir.Descriptor
	case "arith.select":
		return aggregate(at(1)) && !at(0).IsTensor()
	}
	return at(0).Kind == ttir.Descriptor
}

// carriers are operations that pass values on.
var carriers = map[string]bool{
	"scf.for": true, "scf.if": true, "scf.while": true, "scf.yield": true, "scf.condition": true, "cf.br": true, "cf.cond_br": true,
}

// make appends an operation and answers its result.
func (l *lowering) make(name string, operands []*ttir.Value, t *ttir.Type, attrs ...ttir.Attr) *ttir.Value {
	o := ttir.New(name, operands, []*ttir.Type{t}, attrs...)
	o.Loc = l.loc
	o.Results[0].Name = "%0"
	l.out = append(l.out, o)
	return o.Results[0]
}

// wide is an integer as i64.
func (l *lowering) wide(v *ttir.Value) *ttir.Value {
	if v.Type.Element().Bits == 64 {
		return v
	}
	return l.make("arith.extsi", []*ttir.Value{v}, v.Type.With(ttir.IntType(64)))
}

// wides are integers as i64.
func (l *lowering) wides(o *ttir.Op, all []*ttir.Value) (out []*ttir.Value) {
	for _, v := range all {
		if v.Type.Kind != ttir.Int || v.Type.Bits > 64 {
			refuse(o, "sizes, strides and offsets are integers")
		}
		out = append(out, l.wide(v))
	}
	return out
}
