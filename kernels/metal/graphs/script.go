package graphs

import (
	"fmt"
	"math"
	"strings"

	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// script is a graph of MPSGraph with its text: a line for each message that adds a tensor, with everything that is sent.
// Graphs with equal texts are equal, so the text is the key of stored executables (stored.go). Therefore nothing but the
// methods here adds to the graph; a test checks that.
type script struct {
	graph mpsgraph.Graph
	text  strings.Builder
	lines int
	line  map[mpsgraph.Tensor]int // that each tensor was made by
}

func newScript() *script {
	return &script{graph: mpsgraph.NewGraph(), line: map[mpsgraph.Tensor]int{}}
}

// emit writes the line of a tensor and returns the tensor. Arguments are tensors, numbers, and lists and structs of
// integers.
func (s *script) emit(what string, made mpsgraph.Tensor, args ...any) mpsgraph.Tensor {
	s.line[made] = s.lines
	fmt.Fprintf(&s.text, "%%%d = %s", s.lines, what)
	s.lines++
	s.arguments(args)
	return made
}

// arguments writes the rest of a line: tensors by their lines, and floats by their bits.
func (s *script) arguments(args []any) {
	for _, a := range args {
		switch a := a.(type) {
		case mpsgraph.Tensor:
			fmt.Fprintf(&s.text, " %%%d", s.line[a])
		case float64:
			fmt.Fprintf(&s.text, " bits %x", math.Float64bits(a))
		default:
			fmt.Fprintf(&s.text, " %v", a)
		}
	}
	s.text.WriteByte('\n')
}

// end writes in which order the graph is fed and what its results are.
func (s *script) end(placeholders, results []mpsgraph.Tensor) {
	for _, list := range [2][]mpsgraph.Tensor{placeholders, results} {
		all := make([]any, len(list))
		for i, t := range list {
			all[i] = t
		}
		s.text.WriteString("end")
		s.arguments(all)
	}
}

// The messages are those of objc/mpsgraph, with lists of integers in place of arrays.

// placeholder is an input; shape has dims.
func (s *script) placeholder(shape objc.Array, dims []int64, t mpsgraph.DataType) mpsgraph.Tensor {
	return s.emit("placeholder", s.graph.Placeholder(shape, t), dims, t)
}

// constant is a constant of one element.
func (s *script) constant(v float64, t mpsgraph.DataType) mpsgraph.Tensor {
	return s.emit("constant", s.graph.Constant(v, t), v, t)
}

// bytes is constant for an element that a float64 does not hold.
func (s *script) bytes(data []byte, t mpsgraph.DataType) mpsgraph.Tensor {
	return s.emit("bytes", s.graph.ConstantWithData(objc.Bytes(data), objc.Ints([]int64{1}), t), data, t)
}

// unary is a function of one tensor.
func (s *script) unary(o mpsgraph.Unary, x mpsgraph.Tensor) mpsgraph.Tensor {
	return s.emit(o.Selector, o.Of(s.graph, x), x)
}

// binary is a function of two tensors that broadcast.
func (s *script) binary(o mpsgraph.Binary, x, y mpsgraph.Tensor) mpsgraph.Tensor {
	return s.emit(o.Selector, o.Of(s.graph, x, y), x, y)
}

// ternary is a function of three tensors that broadcast.
func (s *script) ternary(o mpsgraph.Ternary, x, y, z mpsgraph.Tensor) mpsgraph.Tensor {
	return s.emit(o.Selector, o.Of(s.graph, x, y, z), x, y, z)
}

// listed has a list of axes or dimensions.
func (s *script) listed(o mpsgraph.Listed, x mpsgraph.Tensor, list []int64) mpsgraph.Tensor {
	return s.emit(o.Selector, o.Of(s.graph, x, objc.Ints(list)), x, list)
}

// axial works along one axis.
func (s *script) axial(o mpsgraph.Axial, x mpsgraph.Tensor, axis int64) mpsgraph.Tensor {
	return s.emit(o.Selector, o.Of(s.graph, x, axis), x, axis)
}

// casting has a result of another type.
func (s *script) casting(o mpsgraph.Casting, x mpsgraph.Tensor, t mpsgraph.DataType) mpsgraph.Tensor {
	return s.emit(o.Selector, o.Of(s.graph, x, t), x, t)
}

// cumulative accumulates along an axis.
func (s *script) cumulative(o mpsgraph.Cumulative, x mpsgraph.Tensor, axis int64, exclusive, reverse bool) mpsgraph.Tensor {
	return s.emit(o.Selector, o.Of(s.graph, x, axis, exclusive, reverse), x, axis, exclusive, reverse)
}

// joining joins tensors along an axis.
func (s *script) joining(o mpsgraph.Joining, parts []mpsgraph.Tensor, axis int64) mpsgraph.Tensor {
	args := []any{axis}
	for _, p := range parts {
		args = append(args, p)
	}
	return s.emit(o.Selector, o.Of(s.graph, objc.ArrayOf(parts...), axis), args...)
}

// coordinates are the indices of the elements along an axis, as int32.
func (s *script) coordinates(axis int64, dims []int64) mpsgraph.Tensor {
	return s.emit("coordinateAlongAxis", s.graph.CoordinateAlongAxis(axis, objc.Ints(dims)), axis, dims)
}

// slice is a part of x, with a start, an end and a step for each axis.
func (s *script) slice(x mpsgraph.Tensor, starts, ends, steps []int64) mpsgraph.Tensor {
	return s.emit("sliceTensor", s.graph.Slice(x, objc.Ints(starts), objc.Ints(ends), objc.Ints(steps)), x, starts, ends, steps)
}

// gather is the slices of x at indices along an axis.
func (s *script) gather(x, indices mpsgraph.Tensor, axis, batch uint64) mpsgraph.Tensor {
	return s.emit("gatherWithUpdatesTensor", s.graph.Gather(x, indices, axis, batch), x, indices, axis, batch)
}

// scatter is x with updates written, or joined by a mode, at indices along an axis.
func (s *script) scatter(axis int64, x, updates, indices mpsgraph.Tensor, m mpsgraph.ScatterMode) mpsgraph.Tensor {
	return s.emit("scatterAlongAxis", s.graph.ScatterAlongAxis(axis, x, updates, indices, m), axis, x, updates, indices, m)
}

// convolution convolves images with weights; the dimensions of the result follow from both.
func (s *script) convolution(x, weights mpsgraph.Tensor, _ []int64, c *mpsgraph.Convolution2D) mpsgraph.Tensor {
	d := mpsgraph.NewConvolution(c)
	defer objc.Release(d)
	return s.emit("convolution", s.graph.Convolution(x, weights, d), x, weights, *c)
}

// convolutionData is the gradient of a convolution with respect to its images, which have dims.
func (s *script) convolutionData(dy, weights mpsgraph.Tensor, dims []int64, c *mpsgraph.Convolution2D) mpsgraph.Tensor {
	d := mpsgraph.NewConvolution(c)
	defer objc.Release(d)
	return s.emit("convolution data", s.graph.ConvolutionDataGradient(dy, weights, objc.Ints(dims), d), dy, weights, dims, *c)
}

// convolutionWeights is the gradient with respect to the weights, which have dims.
func (s *script) convolutionWeights(dy, x mpsgraph.Tensor, dims []int64, c *mpsgraph.Convolution2D) mpsgraph.Tensor {
	d := mpsgraph.NewConvolution(c)
	defer objc.Release(d)
	return s.emit("convolution weights", s.graph.ConvolutionWeightsGradient(dy, x, objc.Ints(dims), d), dy, x, dims, *c)
}
