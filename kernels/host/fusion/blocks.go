package fusion

import (
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Blocks is what one thread needs to run a group: the calls of its steps for a block of elements, and memory for
// a block of each intermediate result. It is kept between runs, so that a run only puts addresses in.
//
// In a block all operands have one axis: contiguous, or with stride 0 for a single value, so that kernels take their
// path without lanes.
type Blocks struct {
	calls     []device.Call
	length    int64 // elements of a full block
	now       int64 // elements that the calls have at present
	at        int64 // the first element of the block
	Flat      []flat
	Gathered  []Strided // inputs
	Scattered []Strided // results
	// rooms are blocks of memory: one for each local of the group, which steps share as the plan says, and one for each
	// strided operand.
	rooms  []assigned
	memory []uint64
	Ending *ending // of a group with a tail
}

// flat is an operand of which a block is a part of its memory.
type flat struct {
	Operand *device.Operand // of a call
	slot    *device.Slot
	step    int64 // bytes of an element; 0 where there is a single value
	base    unsafe.Pointer
}

// Strided is an operand that lies in memory in any other way: it is copied from or to a room. One that is broadcast along its
// first axes, such as a bias of the last axis, repeats, and is copied again only where a block begins elsewhere in it.
type Strided struct {
	whole  *device.Operand // of the step
	slot   *device.Slot
	room   assigned
	Walk   engine.Walk
	period int64 // elements after which it repeats; 0 if it does not
	phase  int64 // the element of the period that the room begins with
	held   int64 // elements in the room that are those of this run
}

// periodOf is the period of a layout.
func periodOf(l *shape.Layout) int64 {
	axis := 0
	for axis < l.Rank && (l.Dims[axis] == 1 || l.Strides[axis] == 0) {
		axis++
	}
	period := int64(1)
	for _, d := range l.Slice()[axis:] {
		period *= d
	}
	if period == l.Numel() {
		return 0
	}
	return period
}

// assigned says in which room of the memory an operand of a call lies.
type assigned struct {
	operand *device.Operand
	number  int
}

// NewBlocks makes the calls of a group and the memory of its locals, strided results and strided inputs.
func (f *Group) NewBlocks() *Blocks {
	b := &Blocks{calls: make([]device.Call, len(f.steps))}
	count := f.locals
	for i := range f.steps {
		s, c := &f.steps[i], &b.calls[i]
		*c = device.Call{Op: s.Call.Op, Attrs: s.Call.Attrs, Axes: s.Call.Axes}
		c.Out, c.In = make([]device.Operand, len(s.Out)), make([]device.Operand, len(s.In))
		for j := range s.Out {
			b.add(&b.Scattered, &c.Out[j], &s.Call.Out[j], &s.Out[j], &count)
		}
		for j := range s.In {
			b.add(&b.Gathered, &c.In[j], &s.Call.In[j], &s.In[j], &count)
		}
	}
	// A group that is smaller than a block needs no more memory than it has elements.
	unit := int64(1)
	if f.Tail != nil {
		b.Ending, unit = f.Tail.newEnding(), f.Tail.unit()
	}
	b.length = min(max(min(blockBytes, cacheBytes/int64(max(count, 1)))/f.size, engine.Block, unit), f.elements)
	b.length -= b.length % unit // whole units of the tail
	for i := range b.Gathered {
		if p := b.Gathered[i].period; p > 0 && p <= b.length && p%unit == 0 {
			b.length -= b.length % p // all blocks begin with the same element
		}
	}
	size := (engine.RoundUp(b.length*f.size) + engine.WorkspaceAlign) / 8 // the line keeps rooms from meeting in the same sets of the cache
	b.memory = make([]uint64, int64(count)*size)
	for i := range b.rooms {
		// SAFETY: the operand is this thread's, as the memory is.
		b.rooms[i].operand.Addr = unsafe.Pointer(&b.memory[int64(b.rooms[i].number)*size])
	}
	return b
}

// add makes an operand of a call for that of a step. list has those that are strided, and count the rooms so far. An
// input that two steps read in the same way has one room.
func (b *Blocks) add(list *[]Strided, to, whole *device.Operand, slot *device.Slot, count *int) {
	to.DType, to.Rank, to.Strides[0] = whole.DType, 1, 1
	switch {
	case slot.Space == device.Local:
		b.rooms = append(b.rooms, assigned{to, slot.Index})
	case slot.Space == device.Own:
		to.Addr, to.Strides[0] = whole.Addr, 0
	case engine.IsScalar(whole):
		to.Strides[0] = 0
		b.Flat = append(b.Flat, flat{Operand: to, slot: slot})
	case whole.IsContiguous():
		b.Flat = append(b.Flat, flat{Operand: to, slot: slot, step: whole.DType.Size()})
	default:
		// The room is found again by the view: its slot and layout.
		same := slices.IndexFunc(*list, func(s Strided) bool {
			return *s.slot == *slot && s.whole.Layout == whole.Layout && s.whole.DType == whole.DType
		})
		if same < 0 {
			same = len(*list)
			*list = append(*list, Strided{whole: whole, slot: slot, room: assigned{to, *count}, period: periodOf(&whole.Layout)})
			*count++
		}
		b.rooms = append(b.rooms, assigned{to, (*list)[same].room.number})
	}
}

// Open puts in the addresses of a run.
func (b *Blocks) Open(run *device.Call) {
	for i := range b.Flat {
		o := &b.Flat[i]
		o.base, _ = o.slot.Address(run)
	}
	for _, list := range [2][]Strided{b.Gathered, b.Scattered} {
		for i := range list {
			s := &list[i]
			at, _ := s.slot.Address(run)
			s.Walk.Begin(at, s.whole.DType.Size(), &s.whole.Layout)
			s.held = 0
		}
	}
}

// SeekTo goes to element lo.
func (b *Blocks) SeekTo(lo int64) {
	b.at = lo
	for i := range b.Flat {
		o := &b.Flat[i]
		// SAFETY: the element is one of the operand, which the planner has placed in memory of the run.
		o.Operand.Addr = unsafe.Add(o.base, lo*o.step)
	}
	for _, list := range [2][]Strided{b.Gathered, b.Scattered} {
		for i := range list {
			list[i].Walk.SeekTo(lo)
		}
	}
}

// Close removes the addresses: the memory is not the group's any more.
func (b *Blocks) Close() {
	for i := range b.Flat {
		b.Flat[i].Operand.Addr, b.Flat[i].base = nil, nil
	}
	for _, list := range [2][]Strided{b.Gathered, b.Scattered} {
		for i := range list {
			list[i].Walk.Base = nil
		}
	}
}

// resize makes the calls ones of n elements.
func (b *Blocks) resize(n int64) {
	if n == b.now {
		return
	}
	b.now = n
	for i := range b.calls {
		for _, list := range [2][]device.Operand{b.calls[i].Out, b.calls[i].In} {
			for j := range list {
				list[j].Dims[0] = n
			}
		}
	}
}

// A bias of the last axis is read again for each row, and a block has many rows. The room has it from the first block of a run on,
// as long as blocks begin at the same element of it; their length is chosen so. Between runs its elements may change.

// Load gathers the next n elements of strided inputs, which no step of the group writes.
func (b *Blocks) Load(n int64) {
	for i := range b.Gathered {
		s := &b.Gathered[i]
		if s.period > 0 {
			phase := b.at % s.period
			if phase == s.phase && n <= s.held {
				continue
			}
			s.Walk.SeekTo(b.at)
			s.phase, s.held = phase, n
		}
		s.Walk.Gather(s.room.operand.Addr, n)
	}
}

// store writes the block to strided results, which no step of the group reads.
func (b *Blocks) store(n int64) {
	for i := range b.Scattered {
		s := &b.Scattered[i]
		s.Walk.Scatter(s.room.operand.Addr, n)
	}
}

// advance goes on to the block n elements further. There is one: an address behind the last element would be none.
func (b *Blocks) advance(n int64) {
	b.at += n
	for i := range b.Flat {
		// SAFETY: see open.
		b.Flat[i].Operand.Addr = unsafe.Add(b.Flat[i].Operand.Addr, n*b.Flat[i].step)
	}
}
