package rows

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Gradients of reductions, scans, products, views, and of reading and writing by index.

// axesOf are the axes that an attribute names, from 0 on: all where it names none.
func axesOf(at *op.Value, rank int) (axes op.Axes) {
	list := at.Ints
	if at.Kind == op.Int {
		list = []int64{at.I}
	}
	for _, a := range list {
		if a < 0 {
			a += int64(max(rank, 1))
		}
		axes |= 1 << a
	}
	if len(list) == 0 || rank == 0 {
		axes = 1<<rank - 1
	}
	return axes
}

// kept gives a result of a reduction the axes back that were reduced, with one element each.
func kept(g *op.Gradient, v op.Var, axes op.Axes) op.Var {
	s := g.Shape(g.In[0])
	for i := range s.Rank {
		if axes.Has(i) {
			s.Dims[i] = 1
		}
	}
	return g.Reshape(v, &s)
}

// gradSum repeats dy along the axes that were summed. The copy could be saved where all consumers take strides of 0.
func gradSum(g *op.Gradient) {
	s := g.Shape(g.In[0])
	g.Set(0, g.Expand(kept(g, g.Dy[0], axesOf(&g.Attrs[op.SumAxis], s.Rank)), &s))
}

// gradSquareSum is that of sum times the slope of the square.
func gradSquareSum(g *op.Gradient) {
	s := g.Shape(g.In[0])
	dy := kept(g, g.Dy[0], axesOf(&g.Attrs[op.SquareSumAxis], s.Rank))
	g.Set(0, g.Multiply(g.In[0], g.Scale(dy, 2)))
}

// gradMean is gradSum over the number of elements, which is counted along the reduced axes alone. Of no elements it is
// infinite, and there is nothing that it could be given to.
func gradMean(g *op.Gradient) {
	s := g.Shape(g.In[0])
	axes, count := axesOf(&g.Attrs[op.MeanAxis], s.Rank), int64(1)
	for i, d := range s.Slice() {
		if axes.Has(i) {
			count *= d
		}
	}
	g.Set(0, g.Expand(g.Scale(kept(g, g.Dy[0], axes), 1/float64(count)), &s))
}

// gradExtreme divides dy among all elements that are the extreme.
//
// All equals share it, as in Paddle 3.3.1 for max and amax alike. nan equals nothing: where the extreme is nan, the gradient
// is 0.
func gradExtreme(g *op.Gradient) {
	x := g.In[0]
	axes := axesOf(&g.Attrs[op.MaxAxis], g.Shape(x).Rank) // min has the same attributes
	won := g.Do(op.IDEqual, nil, x, kept(g, g.Out[0], axes))
	count := kept(g, g.Sum(won, list(axes)), axes)
	dy := g.Divide(kept(g, g.Dy[0], axes), g.Cast(count, dtypeOf(g, x)))
	g.Set(0, g.Where(won, dy, g.Zero()))
}

// list is the axes in ascending order.
func list(a op.Axes) []int64 {
	list := []int64{} // not nil: of a 0-d tensor there are none
	for i := range shape.MaxRank {
		if a.Has(i) {
			list = append(list, int64(i))
		}
	}
	return list
}

// dtypeOf is the dtype of a value; after an error any, because nothing is computed any more.
func dtypeOf(g *op.Gradient, v op.Var) dtype.DType {
	if g.Err != nil {
		return dtype.Float32
	}
	return g.TypeOf(v).DType
}

// gradProd: the product of the other elements. Where x is not 0 that is out/x, which would be nan at a single zero:
// there it is the product of what is not 0.
//
// With two zeros or more the product of the others is 0 everywhere. Paddle answers nan where there is a zero.
func gradProd(g *op.Gradient) {
	x := g.In[0]
	if d := dtypeOf(g, g.Out[0]); d.IsFloat() {
		x = g.Cast(x, d)
	}
	axes := axesOf(&g.Attrs[op.ProdAxis], g.Shape(x).Rank)
	zero := g.Do(op.IDEqual, nil, x, g.Zero())
	filled := g.Where(zero, g.Float(1), x)
	rest := kept(g, g.Do(op.IDProd, op.Attrs{op.ProdAxis: {Kind: op.Ints, Ints: list(axes)}, op.ProdKeepdim: {Kind: op.Bool}}, filled), axes)
	single := g.Do(op.IDEqual, nil, kept(g, g.Sum(zero, list(axes)), axes), g.Int(1))
	others := g.Where(zero, g.Where(single, rest, g.Zero()), g.Divide(kept(g, g.Out[0], axes), filled))
	g.Set(0, g.Multiply(kept(g, g.Dy[0], axes), others))
}

