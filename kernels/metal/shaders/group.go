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

// group runs several elementwise steps by one dispatch: the kernel of msl.Group. Its call has what the steps read from
// memory as inputs and what they write to memory as outputs, each of as many elements; results that only the
// steps read have no place in it.
type group struct {
	compiled
	reads, writes []msl.Operand
	lanes, steps  int64
	numbers       []uint64 // and attributes, as the kernel takes them
	spread        spread
	tail          *tail // nil: there is none
}

// spread is how the threads of a group share the vectors of a call, in the terms of msl.Group.
type spread struct {
	threads     int64 // that take vectors
	jump, times int64 // vectors, and how often
}

// GroupStep is a step of a group: a call of an elementwise operator, and where each input comes from. The layouts and
// addresses of its operands are of no concern, except that an input from msl.Number has the element.
type GroupStep struct {
	Call    *device.Call
	Sources []msl.Source
}

// mostArguments bounds what a group reads and writes: the bindings of an encoder.
const mostArguments = objc.MaxArguments

// FusesStep reports whether a step can be part of a group. Operands whose neighbours in memory are not those of the
// result are better read through tiles, by a kernel of the step alone.
func FusesStep(s *op.Step) bool {
	out := &s.Out[0]
	if len(s.In) >= mostOperands || !gpu.Elements.Has(out.DType) || !besides(&out.Layout) {
		return false
	}
	in := make([]dtype.DType, len(s.In))
	for i := range s.In {
		in[i] = s.In[i].DType
		if !gpu.Elements.Has(in[i]) || s.In[i].Number == nil && !besides(&s.In[i].Layout) {
			return false
		}
	}
	return msl.GroupTakes(s.Row.ID, out.DType, in)
}

// besides reports whether neighbours on the innermost axis are neighbours in memory, or one element, or few.
func besides(l *shape.Layout) bool {
	for i := l.Rank - 1; i >= 0; i-- {
		if l.Dims[i] > 1 {
			return magnitude(l.Strides[i]) <= 1 || l.Numel() < leastTiled*leastTiled
		}
	}
	return true
}

// The offset is that of the operand in a plan, whose memory begins at a multiple of device.PlanAlign, which is a vector.

// lieOf is how an operand lies for threads that take so many elements each.
func lieOf(o *device.Operand, lanes int64) msl.Lie {
	_, offset, _ := gpu.Where(o)
	if o.IsContiguous() && offset%vectorOf(lanes, o) == 0 {
		return msl.Straight
	}
	// A thread's elements never leave such an axis, because its first one is a multiple of lanes too.
	if c := o.Collapse(); c.Rank > 0 && c.Dims[c.Rank-1]%lanes == 0 {
		return msl.Runs
	}
	return msl.Anywhere
}

// describe is the kernel of NewGroup for package msl, and how threads share a call.
func describe(steps []GroupStep, c *device.Call, stored []int, end *msl.Tail) (msl.Group, spread) {
	g := msl.Group{Stored: stored, Tail: end}
	for i := range steps {
		s := &steps[i]
		x := msl.GroupStep{Op: s.Call.Op, Out: s.Call.Out[0].DType, Sources: s.Sources}
		for j := range s.Call.In {
			x.In = append(x.In, s.Call.In[j].DType)
		}
		g.Steps = append(g.Steps, x)
	}
	types := func(os []device.Operand) (all []msl.Operand) {
		for i := range os {
			all = append(all, msl.Operand{DType: os[i].DType})
			g.Wide = g.Wide || isWide(&os[i].Layout)
		}
		return all
	}
	// How many elements a thread takes depends on all dtypes, and how operands lie on that.
	g.Reads, g.Writes = types(c.In), types(c.Out)[:len(stored)]
	for i := range g.Reads {
		g.Reads[i].Lie = lieOf(&c.In[i], g.Lanes())
	}
	for i := range g.Writes {
		// Runs would save a store nothing: its elements are apart either way.
		if g.Writes[i].Lie = lieOf(&c.Out[i], g.Lanes()); g.Writes[i].Lie == msl.Runs {
			g.Writes[i].Lie = msl.Anywhere
		}
	}
	if end != nil {
		return g, spread{}
	}
	return g, spreadOf(&g, c.Out[0].Numel(), repeats(&g, c))
}

