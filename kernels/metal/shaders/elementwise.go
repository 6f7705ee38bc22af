package shaders

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// elementwise runs an operator of package msl: one element of the output from one of each input.
type elementwise struct {
	compiled
	access  access
	several int64 // elements that a thread takes as a vector
	attrs   []int // of the row, that the kernel wants
	faults  bool  // the kernel reports integers divided by zero
}

// What package msl has an expression for is registered, so that a new elementwise operator needs a row there and
// no line here.
func init() {
	for i := range op.Table {
		row := &op.Table[i]
		switch row.Kind {
		case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
			for _, d := range gpu.Elements.Members() {
				if msl.Has(row.ID, d) {
					gpu.Register(gpu.Shader, row.ID, dtype.SetOf(d), gpu.Variant{Accepts: elementwiseClass, Make: makeElementwise})
				}
			}
		}
	}
}

// elementwiseClass is the access of a call as a class.
func elementwiseClass(_ *gpu.Device, c *device.Call) (class uint64, ok bool) {
	l, ok := accessOf(c)
	return l.class(), ok
}

// makeElementwise compiles the kernel of a class. The call is looked at for its operator and dtypes only.
func makeElementwise(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
	l := accessOfClass(class, len(c.In)+1)
	return compileElementwise(d, c, &l)
}

// compileElementwise compiles the kernel for calls with an access; status.Unsupported where package msl has no
// expression for the dtypes.
func compileElementwise(d *gpu.Device, c *device.Call, l *access) (*elementwise, error) {
	f := l.form(c)
	source, ok := f.Source()
	if !ok {
		return nil, status.Errorf(status.Unsupported, "there is no shader for this call")
	}
	s, err := compile(d, l.class(), source, msl.Name)
	if err != nil {
		return nil, err
	}
	k := &elementwise{compiled: s, access: *l, several: f.Several(), attrs: f.Attrs(), faults: f.Faults()}
	return k, nil
}

// mostOperands is how many operands an elementwise kernel has, the output among them; a Walks has room for them.
const mostOperands = 4

// access is how the operands of a call lie, the output first: all that kernels of one operator and dtypes differ
// by. A kernel that reads contiguous vectors needs no strides and no tiles, so the cases are distinguished when the
// program is chosen and not in the shader.
type access struct {
	places [mostOperands]msl.Place // a fixed one is a number of the CPU's, given as a constant
	count  int
	way    msl.Way
	wide   bool
}

// accessOf looks at a call; ok is false for one that the GPU cannot reach or that has too many elements. It is part
// of every look-up of a program, so it allocates nothing.
func accessOf(c *device.Call) (l access, ok bool) {
	out := &c.Out[0]
	l.count = len(c.In) + 1
	if l.count > mostOperands || out.Numel() > mostElements {
		return l, false
	}
	vectors, each := true, msl.VectorBytes/widestOf(c)
	for i := range l.count {
		o := gpu.Operand(c, i)
		_, offset, found := gpu.Where(o)
		switch {
		case !found && i > 0 && gpu.IsFixed(o):
			l.places[i] = msl.Fixed
			continue
		case !found && out.Numel() > 0:
			return l, false
		}
		vectors = vectors && (i == 0 || o.Shape == out.Shape) && offset%vectorOf(each, o) == 0 && o.IsContiguous()
	}
	if vectors {
		return l, true
	}
	l.walk(c)
	return l, true
}

// walk makes an access one by strides.
func (l *access) walk(c *device.Call) {
	l.way = msl.Grid
	for i := range l.count {
		l.wide = l.wide || l.places[i] != msl.Fixed && isWide(&gpu.Operand(c, i).Layout)
	}
	if c.Out[0].Numel() < leastTiled*leastTiled || c.Out[0].Rank < 2 {
		return
	}
	g := latticeOf(c, l)
	axis := 0
	for i := 1; i < l.count; i++ {
		// Tiles have two axes, so that operands turned in different ways are read as they lie.
		if turned := g.turned(i); turned > 0 && (axis == 0 || axis == turned) {
			axis, l.way, l.places[i] = turned, msl.Tiles, msl.Turned
		}
	}
}

// vectorOf is the bytes of an operand that a thread takes if it takes vectors of so many elements, a power of two.
func vectorOf(each int64, o *device.Operand) uint64 {
	return uint64(max(each*o.DType.Size(), gpu.Bindable))
}

// widestOf is the bytes of an element of the widest operand.
func widestOf(c *device.Call) int64 {
	widest := c.Out[0].DType.Size()
	for i := range c.In {
		widest = max(widest, c.In[i].DType.Size())
	}
	return widest
}

// narrow is the largest offset that kernels with offsets of 32 bits get; tests lower it.
var narrow int64 = wideOffsets

// wideOffsets is from where on offsets need 64 bits.
const wideOffsets = math.MaxInt32

// isWide reports whether 32 bits are too few for the offsets of a layout. Offsets of 64 bits cost a shader registers
// and instructions, so they are used only where they are needed.
func isWide(l *shape.Layout) bool {
	low, high, _ := l.Extent()
	return low < -narrow || high > narrow
}

