package metal

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// elementwise runs an operator of package msl: one element of the output from one of each input. Its
// variants are by lay; see bits.
type elementwise struct {
	variants
	row   *op.Row
	attrs []int // of the row, that the kernels want
}

// elements are the dtypes that shaders know.
var elements = dtype.All &^ dtype.SetOf(dtype.Float64)

func init() {
	for i := range op.Table {
		row := &op.Table[i]
		switch row.Kind {
		case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
			for _, d := range elements.Members() {
				if msl.Has(row.Name, d) {
					shaders.Add(row.Name, dtype.SetOf(d), kernels.Portable, way{make: makeElementwise})
				}
			}
		}
	}
}

func makeElementwise(d *Device, c *device.Call) (kernel, error) {
	k := &elementwise{row: op.ByID(c.Op)}
	k.device = d
	f := msl.Form{Op: k.row.Name}
	for _, name := range f.Attrs() {
		k.attrs = append(k.attrs, k.row.AttrIndex(name))
	}
	return k, nil
}

// lay is how the operands of a call lie: the output, then the inputs.
type lay struct {
	places [4]msl.Place // of the inputs; that of the output is Line or Strided
	first  [4]int64     // elements between what is bound and the one whose indices are all zero
	count  int
	wide   bool
	vector bool // see msl.Form
}

// layOf looks at a call; the error is that of an operand which the GPU cannot reach.
func layOf(c *device.Call) (l lay, err error) {
	out := &c.Out[0]
	l.count, l.vector = len(c.In)+1, out.Numel() >= 4
	for i := range l.count {
		o := operandAt(c, i)
		s, ok := locate(o)
		switch {
		case !ok && i > 0 && isFixed(o):
			l.places[i] = msl.Fixed
			continue
		case !ok:
			return l, status.Errorf(status.Unsupported, "got an operand in memory that the GPU does not have")
		case s.first == 0 && o.IsContiguous() && o.Shape == out.Shape:
			l.places[i] = msl.Line
			l.vector = l.vector && s.offset%uint64(4*o.DType.Size()) == 0
			continue
		}
		l.places[i], l.first[i], l.vector = msl.Strided, s.first, false
		l.wide = l.wide || isWide(&o.Layout)
	}
	if out.Numel() >= 1<<32 {
		return l, status.Errorf(status.Unsupported, "got %d elements; want fewer than %d", out.Numel(), int64(1)<<32)
	}
	return l, nil
}

// operandAt is operand i of a call, the output first.
func operandAt(c *device.Call, i int) *device.Operand {
	if i == 0 {
		return &c.Out[0]
	}
	return &c.In[i-1]
}

// narrow is the largest offset that kernels with offsets of 32 bits get; tests lower it.
var narrow int64 = math.MaxInt32

// isWide reports whether 32 bits are too few for the offsets of a layout.
func isWide(l *shape.Layout) bool {
	low, high, _ := l.Extent()
	return low < -narrow || high > narrow
}

// bits is a lay as a number: two bits an operand, then what follows from all.
func (l *lay) bits() (n uint64) {
	for _, p := range l.places[:l.count] {
		n = n<<2 | uint64(p)
	}
	n <<= 2
	if l.wide {
		n |= 1
	}
	if l.vector {
		n |= 2
	}
	return n
}

// form is what a kernel for a call with that lay is.
func (k *elementwise) form(c *device.Call, l *lay) msl.Form {
	f := msl.Form{Op: k.row.Name, Out: c.Out[0].DType, Spread: l.places[0] == msl.Strided, Wide: l.wide, Vector: l.vector}
	for i := range c.In {
		f.In, f.Places = append(f.In, c.In[i].DType), append(f.Places, l.places[i+1])
	}
	return f
}