// scanned is the axis of a scan over its result, which is flat where no axis was given.
func scanned(g *op.Gradient, at *op.Value) int64 {
	axis := at.I // 0 where there is none
	if axis < 0 {
		axis += int64(max(g.Shape(g.Out[0]).Rank, 1))
	}
	return axis
}

// backwards is a scan from the last element to the first.
func backwards(g *op.Gradient, id op.ID, v op.Var, axis int64) op.Var {
	if g.Shape(v).Rank == 0 {
		return v
	}
	turn := op.Attrs{{Kind: op.Ints, Ints: []int64{axis}}}
	return g.Do(op.IDFlip, turn, g.Do(id, op.Attrs{{Kind: op.Int, I: axis}}, g.Do(op.IDFlip, turn, v)))
}

// answer is Set for a value with the elements of the operand in row-major order.
func answer(g *op.Gradient, dx op.Var) {
	s := g.Shape(g.In[0])
	g.Set(0, g.Reshape(dx, &s))
}

// gradCumsum: each element is part of the sums from it to the end, so that its gradient is the sum of theirs.
func gradCumsum(g *op.Gradient) {
	answer(g, backwards(g, op.IDCumsum, g.Dy[0], scanned(g, &g.Attrs[op.CumsumAxis])))
}

// gradCumprod: sums of dy*out from the end, over x, as long as no factor is 0. At the first zero it is the same sum
// with a 1 in its place, and behind it 0.
func gradCumprod(g *op.Gradient) {
	axis := scanned(g, &g.Attrs[op.CumprodAxis])
	s := g.Shape(g.Out[0])
	x := g.Cast(g.Reshape(g.In[0], &s), dtypeOf(g, g.Out[0]))
	along := op.Attrs{{Kind: op.Int, I: axis}}
	zero := g.Do(op.IDEqual, nil, x, g.Zero())
	first := zero
	if s.Rank > 0 {
		place := g.Do(op.IDEqual, nil, g.Do(op.IDCumsum, along, zero), g.Int(1))
		first = g.Do(op.IDLogicalAnd, nil, zero, place)
	}
	filled := g.Where(first, g.Float(1), x)
	product := g.Do(op.IDCumprod, along, filled)
	at := backwards(g, op.IDCumsum, g.Multiply(g.Dy[0], product), axis)
	before := g.Divide(backwards(g, op.IDCumsum, g.Multiply(g.Dy[0], g.Out[0]), axis), g.Where(zero, g.Float(1), x))
	answer(g, g.Where(first, at, g.Where(zero, g.Zero(), before)))
}

// gradLogcumsumexp: exp(x) times sums of dy exp(-out) from the end, which overflow: positive and negative ones apart,
// as logarithms. A sum that is infinite says nothing about its terms, and passes nothing on to them.
func gradLogcumsumexp(g *op.Gradient) {
	axis := scanned(g, &g.Attrs[op.LogcumsumexpAxis])
	s := g.Shape(g.Out[0])
	infinite := g.Do(op.IDIsinf, nil, g.Out[0])
	out, given := g.Where(infinite, g.Zero(), g.Out[0]), g.Where(infinite, g.Zero(), g.Dy[0])
	// Behind infinity all sums are infinite: any finite number serves for it.
	x := g.Reshape(g.In[0], &s)
	x = g.Where(g.Do(op.IDEqual, nil, x, g.Float(math.Inf(1))), g.Zero(), x)
	part := func(dy op.Var) op.Var {
		dy = g.Where(g.Do(op.IDGreaterThan, nil, dy, g.Zero()), dy, g.Zero())
		sum := backwards(g, op.IDLogcumsumexp, g.Subtract(g.Do(op.IDLog, nil, dy), out), axis)
		return g.Do(op.IDExp, nil, g.Add(x, sum))
	}
	answer(g, g.Subtract(part(given), part(g.Neg(given))))
}

