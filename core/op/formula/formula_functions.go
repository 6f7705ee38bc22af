package formula

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// formulaFunctions are what formulas call beside rows, by name. They are a list, because the compiler lays one out in the library's data.
//
//	given(x)                 whether an operand or an attribute was given
//	single(a)                a number as float32 has it: Paddle rounds some factors, whatever the dtype of the tensor
//	size(x, axis), rank(x)   a dimension of x, and the number of them
//	is_bool(x), is_double(x), is_float(x)
//	                         whether x is of bools, of float64, of any floats
//	largest(x)               the largest finite number of the dtype of x
//	bits(x)                  the bits of floats as integers of their size
//	from_bits(b, x)          the floats of the dtype of x that have these bits
//	chained(x)               the product of matrices in the order that takes the fewest multiplications
//	pairs(x, i)              the first (0) or the second (1) of all pairs of places along the first axis
//	summed_to(x, y)          the sum of x over the axes along which y broadcasts
//	part(x, axis, from, to)  a part of an axis, where to may be none for the end
//	at(x, axis, i)           number i along an axis, which stays with 1 element
//	sizes(x, from, to)       the dimensions of x from one to another, where to may be none for the end
//	product(list)            how many elements a shape has, or -1 where a dimension is a symbol
//	aligned(x, y)            the dimensions of x behind as many ones as y has more
//	zipped(a, b)             the numbers of two lists in turn; or of one, and a number
//	diagonal_of(x, offset, first, second)
//	                         the diagonals of the matrices over two axes, as the last axis
//	checked(label, n)        labels of int64, with n, which is out of range, for negative ones
//	fixed(x)                 x without a gradient, which bits have not
//	wide(x)                  x as float32, or as float64 where it is
//	places(x, axis)          the whole numbers from 0 on, as many as an axis of x has elements, in a shape that broadcasts over x along it
//	number(x, a)             a in the dtype of x, for where(), which would take two numbers for float32
//	like(x, y)               x in the dtype of y
//	weak(a)                  a as an operand that is an int or a float as it was given
//	numel(x)                 how many elements x has
//	row(x, i)                x[i], for all rows of x: those of many are cut in two steps, because the gradient of each is as large as
//	                         what it is cut from
//	counted(n)               the whole numbers from 0 to n - 1
//	bit_length(n)            how many bits a number from 0 has
//	power_of(x, n)           square matrices to the power of n
//	others(x, axis)          all axes of x but one
//	shaped(x, y)             x in the shape of y
//	along(w, x, axis)        a line of numbers in the shape in which it broadcasts over x along an axis
//	affine(x, w, b, axis)    x * w + b, either of which may be left out, both along an axis
//	octets(x)                x as uint8
//	whole(label)             labels as int64
//	class_of(label, kept, n) labels of int64, with 0 for those that are not kept and n, which is out of range, for negative ones
//	pick(x, label, axis)     the elements of x that labels name along an axis, where label has 1 element
//	numbers(list, x)         a list of numbers in the dtype of x
//	same_shape(x, y)         checks that both have one shape
//	reduced(x, word)         the mean, the sum or all of the losses of elements
//
// those of scatter.go, which make index tensors:
//
//	own_places(index, axis)  index tensors for all axes of one that counts along an axis
//	slices(x, index, axis)   those of slices of x that a line of indices names along an axis
//	coordinates(index, x, b) those of slices of x whose places are the last axis of index, behind b axes of batches
//	rolled(x, shifts, axes, back)
//	                         x moved along axes by shifts, or by half of each axis, in composites_index.go
//	put(x, values, places, reduce, include_self)
//	                         x with values at places, joined with what is there by a reduction
//
// those of order.go, for sorted elements:
//
//	quantiles(x, q, axis, word)
//	                         the elements of sorted lines below which shares q of the others lie
//	is_few(x), among(x, few) whether x has few elements, and whether each element of x is one of a few
//
// and those of image.go, region.go, resize.go and spectrum.go, which compute indices and weights:
//
//	sampled(...)             the result of grid_sample
//	mapped(...)              that of affine_grid
//	near_sum(x, n, axis, b)  the sums of n neighbours along an axis, 0 beyond its ends; if n is even, one more behind where b is true
//	resized(...)             that of interpolate
//	folded(...)              that of fold
//	shifted(...)             that of temporal_shift
//	summed_products(...)     that of einsum, in einsum.go
//	attended(...)            that of masked_attention, in attention.go
//	attended_scores(...)     those of masked_attention_scores
//	pooled(...)              that of window_pool, in window.go
//	pooled_places(...)       that of window_pool_places
//	stepped(...)             those of recurrent, in recurrent.go
//	by_token(...)            the results of linear_attention, in composites_attention.go
//	spectrum(...)            that of dft
//	regions(...)             that of roi_align
//	deformed(...)            that of deform_conv without its bias
var formulaFunctions = []struct {
	name string
	call func(e *evaluation, args []*quantity) *quantity
}{
	{"affine", affine},
	{"aligned", alignSizes},
	{"along", broadcastAlong},
	{"among", amongFew},
	{"at", numberAlong},
	{"attended", maskedAttention},
	{"attended_scores", attentionWithScores},
	{"bit_length", func(_ *evaluation, args []*quantity) *quantity {
		return whole(int64(bits.Len64(uint64(max(args[0].value.I, 0)))))
	}},
	{"bits", bitsOf},
	{"by_token", readByToken},
	{"chained", chainProduct},
	{"checked", checkLabels},
	{"class_of", classOf},
	{"coordinates", coordinates},
	{"counted", func(e *evaluation, args []*quantity) *quantity { return &quantity{v: e.Range(args[0].value.I)} }},
	{"deformed", deformConv},
	{"diagonal_of", diagonalOf},
	{"fixed", func(e *evaluation, args []*quantity) *quantity {
		return &quantity{v: e.Do(op.IDBitcast, op.Attrs{{Kind: op.DType, I: int64(e.TypeOf(args[0].v).DType)}}, bitsOf(e, args).v)}
	}},
	{"folded", addWindows},
	{"from_bits", func(e *evaluation, args []*quantity) *quantity {
		return &quantity{v: e.Do(op.IDBitcast, op.Attrs{{Kind: op.DType, I: int64(e.TypeOf(args[1].v).DType)}}, args[0].v)}
	}},
	{"given", isGiven},
	{"is_bool", func(e *evaluation, args []*quantity) *quantity {
		return whether(e.TypeOf(args[0].v).DType == dtype.Bool)
	}},
	{"is_double", func(e *evaluation, args []*quantity) *quantity {
		return whether(e.TypeOf(args[0].v).DType == dtype.Float64)
	}},
	{"is_few", isFew},
	{"is_float", func(e *evaluation, args []*quantity) *quantity { return whether(e.TypeOf(args[0].v).DType.IsFloat()) }},
	{"largest", largestOf},
	{"like", castLike},
	{"mapped", mapGrid},
	{"message", message},
	{"near_sum", sumNear},
	{"number", numberLike},
	{"numbers", lineOfNumbers},
	{"numel", countElements},
	{"octets", func(e *evaluation, args []*quantity) *quantity {
		return &quantity{v: e.Cast(args[0].v, dtype.Uint8)}
	}},
	{"others", otherAxes},
	{"own_places", ownPlaces},
	{"pairs", pairedPlaces},
	{"part", partOf},
	{"pick", pickClass},
	{"places", placesAlong},
	{"pooled", poolWindows},
	{"pooled_by", poolSegments},
	{"pooled_places", placesOfMaxima},
	{"power_of", powerOf},
	{"product", productOf},
	{"put", putAt},
	{"quantiles", quantilesOf},
	{"rank", func(e *evaluation, args []*quantity) *quantity { return whole(int64(e.TypeOf(args[0].v).Shape.Rank)) }},
	{"reduced", reduceLoss},
	{"regions", alignRegions},
	{"resized", resizeAxes},
	{"rolled", rollAxes},
	{"row", rowOf},
	{"same_shape", checkShapes},
	{"sampled", sampleImages},
	{"shaped", shapeLike},
	{"shifted", shiftFrames},
	{"single", func(_ *evaluation, args []*quantity) *quantity {
		return known(float64(float32(args[0].value.Float64())))
	}},
	{"size", sizeOf},
	{"sizes", sizesOf},
	{"slices", slicePlaces},
	{"spectrum", transformSignal},
	{"stepped", stepStates},
	{"summed_products", einsum},
	{"summed_to", sumTo},
	{"weak", func(e *evaluation, args []*quantity) *quantity { return &quantity{v: e.Number(args[0].value)} }},
	{"whole", func(e *evaluation, args []*quantity) *quantity {
		return &quantity{v: e.Cast(args[0].v, dtype.Int64)}
	}},
	{"wide", func(e *evaluation, args []*quantity) *quantity {
		return &quantity{v: e.Cast(args[0].v, wideOf(e.TypeOf(args[0].v).DType))}
	}},
	{"zipped", zipSizes},
}

