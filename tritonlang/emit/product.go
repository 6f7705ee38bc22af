// Products by sums of products in registers: for integers, batches, and sizes that are no multiples of 8. And the layouts of
// products and scans.
//
//	for (ushort k = 0; k < 32; k++) {
//	    float x[4], y[4];                                      // of a thread's 4 rows and 4 columns
//	    ...
//	    for (ushort r = 0; r < 16; r++) sums[r] = fma(x[r >> 2], y[r & 3], sums[r]);
//	}
//
// A thread with a square of 4 by 4 elements reads 8 numbers for 16 products. Both factors are in threadgroup memory as a
// whole, and a product of two that do not fit there is out of resources.

package emit

import (
	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// productLayout gives each thread a square of a product, so that a row or column that it loads serves several elements.
func productLayout(shape []int, warps int) layout.Layout {
	first := layout.Dims(shape)
	d := len(shape)
	ns, ms := layout.Log(shape[d-1]), layout.Log(shape[d-2])
	// Registers for a square of 4 by 4, if every thread still has work.
	spare := max(0, first[d]-layout.Lanes-warps)
	n := min(2, ns, spare)
	m := min(2, ms, max(0, spare-n))
	// First the bits in registers, of columns and rows, then the rest of both: columns before rows, so that neighbouring lanes
	// hold neighbouring columns.
	var order []int
	add := func(from, to int) {
		for b := from; b < to; b++ {
			order = append(order, b)
		}
	}
	add(first[d-1], first[d-1]+n)
	add(first[d-2], first[d-2]+m)
	add(first[d-1]+n, first[d-1]+ns)
	add(first[d-2]+m, first[d])
	return layout.Blocked(order, n+m, warps)
}

// scanLayout gives each thread elements that follow each other along an axis, the next ones to the next lanes and the next
// ones to the next SIMD groups.
func scanLayout(shape []int, axis, warps int) layout.Layout {
	first := layout.Dims(shape)
	low, n := first[axis], layout.Log(shape[axis])
	total := first[len(shape)]
	spare := max(0, total-layout.Lanes-warps)
	vec := min(spare, n)
	// The axis first: its lowest bits are registers, the next ones lanes, the last ones SIMD groups.
	var order []int
	for b := low; b < low+n; b++ {
		order = append(order, b)
	}
	for b := range total {
		if b < low || b >= low+n {
			order = append(order, b)
		}
	}
	return layout.Blocked(order, vec, warps)
}

// A product's factors are wanted in their own homes, since they go to threadgroup memory from any layout.
func init() {
	rules["tt.dot"] = (*emitter).product
	wantRules["tt.dot"] = func(p *plan, o *ttir.Op) {
		if p.unused(o) {
			return
		}
		p.want(o.Operands[0], p.homeOf(o.Operands[0]))
		p.want(o.Operands[1], p.homeOf(o.Operands[1]))
		p.want(o.Operands[2], p.homeOf(o.Results[0]))
	}
}

// product emits tt.dot: both factors go to threadgroup memory, and each thread adds up the products of its elements.
func (e *emitter) product(o *ttir.Op) {
	if e.plan.unused(o) {
		return
	}
	v := o.Results[0]
	if canMatrix(o) && e.fits(o) {
		e.matrixProduct(o)
		return
	}
	p := &product{e: e, o: o, l: e.plan.homeOf(v), shape: v.Type.Shape}
	p.ctype = "float"
	if v.Type.IsInt(0) {
		p.ctype = "int"
	}
	p.a, p.b = p.stage(0), p.stage(1)
	c := e.get(o.Operands[2], p.l).regs
	sums := e.array(v.Name, p.ctype, p.l.Registers())
	e.whole(p.l.Registers(), func(i at) string {
		return e.element(sums, nil, i) + " = " + toFloatOrInt(o.Operands[2].Type, e.element(c, nil, i)) + ";"
	})
	e.reads(p.a)
	e.reads(p.b)
	p.multiply(sums)
	e.done(v, &value{regs: e.narrowed(v, sums, p.l)})
}

// product is a product while it is emitted by sums of products.
type product struct {
	e     *emitter
	o     *ttir.Op
	l     layout.Layout
	shape []int
	ctype string
	a, b  *area
}

// stage writes a factor to threadgroup memory.
func (p *product) stage(i int) *area {
	v := p.o.Operands[i]
	l := p.e.plan.homeOf(v)
	x := p.e.materialize(v, p.e.get(v, l), l)
	memory, bytes := sharedType(x.ctype)
	a := p.e.area(memory, bytes, v.Type.Count())
	p.e.fill(a, x, l)
	return a
}

// toFloatOrInt is an element as it is multiplied or added.
func toFloatOrInt(t *ttir.Type, text string) string {
	if t.IsInt(0) {
		return "int(" + text + ")"
	}
	return toFloat(t.Element().Name, text)
}

// factor maps bits of the product to bits of a factor, of dimension d of the product and the batch; None for others.
func (p *product) factor(i, d int) func(int) int {
	first := layout.Dims(p.o.Operands[i].Type.Shape)
	return func(bit int) int {
		dim, k := layout.DimOf(p.shape, bit)
		if dim == d || dim < len(p.shape)-2 {
			return first[dim] + k
		}
		return layout.None
	}
}

// multiply adds a row of one factor times a column of the other, element by element; what several registers share is read
// once.
func (p *product) multiply(sums *reg) {
	e, n := p.e, len(p.shape)
	k := p.o.Operands[0].Type.Shape[n-1]
	e.block("for (ushort k = 0; k < "+itoa(k)+"; k++)", false, false, func() {
		// A row's element serves all columns that a thread has, and a column's all rows.
		x := p.read(0, n-2, p.a, "k")
		y := p.read(1, n-1, p.b, "k * "+itoa(p.shape[n-1]))
		e.whole(sums.n, func(i at) string {
			s := e.element(sums, nil, i)
			if p.ctype == "int" {
				return s + " += " + e.element(x, nil, i) + " * " + e.element(y, nil, i) + ";"
			}
			return s + " = fma(" + e.element(x, nil, i) + ", " + e.element(y, nil, i) + ", " + s + ");"
		})
	})
}

// read reads the elements of a factor that a thread needs for one step of the sum.
func (p *product) read(i, d int, a *area, step string) *reg {
	e, to := p.e, p.factor(i, d)
	// Of the factor, of registers that it has.
	var bits []int
	index := nones(len(p.l.Reg))
	// Registers that differ in a bit that the factor lacks share its element.
	for r, b := range p.l.Reg {
		if to(b) != layout.None {
			index[r] = len(bits)
			bits = append(bits, to(b))
		}
	}
	x := e.array("%factor", p.ctype, 1<<len(bits))
	e.whole(x.n, func(r at) string {
		terms := append(threadPart(p.l, to), step)
		if r.name != "" {
			terms = append(terms, scatter(r.name, bits)...)
		}
		return e.element(x, nil, r) + " = " + toFloatOrInt(p.o.Operands[i].Type, a.name+"["+sum(terms, 0)+"]") + ";"
	})
	x.index = index
	return x
}

// fits reports whether the sums of a product can go from matrices to registers through threadgroup memory.
func (e *emitter) fits(o *ttir.Op) bool {
	if e.fragments[o.Operands[2]] != nil {
		return true
	}
	_, ok := e.shares(o).parts(e.plan.homeOf(o.Results[0]))
	return ok
}
