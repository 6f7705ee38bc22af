package mpsgraph

import "github.com/paddle-mps/paddle-mps/objc"

// Unary is an operator of one tensor.
type Unary struct {
	objc.Method2[Graph, Tensor, objc.String, Tensor]
}

// Of is the operator's result, +0.
func (o Unary) Of(g Graph, x Tensor) Tensor { return o.Send(g, x, 0) }

// Binary is an operator of two tensors of one type, which broadcast.
type Binary struct {
	objc.Method3[Graph, Tensor, Tensor, objc.String, Tensor]
}

// Of is the operator's result, +0.
func (o Binary) Of(g Graph, x, y Tensor) Tensor { return o.Send(g, x, y, 0) }

// Ternary is an operator of three tensors, which broadcast.
type Ternary struct {
	objc.Method4[Graph, Tensor, Tensor, Tensor, objc.String, Tensor]
}

// Of is the operator's result, +0.
func (o Ternary) Of(g Graph, x, y, z Tensor) Tensor { return o.Send(g, x, y, z, 0) }

// Listed is an operator of a tensor and a list of integers: axes, a shape, a permutation.
type Listed struct {
	objc.Method3[Graph, Tensor, objc.Array, objc.String, Tensor]
}

// Of is the operator's result, +0.
func (o Listed) Of(g Graph, x Tensor, list objc.Array) Tensor { return o.Send(g, x, list, 0) }

// Axial is an operator of a tensor along one axis.
type Axial struct {
	objc.Method3[Graph, Tensor, int64, objc.String, Tensor]
}

// Of is the operator's result, +0.
func (o Axial) Of(g Graph, x Tensor, axis int64) Tensor { return o.Send(g, x, axis, 0) }

// Ordering is an operator that sorts along one axis.
type Ordering struct {
	objc.Method4[Graph, Tensor, int64, objc.Bool, objc.String, Tensor]
}

// Of is the operator's result, +0.
func (o Ordering) Of(g Graph, x Tensor, axis int64, descending bool) Tensor {
	return o.Send(g, x, axis, objc.Of(descending), 0)
}

// Cumulative is an operator that accumulates along one of the axes 0 to 3.
type Cumulative struct {
	objc.Method5[Graph, Tensor, int64, objc.Bool, objc.Bool, objc.String, Tensor]
}

// Of is the operator's result, +0.
func (o Cumulative) Of(g Graph, x Tensor, axis int64, exclusive, reverse bool) Tensor {
	return o.Send(g, x, axis, objc.Of(exclusive), objc.Of(reverse), 0)
}

// Joining is an operator that joins an array of tensors along an axis.
type Joining struct {
	objc.Method3[Graph, objc.Array, int64, objc.String, Tensor]
}

// Of is the operator's result, +0.
func (o Joining) Of(g Graph, tensors objc.Array, axis int64) Tensor {
	return o.Send(g, tensors, axis, 0)
}

// Casting is an operator whose result has another type.
type Casting struct {
	objc.Method3[Graph, Tensor, DataType, objc.String, Tensor]
}

// Of is the operator's result, +0.
func (o Casting) Of(g Graph, x Tensor, t DataType) Tensor { return o.Send(g, x, t, 0) }

func unary(selector string, since ...string) Unary {
	return Unary{objc.Declare2[Graph, Tensor, objc.String, Tensor]("MPSGraph", selector, since...)}
}

func binary(selector string) Binary {
	return Binary{objc.Declare3[Graph, Tensor, Tensor, objc.String, Tensor]("MPSGraph", selector)}
}

func ternary(selector string) Ternary {
	return Ternary{objc.Declare4[Graph, Tensor, Tensor, Tensor, objc.String, Tensor]("MPSGraph", selector)}
}

func listed(selector string) Listed {
	return Listed{objc.Declare3[Graph, Tensor, objc.Array, objc.String, Tensor]("MPSGraph", selector)}
}

func axial(selector string) Axial {
	return Axial{objc.Declare3[Graph, Tensor, int64, objc.String, Tensor]("MPSGraph", selector)}
}

func ordering(selector string) Ordering {
	return Ordering{objc.Declare4[Graph, Tensor, int64, objc.Bool, objc.String, Tensor]("MPSGraph", selector)}
}

func cumulative(selector string) Cumulative {
	return Cumulative{objc.Declare5[Graph, Tensor, int64, objc.Bool, objc.Bool, objc.String, Tensor]("MPSGraph", selector)}
}

func joining(selector string) Joining {
	return Joining{objc.Declare3[Graph, objc.Array, int64, objc.String, Tensor]("MPSGraph", selector)}
}

func casting(selector string, since ...string) Casting {
	return Casting{objc.Declare3[Graph, Tensor, DataType, objc.String, Tensor]("MPSGraph", selector, since...)}
}