// scatter puts the elements of dy to where they were taken from along an axis: index has the shape of dy. Of several for
// one place the sum is put.
//
// index_reduce wants an index tensor for each axis: for the others that is their own number, which broadcasts.
func scatter(g *op.Gradient, dy, index op.Var, s shape.Shape, axis int64) op.Var {
	if g.Err != nil {
		return op.NoVar
	}
	zeros := zeros(g, &s, dtypeOf(g, dy))
	if s.Rank == 0 {
		return dy
	}
	from := g.Shape(index)
	in := []op.Var{zeros, dy}
	for i := range s.Rank {
		if int64(i) == axis {
			in = append(in, index)
			continue
		}
		in = append(in, Column(&g.Calls, from.Dims[i], s.Rank, i))
	}
	return g.Do(op.IDIndexReduce, op.Attrs{{Kind: op.String, Ref: "add"}}, in...)
}

// zeros is a tensor of zeros.
func zeros(g *op.Gradient, s *shape.Shape, d dtype.DType) op.Var {
	return g.Filled(s, op.Value{Kind: op.Float}, d)
}

// gradByPlace is of scans whose second result says where along the axis each element of the first comes from.
func gradByPlace(axis func(*op.Gradient) int64) func(*op.Gradient) {
	return func(g *op.Gradient) {
		if g.Dy[0] == op.NoVar {
			return
		}
		s := g.Shape(g.In[0])
		if out := g.Shape(g.Out[0]); out.Rank != s.Rank { // flat
			s = shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{s.Numel()}}
		}
		answer(g, scatter(g, g.Dy[0], g.Out[1], s, axis(g)))
	}
}

var (
	gradCumExtreme = gradByPlace(func(g *op.Gradient) int64 { return scanned(g, &g.Attrs[op.CummaxAxis]) })
	gradTopk       = gradByPlace(func(g *op.Gradient) int64 { return scanned(g, &g.Attrs[op.TopkAxis]) })
)

// gradSort sorts once more, for the places.
func gradSort(g *op.Gradient) {
	axis := scanned(g, &g.Attrs[op.SortAxis])
	found := g.DoMany(op.IDTopk, op.Attrs{op.TopkAxis: {Kind: op.Int, I: axis}, op.TopkLargest: g.Attrs[op.SortDescending]}, g.In[0])
	if g.Err == nil {
		answer(g, scatter(g, g.Dy[0], found[1], g.Shape(g.In[0]), axis))
	}
}

// gradSoftmax: (dy - sum(dy * out)) * out.
//
// The sum is over the axis of the call and stays with one element, which broadcasts. A 0-d tensor is 1 whatever it was.
func gradSoftmax(g *op.Gradient) {
	product := g.Multiply(g.Dy[0], g.Out[0])
	if g.Shape(g.Out[0]).Rank == 0 {
		g.Set(0, g.Subtract(product, product))
		return
	}
	sum := g.SumKept(product, scanned(g, &g.Attrs[op.SoftmaxAxis]))
	g.Set(0, g.Subtract(product, g.Multiply(g.Out[0], sum)))
}

// gradLogSoftmax is dy less the softmax times the sum of dy.
func gradLogSoftmax(g *op.Gradient) {
	if g.Shape(g.Out[0]).Rank == 0 { // 0 whatever x is
		g.Set(0, g.Subtract(g.Dy[0], g.Dy[0]))
		return
	}
	sum := g.SumKept(g.Dy[0], scanned(g, &g.Attrs[op.LogSoftmaxAxis]))
	g.Set(0, g.Subtract(g.Dy[0], g.Multiply(g.Do(op.IDExp, nil, g.Out[0]), sum)))
}

// Product is matmul, with either operand transposed.
func Product(c *op.Calls, x, y op.Var, transposeX, transposeY bool) op.Var {
	at := op.Attrs{op.MatmulTransposeX: {Kind: op.Bool}, op.MatmulTransposeY: {Kind: op.Bool}}
	if transposeX {
		at[op.MatmulTransposeX].I = 1
	}
	if transposeY {
		at[op.MatmulTransposeY].I = 1
	}
	return c.Do(op.IDMatmul, at, x, y)
}

