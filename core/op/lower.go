package op

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Ref is a tensor that a step reads or writes: a view of a buffer, or a scalar.
//
// What a row makes of a call may be run again with other numbers, unless the row is [Row.ByValue]: a scalar says which
// operand of the call it is, so that the number is found that is given then.
type Ref struct {
	Buffer int         // its number among the buffers of the graph; of scalars 1 + that of the operand, 0 for the row's own
	Offset int64       // elements from the start of the buffer to the one with all indices zero
	DType  dtype.DType // Invalid for a Python scalar that has not met its call
	Number *Value      // of a scalar, also of a tensor of one element that is known; nil for a view
	shape.Layout
}

// Step is a call of a row with nothing implied: inputs have the dtypes that inference asked for, and
// results have their memory. Inputs that were not given are scalars without a value. Of rows that
// update, In begins with the input after the updated one, which Out[0] already holds.
type Step struct {
	Row     *Row
	Attrs   Attrs
	Axes    Axes
	In, Out []Ref
}

// Lowering says a step in terms of other rows. It may change the step.
//
// A lowering is written once for all devices and sees what they would: operands in the dtypes of the call and results
// that have memory. It emits in the order in which the steps are to run, and may read what it has written before, as
// tile does. Where the whole result is one view of what another row makes, it changes the step and emits that.
type Lowering func(e Emitter, s *Step) error

// Emitter is what a lowering speaks to.
type Emitter interface {
	// Emit adds a step for the device. No element that it writes may be one that it reads.
	Emit(s *Step) error
	// Copy adds a copy between views of one dtype, the first of which broadcasts to the second. No
	// element of the second may be one of the first.
	Copy(from, to Ref) error
	// Move is Copy from a whole result of the last call, which nothing reads after it: where it can, that call writes to the place.
	Move(from, to Ref) error
	// Call adds a call of any row, with whatever it implies, and returns its results in new memory. It
	// may change in.
	Call(row *Row, in []Ref, at Attrs) ([]Ref, error)
}

// part is another view of the same buffer.
//
// The offset counts elements as strides do, from the element of the ref with all indices zero.
func (r *Ref) part(offset int64, l *shape.Layout) Ref {
	return Ref{Buffer: r.Buffer, Offset: r.Offset + offset, DType: r.DType, Layout: *l}
}

// own makes the operand a number of the row's own, in place of the one that was given.
func (r *Ref) own(v *Value, d dtype.DType) { r.Buffer, r.DType, r.Number = 0, d, v }

// lowerConcat copies each input into its part of the result.
func lowerConcat(e Emitter, s *Step) error {
	axis, start, out := s.Axes.First(), int64(0), &s.Out[0]
	for i := range s.In {
		l := out.Layout
		l.Dims[axis] = s.In[i].Dims[axis]
		if err := e.Copy(s.In[i], out.part(start*out.Strides[axis], &l)); err != nil {
			return err
		}
		start += l.Dims[axis]
	}
	return nil
}

// lowerBitcast copies x as if it had the dtype of the result.
func lowerBitcast(e Emitter, s *Step) error {
	x := s.In[0]
	x.DType = s.Out[0].DType
	return e.Copy(x, s.Out[0])
}

// lowerStack copies each input to its place along the new axis.
func lowerStack(e Emitter, s *Step) error {
	axis, out := s.Axes.First(), &s.Out[0]
	for i := range s.In {
		l := out.Layout
		l.Remove(axis)
		if err := e.Copy(s.In[i], out.part(int64(i)*out.Strides[axis], &l)); err != nil {
			return err
		}
	}
	return nil
}

// lowerTile copies x once and doubles what is there, axis by axis.
//
// Doubling takes as many copies as the repetitions have digits in base 2, each of what is in the cache or long enough
// to be worth a launch; a copy for each repetition would take as many as there are.
func lowerTile(e Emitter, s *Step) error {
	x, out := s.In[0], &s.Out[0]
	if out.Numel() == 0 {
		return nil
	}
	for x.Rank < out.Rank {
		x.Insert(0)
	}
	done := out.Layout
	done.Dims = x.Dims
	if err := e.Copy(x, out.part(0, &done)); err != nil {
		return err
	}
	for axis := range out.Rank {
		for done.Dims[axis] < out.Dims[axis] {
			more := done
			more.Dims[axis] = min(done.Dims[axis], out.Dims[axis]-done.Dims[axis])
			to := out.part(done.Dims[axis]*out.Strides[axis], &more)
			if err := e.Copy(out.part(0, &more), to); err != nil {
				return err
			}
			done.Dims[axis] += more.Dims[axis]
		}
	}
	return nil
}