// pipelineFor is the compiled kernel for a lay.
func (k *elementwise) pipelineFor(c *device.Call, l *lay) (pipeline, error) {
	p, err := k.get(l.bits(), oneName, func() (string, error) {
		f := k.form(c, l)
		source, ok := f.Source()
		if !ok {
			return "", status.Errorf(status.Unsupported, "there is no shader for this call")
		}
		return source, nil
	})
	if err != nil {
		return pipeline{}, err
	}
	return p[0], nil
}

func (k *elementwise) encode(b *batch, c *device.Call) error {
	n := c.Out[0].Numel()
	if n == 0 {
		return nil
	}
	l, err := layOf(c)
	if err != nil {
		return err
	}
	p, err := k.pipelineFor(c, &l)
	if err != nil {
		return err
	}
	d := b.arguments()
	strided := false
	for i := range l.count {
		bind(d, operandAt(c, i))
		strided = strided || l.places[i] == msl.Strided
	}
	if strided {
		bindShape(d.Constant(shapeSize(l.wide)), c, &l)
	}
	if l.vector {
		bindCounts(d, n)
		n = n/4 + n%4
	}
	if len(k.attrs) > 0 {
		block := d.Constant(4 * len(k.attrs))
		for i, a := range k.attrs {
			binary.LittleEndian.PutUint32(block[4*i:], math.Float32bits(float32(c.Attrs[a].Float64())))
		}
	}
	if msl.Faults(k.row.Name, c.In[0].DType) {
		words, offset, err := b.word()
		if err != nil {
			return err
		}
		d.Bind(objc.ID(words), offset)
	}
	p.line(d, uint64(n))
	return b.dispatch(p.state, d)
}

// finish hears whether an integer was divided by zero.
func (k *elementwise) finish(_ *device.Call, w word) error {
	if w[0] != 0 {
		return status.Errorf(status.Math, "an integer is divided by zero; want a divisor other than 0")
	}
	return nil
}

func (k *elementwise) workspace(*device.Call) int64 { return 0 }

// shapeSize is that of msl's Shape: rank, dims, then four firsts and four times nine strides.
func shapeSize(wide bool) int {
	if wide {
		return 4 + 4*shape.MaxRank + 8*4 + 8*4*shape.MaxRank
	}
	return 4 + 4*shape.MaxRank + 4*4 + 4*4*shape.MaxRank
}

// bindShape writes a Shape: the output's axes, merged where one stride walks two, and the strides of all.
func bindShape(block []byte, c *device.Call, l *lay) {
	axes := merged(c, l.count)
	binary.LittleEndian.PutUint32(block, uint32(axes.rank))
	for i := range shape.MaxRank {
		binary.LittleEndian.PutUint32(block[4+4*i:], uint32(max(axes.dims[i], 1)))
	}
	block = block[4+4*shape.MaxRank:]
	put := func(at int, v int64) {
		if l.wide {
			binary.LittleEndian.PutUint64(block[8*at:], uint64(v))
		} else {
			binary.LittleEndian.PutUint32(block[4*at:], uint32(v))
		}
	}
	for o := range 4 {
		put(o, l.first[o])
		for i := range shape.MaxRank {
			put(4+o*shape.MaxRank+i, axes.strides[o][i])
		}
	}
}

// axesOf is a shape that several operands are walked by.
type axesOf struct {
	rank    int
	dims    [shape.MaxRank]int64
	strides [4][shape.MaxRank]int64
}

// merged drops axes of one element and joins neighbours that every operand walks with one stride.
func merged(c *device.Call, count int) (a axesOf) {
	out := &c.Out[0]
	for i := range out.Rank {
		if out.Dims[i] == 1 {
			continue
		}
		join := a.rank > 0
		for o := range count {
			join = join && a.strides[o][a.rank-1] == operandAt(c, o).Strides[i]*out.Dims[i]
		}
		if !join {
			a.dims[a.rank] = 1
			a.rank++
		}
		a.dims[a.rank-1] *= out.Dims[i]
		for o := range count {
			a.strides[o][a.rank-1] = operandAt(c, o).Strides[i]
		}
	}
	return a
}