// gradMatmul: dy y' and x' dy, with the transposes of the call. A vector is a row on the left and a column on the right.
// Matrices that were multiplied by one matrix count as one tall matrix, so that its gradient is one product and no sum of
// products.
//
// The four cases of transposes follow from one: with z = x y, dx = dz y' and dy = x' dz; transposing both sides gives those
// of the others. Flags of the call become flags of the products, so that nothing is copied.
func gradMatmul(g *op.Gradient) {
	x, y, dy := g.In[0], g.In[1], g.Dy[0]
	tx, ty := g.Attrs[op.MatmulTransposeX].I != 0, g.Attrs[op.MatmulTransposeY].I != 0
	sx, sy, out := g.Shape(x), g.Shape(y), g.Shape(dy)
	if g.Err != nil {
		return
	}
	if sy.Rank == 1 {
		sy.Append(1)
		out.Append(1)
		ty = false
	}
	if sx.Rank == 1 {
		sx = row(sx.Dims[0])
		last := out.Dims[out.Rank-1]
		out.Dims[out.Rank-1] = 1
		out.Append(last)
		tx = false
	}
	if sy.Rank == 2 && !tx && sx.Rank > 2 {
		sx, out = tall(&sx), tall(&out)
	}
	dy = g.Reshape(dy, &out)
	if g.Wants[0] {
		var dx op.Var
		y := g.Reshape(y, &sy)
		if tx {
			dx = Product(&g.Calls, y, dy, ty, true)
		} else {
			dx = Product(&g.Calls, dy, y, false, !ty)
		}
		s := g.Shape(g.In[0])
		g.Set(0, g.Reshape(g.SumTo(dx, &sx), &s))
	}
	if g.Wants[1] {
		var d op.Var
		x := g.Reshape(x, &sx)
		if ty {
			d = Product(&g.Calls, dy, x, true, tx)
		} else {
			d = Product(&g.Calls, x, dy, !tx, false)
		}
		s := g.Shape(g.In[1])
		g.Set(1, g.Reshape(g.SumTo(d, &sy), &s))
	}
}

// row is the shape of a matrix of one row.
func row(columns int64) shape.Shape {
	return shape.Shape{Rank: 2, Dims: [shape.MaxRank]int64{1, columns}}
}

// tall is the shape of matrices one below the other.
func tall(s *shape.Shape) shape.Shape {
	rows := int64(1)
	for _, d := range s.Dims[:s.Rank-1] {
		rows *= d
	}
	return shape.Shape{Rank: 2, Dims: [shape.MaxRank]int64{rows, s.Dims[s.Rank-1]}}
}

// gradTranspose brings the axes back.
func gradTranspose(g *op.Gradient) {
	rank := g.Shape(g.Dy[0]).Rank
	if g.Err != nil {
		return
	}
	g.Set(0, g.Do(op.IDTranspose, transposedBack(g.Attrs, rank), g.Dy[0]))
}

// gradExpand sums over what was repeated, as Set does.
func gradExpand(g *op.Gradient) { g.Set(0, g.Dy[0]) }

// gradSlice puts dy back into zeros. dy may have the shape of the slice, or that of an index expression, which lacks axes
// of one element or has further ones.
func gradSlice(g *op.Gradient) {
	s := g.Shape(g.In[0])
	cut := op.Part{Layout: shape.Contiguous(s)}
	cut.CutAll(g.Attrs[op.SliceAxes:])
	g.Set(0, g.Do(op.IDSpread, op.Attrs{
		op.SpreadShape: {Kind: op.Ints, Ints: append([]int64{}, s.Slice()...)},
		op.SpreadAxes:  g.Attrs[op.SliceAxes], op.SpreadStarts: g.Attrs[op.SliceStarts], op.SpreadEnds: g.Attrs[op.SliceEnds], op.SpreadSteps: g.Attrs[op.SliceSteps],
	}, g.Reshape(g.Dy[0], &cut.Shape)))
}

// gradStrided adds dy to where the view reads x, which is contiguous: the same view of the numbers of its elements says
// where that is.
//
// Elements that the view shows more than once get the sum of their gradients.
func gradStrided(g *op.Gradient) {
	s := g.Shape(g.In[0])
	count := shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{s.Numel()}}
	numbers := g.Range(count.Dims[0])
	at := g.Do(op.IDAsStrided, g.Attrs, numbers)
	answer(g, indexAdd(g, zeros(g, &count, dtypeOf(g, g.Dy[0])), g.Dy[0], []op.Var{at}))
}

