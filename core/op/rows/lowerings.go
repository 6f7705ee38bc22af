package rows

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// lowerConcat copies each input into its part of the result.
func lowerConcat(e op.Emitter, s *op.Step) error {
	axis, start, out := s.Axes.First(), int64(0), &s.Out[0]
	for i := range s.In {
		l := out.Layout
		l.Dims[axis] = s.In[i].Dims[axis]
		if err := e.Copy(s.In[i], out.View(start*out.Strides[axis], &l)); err != nil {
			return err
		}
		start += l.Dims[axis]
	}
	return nil
}

// lowerBitcast copies x as if it had the dtype of the result.
func lowerBitcast(e op.Emitter, s *op.Step) error {
	x := s.In[0]
	x.DType = s.Out[0].DType
	return e.Copy(x, s.Out[0])
}

// lowerStack copies each input to its place along the new axis.
func lowerStack(e op.Emitter, s *op.Step) error {
	axis, out := s.Axes.First(), &s.Out[0]
	for i := range s.In {
		l := out.Layout
		l.Remove(axis)
		if err := e.Copy(s.In[i], out.View(int64(i)*out.Strides[axis], &l)); err != nil {
			return err
		}
	}
	return nil
}

// lowerTile copies x once and doubles what is there, axis by axis.
//
// Doubling takes as many copies as the repetitions have digits in base 2, each of what is in the cache or long enough
// to be worth a launch; a copy for each repetition would take as many as there are.
func lowerTile(e op.Emitter, s *op.Step) error {
	x, out := s.In[0], &s.Out[0]
	if out.Numel() == 0 {
		return nil
	}
	for x.Rank < out.Rank {
		x.Insert(0)
	}
	done := out.Layout
	done.Dims = x.Dims
	if err := e.Copy(x, out.View(0, &done)); err != nil {
		return err
	}
	for axis := range out.Rank {
		for done.Dims[axis] < out.Dims[axis] {
			more := done
			more.Dims[axis] = min(done.Dims[axis], out.Dims[axis]-done.Dims[axis])
			to := out.View(done.Dims[axis]*out.Strides[axis], &more)
			if err := e.Copy(out.View(0, &more), to); err != nil {
				return err
			}
			done.Dims[axis] += more.Dims[axis]
		}
	}
	return nil
}

// lowerSpread fills the result with zeros and copies x to where slice would read.
func lowerSpread(e op.Emitter, s *op.Step) error {
	out := &s.Out[0]
	zeros := op.Step{Row: op.ByID(op.IDFull), Out: []op.Ref{*out}, Attrs: op.Attrs{
		op.FullShape:     {Kind: op.Ints, Ints: append([]int64{}, out.Slice()...)},
		op.FullFillValue: {Kind: op.Int},
		op.FullDtype:     {Kind: op.DType, I: int64(out.DType)},
	}}
	if err := e.Emit(&zeros); err != nil || s.In[0].Numel() == 0 {
		return err
	}
	p := op.Part{Layout: out.Layout}
	p.CutAll(s.Attrs[op.SpreadAxes:])
	return e.Copy(s.In[0], out.View(p.Offset, &p.Layout))
}

// lowerGather is index with the axis in front, on both sides: no element is moved for it, because index takes views. A
// 0-d index has removed the axis from the result, whose other axes are in order already.
func lowerGather(e op.Emitter, s *op.Step) error {
	axis := s.Axes.First()
	x, where, out := &s.In[0].Layout, &s.In[1].Layout, &s.Out[0].Layout
	*x = toFront(x, axis)
	if where.Rank == 2 { // [n, 1]
		where.Remove(1)
	}
	if where.Rank == 1 {
		*out = toFront(out, axis)
	}
	s.Row, s.Attrs, s.Axes = op.ByID(op.IDIndex), nil, 0
	return e.Emit(s)
}

// lowerIndexAdd is index_reduce with the axis in front, of the value and of what is written into.
func lowerIndexAdd(e op.Emitter, s *op.Step) error {
	value := &s.In[1].Layout
	*value = toFront(value, s.Axes.First())
	return writeAlong(e, s, op.IDIndexReduce, op.Attrs{{Kind: op.String, Ref: op.Folds[0]}})
}

// lowerIndexFill is index_put with the axis in front.
func lowerIndexFill(e op.Emitter, s *op.Step) error { return writeAlong(e, s, op.IDIndexPut, nil) }

// writeAlong writes the second operand through the first one, which counts along the axis of the step.
func writeAlong(e op.Emitter, s *op.Step, row op.ID, at op.Attrs) error {
	out := &s.Out[0].Layout
	*out = toFront(out, s.Axes.First())
	s.In[0], s.In[1] = s.In[1], s.In[0]
	s.Row, s.Attrs, s.Axes = op.ByID(row), at, 0
	return e.Emit(s)
}