// A period of an operand is worth the loop from two on, and only while the periods of all operands that repeat fit into a
// common one of whole lines. Where that is longer than half of the group, as of rows of odd length of which there are few,
// most threads would have nothing to do, and be more than can be numbered.

// repeats marks the reads that repeat, and answers their common period in elements: 1 where none does.
func repeats(g *msl.Group, c *device.Call) int64 {
	// Periods are in elements of the group, whatever axes an operand has.
	n, period := c.Out[0].Numel(), int64(1)
	for i := range g.Reads {
		l := c.In[i].Collapse()
		if g.Reads[i].Lie == msl.Straight || l.Rank == 0 || l.Strides[0] != 0 || l.Rank == 1 {
			continue // one element for all is read once for a vector as it is
		}
		own := n / l.Dims[0]
		if common := lcm(period, own); lcm(common, g.Lanes()*g.Line()) <= n/2 {
			period, g.Reads[i].Repeats = common, true
		}
	}
	return period
}

// lcm is the least common multiple of two positive numbers.
func lcm(a, b int64) int64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// spreadOf shares n elements. Threads go on by whole periods, which are whole lines of memory too, so that those of a line
// stay together, and as often as leaves enough threads.
func spreadOf(g *msl.Group, n, period int64) spread {
	vectors := n / g.Lanes()
	if !g.Repeats() {
		return spread{threads: vectors}
	}
	unit, rows := lcm(period, g.Lanes()*g.Line())/g.Lanes(), gpu.Lanes/g.Line()
	units := (vectors + unit - 1) / unit
	times := max(min(vectors/busyThreads, mostTimes), 1)
	jump := unit * max((units+rows*times-1)/(rows*times), 1)
	line := g.Line()
	return spread{threads: (jump + line - 1) / line * gpu.Lanes, jump: jump, times: (vectors + rows*jump - 1) / max(rows*jump, 1)}
}