// functionNamed is one of formulaFunctions, or nil.
func functionNamed(name string) func(e *evaluation, args []*quantity) *quantity {
	from, to := 0, len(formulaFunctions)
	for from < to {
		if middle := (from + to) / 2; formulaFunctions[middle].name < name {
			from = middle + 1
		} else {
			to = middle
		}
	}
	if from < len(formulaFunctions) && formulaFunctions[from].name == name {
		return formulaFunctions[from].call
	}
	return nil
}

func whole(n int64) *quantity { return &quantity{known: true, value: op.Value{Kind: op.Int, I: n}} }

// refuse ends the formula with an error.
func (e *evaluation) refuse(format string, args ...any) *quantity {
	if e.Err == nil {
		e.Err = status.Errorf(status.Invalid, "[%s] %s", e.of.name, fmt.Sprintf(format, args...))
	}
	return &quantity{known: true}
}

// sizes is a list of dimensions, in which a symbol is what stands for it in an attribute.
func sizes(list []int64) *quantity {
	return &quantity{known: true, value: op.Value{Kind: op.Ints, Ints: list}}
}

func dimensions(s *shape.Shape) []int64 {
	list := slices.Clone(s.Slice())
	for i, d := range list {
		if shape.IsSymbol(d) {
			list[i] = op.SizeAttr(d)
		}
	}
	return list
}

