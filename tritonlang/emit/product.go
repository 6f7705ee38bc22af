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
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// A product's factors are wanted in their own homes, since they go to threadgroup memory from any layout.
func init() {
	rules["tt.dot"] = (*emitter).product
	plan.WantRules["tt.dot"] = func(p *plan.Plan, o *ttir.Op) {
		if unused(p, o) {
			return
		}
		p.Want(o.Operands[0], p.HomeOf(o.Operands[0]))
		p.Want(o.Operands[1], p.HomeOf(o.Operands[1]))
		p.Want(o.Operands[2], p.HomeOf(o.Results[0]))
	}
}

// product emits tt.dot: both factors go to threadgroup memory, and each thread adds up the products of its elements.
func (e *emitter) product(o *ttir.Op) {
	if unused(e.plan, o) {
		return
	}
	v := o.Results[0]
	if canMatrix(o) && e.fits(o) {
		e.matrixProduct(o)
		return
	}
	p := &product{e: e, o: o, l: e.plan.HomeOf(v), shape: v.Type.Shape}
	p.ctype = "float"
	if v.Type.IsInt(0) {
		p.ctype = "int"
	}
	p.a, p.b = p.stage(0), p.stage(1)
	c := e.get(o.Operands[2], p.l).regs
	sums := e.array(v.Name, p.ctype, p.l.Registers())
	e.whole(p.l.Registers(), func(i tree.RegisterNumber) string {
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
	a, b  *tree.Area
}

// stage writes a factor to threadgroup memory.
func (p *product) stage(i int) *tree.Area {
	v := p.o.Operands[i]
	l := p.e.plan.HomeOf(v)
	x := p.e.materialize(v, p.e.get(v, l), l)
	memory, bytes := sharedType(x.CType)
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
func (p *product) multiply(sums *tree.Registers) {
	e, n := p.e, len(p.shape)
	k := p.o.Operands[0].Type.Shape[n-1]
	e.block("for (ushort k = 0; k < "+itoa(k)+"; k++)", false, false, func() {
		// A row's element serves all columns that a thread has, and a column's all rows.
		x := p.read(0, n-2, p.a, "k")
		y := p.read(1, n-1, p.b, "k * "+itoa(p.shape[n-1]))
		e.whole(sums.N, func(i tree.RegisterNumber) string {
			s := e.element(sums, nil, i)
			if p.ctype == "int" {
				return s + " += " + e.element(x, nil, i) + " * " + e.element(y, nil, i) + ";"
			}
			return s + " = fma(" + e.element(x, nil, i) + ", " + e.element(y, nil, i) + ", " + s + ");"
		})
	})
}

// read reads the elements of a factor that a thread needs for one step of the sum.
func (p *product) read(i, d int, a *tree.Area, step string) *tree.Registers {
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
	e.whole(x.N, func(r tree.RegisterNumber) string {
		terms := append(threadPart(p.l, to), step)
		if r.Name != "" {
			terms = append(terms, tree.Scatter(r.Name, bits)...)
		}
		return e.element(x, nil, r) + " = " + toFloatOrInt(p.o.Operands[i].Type, a.Name+"["+tree.Sum(terms, 0)+"]") + ";"
	})
	x.Index = index
	return x
}

// fits reports whether the sums of a product can go from matrices to registers through threadgroup memory.
func (e *emitter) fits(o *ttir.Op) bool {
	if e.fragments[o.Operands[2]] != nil {
		return true
	}
	_, ok := e.shares(o).parts(e.plan.HomeOf(o.Results[0]))
	return ok
}