// toFront moves an axis before all others.
func toFront(l *shape.Layout, axis int) shape.Layout {
	var perm [shape.MaxRank]int64
	perm[0] = int64(axis)
	at := 1
	for i := range l.Rank {
		if i != axis {
			perm[at] = int64(i)
			at++
		}
	}
	return l.Permute(perm[:l.Rank])
}

// widest are the bounds of clip that bound nothing, by dtype.
var widest [dtype.Last + 1][2]op.Value

func init() {
	for _, d := range dtype.Numbers.Members() {
		widest[d] = [2]op.Value{{Kind: op.Float, F: math.Inf(-1)}, {Kind: op.Float, F: math.Inf(1)}}
		if !d.IsFloat() {
			low, high := d.Range()
			widest[d] = [2]op.Value{{Kind: op.Int, I: low}, {Kind: op.Int, I: high}}
		}
	}
}

// frameClip fills in the bounds that were left out, and keeps integer bounds inside the dtype.
func frameClip(s *op.Step) {
	ends := &widest[s.Out[0].DType]
	for i := range ends {
		switch v := s.In[i+1].Number; {
		case v == nil:
		case !v.Set():
			s.In[i+1].SetNumber(&ends[i], s.Out[0].DType)
		case !s.Out[0].DType.IsFloat() && (v.I < ends[0].I || v.I > ends[1].I):
			s.In[i+1].SetNumber(&op.Value{Kind: op.Int, I: min(max(v.I, ends[0].I), ends[1].I)}, s.Out[0].DType)
		}
	}
	op.Stretch(s.In, &s.Out[0].Shape)
}

// lowerToLine makes one line of x where the result is one, which it is without an axis.
func lowerToLine(e op.Emitter, s *op.Step) (err error) {
	if s.In[0].Shape != s.Out[0].Shape {
		s.In, err = e.Call(op.ByID(op.IDReshape), s.In, op.Attrs{{Kind: op.Ints, Ints: []int64{-1}}})
		if err != nil {
			return err
		}
	}
	return e.Emit(s)
}

// lowerCountNonzero is the sum of x as bool, in int64.
func lowerCountNonzero(e op.Emitter, s *op.Step) (err error) {
	for _, d := range [...]dtype.DType{dtype.Bool, dtype.Int64} {
		if s.In, err = e.Call(op.ByID(op.IDCast), s.In, op.Attrs{{Kind: op.DType, I: int64(d)}}); err != nil {
			return err
		}
	}
	s.Attrs = op.Attrs{op.SumAxis: s.Attrs[op.CountNonzeroAxis], op.SumKeepdim: s.Attrs[op.CountNonzeroKeepdim]}
	s.Row = op.ByID(op.IDSum)
	return e.Emit(s)
}

// lowerWholeSum is the sum of x as int64.
func lowerWholeSum(e op.Emitter, s *op.Step) error {
	s.Attrs = op.Attrs{op.SumAxis: s.Attrs[op.WholeSumAxis], op.SumKeepdim: s.Attrs[op.WholeSumKeepdim]}
	return reduceWhole(e, s, op.IDSum)
}

// lowerWholeProd is the product of x as int64.
func lowerWholeProd(e op.Emitter, s *op.Step) error {
	s.Attrs = op.Attrs{op.ProdAxis: s.Attrs[op.WholeProdAxis], op.ProdKeepdim: s.Attrs[op.WholeProdKeepdim]}
	return reduceWhole(e, s, op.IDProd)
}

// reduceWhole casts x to int64 and reduces it.
func reduceWhole(e op.Emitter, s *op.Step, id op.ID) (err error) {
	if s.In, err = e.Call(op.ByID(op.IDCast), s.In, op.Attrs{{Kind: op.DType, I: int64(dtype.Int64)}}); err != nil {
		return err
	}
	s.Row = op.ByID(id)
	return e.Emit(s)
}

func lowerSquareSum(e op.Emitter, s *op.Step) (err error) {
	if s.In, err = e.Call(op.ByID(op.IDSquare), s.In, nil); err != nil {
		return err
	}
	s.Attrs = op.Attrs{op.SumAxis: s.Attrs[op.SquareSumAxis], op.SumKeepdim: s.Attrs[op.SquareSumKeepdim]}
	s.Row = op.ByID(op.IDSum)
	return e.Emit(s)
}

// lowerLogSoftmax is x - max(x), less the logarithm of the sum of its exponentials. Of no elements, which have no maximum, it is any
// operator that gives as many.
func lowerLogSoftmax(e op.Emitter, s *op.Step) error {
	if s.Out[0].Numel() == 0 {
		s.Row, s.Attrs = op.ByID(op.IDExp), nil
		return e.Emit(s)
	}
	l, axis := op.Emission{To: e, Refs: slices.Clone(s.In)}, s.Attrs[op.LogSoftmaxAxis].I
	c := op.Calls{Calculator: &l}
	top := c.Do(op.IDMax, op.Attrs{op.MaxAxis: {Kind: op.Ints, Ints: []int64{axis}}, op.MaxKeepdim: {Kind: op.Bool, I: 1}}, 0)
	shifted := c.Subtract(0, top)
	log := c.Do(op.IDLog, nil, c.SumKept(c.Do(op.IDExp, nil, shifted), axis))
	if c.Err != nil {
		return c.Err
	}
	s.Row, s.Attrs, s.In = op.ByID(op.IDSubtract), nil, []op.Ref{l.Refs[shifted], l.Refs[log]}
	op.Stretch(s.In, &s.Out[0].Shape)
	return e.Emit(s)
}