func sizesOf(e *evaluation, args []*quantity) *quantity {
	s := e.Shape(args[0].v)
	list, from, to := dimensions(&s), args[1].value.I, int64(s.Rank)
	if args[2].value.Set() {
		to = args[2].value.I
	}
	for _, end := range []*int64{&from, &to} {
		if *end < 0 {
			*end += int64(s.Rank)
		}
		*end = min(max(*end, 0), int64(s.Rank))
	}
	return sizes(list[from:max(from, to)])
}

// productOf does not leave dimensions of 0 to a -1 beside a 0, which would stand for those that are not 0.
func productOf(_ *evaluation, args []*quantity) *quantity {
	n := int64(1)
	for _, d := range args[0].value.Ints {
		if _, is := op.SymbolIn(d); is {
			return whole(-1)
		}
		n *= d
	}
	return whole(n)
}

func alignSizes(e *evaluation, args []*quantity) *quantity {
	s, more := e.Shape(args[0].v), e.Shape(args[1].v)
	return sizes(slices.Concat(slices.Repeat([]int64{1}, max(more.Rank-s.Rank, 0)), dimensions(&s)))
}

func zipSizes(_ *evaluation, args []*quantity) *quantity {
	var list []int64
	number := func(t *quantity, i int) int64 {
		if t.value.Kind == op.Ints {
			return t.value.Ints[i]
		}
		return t.value.I
	}
	for i := range max(len(args[0].value.Ints), len(args[1].value.Ints)) {
		list = append(list, number(args[0], i), number(args[1], i))
	}
	return sizes(list)
}

func numberAlong(e *evaluation, args []*quantity) *quantity {
	place := e.Filled(&shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{1}}, op.Value{Kind: op.Int, I: args[2].value.I}, dtype.Int64)
	return &quantity{v: e.Do(op.IDGather, op.Attrs{op.GatherAxis: args[1].value}, args[0].v, place)}
}