// gradSpread takes from dy what was spread.
func gradSpread(g *op.Gradient) {
	g.Set(0, g.Do(op.IDSlice, op.Attrs{
		op.SliceAxes: g.Attrs[op.SpreadAxes], op.SliceStarts: g.Attrs[op.SpreadStarts], op.SliceEnds: g.Attrs[op.SpreadEnds], op.SliceSteps: g.Attrs[op.SpreadSteps],
	}, g.Dy[0]))
}

// gradSplit joins the gradients of the parts.
//
// A part that nothing depends on counts as zeros.
func gradSplit(g *op.Gradient) {
	parts := make([]op.Var, len(g.Out))
	for i := range parts {
		parts[i] = dy(g, i)
	}
	g.Set(0, g.Do(op.IDConcat, op.Attrs{g.Attrs[op.SplitAxis]}, parts...))
}

// gradConcat cuts dy into the parts.
//
// The parts are copies, because split makes no views.
func gradConcat(g *op.Gradient) {
	if len(g.In) == 1 { // a single section would be a number of parts
		g.Set(0, g.Dy[0])
		return
	}
	axis := g.Attrs[op.ConcatAxis].I
	sections := make([]int64, len(g.In))
	for i, v := range g.In {
		s := g.Shape(v)
		at := axis
		if at < 0 {
			at += int64(s.Rank)
		}
		sections[i] = s.Dims[at]
	}
	parts := g.DoMany(op.IDSplit, op.Attrs{op.SplitSections: {Kind: op.Ints, Ints: sections}, op.SplitAxis: {Kind: op.Int, I: axis}}, g.Dy[0])
	for i, p := range parts {
		g.Set(i, p)
	}
}

// gradStack cuts dy into slices of one element along the new axis, which they then lose.
func gradStack(g *op.Gradient) {
	sections := make([]int64, len(g.In))
	for i := range sections {
		sections[i] = 1
	}
	parts := g.DoMany(op.IDSplit, op.Attrs{op.SplitSections: {Kind: op.Ints, Ints: sections}, op.SplitAxis: g.Attrs[op.StackAxis]}, g.Dy[0])
	s := g.Shape(g.In[0])
	for i, p := range parts {
		g.Set(i, g.Reshape(p, &s))
	}
}

// gradTile sums the repetitions, axis by axis: an axis of r*d elements is r times d.
//
// One axis at a time needs a tensor of four axes; all at once would need twice the rank, which may be more than there is.
func gradTile(g *op.Gradient) {
	s, dy := g.Shape(g.In[0]), g.Dy[0]
	out := g.Shape(dy)
	s = s.Lead(out.Rank)
	for i := range s.Rank {
		n := s.Dims[i]
		if out.Dims[i] == n || n == 0 {
			continue
		}
		before, after := int64(1), int64(1)
		for j := range s.Rank {
			if j < i {
				before *= out.Dims[j]
			} else if j > i {
				after *= out.Dims[j]
			}
		}
		dy = g.Reshape(dy, &shape.Shape{Rank: 4, Dims: [shape.MaxRank]int64{before, out.Dims[i] / n, n, after}})
		out.Dims[i] = n
		dy = g.Reshape(g.Sum(dy, []int64{1}), &out)
	}
	answer(g, dy)
}

// gradFlip reverses the same axes; twice reversed is as it was.
func gradFlip(g *op.Gradient) { g.Set(0, g.Do(op.IDFlip, op.Attrs{g.Attrs[op.FlipAxis]}, g.Dy[0])) }

// indexReduce is index_reduce with addition.
func indexAdd(g *op.Gradient, x, value op.Var, indices []op.Var) op.Var {
	return g.Do(op.IDIndexReduce, op.Attrs{{Kind: op.String, Ref: "add"}}, append([]op.Var{x, value}, indices...)...)
}

// gradIndex adds dy to where it was read.
//
// Of equal indices the gradients add up, in the order of the indices: the sum does not depend on the number of threads.
func gradIndex(g *op.Gradient) {
	g.Set(0, indexAdd(g, g.Full(g.In[0], 0), g.Dy[0], g.In[1:]))
}

