package op

import (
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// formulaFunctions are what formulas call beside rows.
//
//	given(x)                 whether an operand or an attribute was given
//	single(a)                a number as float32 has it: Paddle rounds some factors, whatever the dtype of the tensor
//	size(x, axis), rank(x)   a dimension of x, and the number of them
//	is_double(x)             whether x is float64
//	number(x, a)             a in the dtype of x, for where(), which would take two numbers for float32
//	like(x, y)               x in the dtype of y
//	numel(x)                 how many elements x has
//	shaped(x, y)             x in the shape of y
//	along(w, x, axis)        a line of numbers in the shape in which it broadcasts over x along an axis
//	affine(x, w, b, axis)    x * w + b, either of which may be left out, both along an axis
//	whole(label)             labels as int64
//	class_of(label, kept, n) labels of int64, with 0 for those that are not kept and n, which is out of range, for negative ones
//	pick(x, label, axis)     the elements of x that labels name along an axis, where label has 1 element
//	same_shape(x, y)         checks that both have one shape
//	reduced(x, word)         the mean, the sum or all of the losses of elements
//
// and those of image.go, which compute indices and weights:
//
//	sampled(...)             the result of grid_sample
//	mapped(...)              that of affine_grid
//	near_sum(x, n, axis, b)  the sums of n neighbours along an axis, 0 beyond its ends; if n is even, one more behind where b is true
//	resized(...)             that of interpolate, in resize.go
var formulaFunctions = map[string]func(e *evaluation, args []quantity) quantity{
	"affine":   affine,
	"along":    broadcastAlong,
	"class_of": classOf,
	"given":    isGiven,
	"is_double": func(e *evaluation, args []quantity) quantity {
		return whether(e.TypeOf(args[0].v).DType == dtype.Float64)
	},
	"like":       castLike,
	"mapped":     mapGrid,
	"near_sum":   sumNear,
	"number":     numberLike,
	"numel":      countElements,
	"pick":       pickClass,
	"rank":       func(e *evaluation, args []quantity) quantity { return whole(int64(e.TypeOf(args[0].v).Shape.Rank)) },
	"reduced":    reduceLoss,
	"resized":    resizeAxes,
	"same_shape": checkShapes,
	"sampled":    sampleImages,
	"shaped":     shapeLike,
	"single":     func(_ *evaluation, args []quantity) quantity { return known(float64(float32(args[0].value.Float64()))) },
	"size":       sizeOf,
	"whole": func(e *evaluation, args []quantity) quantity {
		return quantity{v: e.Cast(args[0].v, dtype.Int64)}
	},
}

func whole(n int64) quantity { return quantity{known: true, value: Value{Kind: Int, I: n}} }

// refuse ends the formula with an error.
func (e *evaluation) refuse(format string, args ...any) quantity {
	if e.Err == nil {
		e.Err = status.Errorf(status.Invalid, "[%s] %s", e.of.name, fmt.Sprintf(format, args...))
	}
	return quantity{known: true}
}

func isGiven(e *evaluation, args []quantity) quantity {
	if args[0].known {
		return whether(args[0].value.Set())
	}
	return whether(!e.Absent(args[0].v))
}

func numberLike(e *evaluation, args []quantity) quantity {
	return quantity{v: e.full(&shape.Shape{}, Value{Kind: Float, F: args[1].value.Float64()}, e.TypeOf(args[0].v).DType)}
}

func castLike(e *evaluation, args []quantity) quantity {
	return quantity{v: e.Cast(args[0].v, e.TypeOf(args[1].v).DType)}
}

// sizeOf is a dimension, or a symbol where types alone are computed: those do not depend on what is computed with it.
func sizeOf(e *evaluation, args []quantity) quantity {
	s, axis := e.Shape(args[0].v), args[1].value.I
	if axis < 0 {
		axis += int64(s.Rank)
	}
	if axis < 0 || axis >= int64(s.Rank) {
		return e.refuse("an operand has %d axes; want one at %d", s.Rank, args[1].value.I)
	}
	if d := s.Dims[axis]; !shape.IsSymbol(d) {
		return whole(d)
	}
	return quantity{known: true, value: Value{Kind: Int, I: SizeAttr(s.Dims[axis])}}
}

func checkShapes(e *evaluation, args []quantity) quantity {
	var texts []string
	differs := false
	first := e.Shape(args[0].v)
	for _, t := range args {
		s := e.Shape(t.v)
		texts = append(texts, s.String())
		differs = differs || unlike(&first, &s)
	}
	if differs {
		return e.refuse("shapes are %s; want one shape", strings.Join(texts, ", "))
	}
	return quantity{known: true}
}

// pickClass reads x at its own place for each label, but for one axis, where the label counts.
func pickClass(e *evaluation, args []quantity) quantity {
	x, label := args[0].v, args[1].v
	s, axis := e.Shape(label), int(args[2].value.I)
	if axis < 0 {
		axis += s.Rank
	}
	in := []Var{x}
	for i, n := range s.Slice() {
		place := label
		if i != axis {
			line := shape.Shape{Rank: s.Rank}
			for j := range line.Rank {
				line.Dims[j] = 1
			}
			line.Dims[i] = n
			place = e.Reshape(e.count(n), &line)
		}
		in = append(in, place)
	}
	return quantity{v: e.Do(IDIndex, nil, in...)}
}

func reduceLoss(e *evaluation, args []quantity) quantity {
	loss := args[0].v
	switch word := args[1].value.Str(); word {
	case "mean":
		loss = e.Do(IDMean, nil, loss)
	case "sum":
		loss = e.Do(IDSum, nil, loss)
	case "none":
	default:
		return e.refuse(`reduction is '%s'; want one of 'mean', 'sum', 'none'`, word)
	}
	return quantity{v: loss}
}

func countElements(e *evaluation, args []quantity) quantity {
	s, n := e.Shape(args[0].v), int64(1)
	for _, d := range s.Slice() {
		if !shape.IsSymbol(d) { // of a size that is not known yet it matters only that there are elements
			n *= d
		}
	}
	return whole(n)
}

func shapeLike(e *evaluation, args []quantity) quantity {
	s := e.Shape(args[1].v)
	return quantity{v: e.Reshape(args[0].v, &s)}
}

func broadcastAlong(e *evaluation, args []quantity) quantity {
	s := shape.Shape{Rank: e.Shape(args[1].v).Rank}
	for i := range s.Rank {
		s.Dims[i] = 1
	}
	axis := int(args[2].value.I)
	if axis < 0 {
		axis += s.Rank
	}
	if axis < 0 || axis >= s.Rank {
		return e.refuse("an operand has %d axes; want one at %d", s.Rank, args[2].value.I)
	}
	line := e.Shape(args[0].v)
	if line.Rank == 0 {
		return args[0]
	}
	s.Dims[axis] = 1
	for _, d := range line.Slice() {
		if s.Dims[axis] *= d; shape.IsSymbol(d) {
			s.Dims[axis] = d
		}
	}
	return quantity{v: e.Reshape(args[0].v, &s)}
}

func affine(e *evaluation, args []quantity) quantity {
	x := args[0]
	for i, combine := range []func(x, y Var) Var{e.multiply, e.add} {
		if w := args[1+i]; isGiven(e, []quantity{w}).value.I != 0 {
			x = quantity{v: combine(x.v, broadcastAlong(e, []quantity{w, x, args[3]}).v)}
		}
	}
	return x
}

func classOf(e *evaluation, args []quantity) quantity {
	whole := func(n int64) Var { return e.Number(Value{Kind: Int, I: n}) }
	kept := e.where(args[1].v, args[0].v, whole(0))
	negative := e.Do(IDLessThan, nil, kept, whole(0))
	return quantity{v: e.where(negative, whole(args[2].value.I), kept)}
}