func checkLabels(e *evaluation, args []*quantity) *quantity {
	label := e.Cast(args[0].v, dtype.Int64)
	return &quantity{v: e.Where(e.Do(op.IDLessThan, nil, label, e.Int(0)), e.Int(args[1].value.I), label)}
}

// diagonalOf reads every element of the matrices in one line that is as far behind the one before as a row is long, and one more.
func diagonalOf(e *evaluation, args []*quantity) *quantity {
	s := e.Shape(args[0].v)
	first, ok := e.axis(&s, args[2])
	second, also := e.axis(&s, args[3])
	if !ok || !also {
		return args[0]
	}
	if first == second {
		return e.refuse("the axes are both %d; want two different ones", first)
	}
	height, width := s.Dims[first], s.Dims[second]
	if !shape.IsSymbol(height) && !shape.IsSymbol(width) {
		offset := min(args[1].value.I, math.MaxInt32)
		return &quantity{v: rows.Diagonal(e.Calls, args[0].v, max(offset, -math.MaxInt32), first, second)}
	}
	l := shape.Layout{Shape: s} // types alone
	l.Remove(max(first, second))
	l.Remove(min(first, second))
	count, _ := e.NewSize()
	return &quantity{v: e.Do(op.IDReshape, op.Attrs{{Kind: op.Ints, Ints: append(dimensions(&l.Shape), count)}}, args[0].v)}
}

func bitsOf(e *evaluation, args []*quantity) *quantity {
	d := map[int64]dtype.DType{2: dtype.Int16, 4: dtype.Int32, 8: dtype.Int64}[e.TypeOf(args[0].v).DType.Size()]
	return &quantity{v: e.Do(op.IDBitcast, op.Attrs{{Kind: op.DType, I: int64(d)}}, args[0].v)}
}

func largestOf(e *evaluation, args []*quantity) *quantity {
	switch e.TypeOf(args[0].v).DType {
	case dtype.Float64:
		return known(math.MaxFloat64)
	case dtype.Float16:
		return known(65504)
	case dtype.BFloat16:
		return known(float64(math.Float32frombits(0x7f7f0000)))
	}
	return known(math.MaxFloat32)
}

func otherAxes(e *evaluation, args []*quantity) *quantity {
	var list []int64
	rank := int64(e.Shape(args[0].v).Rank)
	for axis := range rank {
		if axis != args[1].value.I && axis != args[1].value.I+rank {
			list = append(list, axis)
		}
	}
	return sizes(list)
}

func partOf(e *evaluation, args []*quantity) *quantity {
	end := int64(math.MaxInt64)
	if args[3].value.Set() {
		end = args[3].value.I
	}
	return &quantity{v: between(e.Calls, args[0].v, args[1].value.I, args[2].value.I, end)}
}

func placesAlong(e *evaluation, args []*quantity) *quantity {
	s := e.Shape(args[0].v)
	axis, ok := e.axis(&s, args[1])
	if !ok {
		return args[0]
	}
	return &quantity{v: rows.Column(e.Calls, s.Dims[axis], s.Rank, axis)}
}

func isGiven(e *evaluation, args []*quantity) *quantity {
	if args[0].known {
		return whether(args[0].value.Set())
	}
	return whether(!e.Absent(args[0].v))
}

func numberLike(e *evaluation, args []*quantity) *quantity {
	return &quantity{v: e.Filled(&shape.Shape{}, args[1].value, e.TypeOf(args[0].v).DType)}
}

func castLike(e *evaluation, args []*quantity) *quantity {
	return &quantity{v: e.Cast(args[0].v, e.TypeOf(args[1].v).DType)}
}

// sizeOf is a dimension, or a symbol where types alone are computed: those do not depend on what is computed with it.
func sizeOf(e *evaluation, args []*quantity) *quantity {
	s := e.Shape(args[0].v)
	axis, ok := e.axis(&s, args[1])
	if !ok {
		return args[1]
	}
	return whole(dimensions(&s)[axis])
}

