// Package graphtest draws random graphs for the tests of devices: what a device computes with groups and passes is compared
// with what it computes without. Only tests import it.
package graphtest

import (
	"math/rand/v2"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// drawing makes a random graph.
type drawing struct {
	*rand.Rand
	*graph.Builder
	values []graph.Value
}

// any is one of the values so far, more often a late one, so that graphs get deep.
func (g *drawing) any() graph.Value {
	n := len(g.values)
	return g.values[max(g.IntN(n), g.IntN(n))]
}

func typed(d dtype.DType, dims ...int64) op.Type {
	return op.Type{DType: d, Shape: must(shape.Of(dims...))}
}

// must is a value that a test cannot go on without.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Elementwise is a graph of mostly elementwise calls in many dtypes and layouts: whole matrices of so many rows and columns,
// rows, columns, scalars, transposed and strided views. Some calls end groups, or need results of groups as they lie. Equal
// seeds make equal graphs.
func Elementwise(seed uint64, calls int, rows, cols int64) *graph.Graph {
	g := &drawing{Rand: rand.New(rand.NewPCG(seed, 3)), Builder: graph.NewBuilder()}
	g.inputs(rows, cols)
	first := len(g.values) - 2 // the parts of a wide matrix, which outputs may be copies of
	// What a call makes can be an operand of all that follow.
	for range calls {
		g.call()
	}
	outs := []graph.Value{g.values[len(g.values)-1]}
	for _, v := range g.values[first:] {
		if g.IntN(6) == 0 {
			outs = append(outs, v)
		}
	}
	return g.Build(outs...)
}

// inputs are the values that a graph begins with. The last ones are views: of a transposed matrix, and of parts of the
// columns of a wide one.
func (g *drawing) inputs(rows, cols int64) {
	for _, t := range []op.Type{
		typed(dtype.Float32, rows, cols), typed(dtype.Float16, rows, cols), typed(dtype.Int32, rows, cols), typed(dtype.Bool, rows, cols),
		typed(dtype.Float32, cols), typed(dtype.BFloat16, rows, 1), typed(dtype.Float32), // broadcast
	} {
		g.values = append(g.values, g.Input(t))
	}
	turned := g.Input(typed(dtype.Float32, cols, rows))
	perm := op.Attrs{op.TransposePerm: {Kind: op.Ints, Ints: []int64{1, 0}}}
	g.values = append(g.values, must(g.Call(op.ByID(op.IDTranspose), []graph.Value{turned}, perm))[0])
	wide := g.Input(typed(dtype.Int32, rows, 2*cols+3))
	parts := op.Attrs{op.SplitSections: {Kind: op.Ints, Ints: []int64{cols, 3, cols}}, op.SplitAxis: {Kind: op.Int, I: 1}}
	split := must(g.Call(op.ByID(op.IDSplit), []graph.Value{wide}, parts))
	g.values = append(g.values, split[0], split[2])
}

// choice is operators of one kind, one of which is called.
type choice struct {
	ids    []op.ID
	inputs int
	attrs  op.Attrs
}

// mostElements bounds results: broadcasting a row and a column makes more than either has.
const mostElements = 1 << 18

// call adds a call of an operator that is drawn. Where it takes no such operands, or its result is large, there is no call or
// nothing reads it.
func (g *drawing) call() {
	in := []graph.Value{g.any(), g.any(), g.any()} // some operators take fewer
	if g.IntN(4) == 0 {
		in[1] = g.Scalar(op.Value{Kind: op.Float, F: 0.75})
	}
	c := g.choose(in)
	out, err := g.Call(op.ByID(c.ids[g.IntN(len(c.ids))]), in[:c.inputs], c.attrs)
	if err != nil {
		return
	}
	if t := g.TypeOf(out[0]); t.Shape.Numel() <= mostElements {
		g.values = append(g.values, out...)
	}
}

// choose draws a kind of operators: one in twelve is not elementwise, or may fail, which no group has. It may change the
// operands.
func (g *drawing) choose(in []graph.Value) choice {
	switch g.IntN(12) {
	case 0, 1, 2:
		return choice{[]op.ID{op.IDNeg, op.IDAbs, op.IDTanh, op.IDExp, op.IDSqrt, op.IDRelu, op.IDLogicalNot, op.IDIsnan}, 1, nil}
	case 3:
		to := []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Bool}[g.IntN(7)]
		return choice{[]op.ID{op.IDCast}, 1, op.Attrs{op.CastDtype: {Kind: op.DType, I: int64(to)}}}
	case 4:
		// Three operands, which broadcast.
		return choice{[]op.ID{op.IDWhere, op.IDClip}, 3, nil}
	case 5:
		switch g.IntN(4) {
		case 0:
			// The last axes are those at which a group may end; the first is one of those at which it may not.
			axes := [][]int64{{1}, {0, 1}, {0}}[g.IntN(3)]
			return choice{
				[]op.ID{op.IDMean, op.IDMax, op.IDMin, op.IDAny, op.IDAll, op.IDCountNonzero, op.IDSquareSum},
				1,
				op.Attrs{op.MeanAxis: {Kind: op.Ints, Ints: axes}, op.MeanKeepdim: {Kind: op.Bool, I: 1}},
			}
		case 1:
			at := op.Attrs{op.SumAxis: {Kind: op.Ints, Ints: []int64{g.Int64N(2)}}, op.SumKeepdim: {Kind: op.Bool, I: 1}}
			return choice{[]op.ID{op.IDSum}, 1, at}
		case 2:
			// What follows is no step of a group.
			return choice{[]op.ID{op.IDConcat}, 2, op.Attrs{op.ConcatAxis: {Kind: op.Int, I: 0}}}
		}
		in[1] = g.Scalar(op.Value{Kind: op.Int, I: 3}) // so that none does fail
		return choice{[]op.ID{op.IDFloorDivide}, 2, nil}
	}
	return choice{[]op.ID{op.IDAdd, op.IDMultiply, op.IDSubtract, op.IDMaximum, op.IDLessThan, op.IDDivide, op.IDPow, op.IDLogicalAnd}, 2, nil}
}
