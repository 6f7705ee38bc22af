package graph

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Combine computes a row of two constants, the second of which broadcasts to the first in these dimensions. It may remember
// what it has computed; the result is of the dtype and shape of the first.
type Combine func(row *op.Row, x, y *op.Const, dims shape.Shape) (*op.Const, error)

// TakeFactors is the graph with factors of products in their weights: where the result of a conv or a matmul with a constant
// weight is multiplied or divided by constants of its channels, as a batch normalization does, the weight is; and so is
// a constant that is added in between. A second constant that is added joins the first.
//
//	add(multiply(add(conv(x, w), b), k), t)  becomes  add(conv(x, w * k), b * k + t)
//
// The sums have other roundings: those of the products of w and k, each half an ulp, take the place of those of the
// result. Halves are left alone, because their weights would be rounded to halves. A factor stays where it would make an element
// of a constant infinite, undefined or subnormal: the calls one by one may then give numbers all the same.
//
// combine computes the new constants. Where it fails, the calls stay as they are.
func (g *Graph) TakeFactors(combine Combine) *Graph {
	f := &factors{combine: combine, uses: g.uses(), chains: make([]*chain, len(g.values))}
	to := g.replacing(func(n *Node, instead []Value) bool {
		v, ok := f.take(g, n)
		if ok {
			instead[n.Out[0]] = v
		}
		return !ok
	})
	if len(to.nodes) == len(g.nodes) {
		return g
	}
	to.values = slices.Clone(to.values)
	to.putConstants(f)
	return to
}

// factors is what TakeFactors knows of a graph.
type factors struct {
	combine Combine
	uses    []int    // by value: how often it is read
	chains  []*chain // by value: of what product it is the result
}

// chain is a product and a constant that is added to its result.
type chain struct {
	product, bias *Node // of the graph that was given; bias is nil where nothing has been added
	out           Value // the latest result
	weight, added *op.Const
	changed       bool
	place         int // of the constant among the operands of bias
}

// uses counts the reads of each value.
func (g *Graph) uses() []int {
	uses := make([]int, len(g.values))
	for i := range g.nodes {
		for _, v := range g.nodes[i].In {
			uses[v]++
		}
	}
	for _, v := range g.outputs {
		uses[v]++
	}
	return uses
}

// take decides about the next node. ok says that it is left out and that v takes its place.
func (f *factors) take(g *Graph, n *Node) (v Value, ok bool) {
	if len(n.Out) != 1 || len(n.In) < 2 {
		return 0, false
	}
	out := n.Out[0]
	if n.Row.Channels != nil {
		if w := g.values[n.In[1]].data; w != nil && (w.DType == dtype.Float32 || w.DType == dtype.Float64) && g.values[out].DType == w.DType {
			f.chains[out] = &chain{product: n, out: out, weight: w}
		}
		return 0, false
	}
	for i, x := range n.In[:2] {
		c, k := f.chains[x], g.values[n.In[1-i]].data
		if c == nil || k == nil || c.out != x || f.uses[x] != 1 || g.values[x].Type != g.values[out].Type || k.DType != c.weight.DType {
			continue
		}
		switch how := n.Row.Factor; {
		case how == op.Times || how == op.Over && i == 0:
			return f.scale(g, c, n, k)
		case how == op.Plus:
			return f.shift(c, n, k, 1-i)
		}
	}
	return 0, false
}

// scale multiplies the weight and what has been added by a constant.
func (f *factors) scale(g *Graph, c *chain, n *Node, k *op.Const) (Value, bool) {
	out := &g.values[n.Out[0]].Shape
	dims, ok := c.channels(k, out)
	if !ok {
		return 0, false
	}
	weight, err := f.combine(n.Row, c.weight, k, dims)
	if err != nil || !scales(c.weight, k, weight, &dims) {
		return 0, false
	}
	if c.bias != nil {
		added, err := f.combined(n.Row, c.added, k)
		if err != nil || added == nil {
			return 0, false
		}
		c.added = added
	}
	c.weight = weight
	return f.joined(c, n), true
}

// shift adds a constant, which is operand number at.
func (f *factors) shift(c *chain, n *Node, k *op.Const, at int) (Value, bool) {
	if c.bias == nil {
		c.bias, c.added, c.place, c.out = n, k, at, n.Out[0]
		f.chains[n.Out[0]] = c
		return 0, false
	}
	added, err := f.combined(n.Row, c.added, k)
	if err != nil || added == nil {
		return 0, false
	}
	c.added = added
	return f.joined(c, n), true
}

// combined is a row of two constants that broadcast to one result, if they are alike but for axes of one element in front, or
// the second is a single element, and the result is finite; else nil.
func (f *factors) combined(row *op.Row, x, y *op.Const) (made *op.Const, err error) {
	switch {
	case y.Shape.Numel() == 1:
		made, err = f.combine(row, x, y, shape.Shape{})
	case slices.Equal(withoutOnes(&x.Shape), withoutOnes(&y.Shape)):
		made, err = f.combine(row, x, y, x.Shape)
	}
	if made != nil && !sound(made, nil) {
		made = nil
	}
	return made, err
}