// axis counts an axis from the front.
func (e *evaluation) axis(s *shape.Shape, of *quantity) (axis int, ok bool) {
	n := of.value.I
	if n < 0 {
		n += int64(s.Rank)
	}
	if n < 0 || n >= int64(s.Rank) {
		e.refuse("an operand has %d axes; want one at %d", s.Rank, of.value.I)
		return 0, false
	}
	return int(n), true
}

func checkShapes(e *evaluation, args []*quantity) *quantity {
	var texts []string
	differs := false
	first := e.Shape(args[0].v)
	for _, t := range args {
		s := e.Shape(t.v)
		texts = append(texts, s.String())
		differs = differs || op.Unlike(&first, &s)
	}
	if differs {
		return e.refuse("shapes are %s; want one shape", strings.Join(texts, ", "))
	}
	return &quantity{known: true}
}

// pickClass reads x at its own place for each label, but for one axis, where the label counts.
func pickClass(e *evaluation, args []*quantity) *quantity {
	in := []op.Var{args[0].v}
	for _, place := range ownPlaces(e, args[1:]).list {
		in = append(in, place.v)
	}
	return &quantity{v: e.Do(op.IDIndex, nil, in...)}
}

func reduceLoss(e *evaluation, args []*quantity) *quantity {
	loss := args[0].v
	switch word := args[1].value.Str(); word {
	case "mean":
		loss = e.Do(op.IDMean, nil, loss)
	case "sum":
		loss = e.Do(op.IDSum, nil, loss)
	case "none":
	default:
		return e.refuse(`reduction is '%s'; want one of 'mean', 'sum', 'none'`, word)
	}
	return &quantity{v: loss}
}

func countElements(e *evaluation, args []*quantity) *quantity {
	s, n := e.Shape(args[0].v), int64(1)
	for _, d := range s.Slice() {
		if !shape.IsSymbol(d) { // of a size that is not known yet it matters only that there are elements
			n *= d
		}
	}
	return whole(n)
}

func rowOf(e *evaluation, args []*quantity) *quantity {
	const each = 32
	x, i, s := args[0], args[1].value.I, e.Shape(args[0].v)
	for from := int64(len(x.pieces)) * each; from <= i; from += each {
		x.pieces = append(x.pieces, between(e.Calls, x.v, 0, from, from+each))
	}
	return &quantity{v: e.ranked(between(e.Calls, x.pieces[i/each], 0, i%each, i%each+1), s.Dims[1:s.Rank]...)}
}

func shapeLike(e *evaluation, args []*quantity) *quantity {
	s := e.Shape(args[1].v)
	return &quantity{v: e.Reshape(args[0].v, &s)}
}

func broadcastAlong(e *evaluation, args []*quantity) *quantity {
	s, line := e.Shape(args[1].v), e.Shape(args[0].v)
	axis, ok := e.axis(&s, args[2])
	if !ok || line.Rank == 0 {
		return args[0]
	}
	n := int64(1)
	for _, d := range line.Slice() {
		if n *= d; shape.IsSymbol(d) {
			n = d
		}
	}
	along := rows.Line(n, s.Rank, axis)
	return &quantity{v: e.Reshape(args[0].v, &along)}
}

func affine(e *evaluation, args []*quantity) *quantity {
	x := args[0]
	for i, combine := range []func(x, y op.Var) op.Var{e.Multiply, e.Add} {
		if w := args[1+i]; isGiven(e, []*quantity{w}).value.I != 0 {
			x = &quantity{v: combine(x.v, broadcastAlong(e, []*quantity{w, x, args[3]}).v)}
		}
	}
	return x
}

func classOf(e *evaluation, args []*quantity) *quantity {
	kept := e.Where(args[1].v, args[0].v, e.Number(op.Value{Kind: op.Int}))
	return checkLabels(e, []*quantity{{v: kept}, args[2]})
}

// ranked is a value with other dimensions for the same elements.
func (e *evaluation) ranked(v op.Var, dims ...int64) op.Var {
	to := shape.Shape{Rank: len(dims)}
	copy(to.Dims[:], dims)
	return e.Reshape(v, &to)
}