// gradGather is gradIndex with the axis in front.
func gradGather(g *op.Gradient) {
	s, index := g.Shape(g.In[0]), g.In[1]
	axis := g.Attrs[op.GatherAxis].I
	if axis < 0 {
		axis += int64(s.Rank)
	}
	if where := g.Shape(index); where.Rank == 2 { // [n, 1]
		index = g.Reshape(index, &shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{where.Dims[0]}})
	}
	g.Set(0, addAlong(g, &s, g.Dy[0], index, axis))
}

// addAlong adds dy to zeros of a shape where index, which has one axis or none, says along an axis.
func addAlong(g *op.Gradient, s *shape.Shape, dy, index op.Var, axis int64) op.Var {
	front, back := make([]int64, 0, s.Rank), make([]int64, s.Rank)
	front = append(front, axis)
	for i := range int64(s.Rank) {
		if i != axis {
			front = append(front, i)
		}
	}
	moved := *s
	for i, a := range front {
		moved.Dims[i], back[a] = s.Dims[a], int64(i)
	}
	if where := g.Shape(index); where.Rank == 1 && axis > 0 {
		dy = g.Do(op.IDTranspose, op.Attrs{{Kind: op.Ints, Ints: front}}, dy)
	}
	dx := indexAdd(g, zeros(g, &moved, dtypeOf(g, dy)), dy, []op.Var{index})
	if axis > 0 {
		dx = g.Do(op.IDTranspose, op.Attrs{{Kind: op.Ints, Ints: back}}, dx)
	}
	return dx
}

// gradIndexPut: what was replaced has no gradient, and the value has that of where it was put. Of several for one place
// only the last has been put there: it is the one whose number is there when numbers are put in the same way.
func gradIndexPut(g *op.Gradient) {
	if g.Wants[0] {
		nothing := zeros(g, &shape.Shape{}, dtypeOf(g, g.Dy[0]))
		g.Set(0, g.Do(op.IDIndexPut, nil, append([]op.Var{g.Dy[0], nothing}, g.In[2:]...)...))
	}
	if !g.Wants[1] {
		return
	}
	g.Set(1, lastPut(g, g.Dy[0], g.In[2:]))
}

// lastPut is dy where indices lead, but 0 for all that were put to one place before another.
func lastPut(g *op.Gradient, dy op.Var, indices []op.Var) op.Var {
	found := read(g, dy, indices)
	s, places := g.Shape(found), g.Shape(dy)
	if g.Err != nil {
		return op.NoVar
	}
	rest := places.Rank - len(indices)
	places.Rank -= rest
	clear(places.Dims[places.Rank:])
	for i := s.Rank - rest; i < s.Rank; i++ {
		s.Dims[i] = 1
	}
	numbers := s
	numbers.Rank -= rest
	clear(numbers.Dims[numbers.Rank:])
	mine := g.Range(numbers.Numel())
	mine = g.Reshape(mine, &numbers)
	put := g.Do(op.IDIndexPut, nil, append([]op.Var{zeros(g, &places, dtype.Int64), mine}, indices...)...)
	last := g.Do(op.IDEqual, nil, read(g, put, indices), mine)
	return g.Where(g.Reshape(last, &s), found, g.Zero())
}

// gradIndexAdd: dy, and the slices of it that index names.
func gradIndexAdd(g *op.Gradient) {
	g.Set(0, g.Dy[0])
	if g.Wants[2] {
		g.Set(2, g.Do(op.IDGather, op.Attrs{op.GatherAxis: g.Attrs[op.IndexAddAxis]}, g.Dy[0], g.In[1]))
	}
}

// gradIndexFill is gradIndexPut with the axis in front.
func gradIndexFill(g *op.Gradient) {
	dy := g.Dy[0]
	if g.Wants[0] {
		nothing := zeros(g, &shape.Shape{}, dtypeOf(g, dy))
		g.Set(0, g.Do(op.IDIndexFill, g.Attrs, dy, g.In[1], nothing))
	}
	if g.Wants[2] {
		s := g.Shape(dy)
		axis := g.Attrs[op.IndexFillAxis].I
		if axis < 0 {
			axis += int64(s.Rank)
		}
		front := []int64{axis}
		for i := range int64(s.Rank) {
			if i != axis {
				front = append(front, i)
			}
		}
		g.Set(2, lastPut(g, g.Do(op.IDTranspose, op.Attrs{{Kind: op.Ints, Ints: front}}, dy), g.In[1:2]))
	}
}

