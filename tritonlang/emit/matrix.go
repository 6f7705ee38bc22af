// Products by matrices of SIMD groups (simdgroup_matrix).
//
// Both factors go to threadgroup memory, as half where that is exact and as float otherwise, in panels if they are large. Each SIMD group multiplies its
// share of 8 by 8 matrices and adds up in float. The sums come to registers through threadgroup memory, since which lane has
// which element of a matrix is documented nowhere.
//
// A loop that does nothing but add products to a value that begins with zero keeps it in matrices until it ends: a matrix
// product moves its sums once.

package emit

import (
	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// fragments are the sums of a product in matrices of 8 by 8 elements that SIMD groups hold. Which lane has which element
// is not documented, so they come to registers through threadgroup memory. SIMD groups are a grid; each has every so many
// rows and columns of matrices.
type fragments struct {
	name string
	// Of matrices that a SIMD group has.
	rows, cols int
	// SIMD groups.
	down, across int
	// Elements.
	m, n           int
	warpRow, warpN string
	// The condition that a SIMD group has matrices; "" if all have.
	idle string
}

// canMatrix reports whether a product goes through matrices: of floats, in whole matrices.
func canMatrix(o *ttir.Op) bool {
	a, b, c := o.Operands[0].Type, o.Operands[1].Type, o.Results[0].Type
	if len(c.Shape) != 2 || !a.IsFloat() || !b.IsFloat() || !c.IsFloat() {
		return false
	}
	return c.Shape[0]%8 == 0 && c.Shape[1]%8 == 0 && a.Shape[1]%8 == 0
}

// matrixType is what factors are in matrices: half where it holds all values of both, else float.
func matrixType(o *ttir.Op) string {
	for _, v := range o.Operands[:2] {
		if t := v.Type.Element(); t.Name != "f16" && t.Bits != 8 {
			return "float"
		}
	}
	return "half"
}

// newFragments declares sums of zero for a product.
func (e *emitter) newFragments(o *ttir.Op) *fragments {
	f := e.shares(o)
	f.name = e.temp("sums")
	e.say("simdgroup_float8x8 ", f.name, "[", itoa(f.rows*f.cols), "];")
	e.say("for (ushort i = 0; i < ", itoa(f.rows*f.cols), "; i++) ", f.name, "[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);")
	return f
}

// shares divides the matrices of a product among SIMD groups.
func (e *emitter) shares(o *ttir.Op) *fragments {
	c := o.Results[0].Type
	f := &fragments{m: c.Shape[0], n: c.Shape[1], down: 1, across: 1}
	// The longer side is halved, so that each SIMD group has a square and loads little for many
	// products.
	for f.down*f.across < 1<<e.plan.Warps {
		switch {
		case f.n/8/f.across > 1 && f.n/f.across >= f.m/f.down:
			f.across *= 2
		case f.m/8/f.down > 1:
			f.down *= 2
		case f.n/8/f.across > 1:
			f.across *= 2
		default:
			f.idle = "warp < " + itoa(f.down*f.across)
		}
		if f.idle != "" {
			break
		}
	}
	f.rows, f.cols = f.m/8/f.down, f.n/8/f.across
	f.warpRow, f.warpN = "(warp >> "+itoa(layout.Log(f.across))+")", "(warp & "+itoa(f.across-1)+")"
	return f
}

// busy runs do in the SIMD groups that have matrices.
func (e *emitter) busy(f *fragments, do func()) {
	if f.idle == "" {
		do()
		return
	}
	e.block("if ("+f.idle+")", true, false, do)
}

// multiplyInto adds a product to fragments. Factors that are too large for threadgroup memory go there in panels: some
// columns of the first and the same rows of the second at a time.
func (e *emitter) multiplyInto(f *fragments, o *ttir.Op) {
	t := matrixType(o)
	k := o.Operands[0].Type.Shape[1]
	depth := panel(f.m, f.n, k, t)
	for first := 0; first < k; first += depth {
		a := e.stageAs(o.Operands[0], t, k/depth, func(n string) (string, string) {
			return "(" + n + ") % " + itoa(k) + " / " + itoa(depth) + " == " + itoa(first/depth), "(" + n + ") / " + itoa(k) + " * " + itoa(depth) + " + (" + n + ") % " + itoa(depth)
		})
		b := e.stageAs(o.Operands[1], t, k/depth, func(n string) (string, string) {
			return "(" + n + ") / " + itoa(depth*f.n) + " == " + itoa(first/depth), "(" + n + ") % " + itoa(depth*f.n)
		})
		e.multiplyPanel(f, t, depth, a, b)
	}
}

// panel is how many columns of the first factor and rows of the second fit into threadgroup memory at a time.
func panel(m, n, k int, t string) int {
	bytes := 4
	if t == "half" {
		bytes = 2
	}
	for k > 8 && (m+n)*k*bytes > tree.MostThreadgroup {
		k /= 2
	}
	return k
}

// multiplyPanel adds the product of factors of a depth that are in threadgroup memory.
func (e *emitter) multiplyPanel(f *fragments, t string, k int, a, b *tree.Area) {
	e.reads(a)
	e.reads(b)
	e.busy(f, func() {
		e.block("for (ushort k = 0; k < "+itoa(k)+"; k += 8)", false, false, func() {
			x, y := e.temp("a"), e.temp("b")
			e.say("simdgroup_", t, "8x8 ", x, "[", itoa(f.rows), "];")
			e.say("simdgroup_", t, "8x8 ", y, "[", itoa(f.cols), "];")
			e.say("for (ushort i = 0; i < ", itoa(f.rows), "; i++) simdgroup_load(", x, "[i], ", a.Name, " + (i * ", itoa(f.down), " + ", f.warpRow, ") * ", itoa(8*k), " + k, ", itoa(k), ");")
			e.say("for (ushort j = 0; j < ", itoa(f.cols), "; j++) simdgroup_load(", y, "[j], ", b.Name, " + k * ", itoa(f.n), " + (j * ", itoa(f.across), " + ", f.warpN, ") * 8, ", itoa(f.n), ");")
			e.block("for (ushort i = 0; i < "+itoa(f.rows)+"; i++)", false, false, func() {
				at := f.name + "[i * " + itoa(f.cols) + " + j]"
				e.say("for (ushort j = 0; j < ", itoa(f.cols), "; j++) simdgroup_multiply_accumulate(", at, ", ", x, "[i], ", y, "[j], ", at, ");")
			})
		})
	})
}

// stageAs writes a factor to threadgroup memory as floats of a type: all of it, or one of some panels, for which part says
// by an element's number whether it belongs to it and where it goes.
func (e *emitter) stageAs(v *ttir.Value, t string, panels int, part func(number string) (condition, place string)) *tree.Area {
	l := e.plan.HomeOf(v)
	x := e.get(v, l).regs
	bytes := 4
	if t == "half" {
		bytes = 2
	}
	a := e.area(t, bytes, v.Type.Count()/panels)
	e.writes(a)
	e.owned(l, func() {
		e.whole(l.Registers(), func(i tree.RegisterNumber) string {
			text := e.element(x, nil, i)
			if v.Type.Element().Name != "f16" || t != "half" {
				text = t + "(" + toFloat(v.Type.Element().Name, text) + ")"
			}
			number := address(l, i)
			if panels == 1 {
				return a.Name + "[" + number + "] = " + text + ";"
			}
			condition, place := part(number)
			return "if (" + condition + ") " + a.Name + "[" + place + "] = " + text + ";"
		})
	})
	return a
}

// mostFragmentBytes is how much threadgroup memory sums take on their way to registers; larger ones go in parts.
const mostFragmentBytes = 16 << 10

// parts is in how many parts sums go to registers: the highest register bits of a layout, which must be the highest bits of
// rows, tell them apart.
func (f *fragments) parts(l layout.Layout) (bits int, ok bool) {
	// The highest rows are the highest bits of an element's number.
	top := l.Bits() - 1
	for f.m*f.n*4>>bits > mostFragmentBytes {
		k := len(l.Reg) - 1 - bits
		if k < 0 || l.Reg[k] != top-bits || f.rows>>(bits+1) == 0 {
			return 0, f.m*f.n*4 <= tree.MostThreadgroup
		}
		bits++
	}
	return bits, true
}

// collect brings sums to registers of a layout, and adds what is in others, if there is anything.
func (e *emitter) collect(like string, f *fragments, l layout.Layout, plus func(i tree.RegisterNumber) string) *tree.Registers {
	// Part by part through the same area, whose barriers follow from the touches.
	bits, _ := f.parts(l)
	r := e.array(like, "float", l.Registers())
	a := e.area("float", 4, f.m*f.n>>bits)
	rows, regs := f.rows>>bits, l.Registers()>>bits
	part := l
	part.Reg = l.Reg[:len(l.Reg)-bits]
	for c := range 1 << bits {
		e.writes(a)
		e.busy(f, func() {
			e.block("for (ushort i = 0; i < "+itoa(rows)+"; i++)", false, false, func() {
				e.say("for (ushort j = 0; j < ", itoa(f.cols), "; j++) simdgroup_store(", f.name, "[(i + ", itoa(c*rows), ") * ", itoa(f.cols), " + j], ",
					a.Name, " + (i * ", itoa(f.down), " + ", f.warpRow, ") * ", itoa(8*f.n), " + (j * ", itoa(f.across), " + ", f.warpN, ") * 8, ", itoa(f.n), ");")
			})
		})
		e.reads(a)
		e.whole(regs, func(i tree.RegisterNumber) string {
			number := i
			to := e.element(r, nil, i)
			if c > 0 {
				base := ""
				if i.Name != "" {
					base = i.Name + " + "
				}
				to = r.Name + "[" + base + itoa(c*regs) + "]"
			}
			text := a.Name + "[" + address(part, i) + "]"
			if plus != nil {
				text += " + " + plus(tree.RegisterNumber{Name: number.Name, Above: c * regs, Top: layout.Log(regs)})
			}
			return to + " = " + text + ";"
		})
	}
	return r
}

// isZero reports whether a tensor is a constant zero.
func isZero(v *ttir.Value) bool {
	if v.Def == nil || v.Def.Name != "arith.constant" {
		return false
	}
	all, _ := ttir.Literal(v.Def)
	return len(all) == 1 && all[0].Float == 0 && !all[0].IsBit && all[0].Int == 0
}

// matrixProduct emits tt.dot with matrices: into the fragments that a loop carries, or into its own.
func (e *emitter) matrixProduct(o *ttir.Op) {
	v := o.Results[0]
	if f := e.fragments[o.Operands[2]]; f != nil {
		e.multiplyInto(f, o)
		e.fragments[v] = f
		return
	}
	l := e.plan.HomeOf(v)
	f := e.newFragments(o)
	e.multiplyInto(f, o)
	c := o.Operands[2]
	var plus func(tree.RegisterNumber) string
	if !isZero(c) {
		x := e.get(c, l).regs
		plus = func(i tree.RegisterNumber) string { return toFloat(c.Type.Element().Name, e.element(x, nil, i)) }
	}
	e.done(v, &value{regs: e.narrowed(v, e.collect(nameOf(v), f, l, plus), l)})
}

// narrowed rounds float registers to a tensor's type.
func (e *emitter) narrowed(v *ttir.Value, sums *tree.Registers, l layout.Layout) *tree.Registers {
	t := v.Type.Element()
	if t.Name == "f32" || t.Kind != ttir.Float {
		return sums
	}
	return e.combine(nameOf(v), cType(t), l, []*tree.Registers{sums}, func(x []string) string { return rounded(t.Name, "", x[0]) })
}

// stays reports whether a loop only adds products to a value, which begins with zero: then it stays in fragments. It is
// the product, nil if the value is used otherwise.
func (e *emitter) stays(v, next, first *ttir.Value, b *ttir.Block) *ttir.Op {
	o := next.Def
	if !isZero(first) || o == nil || o.Name != "tt.dot" || o.Operands[2] != v || !canMatrix(o) || e.counts[v] != 1 || e.counts[next] != 1 || v.Type.Element().Name != "f32" || !e.fits(o) {
		return nil
	}
	for _, x := range b.Ops {
		if x == o {
			return o
		}
	}
	return nil
}