// lowerSpread fills the result with zeros and copies x to where slice would read.
func lowerSpread(e Emitter, s *Step) error {
	out := &s.Out[0]
	zeros := Step{Row: byID[IDFull], Out: []Ref{*out}, Attrs: Attrs{
		FullShape:     {Kind: Ints, Ints: append([]int64{}, out.Slice()...)},
		FullFillValue: {Kind: Int},
		FullDtype:     {Kind: DType, I: int64(out.DType)},
	}}
	if err := e.Emit(&zeros); err != nil || s.In[0].Numel() == 0 {
		return err
	}
	p := Part{Layout: out.Layout}
	p.cutAll(s.Attrs[SpreadAxes:])
	return e.Copy(s.In[0], out.part(p.Offset, &p.Layout))
}

// lowerGather is index with the axis in front, on both sides: no element is moved for it, because index takes views. A
// 0-d index has removed the axis from the result, whose other axes are in order already.
func lowerGather(e Emitter, s *Step) error {
	axis := s.Axes.First()
	x, where, out := &s.In[0].Layout, &s.In[1].Layout, &s.Out[0].Layout
	*x = toFront(x, axis)
	if where.Rank == 2 { // [n, 1]
		where.Remove(1)
	}
	if where.Rank == 1 {
		*out = toFront(out, axis)
	}
	s.Row, s.Attrs, s.Axes = byID[IDIndex], nil, 0
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
var widest [dtype.Last + 1][2]Value

func init() {
	for _, d := range dtype.Numbers.Members() {
		widest[d] = [2]Value{{Kind: Float, F: math.Inf(-1)}, {Kind: Float, F: math.Inf(1)}}
		if !d.IsFloat() {
			low, high := d.Range()
			widest[d] = [2]Value{{Kind: Int, I: low}, {Kind: Int, I: high}}
		}
	}
}

// frameClip fills in the bounds that were left out, and keeps integer bounds inside the dtype.
func frameClip(s *Step) {
	ends := &widest[s.Out[0].DType]
	for i := range ends {
		switch v := s.In[i+1].Number; {
		case v == nil:
		case !v.Set():
			s.In[i+1].own(&ends[i], s.Out[0].DType)
		case !s.Out[0].DType.IsFloat() && (v.I < ends[0].I || v.I > ends[1].I):
			s.In[i+1].own(&Value{Kind: Int, I: min(max(v.I, ends[0].I), ends[1].I)}, s.Out[0].DType)
		}
	}
	stretch(s.In, &s.Out[0].Shape)
}

// lowerToLine makes one line of x where the result is one, which it is without an axis.
func lowerToLine(e Emitter, s *Step) (err error) {
	if s.In[0].Shape != s.Out[0].Shape {
		s.In, err = e.Call(byID[IDReshape], s.In, Attrs{{Kind: Ints, Ints: []int64{-1}}})
		if err != nil {
			return err
		}
	}
	return e.Emit(s)
}

// lowerCountNonzero is the sum of x as bool, in int64.
func lowerCountNonzero(e Emitter, s *Step) (err error) {
	for _, d := range [...]dtype.DType{dtype.Bool, dtype.Int64} {
		if s.In, err = e.Call(byID[IDCast], s.In, Attrs{{Kind: DType, I: int64(d)}}); err != nil {
			return err
		}
	}
	s.Attrs = Attrs{SumAxis: s.Attrs[CountNonzeroAxis], SumKeepdim: s.Attrs[CountNonzeroKeepdim]}
	s.Row = byID[IDSum]
	return e.Emit(s)
}

// lowerWholeSum is the sum of x as int64.
func lowerWholeSum(e Emitter, s *Step) error {
	s.Attrs = Attrs{SumAxis: s.Attrs[WholeSumAxis], SumKeepdim: s.Attrs[WholeSumKeepdim]}
	return reduceWhole(e, s, IDSum)
}

// lowerWholeProd is the product of x as int64.
func lowerWholeProd(e Emitter, s *Step) error {
	s.Attrs = Attrs{ProdAxis: s.Attrs[WholeProdAxis], ProdKeepdim: s.Attrs[WholeProdKeepdim]}
	return reduceWhole(e, s, IDProd)
}

// reduceWhole casts x to int64 and reduces it.
func reduceWhole(e Emitter, s *Step, id ID) (err error) {
	if s.In, err = e.Call(byID[IDCast], s.In, Attrs{{Kind: DType, I: int64(dtype.Int64)}}); err != nil {
		return err
	}
	s.Row = byID[id]
	return e.Emit(s)
}

func lowerSquareSum(e Emitter, s *Step) (err error) {
	if s.In, err = e.Call(byID[IDSquare], s.In, nil); err != nil {
		return err
	}
	s.Attrs = Attrs{SumAxis: s.Attrs[SquareSumAxis], SumKeepdim: s.Attrs[SquareSumKeepdim]}
	s.Row = byID[IDSum]
	return e.Emit(s)
}

// lowerLogSoftmax is x - max(x), less the logarithm of the sum of its exponentials. Of no elements, which have no maximum, it is any
// operator that gives as many.
func lowerLogSoftmax(e Emitter, s *Step) error {
	if s.Out[0].Numel() == 0 {
		s.Row, s.Attrs = byID[IDExp], nil
		return e.Emit(s)
	}
	l, axis := emitted{e: e, refs: slices.Clone(s.In)}, s.Attrs[LogSoftmaxAxis].I
	c := Calls{Calculator: &l}
	top := c.Do(IDMax, Attrs{MaxAxis: {Kind: Ints, Ints: []int64{axis}}, MaxKeepdim: {Kind: Bool, I: 1}}, 0)
	shifted := c.subtract(0, top)
	log := c.Do(IDLog, nil, c.sumKept(c.Do(IDExp, nil, shifted), axis))
	if c.Err != nil {
		return c.Err
	}
	s.Row, s.Attrs, s.In = byID[IDSubtract], nil, []Ref{l.refs[shifted], l.refs[log]}
	stretch(s.In, &s.Out[0].Shape)
	return e.Emit(s)
}

// lowerIntegers computes products of 8-bit integers by other rows: matmul in int32, and conv in floats, of which float32 holds
// the sums of 256 products. Beyond 2**31 sums wrap around.
func lowerIntegers(e Emitter, s *Step) error {
	l, d, weight := emitted{e: e, refs: slices.Clone(s.In)}, dtype.Int32, &s.In[1]
	if s.Row.Kind == Window {
		d = dtype.Float32
		if weight.Numel() > 256*weight.Dims[0] {
			d = dtype.Float64
		}
	}
	c := Calls{Calculator: &l}
	x, y := c.Cast(0, d), c.Cast(1, d)
	if !c.Absent(2) {
		x = c.subtract(x, c.Cast(2, d))
	}
	if s.Row.Kind == Window {
		x = c.Cast(c.Cast(c.Do(IDConv, s.Attrs, x, y), dtype.Int64), dtype.Int32)
	}
	if c.Err != nil {
		return c.Err
	}
	if s.Row.Kind == Window {
		return e.Copy(l.refs[x], s.Out[0])
	}
	s.Row, s.In = byID[IDMatmul], []Ref{l.refs[x], l.refs[y]}
	return e.Emit(s)
}

// frameMatrices turns the operands of matmul into batches of matrices; transposes go into the strides.
//
// The two kinds of vector differ by where the axis of one element goes: x is a row and y is a column. The axis that the
// result lacks for it is put back, so that devices see matrices alone.
func frameMatrices(s *Step) {
	x, y, out := &s.In[0].Layout, &s.In[1].Layout, &s.Out[0].Layout
	if y.Rank == 1 {
		y.Insert(1)
		out.Insert(out.Rank)
	} else if s.Attrs[MatmulTransposeY].I != 0 {
		swapLast(y)
	}
	if x.Rank == 1 {
		x.Insert(0)
		out.Insert(out.Rank - 1)
	} else if s.Attrs[MatmulTransposeX].I != 0 {
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
func frameIndex(s *Step) {
	rest := s.In[0].Rank - (len(s.In) - 1)
	b := s.Out[0].Shape
	clear(b.Dims[b.Rank-rest : b.Rank])
	b.Rank -= rest
	stretch(s.In[1:], &b)
}

// frameIndexPut broadcasts the index tensors to one shape, and the value to that shape followed by
// the axes that are not indexed.
func frameIndexPut(s *Step) {
	var b shape.Shape
	for i := range s.In[1:] {
		b, _ = shape.Broadcast(s.Row.Name, &b, &s.In[i+1].Shape) // inference has found that they do
	}
	stretch(s.In[1:], &b)
	for _, d := range s.Out[0].Slice()[len(s.In)-1:] {
		b.Append(d)
	}
	stretch(s.In[:1], &b)
}

// stretch broadcasts operands to a shape.
func stretch(refs []Ref, s *shape.Shape) {
	for i := range refs {
		if refs[i].Shape != *s {
			refs[i].Layout = refs[i].BroadcastTo(s)
		}
	}
}

// Arrange lays the operands of a step out in the frame in which devices take it; see device.Call.
func (s *Step) Arrange() {
	switch {
	case s.Row.Frame != nil:
		s.Row.Frame(s)
	case s.Row.Elementwise():
		stretch(s.In, &s.Out[0].Shape)
	case s.Row.Kind == Reduce:
		s.keepAxes()
	}
}

// keepAxes gives the result the axes that were reduced back, with one element each.
func (s *Step) keepAxes() {
	in, out := &s.In[0].Layout, &s.Out[0].Layout
	if out.Rank == in.Rank {
		return
	}
	for i := range in.Rank {
		if s.Axes.Has(i) {
			out.Insert(i)
		}
	}
}
