// Accesses through descriptors and block pointers: pointers, and masks of what lies inside.

package clean

import (
	"slices"
	"strconv"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// lowerings has what becomes of operations on descriptors and block pointers.
var lowerings = map[string]func(*lowering, *ttir.Op){
	"tt.make_tensor_descriptor": (*lowering).makeDescriptor,
	"tt.make_tensor_ptr":        (*lowering).makePointer,
	"tt.advance":                (*lowering).advance,
	"tt.descriptor_load":        func(l *lowering, o *ttir.Op) { l.load(o, l.block(o)) },
	"tt.descriptor_store":       func(l *lowering, o *ttir.Op) { l.store(o, l.block(o)) },
	"tt.descriptor_reduce":      (*lowering).reduce,
	"tt.descriptor_gather":      func(l *lowering, o *ttir.Op) { l.load(o, l.rows(o)) },
	"tt.descriptor_scatter":     func(l *lowering, o *ttir.Op) { l.store(o, l.rows(o)) },
	"tt.load":                   (*lowering).loadBlock,
	"tt.store":                  (*lowering).storeBlock,
	"arith.select":              (*lowering).choose,
}

// paddingNaN is the value of an attribute padding: what lies outside reads as NaN.
const paddingNaN = 2

// integer makes a constant.
func (l *lowering) integer(n int64, t *ttir.Type) *ttir.Value {
	text := strconv.FormatInt(n, 10)
	if t.IsInt(1) {
		text = strconv.FormatBool(n != 0)
	}
	return l.spell(text, t)
}

// spell makes a constant whose elements are given as text.
func (l *lowering) spell(text string, t *ttir.Type) *ttir.Value {
	a := ttir.AttrValue{Text: text, Word: text}
	if t.IsTensor() {
		a.Text = "dense<" + text + ">"
	}
	return l.make("arith.constant", nil, t, ttir.Attr{Name: "value", Value: a})
}

// makeDescriptor: base, sizes, strides.
func (l *lowering) makeDescriptor(o *ttir.Op) {
	n := len(shapeOf(o.Results[0].Type))
	l.count(o, 1+2*n)
	// Padding is a part as well, since a host decides it when the kernel runs.
	pad := int64(0)
	if o.Int("padding", 1) == paddingNaN {
		pad = 1
	}
	l.parts[o.Results[0]] = append(append([]*ttir.Value{o.Operands[0]}, l.wides(o, o.Operands[1:])...), l.integer(pad, ttir.IntType(1)))
}

// makePointer: base, sizes, strides, offsets.
func (l *lowering) makePointer(o *ttir.Op) {
	l.count(o, 1+3*len(shapeOf(o.Results[0].Type)))
	l.parts[o.Results[0]] = append([]*ttir.Value{o.Operands[0]}, l.wides(o, o.Operands[1:])...)
}

// count refuses operations with other operands than their types ask for.
func (l *lowering) count(o *ttir.Op, want int) {
	if len(o.Operands) != want {
		refuse(o, "want "+strconv.Itoa(want)+" operands, got "+strconv.Itoa(len(o.Operands)))
	}
}

// advance adds to offsets.
func (l *lowering) advance(o *ttir.Op) {
	n := len(shapeOf(o.Operands[0].Type))
	l.count(o, 1+n)
	parts := slices.Clone(l.of(o.Operands[0]))
	for i, v := range l.wides(o, o.Operands[1:]) {
		at := 1 + 2*n + i
		parts[at] = l.make("arith.addi", []*ttir.Value{parts[at], v}, v.Type)
	}
	l.parts[o.Results[0]] = parts
}

// choose selects each part.
func (l *lowering) choose(o *ttir.Op) {
	x, y := l.of(o.Operands[1]), l.of(o.Operands[2])
	var parts []*ttir.Value
	// Sizes and strides too: the two may be of different arrays.
	for i := range x {
		parts = append(parts, l.make("arith.select", []*ttir.Value{o.Operands[0], x[i], y[i]}, x[i].Type))
	}
	l.parts[o.Results[0]] = parts
}

// touched is what an access touches: pointers, and which of them lie inside; nil for all.
//
// It is made of operations on tensors of one dimension as far as possible: these are few elements, and what is known of them,
// such as that they follow each other, is known of the whole.
type touched struct {
	pointers, inside *ttir.Value
	// What lies outside reads as: NaN if this value is true, 0 if it is nil.
	nan *ttir.Value
	// Operands behind the offsets.
	rest []*ttir.Value
}

// index are the numbers of a block along one dimension, from an offset.
func (l *lowering) index(offset *ttir.Value, n int) *ttir.Value {
	attr := func(name string, n int) ttir.Attr {
		return ttir.Attr{Name: name, Value: ttir.AttrValue{Text: strconv.Itoa(n) + " : i32", Ints: []int64{int64(n)}}}
	}
	t := ttir.TensorOf([]int{n}, ttir.IntType(64))
	r := l.make("tt.make_range", nil, ttir.TensorOf([]int{n}, ttir.IntType(32)), attr("end", n), attr("start", 0))
	start := l.make("tt.splat", []*ttir.Value{offset}, t)
	return l.make("arith.addi", []*ttir.Value{start, l.wide(r)}, t)
}

// spread gives numbers along one dimension the shape of a block.
func (l *lowering) spread(v *ttir.Value, d int, shape []int) *ttir.Value {
	// A dimension of 1 for each other one, from the first on, so that axes are those of the result.
	for i := range shape {
		if i == d {
			continue
		}
		was := v.Type.Shape
		axis := i
		attr := ttir.Attr{Name: "axis", Value: ttir.AttrValue{Text: strconv.Itoa(axis) + " : i32", Ints: []int64{int64(axis)}}}
		v = l.make("tt.expand_dims", []*ttir.Value{v}, ttir.TensorOf(slices.Insert(slices.Clone(was), axis, 1), v.Type.Elem), attr)
	}
	if slices.Equal(v.Type.Shape, shape) {
		return v
	}
	return l.make("tt.broadcast", []*ttir.Value{v}, ttir.TensorOf(shape, v.Type.Elem))
}

// touch makes the pointers and masks of a block of a shape. index gives the numbers along each dimension; check says
// which are compared with the sizes.
func (l *lowering) touch(base *ttir.Value, sizes, strides, index []*ttir.Value, shape []int, check func(int) bool) touched {
	whole := ttir.TensorOf(shape, ttir.IntType(64))
	var t touched
	t.pointers = l.make("tt.splat", []*ttir.Value{base}, ttir.TensorOf(shape, base.Type))
	// Dimension by dimension: a step, and a comparison that is broadcast as late as possible.
	for d, v := range index {
		stride := l.make("tt.splat", []*ttir.Value{strides[d]}, v.Type)
		step := l.spread(l.make("arith.muli", []*ttir.Value{v, stride}, v.Type), d, shape)
		t.pointers = l.make("tt.addptr", []*ttir.Value{t.pointers, step}, t.pointers.Type)
		if !check(d) {
			continue
		}
		truth := v.Type.With(ttir.IntType(1))
		predicate := func(word string, x, y *ttir.Value) *ttir.Value {
			return l.make("arith.cmpi", []*ttir.Value{x, y}, truth, ttir.Attr{Name: "predicate", Value: ttir.AttrValue{Text: word, Word: word}})
		}
		above := predicate("sge", v, l.integer(0, v.Type))
		below := predicate("slt", v, l.make("tt.splat", []*ttir.Value{sizes[d]}, v.Type))
		in := l.spread(l.make("arith.andi", []*ttir.Value{above, below}, truth), d, shape)
		if t.inside != nil {
			in = l.make("arith.andi", []*ttir.Value{t.inside, in}, whole.With(ttir.IntType(1)))
		}
		t.inside = in
	}
	return t
}

// block is what an access to a block of a descriptor touches: descriptor, offsets, and what follows.
func (l *lowering) block(o *ttir.Op) touched {
	parts, shape := l.of(o.Operands[0]), shapeOf(o.Operands[0].Type)
	n := len(shape)
	if len(o.Operands) < 1+n {
		l.count(o, 1+n)
	}
	var index []*ttir.Value
	for i, v := range l.wides(o, o.Operands[1:1+n]) {
		index = append(index, l.index(v, shape[i]))
	}
	t := l.touch(parts[0], parts[1:1+n], parts[1+n:1+2*n], index, shape, func(int) bool { return true })
	t.nan, t.rest = parts[1+2*n], o.Operands[1+n:]
	return t
}

// rows is what an access to rows of a descriptor touches: descriptor, row numbers, first column, and what follows.
func (l *lowering) rows(o *ttir.Op) touched {
	parts, block := l.of(o.Operands[0]), shapeOf(o.Operands[0].Type)
	if len(block) != 2 || len(o.Operands) < 3 || len(o.Operands[1].Type.Shape) != 1 || !o.Operands[1].Type.IsInt(0) || !o.Operands[2].Type.IsInt(0) || o.Operands[2].Type.IsTensor() {
		refuse(o, "want a descriptor of two dimensions, and numbers of rows")
	}
	shape := []int{o.Operands[1].Type.Shape[0], block[1]}
	index := []*ttir.Value{l.wide(o.Operands[1]), l.index(l.wide(o.Operands[2]), block[1])}
	t := l.touch(parts[0], parts[1:3], parts[3:5], index, shape, func(int) bool { return true })
	t.nan, t.rest = parts[5], o.Operands[3:]
	return t
}

// load makes a load, and gives it the shape that is asked for.
func (l *lowering) load(o *ttir.Op, t touched) {
	l.finishLoad(o, t, nil)
}

// finishLoad makes a load with attributes.
func (l *lowering) finishLoad(o *ttir.Op, t touched, attrs []ttir.Attr) {
	kind := ttir.TensorOf(t.pointers.Type.Shape, t.pointers.Type.Elem.Elem)
	// Without a mask every element is inside.
	operands := []*ttir.Value{t.pointers}
	if t.inside != nil {
		operands = append(operands, t.inside, l.outside(t.nan, kind))
	}
	v := l.make("tt.load", operands, kind, attrs...)
	// A block may be asked for in another shape of as many elements.
	if !v.Type.Same(o.Results[0].Type) {
		v = l.make("tt.reshape", []*ttir.Value{v}, o.Results[0].Type)
	}
	v.Name = o.Results[0].Name
	l.sub[o.Results[0]] = v
}

// nans are NaN as bits, by type.
var nans = map[string]string{"f32": "0x7FC00000", "f16": "0x7E00", "bf16": "0x7FC0", "f64": "0x7FF8000000000000", "f8E5M2": "0x7E", "f8E4M3FN": "0x7F"}

// outside is what elements outside read as.
func (l *lowering) outside(nan *ttir.Value, t *ttir.Type) *ttir.Value {
	if !t.IsFloat() {
		return l.integer(0, t)
	}
	// Of a type without NaN, or where padding is known to be zero, nothing is chosen.
	zero := l.spell("0.000000e+00", t)
	bits := nans[t.Elem.Name]
	if nan == nil || bits == "" {
		return zero
	}
	return l.make("arith.select", []*ttir.Value{nan, l.spell(bits, t), zero}, t)
}

// store makes a store of the operand behind the offsets.
func (l *lowering) store(o *ttir.Op, t touched) {
	if len(t.rest) != 1 {
		refuse(o, "want one value to store")
	}
	l.finishStore(t, t.rest[0], nil)
}

// finishStore makes a store with attributes. A value of as many elements gets the shape of the block.
func (l *lowering) finishStore(t touched, v *ttir.Value, attrs []ttir.Attr) {
	if want := ttir.TensorOf(t.pointers.Type.Shape, v.Type.Element()); !v.Type.Same(want) {
		v = l.make("tt.reshape", []*ttir.Value{v}, want)
	}
	operands := []*ttir.Value{t.pointers, v}
	if t.inside != nil {
		operands = append(operands, t.inside)
	}
	s := ttir.New("tt.store", operands, nil, attrs...)
	s.Loc = l.loc
	l.out = append(l.out, s)
}

// reduce combines a block with memory by atomic operations.
func (l *lowering) reduce(o *ttir.Op) {
	kind, t := o.Word("kind"), o.Operands[0].Type
	if kind == "inc" || kind == "dec" || t.Elem.Kind == ttir.Float && kind != "add" {
		refuse(o, "reductions to memory by "+kind+" are not supported for "+t.Elem.String())
	}
	// The words of tt.atomic_rmw: floats and unsigned integers have their own.
	if t.Elem.Kind == ttir.Float {
		kind = "fadd"
	}
	if t.Unsigned && (kind == "min" || kind == "max") {
		kind = "u" + kind
	}
	to := l.block(o)
	if len(to.rest) != 1 {
		refuse(o, "want one value to combine")
	}
	word := func(name, text string) ttir.Attr {
		return ttir.Attr{Name: name, Value: ttir.AttrValue{Text: text, Word: text}}
	}
	v := to.rest[0]
	if want := ttir.TensorOf(t.Shape, t.Elem); !v.Type.Same(want) {
		v = l.make("tt.reshape", []*ttir.Value{v}, want)
	}
	l.make("tt.atomic_rmw", []*ttir.Value{to.pointers, v, to.inside}, v.Type, word("atomic_rmw_op", kind), word("sem", "relaxed"), word("scope", "gpu"))
}

// pointed is what an access through a block pointer touches.
func (l *lowering) pointed(o *ttir.Op) (touched, []ttir.Attr) {
	parts, shape := l.of(o.Operands[0]), shapeOf(o.Operands[0].Type)
	n := len(shape)
	// Only dimensions that the program names are compared.
	checked, _ := o.Attr("boundaryCheck")
	var index []*ttir.Value
	for i, v := range parts[1+2*n : 1+3*n] {
		index = append(index, l.index(v, shape[i]))
	}
	t := l.touch(parts[0], parts[1:1+n], parts[1+n:1+2*n], index, shape, func(d int) bool { return slices.Contains(checked.Ints, int64(d)) })
	if o.Int("padding", 1) == paddingNaN {
		t.nan = l.integer(1, ttir.IntType(1))
	}
	attrs := slices.DeleteFunc(slices.Clone(o.Attrs), func(a ttir.Attr) bool { return a.Name == "boundaryCheck" || a.Name == "padding" })
	return t, attrs
}

// loadBlock is a load through a block pointer.
func (l *lowering) loadBlock(o *ttir.Op) {
	t, attrs := l.pointed(o)
	l.finishLoad(o, t, attrs)
}

// storeBlock is a store through a block pointer.
func (l *lowering) storeBlock(o *ttir.Op) {
	t, attrs := l.pointed(o)
	l.finishStore(t, o.Operands[1], attrs)
}