func elementAt(k *op.Const, i int64) float64 {
	switch k.DType {
	case dtype.Float16:
		return float64(dtype.F16ToF32(binary.LittleEndian.Uint16(k.Bytes[2*i:])))
	case dtype.BFloat16:
		return float64(dtype.BF16ToF32(binary.LittleEndian.Uint16(k.Bytes[2*i:])))
	case dtype.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(k.Bytes[4*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(k.Bytes[8*i:]))
}

// Weights have millions of elements, nearly all of them normal numbers, which the bits of a float32 tell at once. Nothing is
// inlined in this package, so that reading an element by a function would take longer than all else.

// sound reports whether all elements of a constant of floats are finite, and spoiled, unless it is nil, answers false for each
// that is zero or subnormal. Of other dtypes than float32, spoiled is asked about all elements.
func sound(k *op.Const, spoiled func(i int64, v float64) bool) bool {
	const least, infinite = 0x00800000, 0x7F800000 // bits of the least normal float32, and of infinity
	narrow, b := k.DType == dtype.Float32, k.Bytes
	for i := range k.Shape.Numel() {
		if narrow {
			bits := (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24) &^ (1 << 31)
			if b = b[4:]; bits-least < infinite-least {
				continue
			}
		}
		if v := elementAt(k, i); v-v != 0 || spoiled != nil && spoiled(i, v) {
			return false
		}
	}
	return true
}

// scales reports whether a factor can go into a weight, which becomes made: all elements are finite, and none that had all
// its digits is too small for them now. The factor broadcasts to the weight in these dimensions, of which one at most is not 1.
// A factor of 0 makes zeros, which are right.
func scales(weight, factor, made *op.Const, dims *shape.Shape) bool {
	least, count, inner := 0x1p-126, dims.Numel(), int64(1) // the least normal number; factors; elements in a row with one factor
	if weight.DType == dtype.Float64 {
		least = 0x1p-1022
	}
	for axis := dims.Rank - 1; axis >= 0 && dims.Dims[axis] == 1; axis-- {
		inner *= weight.Shape.Dims[axis]
	}
	return sound(made, func(i int64, v float64) bool {
		return math.Abs(v) < least && math.Abs(elementAt(weight, i)) >= least && elementAt(factor, i/inner%count) != 0
	})
}

// withoutOnes are the dimensions from the first that is not one.
func withoutOnes(s *shape.Shape) []int64 {
	dims := s.Slice()
	for len(dims) > 0 && dims[0] == 1 {
		dims = dims[1:]
	}
	return dims
}

// joined makes the value that stands for the result of n the latest one of the chain.
func (f *factors) joined(c *chain, n *Node) Value {
	c.changed, f.uses[c.out] = true, f.uses[n.Out[0]]
	return c.out
}

// channels are the dimensions in which a constant, which broadcasts to a result, broadcasts to the weight. It must have one
// element, or one for each channel of the result.
func (c *chain) channels(k *op.Const, out *shape.Shape) (s shape.Shape, ok bool) {
	w := &c.weight.Shape
	if w.Rank < 2 || out.Rank < 2 {
		return s, false
	}
	axis, of := c.product.Row.Channels(c.product.Attrs, out.Rank, w.Rank)
	at := axis - (out.Rank - k.Shape.Rank) // among the axes of the constant
	for i, d := range k.Shape.Slice() {
		if d != 1 && (i != at || d != w.Dims[of]) {
			return s, false
		}
	}
	s.Rank = w.Rank
	for i := range s.Rank {
		s.Dims[i] = 1
	}
	s.Dims[of] = k.Shape.Numel()
	return s, true
}

// putConstants gives the new constants to the nodes that read them.
func (g *Graph) putConstants(f *factors) {
	for _, c := range f.chains {
		if c == nil || !c.changed {
			continue
		}
		g.replaceConstant(c.product.Out[0], 1, c.weight)
		if c.bias != nil {
			g.replaceConstant(c.bias.Out[0], c.place, c.added)
		}
	}
}

// replaceConstant gives the node that makes a value another constant as an operand, if it is another.
func (g *Graph) replaceConstant(out Value, at int, k *op.Const) {
	i := slices.IndexFunc(g.nodes, func(n Node) bool { return n.Out[0] == out })
	if i < 0 || g.values[g.nodes[i].In[at]].data == k {
		return
	}
	g.values = append(g.values, value{Type: k.Type, data: k})
	g.nodes[i].In = slices.Clone(g.nodes[i].In)
	g.nodes[i].In[at] = Value(len(g.values) - 1)
}
