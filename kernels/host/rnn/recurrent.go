// Package rnn holds LSTM and GRU: a product and gates for each step in time.
package rnn

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/product"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// recurrent is lstm or gru: all steps of a sequence in one call. A step is a product of the state with the weight, and then functions
// of rows of a few hundred elements, which stay in the first-level cache from step to step.
//
// The functions are those of the kernels of the calls that the row consists of, one by one, so that both give the same bits. They
// take addresses, so that the kernel is compiled once and not for each type.
type recurrent struct {
	gru           bool
	size          int64                // bytes of an element
	right         [2]*gemm.PackedRight // the weight, where it was known: of the first product of a step, and of the second where a step has two
	product       product.Multiply
	sigmoid, tanh elem.Rows
	add, times    elem.PairRows
	rest          elem.PairRows // 1 - b
	rooms         sync.Pool
}

// Weights of float32 that are known are packed once.
func init() {
	for _, id := range []op.ID{op.IDLstm, op.IDGru} {
		engine.Registry.Add(engine.Variant{
			Op: id, DTypes: dtype.SetOf(dtype.Float32, dtype.Float64), Priority: kernels.Portable,
			Make: func(_ *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) { return newRecurrent(c), nil },
		})
		engine.Registry.Add(engine.Variant{
			Op: id, DTypes: dtype.SetOf(dtype.Float32), Priority: kernels.Special,
			Accepts: func(_ *engine.Threads, c *device.Call) (uint64, bool) {
				return 0, product.IsWeight(&c.In[engine.Right])
			},
			Make: func(t *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) {
				k := newRecurrent(c)
				return k, k.pack(t, c)
			},
		})
	}
}

// newRecurrent is the kernel for a call, with the functions of its dtype.
func newRecurrent(c *device.Call) *recurrent {
	d := c.In[0].DType
	pair := func(id op.ID) *elem.Binary { return portableOf(id, d).(*elem.Binary) }
	return &recurrent{
		gru: c.Op == op.IDGru, size: d.Size(), product: portableOf(op.IDMatmul, d).(*product.Matmul).Multiply,
		sigmoid: portableOf(op.IDSigmoid, d).(*elem.Unary).F, tanh: portableOf(op.IDTanh, d).(*elem.Unary).F,
		add: pair(op.IDAdd).Vv, times: pair(op.IDMultiply).Vv, rest: pair(op.IDSubtract).Sv,
	}
}

// portableOf is the portable kernel of an operator that every dtype of floats has one of.
func portableOf(id op.ID, d dtype.DType) engine.Kernel {
	all := engine.Registry.Of(id, d)
	k, _ := all[len(all)-1].Make(nil, nil, 0)
	return k
}

// firstColumns is how many columns of the weight the first product of a step has: all, unless the reset gate of a GRU multiplies the
// state. There is a second product then.
func (k *recurrent) firstColumns(c *device.Call) int64 {
	w := &c.In[engine.Right]
	if k.gru && c.Attrs[op.GruLinear].I == 0 {
		return 2 * w.Dims[0]
	}
	return w.Dims[1]
}

// pack lays out the weight for each product of a step.
func (k *recurrent) pack(t *engine.Threads, c *device.Call) (err error) {
	w := c.In[engine.Right]
	all := w.Dims[1]
	w.Dims[1] = k.firstColumns(c)
	if k.right[0], err = product.PackRight(t, &w, 1); err != nil || w.Dims[1] == all {
		return err
	}
	w.Const = w.Const[w.Dims[1]*w.Strides[1]*k.size:]
	w.Dims[1] = all - w.Dims[1]
	k.right[1], err = product.PackRight(t, &w, 1)
	return err
}

// Bytes is the packed weight.
func (k *recurrent) Bytes() (n int64) {
	for _, r := range k.right {
		if r != nil {
			n += r.Bytes()
		}
	}
	return n
}

// engine.HoldsWeight reports whether the weight is packed, so that a run does not look at the operand.
func (k *recurrent) HoldsWeight() bool { return k.right[0] != nil }

// Cost takes eight multiply-adds for an addition.
func (k *recurrent) Cost(c *device.Call) int64 {
	return c.In[0].Numel() * (c.In[engine.Right].Dims[0]/8 + engine.Heavy)
}

// Workspace is nothing; each part has a room.
func (k *recurrent) Workspace(*device.Call) int64 { return 0 }

// Run gives each thread sequences of the batch: those do not depend on each other, as the steps of one do.
func (k *recurrent) Run(t *engine.Threads, c *device.Call) error {
	if c.Out[0].Numel() == 0 {
		return nil
	}
	return t.Each(k, c, c.Out[0].Dims[1], k.Cost(c))
}

