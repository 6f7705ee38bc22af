package op

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Gradients of reductions, scans, products, views, and of reading and writing by index.

// axesOf are the axes that an attribute names, from 0 on: all where it names none.
func axesOf(at *Value, rank int) (axes Axes) {
	list := at.Ints
	if at.Kind == Int {
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
func (g *Gradient) kept(v Var, axes Axes) Var {
	s := g.Shape(g.In[0])
	for i := range s.Rank {
		if axes.Has(i) {
			s.Dims[i] = 1
		}
	}
	return g.Reshape(v, &s)
}

// gradSum repeats dy along the axes that were summed. The copy could be saved where all consumers take strides of 0.
func gradSum(g *Gradient) {
	s := g.Shape(g.In[0])
	g.Set(0, g.Expand(g.kept(g.Dy[0], axesOf(&g.Attrs[SumAxis], s.Rank)), &s))
}

// gradSquareSum is that of sum times the slope of the square.
func gradSquareSum(g *Gradient) {
	s := g.Shape(g.In[0])
	dy := g.kept(g.Dy[0], axesOf(&g.Attrs[SquareSumAxis], s.Rank))
	g.Set(0, g.multiply(g.In[0], g.scale(dy, 2)))
}

// gradMean is gradSum over the number of elements, which is counted along the reduced axes alone. Of no elements it is
// infinite, and there is nothing that it could be given to.
func gradMean(g *Gradient) {
	s := g.Shape(g.In[0])
	axes, count := axesOf(&g.Attrs[MeanAxis], s.Rank), int64(1)
	for i, d := range s.Slice() {
		if axes.Has(i) {
			count *= d
		}
	}
	g.Set(0, g.Expand(g.scale(g.kept(g.Dy[0], axes), 1/float64(count)), &s))
}

// gradExtreme divides dy among all elements that are the extreme.
//
// All equals share it, as in Paddle 3.3.1 for max and amax alike. nan equals nothing: where the extreme is nan, the gradient
// is 0.
func gradExtreme(g *Gradient) {
	x := g.In[0]
	axes := axesOf(&g.Attrs[MaxAxis], g.Shape(x).Rank) // min has the same attributes
	won := g.Do(IDEqual, nil, x, g.kept(g.Out[0], axes))
	count := g.kept(g.Sum(won, axes.list()), axes)
	dy := g.divide(g.kept(g.Dy[0], axes), g.Cast(count, g.dtypeOf(x)))
	g.Set(0, g.where(won, dy, g.zero()))
}

// list is the axes in ascending order.
func (a Axes) list() []int64 {
	list := []int64{} // not nil: of a 0-d tensor there are none
	for i := range shape.MaxRank {
		if a.Has(i) {
			list = append(list, int64(i))
		}
	}
	return list
}

// dtypeOf is the dtype of a value; after an error any, because nothing is computed any more.
func (g *Gradient) dtypeOf(v Var) dtype.DType {
	if g.Err != nil {
		return dtype.Float32
	}
	return g.TypeOf(v).DType
}

// gradProd: the product of the other elements. Where x is not 0 that is out/x, which would be nan at a single zero:
// there it is the product of what is not 0.
//
// With two zeros or more the product of the others is 0 everywhere. Paddle answers nan where there is a zero.
func gradProd(g *Gradient) {
	x := g.In[0]
	if d := g.dtypeOf(g.Out[0]); d.IsFloat() {
		x = g.Cast(x, d)
	}
	axes := axesOf(&g.Attrs[ProdAxis], g.Shape(x).Rank)
	zero := g.Do(IDEqual, nil, x, g.zero())
	filled := g.where(zero, g.Float(1), x)
	rest := g.kept(g.Do(IDProd, Attrs{ProdAxis: {Kind: Ints, Ints: axes.list()}, ProdKeepdim: {Kind: Bool}}, filled), axes)
	single := g.Do(IDEqual, nil, g.kept(g.Sum(zero, axes.list()), axes), g.Number(Value{Kind: Int, I: 1}))
	others := g.where(zero, g.where(single, rest, g.zero()), g.divide(g.kept(g.Out[0], axes), filled))
	g.Set(0, g.multiply(g.kept(g.Dy[0], axes), others))
}

// scanned is the axis of a scan over its result, which is flat where no axis was given.
func (g *Gradient) scanned(at *Value) int64 {
	axis := at.I // 0 where there is none
	if axis < 0 {
		axis += int64(max(g.Shape(g.Out[0]).Rank, 1))
	}
	return axis
}

// backwards is a scan from the last element to the first.
func (g *Gradient) backwards(id ID, v Var, axis int64) Var {
	if g.Shape(v).Rank == 0 {
		return v
	}
	turn := Attrs{{Kind: Ints, Ints: []int64{axis}}}
	return g.Do(IDFlip, turn, g.Do(id, Attrs{{Kind: Int, I: axis}}, g.Do(IDFlip, turn, v)))
}

// answer is Set for a value with the elements of the operand in row-major order.
func (g *Gradient) answer(dx Var) {
	s := g.Shape(g.In[0])
	g.Set(0, g.Reshape(dx, &s))
}

// gradCumsum: each element is part of the sums from it to the end, so that its gradient is the sum of theirs.
func gradCumsum(g *Gradient) {
	g.answer(g.backwards(IDCumsum, g.Dy[0], g.scanned(&g.Attrs[CumsumAxis])))
}

// gradCumprod: sums of dy*out from the end, over x, as long as no factor is 0. At the first zero it is the same sum
// with a 1 in its place, and behind it 0.
func gradCumprod(g *Gradient) {
	axis := g.scanned(&g.Attrs[CumprodAxis])
	s := g.Shape(g.Out[0])
	x := g.Cast(g.Reshape(g.In[0], &s), g.dtypeOf(g.Out[0]))
	along := Attrs{{Kind: Int, I: axis}}
	zero := g.Do(IDEqual, nil, x, g.zero())
	first := zero
	if s.Rank > 0 {
		place := g.Do(IDEqual, nil, g.Do(IDCumsum, along, zero), g.Number(Value{Kind: Int, I: 1}))
		first = g.Do(IDLogicalAnd, nil, zero, place)
	}
	filled := g.where(first, g.Float(1), x)
	product := g.Do(IDCumprod, along, filled)
	at := g.backwards(IDCumsum, g.multiply(g.Dy[0], product), axis)
	before := g.divide(g.backwards(IDCumsum, g.multiply(g.Dy[0], g.Out[0]), axis), g.where(zero, g.Float(1), x))
	g.answer(g.where(first, at, g.where(zero, g.zero(), before)))
}

// gradLogcumsumexp: exp(x) times sums of dy exp(-out) from the end, which overflow: positive and negative ones apart,
// as logarithms. A sum that is infinite says nothing about its terms, and passes nothing on to them.
func gradLogcumsumexp(g *Gradient) {
	axis := g.scanned(&g.Attrs[LogcumsumexpAxis])
	s := g.Shape(g.Out[0])
	infinite := g.Do(IDIsinf, nil, g.Out[0])
	out, given := g.where(infinite, g.zero(), g.Out[0]), g.where(infinite, g.zero(), g.Dy[0])
	// Behind infinity all sums are infinite: any finite number serves for it.
	x := g.Reshape(g.In[0], &s)
	x = g.where(g.Do(IDEqual, nil, x, g.Float(math.Inf(1))), g.zero(), x)
	part := func(dy Var) Var {
		dy = g.where(g.Do(IDGreaterThan, nil, dy, g.zero()), dy, g.zero())
		sum := g.backwards(IDLogcumsumexp, g.subtract(g.Do(IDLog, nil, dy), out), axis)
		return g.Do(IDExp, nil, g.add(x, sum))
	}
	g.answer(g.subtract(part(given), part(g.neg(given))))
}

// scatter puts the elements of dy to where they were taken from along an axis: index has the shape of dy. Of several for
// one place the sum is put.
//
// index_reduce wants an index tensor for each axis: for the others that is their own number, which broadcasts.
func (g *Gradient) scatter(dy, index Var, s shape.Shape, axis int64) Var {
	if g.Err != nil {
		return NoVar
	}
	zeros := g.zeros(&s, g.dtypeOf(dy))
	if s.Rank == 0 {
		return dy
	}
	from := g.Shape(index)
	in := []Var{zeros, dy}
	for i := range s.Rank {
		if int64(i) == axis {
			in = append(in, index)
			continue
		}
		in = append(in, g.column(from.Dims[i], s.Rank, i))
	}
	return g.Do(IDIndexReduce, Attrs{{Kind: String, Ref: "add"}}, in...)
}

// zeros is a tensor of zeros.
func (g *Gradient) zeros(s *shape.Shape, d dtype.DType) Var { return g.full(s, Value{Kind: Float}, d) }

// gradByPlace is of scans whose second result says where along the axis each element of the first comes from.
func gradByPlace(axis func(*Gradient) int64) func(*Gradient) {
	return func(g *Gradient) {
		if g.Dy[0] == NoVar {
			return
		}
		s := g.Shape(g.In[0])
		if out := g.Shape(g.Out[0]); out.Rank != s.Rank { // flat
			s = shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{s.Numel()}}
		}
		g.answer(g.scatter(g.Dy[0], g.Out[1], s, axis(g)))
	}
}

var (
	gradCumExtreme = gradByPlace(func(g *Gradient) int64 { return g.scanned(&g.Attrs[CummaxAxis]) })
	gradTopk       = gradByPlace(func(g *Gradient) int64 { return g.scanned(&g.Attrs[TopkAxis]) })
)

// gradSort sorts once more, for the places.
func gradSort(g *Gradient) {
	axis := g.scanned(&g.Attrs[SortAxis])
	found := g.DoMany(IDTopk, Attrs{TopkAxis: {Kind: Int, I: axis}, TopkLargest: g.Attrs[SortDescending]}, g.In[0])
	if g.Err == nil {
		g.answer(g.scatter(g.Dy[0], found[1], g.Shape(g.In[0]), axis))
	}
}

// gradSoftmax: (dy - sum(dy * out)) * out.
//
// The sum is over the axis of the call and stays with one element, which broadcasts. A 0-d tensor is 1 whatever it was.
func gradSoftmax(g *Gradient) {
	product := g.multiply(g.Dy[0], g.Out[0])
	if g.Shape(g.Out[0]).Rank == 0 {
		g.Set(0, g.subtract(product, product))
		return
	}
	sum := g.sumKept(product, g.scanned(&g.Attrs[SoftmaxAxis]))
	g.Set(0, g.subtract(product, g.multiply(g.Out[0], sum)))
}

// gradLogSoftmax is dy less the softmax times the sum of dy.
func gradLogSoftmax(g *Gradient) {
	if g.Shape(g.Out[0]).Rank == 0 { // 0 whatever x is
		g.Set(0, g.subtract(g.Dy[0], g.Dy[0]))
		return
	}
	sum := g.sumKept(g.Dy[0], g.scanned(&g.Attrs[LogSoftmaxAxis]))
	g.Set(0, g.subtract(g.Dy[0], g.multiply(g.Do(IDExp, nil, g.Out[0]), sum)))
}

// product is matmul, with either operand transposed.
func (c *Calls) product(x, y Var, transposeX, transposeY bool) Var {
	at := Attrs{MatmulTransposeX: {Kind: Bool}, MatmulTransposeY: {Kind: Bool}}
	if transposeX {
		at[MatmulTransposeX].I = 1
	}
	if transposeY {
		at[MatmulTransposeY].I = 1
	}
	return c.Do(IDMatmul, at, x, y)
}

// gradMatmul: dy y' and x' dy, with the transposes of the call. A vector is a row on the left and a column on the right.
// Matrices that were multiplied by one matrix count as one tall matrix, so that its gradient is one product and no sum of
// products.
//
// The four cases of transposes follow from one: with z = x y, dx = dz y' and dy = x' dz; transposing both sides gives those
// of the others. Flags of the call become flags of the products, so that nothing is copied.
func gradMatmul(g *Gradient) {
	x, y, dy := g.In[0], g.In[1], g.Dy[0]
	tx, ty := g.Attrs[MatmulTransposeX].I != 0, g.Attrs[MatmulTransposeY].I != 0
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
		var dx Var
		y := g.Reshape(y, &sy)
		if tx {
			dx = g.product(y, dy, ty, true)
		} else {
			dx = g.product(dy, y, false, !ty)
		}
		s := g.Shape(g.In[0])
		g.Set(0, g.Reshape(g.SumTo(dx, &sx), &s))
	}
	if g.Wants[1] {
		var d Var
		x := g.Reshape(x, &sx)
		if ty {
			d = g.product(dy, x, true, tx)
		} else {
			d = g.product(x, dy, !tx, false)
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
func gradTranspose(g *Gradient) {
	rank := g.Shape(g.Dy[0]).Rank
	if g.Err != nil {
		return
	}
	g.Set(0, g.Do(IDTranspose, transposedBack(g.Attrs, rank), g.Dy[0]))
}

// gradExpand sums over what was repeated, as Set does.
func gradExpand(g *Gradient) { g.Set(0, g.Dy[0]) }

// gradSlice puts dy back into zeros. dy may have the shape of the slice, or that of an index expression, which lacks axes
// of one element or has further ones.
func gradSlice(g *Gradient) {
	s := g.Shape(g.In[0])
	cut := Part{Layout: shape.Contiguous(s)}
	cut.cutAll(g.Attrs[SliceAxes:])
	g.Set(0, g.Do(IDSpread, Attrs{
		SpreadShape: {Kind: Ints, Ints: append([]int64{}, s.Slice()...)},
		SpreadAxes:  g.Attrs[SliceAxes], SpreadStarts: g.Attrs[SliceStarts], SpreadEnds: g.Attrs[SliceEnds], SpreadSteps: g.Attrs[SliceSteps],
	}, g.Reshape(g.Dy[0], &cut.Shape)))
}

// gradStrided adds dy to where the view reads x, which is contiguous: the same view of the numbers of its elements says
// where that is.
//
// Elements that the view shows more than once get the sum of their gradients.
func gradStrided(g *Gradient) {
	s := g.Shape(g.In[0])
	count := shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{s.Numel()}}
	numbers := g.count(count.Dims[0])
	at := g.Do(IDAsStrided, g.Attrs, numbers)
	g.answer(g.indexAdd(g.zeros(&count, g.dtypeOf(g.Dy[0])), g.Dy[0], []Var{at}))
}

// gradSpread takes from dy what was spread.
func gradSpread(g *Gradient) {
	g.Set(0, g.Do(IDSlice, Attrs{
		SliceAxes: g.Attrs[SpreadAxes], SliceStarts: g.Attrs[SpreadStarts], SliceEnds: g.Attrs[SpreadEnds], SliceSteps: g.Attrs[SpreadSteps],
	}, g.Dy[0]))
}

// gradSplit joins the gradients of the parts.
//
// A part that nothing depends on counts as zeros.
func gradSplit(g *Gradient) {
	parts := make([]Var, len(g.Out))
	for i := range parts {
		parts[i] = g.dy(i)
	}
	g.Set(0, g.Do(IDConcat, Attrs{g.Attrs[SplitAxis]}, parts...))
}

// gradConcat cuts dy into the parts.
//
// The parts are copies, because split makes no views.
func gradConcat(g *Gradient) {
	if len(g.In) == 1 { // a single section would be a number of parts
		g.Set(0, g.Dy[0])
		return
	}
	axis := g.Attrs[ConcatAxis].I
	sections := make([]int64, len(g.In))
	for i, v := range g.In {
		s := g.Shape(v)
		at := axis
		if at < 0 {
			at += int64(s.Rank)
		}
		sections[i] = s.Dims[at]
	}
	parts := g.DoMany(IDSplit, Attrs{SplitSections: {Kind: Ints, Ints: sections}, SplitAxis: {Kind: Int, I: axis}}, g.Dy[0])
	for i, p := range parts {
		g.Set(i, p)
	}
}

// gradStack cuts dy into slices of one element along the new axis, which they then lose.
func gradStack(g *Gradient) {
	sections := make([]int64, len(g.In))
	for i := range sections {
		sections[i] = 1
	}
	parts := g.DoMany(IDSplit, Attrs{SplitSections: {Kind: Ints, Ints: sections}, SplitAxis: g.Attrs[StackAxis]}, g.Dy[0])
	s := g.Shape(g.In[0])
	for i, p := range parts {
		g.Set(i, g.Reshape(p, &s))
	}
}

// gradTile sums the repetitions, axis by axis: an axis of r*d elements is r times d.
//
// One axis at a time needs a tensor of four axes; all at once would need twice the rank, which may be more than there is.
func gradTile(g *Gradient) {
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
	g.answer(dy)
}

// gradFlip reverses the same axes; twice reversed is as it was.
func gradFlip(g *Gradient) { g.Set(0, g.Do(IDFlip, Attrs{g.Attrs[FlipAxis]}, g.Dy[0])) }

// indexReduce is index_reduce with addition.
func (g *Gradient) indexAdd(x, value Var, indices []Var) Var {
	return g.Do(IDIndexReduce, Attrs{{Kind: String, Ref: "add"}}, append([]Var{x, value}, indices...)...)
}

// gradIndex adds dy to where it was read.
//
// Of equal indices the gradients add up, in the order of the indices: the sum does not depend on the number of threads.
func gradIndex(g *Gradient) {
	g.Set(0, g.indexAdd(g.Full(g.In[0], 0), g.Dy[0], g.In[1:]))
}

// gradGather is gradIndex with the axis in front.
func gradGather(g *Gradient) {
	s, index := g.Shape(g.In[0]), g.In[1]
	axis := g.Attrs[GatherAxis].I
	if axis < 0 {
		axis += int64(s.Rank)
	}
	where := g.Shape(index)
	if where.Rank == 2 { // [n, 1]
		where = shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{where.Dims[0]}}
		index = g.Reshape(index, &where)
	}
	front, back := make([]int64, 0, s.Rank), make([]int64, s.Rank)
	front = append(front, axis)
	for i := range int64(s.Rank) {
		if i != axis {
			front = append(front, i)
		}
	}
	moved := s
	for i, a := range front {
		moved.Dims[i], back[a] = s.Dims[a], int64(i)
	}
	dy := g.Dy[0]
	if where.Rank == 1 && axis > 0 {
		dy = g.Do(IDTranspose, Attrs{{Kind: Ints, Ints: front}}, dy)
	}
	dx := g.indexAdd(g.zeros(&moved, g.dtypeOf(dy)), dy, []Var{index})
	if axis > 0 {
		dx = g.Do(IDTranspose, Attrs{{Kind: Ints, Ints: back}}, dx)
	}
	g.Set(0, dx)
}

// gradIndexPut: what was replaced has no gradient, and the value has that of where it was put. Of several for one place
// only the last has been put there: it is the one whose number is there when numbers are put in the same way.
func gradIndexPut(g *Gradient) {
	if g.Wants[0] {
		nothing := g.zeros(&shape.Shape{}, g.dtypeOf(g.Dy[0]))
		g.Set(0, g.Do(IDIndexPut, nil, append([]Var{g.Dy[0], nothing}, g.In[2:]...)...))
	}
	if !g.Wants[1] {
		return
	}
	indices := g.In[2:]
	found := g.read(g.Dy[0], indices)
	s, places := g.Shape(found), g.Shape(g.In[0])
	if g.Err != nil {
		return
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
	mine := g.count(numbers.Numel())
	mine = g.Reshape(mine, &numbers)
	put := g.Do(IDIndexPut, nil, append([]Var{g.zeros(&places, dtype.Int64), mine}, indices...)...)
	last := g.Do(IDEqual, nil, g.read(put, indices), mine)
	g.Set(1, g.where(g.Reshape(last, &s), found, g.zero()))
}

// read is index.
func (g *Gradient) read(x Var, indices []Var) Var {
	return g.Do(IDIndex, nil, append([]Var{x}, indices...)...)
}

// readsOfIndexReduce: a sum needs the indices alone, so that it may be written over its operand.
func readsOfIndexReduce(at Attrs) Reads {
	if at[IndexReduceReduce].Str() == Folds[0] {
		return ReadsZ
	}
	return ReadsX | ReadsY | ReadsZ | ReadsOut
}

// gradIndexReduce: of sums dy; of products dy times the other factors; of extremes dy divided among those that are it.
func gradIndexReduce(g *Gradient) {
	x, value, indices, dy, out := g.In[0], g.In[1], g.In[2:], g.Dy[0], g.Out[0]
	switch g.Attrs[IndexReduceReduce].Str() {
	case Folds[0]:
		g.Set(0, dy)
		if g.Wants[1] {
			g.Set(1, g.read(dy, indices))
		}
	case Folds[1]:
		gradIndexProduct(g)
	default:
		d := g.dtypeOf(out)
		mine := g.Do(IDEqual, nil, x, out)
		others := g.Do(IDEqual, nil, value, g.read(out, indices))
		count := g.indexAdd(g.Cast(mine, d), g.Cast(others, d), indices)
		part := g.divide(dy, count)
		g.Set(0, g.where(mine, part, g.zero()))
		if g.Wants[1] {
			g.Set(1, g.where(others, g.read(part, indices), g.zero()))
		}
	}
}

// gradIndexProduct: dy times the other factors of each place. As for prod, a quotient by a factor 0 is the product of the others, which
// is not 0 where it is the only one.
func gradIndexProduct(g *Gradient) {
	x, value, indices, dy, out := g.In[0], g.In[1], g.In[2:], g.Dy[0], g.Out[0]
	d := g.dtypeOf(out)
	zeros := [2]Var{g.Do(IDEqual, nil, x, g.zero()), g.Do(IDEqual, nil, value, g.zero())}
	filled := [2]Var{g.where(zeros[0], g.Float(1), x), g.where(zeros[1], g.Float(1), value)}
	count := g.indexAdd(g.Cast(zeros[0], d), g.Cast(zeros[1], d), indices)
	product := g.Do(IDIndexReduce, g.Attrs, append([]Var{filled[0], filled[1]}, indices...)...)
	rest := g.where(g.Do(IDEqual, nil, count, g.Float(1)), product, g.zero())
	others := func(i int, rest, out Var) Var { return g.where(zeros[i], rest, g.divide(out, filled[i])) }
	if g.Wants[0] {
		g.Set(0, g.multiply(dy, others(0, rest, out)))
	}
	if g.Wants[1] {
		g.Set(1, g.multiply(g.read(dy, indices), others(1, g.read(rest, indices), g.read(out, indices))))
	}
}