// class is an access as a number: the width of offsets, two bits for the way, then two bits an operand.
func (l *access) class() (n uint64) {
	for i, p := range l.places[:l.count] {
		n |= uint64(p) << (3 + 2*i)
	}
	if l.wide {
		n |= 1
	}
	return n | uint64(l.way)<<1
}

// accessOfClass is the access of so many operands that has a class.
func accessOfClass(class uint64, count int) (l access) {
	l.count, l.wide, l.way = count, class&1 != 0, msl.Way(class>>1&3)
	for i := range count {
		l.places[i] = msl.Place(class >> (3 + 2*i) & 3)
	}
	return l
}

// form is what package msl writes the source from.
func (l *access) form(c *device.Call) msl.Form {
	f := msl.Form{Op: c.Op, Out: c.Out[0].DType, Way: l.way, Wide: l.wide}
	for i := range c.In {
		f.In, f.Places = append(f.In, c.In[i].DType), append(f.Places, l.places[i+1])
	}
	return f
}

// Encode encodes the call by one dispatch, or by several where that would take too long.
func (k *elementwise) Encode(e gpu.Encoder, c *device.Call) error {
	var fault gpu.Span
	if k.faults {
		var err error
		if fault.Buffer, fault.Offset, err = e.Word(); err != nil {
			return err
		}
	}
	var g lattice
	if k.access.way == msl.Vectors {
		g = lineOf(c, &k.access)
	} else {
		g = latticeOf(c, &k.access)
	}
	axis, most := g.divide(c)
	if most >= g.dims[axis] { // nearly always
		return k.encode(e, c, &g, axis, 0, fault)
	}
	for first := int64(0); first < g.dims[axis]; first += most {
		part := g
		part.dims[axis] = min(most, g.dims[axis]-first)
		if err := k.encode(e, c, &part, axis, first, fault); err != nil {
			return err
		}
	}
	return nil
}

// encode encodes a part of a call, which begins at an index of an axis. It binds the operands, then the number of
// elements for vectors or else a Walks, and, as far as the kernel has them, attributes as floats and the word for
// faults. The order is that of msl's arguments.
func (k *elementwise) encode(e gpu.Encoder, c *device.Call, g *lattice, axis int, first int64, fault gpu.Span) error {
	d := e.Arguments()
	var at [mostOperands]gpu.Span
	for i := range k.access.count {
		var err error
		if at[i], err = k.bind(d, c, i, first*g.strides[i][axis]); err != nil {
			return err
		}
	}
	if k.access.way == msl.Vectors {
		n := g.dims[0]
		bindCounts(d, n)
		k.pipelines[0].Line(d, uint64(n/k.several+n%k.several)) // the rest one by one
	} else {
		g.encode(d, c, &k.pipelines[0], &at)
	}
	if len(k.attrs) > 0 {
		block := d.Constant(4 * len(k.attrs))
		for i, a := range k.attrs {
			binary.LittleEndian.PutUint32(block[4*i:], math.Float32bits(float32(c.Attrs[a].Float64())))
		}
	}
	if k.faults {
		d.Bind(objc.ID(fault.Buffer), fault.Offset)
	}
	return e.Dispatch(k.pipelines[0].State, d)
}

// bind makes an operand, from some elements on, the next argument, a fixed one as eight bytes. An operand that does not
// lie as those of the kernel's class do would be read elsewhere, so it is refused: it cannot be if keys are right, and
// the check costs little beside finding the operand.
func (k *elementwise) bind(d *objc.Dispatch, c *device.Call, i int, first int64) (s gpu.Span, err error) {
	o := gpu.Operand(c, i)
	s, ok := gpu.Locate(o)
	fixed := k.access.places[i] == msl.Fixed
	switch {
	case ok == fixed:
	case fixed:
		// SAFETY: a scalar is eight bytes of the call's owner; see device.Call.
		copy(d.Constant(8), unsafe.Slice((*byte)(o.Addr), 8))
		return s, nil
	case k.access.way != msl.Vectors:
		s.First += first
		d.Bind(objc.ID(s.Buffer), s.Offset)
		return s, nil
	case s.First == 0 && s.Offset%vectorOf(k.several, o) == 0:
		d.Bind(objc.ID(s.Buffer), s.Offset+uint64(first*o.DType.Size()))
		return s, nil
	}
	return s, errClass()
}

// errClass is the error of a call that has been given to the program of others. It is a mistake of keys, so the call
// fails and nothing is read or written.
func errClass() error {
	return status.Errorf(status.Internal, "got a call of another class than the program's")
}

// Finish reports whether an integer was divided by zero; the element is 0 then.
func (k *elementwise) Finish(_ *device.Call, w gpu.Word) error {
	if w[0] != 0 {
		return status.Errorf(status.Math, "an integer is divided by zero; want a divisor other than 0")
	}
	return nil
}

// Workspace is none.
func (k *elementwise) Workspace(*device.Call) int64 { return 0 }