// recurring is sequences of a batch between two steps. What has a row for each sequence lies row by row.
type recurring struct {
	*recurrent
	rows, hidden, wide int64 // sequences, elements of a state, and of all gates

	first   int64 // columns of the first product
	x, out  matrixRows
	line    unsafe.Pointer // room for a row of x, where it does not lie in memory as values
	weight  unsafe.Pointer // where it is not packed
	bias    unsafe.Pointer // of a GRU; nil
	h, cell unsafe.Pointer // the states; of a GRU cell is what the second product is of
	sums    unsafe.Pointer // the products
}

// Part runs sequences lo to hi-1 through all steps.
func (k *recurrent) Part(c *device.Call, lo, hi int64) error {
	f := engine.NewFrame()
	defer f.Free()
	w := &c.In[engine.Right]
	s := recurring{recurrent: k, rows: hi - lo, hidden: w.Dims[0], wide: w.Dims[1], first: k.firstColumns(c)}
	room := s.open(c, f, lo)
	defer k.rooms.Put(room)
	steps, reverse := c.In[0].Dims[0], c.Attrs[op.LstmReverse].I != 0 // which both rows have in one place
	for i := range steps {
		t := i
		if reverse {
			t = steps - 1 - i
		}
		if !s.step(t, lo) {
			return status.Errorf(status.Internal, "[%s] got operands that do not fit their memory", op.ByID(c.Op).Name)
		}
		for row := range s.rows {
			s.out.write(t, lo+row, s.of(s.h, row*s.hidden), s.hidden)
		}
	}
	if len(c.Out) > 1 && !c.Out[1].Absent() {
		var last matrixRows
		last.open(&c.Out[1], f)
		for row := range s.rows {
			last.write(0, lo+row, s.of(s.cell, row*s.hidden), s.hidden)
		}
	}
	return nil
}

// of is element i of memory.
// SAFETY: the element lies in the operand or the room that the memory is of, or at its end.
func (k *recurrent) of(memory unsafe.Pointer, i int64) unsafe.Pointer {
	return unsafe.Add(memory, i*k.size)
}

// open takes room, which the caller gives back, and reads what all steps share and the states before the first one.
// SAFETY: the room is as long as its parts together.
func (s *recurring) open(c *device.Call, f *engine.Frame, lo int64) (room *[]float64) {
	states, weight := s.rows*s.hidden, s.hidden*s.wide
	if s.HoldsWeight() {
		weight = 0
	}
	// Sizes are rounded up to words of 8 bytes.
	sizes := [...]int64{s.wide, weight, s.wide, states, states, s.rows * s.wide}
	total := int64(0)
	for i, n := range sizes {
		sizes[i] = (n*s.size + 7) / 8
		total += sizes[i]
	}
	room = engine.RoomOf[float64](&s.rooms, total)
	rest := *room
	for i, to := range [...]*unsafe.Pointer{&s.line, &s.weight, &s.bias, &s.h, &s.cell, &s.sums} {
		*to = unsafe.Pointer(unsafe.SliceData(rest))
		rest = rest[sizes[i]:]
	}
	if !s.HoldsWeight() {
		readRows(&c.In[engine.Right], f, 0, s.hidden, s.weight)
	}
	readRows(&c.In[2], f, lo, s.rows, s.h)
	switch more := &c.In[3]; {
	case !s.gru:
		readRows(more, f, lo, s.rows, s.cell)
	case more.Absent():
		s.bias = nil
	default:
		readRows(more, f, 0, 1, s.bias)
	}
	s.x.open(&c.In[0], f)
	s.out.open(&c.Out[0], f)
	return room
}

// step makes the states of step t of those before. It reports false where operands do not fit.
//
// A step of a GRU without linear has a second product, of the state times the reset gate, which needs the reset gates of all rows.
func (s *recurring) step(t, lo int64) bool {
	if !s.multiply(s.h, 0, s.first) {
		return false
	}
	for row := range s.rows {
		x, sums := s.x.read(t, lo+row, s.line, s.wide), s.of(s.sums, row*s.wide)
		h, cell := s.of(s.h, row*s.hidden), s.of(s.cell, row*s.hidden)
		if !s.gru {
			s.lstm(x, sums, h, cell)
			continue
		}
		s.resets(x, sums)
		if reset := s.of(sums, s.hidden); s.first < s.wide {
			s.times(cell, reset, h, s.hidden)
		} else {
			own := s.of(sums, 2*s.hidden)
			s.times(own, reset, own, s.hidden)
			s.mix(x, sums, h)
		}
	}
	if s.first == s.wide {
		return true
	}
	if !s.multiply(s.cell, s.first, s.wide-s.first) {
		return false
	}
	for row := range s.rows {
		sums := s.of(s.sums, row*s.wide)
		if own := s.of(sums, s.first); s.bias != nil {
			s.add(own, own, s.of(s.bias, s.first), s.hidden)
		}
		s.mix(s.x.read(t, lo+row, s.line, s.wide), sums, s.of(s.h, row*s.hidden))
	}
	return true
}