// lowerIntegers computes products of 8-bit integers by other rows: matmul in int32, and conv in floats, of which float32 holds
// the sums of 256 products. Beyond 2**31 sums wrap around.
func lowerIntegers(e op.Emitter, s *op.Step) error {
	l, d, weight := op.Emission{To: e, Refs: slices.Clone(s.In)}, dtype.Int32, &s.In[1]
	if s.Row.Kind == op.Window {
		d = dtype.Float32
		if weight.Numel() > 256*weight.Dims[0] {
			d = dtype.Float64
		}
	}
	c := op.Calls{Calculator: &l}
	x, y := c.Cast(0, d), c.Cast(1, d)
	if !c.Absent(2) {
		x = c.Subtract(x, c.Cast(2, d))
	}
	if s.Row.Kind == op.Window {
		x = c.Cast(c.Cast(c.Do(op.IDConv, s.Attrs, x, y), dtype.Int64), dtype.Int32)
	}
	if c.Err != nil {
		return c.Err
	}
	if s.Row.Kind == op.Window {
		return e.Copy(l.Refs[x], s.Out[0])
	}
	s.Row, s.In = op.ByID(op.IDMatmul), []op.Ref{l.Refs[x], l.Refs[y]}
	return e.Emit(s)
}

// frameMatrices turns the operands of matmul into batches of matrices; transposes go into the strides.
//
// The two kinds of vector differ by where the axis of one element goes: x is a row and y is a column. The axis that the
// result lacks for it is put back, so that devices see matrices alone.
func frameMatrices(s *op.Step) {
	x, y, out := &s.In[0].Layout, &s.In[1].Layout, &s.Out[0].Layout
	if y.Rank == 1 {
		y.Insert(1)
		out.Insert(out.Rank)
	} else if s.Attrs[op.MatmulTransposeY].I != 0 {
		swapLast(y)
	}
	if x.Rank == 1 {
		x.Insert(0)
		out.Insert(out.Rank - 1)
	} else if s.Attrs[op.MatmulTransposeX].I != 0 {
		swapLast(x)
	}
	batchTo(x, &out.Shape)
	batchTo(y, &out.Shape)
}

// swapLast transposes the matrices of a layout.
func swapLast(l *shape.Layout) {
	i, j := l.Rank-2, l.Rank-1
	l.Dims[i], l.Dims[j] = l.Dims[j], l.Dims[i]
	l.Strides[i], l.Strides[j] = l.Strides[j], l.Strides[i]
}

// batchTo broadcasts all axes but the last two to those of a shape.
func batchTo(l *shape.Layout, s *shape.Shape) {
	want := *s
	want.Dims[s.Rank-2], want.Dims[s.Rank-1] = l.Dims[l.Rank-2], l.Dims[l.Rank-1]
	*l = l.BroadcastTo(&want)
}

// frameIndex broadcasts the index tensors to one shape, that of the first axes of the result.
func frameIndex(s *op.Step) {
	rest := s.In[0].Rank - (len(s.In) - 1)
	b := s.Out[0].Shape
	clear(b.Dims[b.Rank-rest : b.Rank])
	b.Rank -= rest
	op.Stretch(s.In[1:], &b)
}

// frameIndexPut broadcasts the index tensors to one shape, and the value to that shape followed by
// the axes that are not indexed.
func frameIndexPut(s *op.Step) {
	var b shape.Shape
	for i := range s.In[1:] {
		b, _ = shape.Broadcast(s.Row.Name, &b, &s.In[i+1].Shape) // inference has found that they do
	}
	op.Stretch(s.In[1:], &b)
	for _, d := range s.Out[0].Slice()[len(s.In)-1:] {
		b.Append(d)
	}
	op.Stretch(s.In[:1], &b)
}

// frameFirst is that of a convolution with a weight: x and the result are images.
func frameFirst(s *op.Step) { frameImages(s, s.In[:1], s.Out) }

// frameBoth is that of conv_weight, whose operands are images and whose result is a weight.
func frameBoth(s *op.Step) { frameImages(s, s.In, nil) }

// frameAll is that of pools.
func frameAll(s *op.Step) { frameImages(s, s.In, s.Out) }

func frameImages(s *op.Step, lists ...[]op.Ref) {
	if i := s.Row.AttrIndex("channels_last"); s.Attrs[i].I == 0 {
		return
	}
	for _, list := range lists {
		for i := range list {
			op.ChannelsFirst(&list[i].Layout)
		}
	}
}