// NewGroup compiles the kernel of steps. c has the operands in memory as calls of the kernel will have them, but for their
// addresses; stored says which step's result each output is, but for the last output of a group with a tail. Errors are those of
// gpu.Device.Pipelines, or status.Unsupported for too many operands or elements.
func NewGroup(d *gpu.Device, steps []GroupStep, c *device.Call, stored []int, end *msl.Tail) (gpu.Kernel, error) {
	g, shared := describe(steps, c, stored, end)
	n := steps[0].Call.Out[0].Numel()
	if end != nil && n == 0 {
		return nil, errNoElements
	}
	if g.Arguments() > mostArguments || n > mostElements {
		return nil, status.Errorf(status.Unsupported, "got a group with %d arguments and %d elements; want at most %d and %d",
			g.Arguments(), n, mostArguments, int64(mostElements))
	}
	numbers := numbersOf(steps, &g)
	class := uint64(0) // says how wide offsets are; there is no other class of a group
	if g.Wide {
		class = 1
	}
	if bytes := constants(&g, class, len(numbers)); bytes > objc.MaxConstantBytes {
		return nil, status.Errorf(status.Unsupported, "got a group with %d bytes of constants; want at most %d", bytes, objc.MaxConstantBytes)
	}
	names := []string{msl.Name}
	if end != nil {
		names = reductionNames[msl.Rows]
	}
	s, err := compile(d, class, g.Source(), names...)
	if err != nil {
		return nil, err
	}
	k := &group{compiled: s, reads: g.Reads, writes: g.Writes, lanes: g.Lanes(), steps: int64(len(steps)), numbers: numbers, spread: shared}
	if end != nil {
		err = k.end(&g, n, c)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// constants is how many bytes of its constants a dispatch of a group has room for: walks, numbers and counts, each
// beginning at a multiple of 16.
func constants(g *msl.Group, wide uint64, numbers int) int {
	walks := g.Arguments() - len(g.Reads) - len(g.Writes) - 2
	if g.Tail != nil {
		walks-- // the result
	}
	const counts = 6 * 4
	round := func(n int) int { return int(gpu.RoundUp(uint64(n), 16)) }
	return walks*round(walkSize(wide)) + round(8*max(numbers, 1)) + round(counts)
}

// numbersOf are the numbers of steps, and behind them their attributes, two floats to a number.
// SAFETY: an operand that is a number has eight bytes, which the plan keeps; see device.Scalar.
func numbersOf(steps []GroupStep, g *msl.Group) []uint64 {
	all := make([]uint64, g.Numbers())
	for i := range steps {
		for j, from := range steps[i].Sources {
			if from.From == msl.Number {
				all[from.Index] = binary.LittleEndian.Uint64(unsafe.Slice((*byte)(steps[i].Call.In[j].Addr), 8))
			}
		}
	}
	// The kernel reads attributes in the order of the steps.
	for i := range steps {
		attrs := g.Attrs(i)
		for j := 0; j < len(attrs); j += 2 {
			bits := uint64(math.Float32bits(float32(steps[i].Call.Attrs[attrs[j]].Float64())))
			if j+1 < len(attrs) {
				bits |= uint64(math.Float32bits(float32(steps[i].Call.Attrs[attrs[j+1]].Float64()))) << 32
			}
			all = append(all, bits)
		}
	}
	return all
}

// Encode encodes the steps by one dispatch, or by several where that would take too long.
func (k *group) Encode(e gpu.Encoder, c *device.Call) error {
	if k.tail != nil {
		return k.encodeTail(e, c)
	}
	n, bytes := c.Out[0].Numel(), int64(0)
	for _, list := range [2][]device.Operand{c.In, c.Out} {
		for i := range list {
			bytes += list[i].DType.Size()
		}
	}
	// Each dispatch of a long call does whole SIMD groups, so that they lie as in one dispatch.
	threads := k.spread.threads + n%k.lanes // what is left behind the last vector, one by one
	elements := k.lanes * max(k.spread.times, 1)
	most := mostInTime(elementOperations*float64(k.steps*elements), bytes*elements)
	most = int64(gpu.RoundUp(uint64(most), gpu.Lanes))
	for first := int64(0); first < threads; first += most {
		if err := k.encode(e, c, first, min(most, threads-first), n); err != nil {
			return err
		}
	}
	return nil
}

// encode encodes the threads of a call from one on. The order of the arguments is that of msl.Group.
func (k *group) encode(e gpu.Encoder, c *device.Call, first, threads, n int64) error {
	d := e.Arguments()
	if err := k.bind(d, c); err != nil {
		return err
	}
	bindCounts(d, first, n, k.spread.threads, k.spread.jump, k.spread.times)
	k.pipelines[0].Line(d, uint64(threads))
	return e.Dispatch(k.pipelines[0].State, d)
}

// bind binds what the steps read and write, and their numbers.
func (k *group) bind(d *objc.Dispatch, c *device.Call) error {
	var starts [mostArguments]int64
	operands := len(k.reads) + len(k.writes)
	for i := range operands {
		o, lie := k.operand(c, i)
		s, ok := gpu.Locate(o)
		if !ok {
			return status.Errorf(status.Unsupported, "got an operand in memory that the GPU does not have")
		}
		if lie == msl.Straight && (s.First != 0 || s.Offset%vectorOf(k.lanes, o) != 0 || !o.IsContiguous()) {
			return errClass()
		}
		d.Bind(objc.ID(s.Buffer), s.Offset)
		starts[i] = s.First
	}
	// Walks come behind all operands, whose starts are known by then.
	for i := range operands {
		if o, lie := k.operand(c, i); lie != msl.Straight {
			l := o.Collapse()
			bindWalk(d, &l, starts[i], k.wide())
		}
	}
	block := d.Constant(8 * max(len(k.numbers), 1))
	// Numbers are the program's, so that a run has nothing to look up.
	for i, x := range k.numbers {
		binary.LittleEndian.PutUint64(block[8*i:], x)
	}
	return nil
}

// operand is operand i, the reads first, and how it lies.
func (k *group) operand(c *device.Call, i int) (*device.Operand, msl.Lie) {
	if i < len(c.In) {
		return &c.In[i], k.reads[i].Lie
	}
	i -= len(c.In)
	return &c.Out[i], k.writes[i].Lie
}