// multiply sets n columns of the sums, from one on, to the states times as many columns of the weight.
// SAFETY: the rows lie in the room.
func (s *recurring) multiply(states unsafe.Pointer, from, n int64) bool {
	to := s.of(s.sums, from)
	if !s.HoldsWeight() {
		return s.product(nil, to, states, s.of(s.weight, from), s.rows, n, s.hidden, s.hidden, s.wide, s.wide)
	}
	packed := s.right[0]
	if from > 0 {
		packed = s.right[1]
	}
	sums := engine.Slice[float32](to, (s.rows-1)*s.wide+n)
	return packed.MatMul(sums, engine.Slice[float32](states, s.rows*s.hidden), int(s.rows), 0, int(n), int(s.hidden), int(s.wide))
}

// lstm makes the states of a sequence of those before, of gates i, o, f and g.
func (s *recurring) lstm(x, sums, h, cell unsafe.Pointer) {
	n := s.hidden
	in, out, forget, own := sums, s.of(sums, n), s.of(sums, 2*n), s.of(sums, 3*n)
	s.add(sums, x, sums, 4*n)
	s.sigmoid(nil, sums, sums, 3*n)
	s.tanh(nil, own, own, n)
	s.times(cell, forget, cell, n)
	s.times(in, in, own, n)
	s.add(cell, cell, in, n)
	s.tanh(nil, h, cell, n)
	s.times(h, out, h, n)
}

// resets makes the update and the reset gate of a sequence.
func (s *recurring) resets(x, sums unsafe.Pointer) {
	if s.bias != nil {
		s.add(sums, sums, s.bias, s.first)
	}
	s.add(sums, x, sums, 2*s.hidden)
	s.sigmoid(nil, sums, sums, 2*s.hidden)
}

// mix makes the next state of a GRU of the one before and its own, which the last gate is of. The reset gate is not needed any more.
func (s *recurring) mix(x, sums, h unsafe.Pointer) {
	n := s.hidden
	spare, own := s.of(sums, n), s.of(sums, 2*n)
	s.add(own, s.of(x, 2*n), own, n)
	s.tanh(nil, own, own, n)
	s.rest(spare, s.one(), sums, n)
	s.times(own, spare, own, n)
	s.times(h, sums, h, n)
	s.add(h, own, h, n)
}

// ones are the number 1 in each type.
var ones = struct {
	narrow float32
	wide   float64
}{1, 1}

// one is the number 1.
// SAFETY: nothing writes to it.
func (k *recurrent) one() unsafe.Pointer {
	if k.size == 4 {
		return unsafe.Pointer(&ones.narrow)
	}
	return unsafe.Pointer(&ones.wide)
}

// matrixRows are the rows along the last axis of an operand of one to three axes.
type matrixRows struct {
	base       unsafe.Pointer
	line       engine.Access
	down, away int64 // bytes from a row to the next, and from a matrix to the next
}

// open opens an operand, whose elements are values.
func (m *matrixRows) open(o *device.Operand, f *engine.Frame) {
	size, last := o.DType.Size(), o.Rank-1
	m.base = o.Addr
	if last > 0 {
		m.down = o.Strides[last-1] * size
	}
	if last > 1 {
		m.away = o.Strides[last-2] * size
	}
	row := device.Operand{Addr: o.Addr, DType: o.DType, Layout: shape.Layout{Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{o.Dims[last]}}}}
	row.Strides[0] = o.Strides[last]
	m.line.Open(&row, &engine.Plain, size, f)
}

// at is where row i of matrix t begins.
// SAFETY: the row lies in the operand.
func (m *matrixRows) at(t, i int64) unsafe.Pointer { return unsafe.Add(m.base, t*m.away+i*m.down) }

// read is the n values of row i of matrix t, in room unless they lie in memory one behind the other.
// SAFETY: there is room for them.
func (m *matrixRows) read(t, i int64, room unsafe.Pointer, n int64) unsafe.Pointer {
	at := m.at(t, i)
	if m.line.Direct {
		return at
	}
	m.line.Copy(room, at, n)
	return room
}

// write writes n values to row i of matrix t.
// SAFETY: there are so many values.
func (m *matrixRows) write(t, i int64, values unsafe.Pointer, n int64) {
	m.line.Write(m.at(t, i), values, n)
}

// readRows copies n rows of an operand, from one on, to memory, one behind the other.
// SAFETY: there is room for them.
func readRows(o *device.Operand, f *engine.Frame, first, n int64, to unsafe.Pointer) {
	var m matrixRows
	m.open(o, f)
	width := o.Dims[o.Rank-1]
	for i := range n {
		m.line.Copy(unsafe.Add(to, i*width*m.line.Size), m.at(0, first+i), width)
	}
}

var (
	_ engine.Stateful     = (*recurrent)(nil)
	_ engine.WeightHolder = (*recurrent)(nil)
)