// read is index.
func read(g *op.Gradient, x op.Var, indices []op.Var) op.Var {
	return g.Do(op.IDIndex, nil, append([]op.Var{x}, indices...)...)
}

// readsOfIndexReduce: a sum needs the indices alone, so that it may be written over its operand.
func readsOfIndexReduce(at op.Attrs) op.Reads {
	if at[op.IndexReduceReduce].Str() == op.Folds[0] {
		return op.ReadsZ
	}
	return op.ReadsX | op.ReadsY | op.ReadsZ | op.ReadsOut
}

// gradIndexReduce: of sums dy; of products dy times the other factors; of extremes dy divided among those that are it.
func gradIndexReduce(g *op.Gradient) {
	x, value, indices, dy, out := g.In[0], g.In[1], g.In[2:], g.Dy[0], g.Out[0]
	switch g.Attrs[op.IndexReduceReduce].Str() {
	case op.Folds[0]:
		g.Set(0, dy)
		if g.Wants[1] {
			g.Set(1, read(g, dy, indices))
		}
	case op.Folds[1]:
		gradIndexProduct(g)
	default:
		d := dtypeOf(g, out)
		mine := g.Do(op.IDEqual, nil, x, out)
		others := g.Do(op.IDEqual, nil, value, read(g, out, indices))
		count := indexAdd(g, g.Cast(mine, d), g.Cast(others, d), indices)
		part := g.Divide(dy, count)
		g.Set(0, g.Where(mine, part, g.Zero()))
		if g.Wants[1] {
			g.Set(1, g.Where(others, read(g, part, indices), g.Zero()))
		}
	}
}

// gradIndexProduct: dy times the other factors of each place. As for prod, a quotient by a factor 0 is the product of the others, which
// is not 0 where it is the only one.
func gradIndexProduct(g *op.Gradient) {
	x, value, indices, dy, out := g.In[0], g.In[1], g.In[2:], g.Dy[0], g.Out[0]
	d := dtypeOf(g, out)
	zeros := [2]op.Var{g.Do(op.IDEqual, nil, x, g.Zero()), g.Do(op.IDEqual, nil, value, g.Zero())}
	filled := [2]op.Var{g.Where(zeros[0], g.Float(1), x), g.Where(zeros[1], g.Float(1), value)}
	count := indexAdd(g, g.Cast(zeros[0], d), g.Cast(zeros[1], d), indices)
	product := g.Do(op.IDIndexReduce, g.Attrs, append([]op.Var{filled[0], filled[1]}, indices...)...)
	rest := g.Where(g.Do(op.IDEqual, nil, count, g.Float(1)), product, g.Zero())
	others := func(i int, rest, out op.Var) op.Var { return g.Where(zeros[i], rest, g.Divide(out, filled[i])) }
	if g.Wants[0] {
		g.Set(0, g.Multiply(dy, others(0, rest, out)))
	}
	if g.Wants[1] {
		g.Set(1, g.Multiply(read(g, dy, indices), others(1, read(g, rest, indices), read(g, out, indices))))
	}
}

// dy is the gradient of result i: zeros where nothing depends on it.
func dy(g *op.Gradient, i int) op.Var {
	if g.Dy[i] == op.NoVar {
		return g.Full(g.Out[i], 0)
	}
	return g.Dy[i]
}

// Column is 0, 1, ... along one axis of a tensor of a rank, whose other axes have one element.
func Column(c *op.Calls, n int64, rank, axis int) op.Var {
	s := Line(n, rank, axis)
	return c.Reshape(c.Range(n), &s)
}

// Line is the shape of n elements along one axis of a tensor of a rank.
func Line(n int64, rank, axis int) shape.Shape {
	s := shape.Shape{Rank: rank}
	for i := range rank {
		s.Dims[i] = 1
	}
	s.Dims[axis] = n
	return s
}
