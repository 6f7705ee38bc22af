package engine

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// LengthAlong is the number of elements that a scan runs over; 1 for a tensor without axes or elements.
func LengthAlong(c *device.Call) int64 {
	if c.Out[0].Rank == 0 {
		return 1
	}
	return max(c.Out[0].Dims[c.Axes.First()], 1)
}

// RoomOf is room for so many elements, with undefined contents. It comes from a pool that all calls share; the caller puts it
// back.
func RoomOf[C any](pool *sync.Pool, n int64) *[]C {
	// One that is too short for this call is left to the garbage collector.
	room, ok := pool.Get().(*[]C)
	if !ok || int64(cap(*room)) < n {
		room = new([]C)
		*room = make([]C, n)
	}
	*room = (*room)[:n]
	return room
}

// Access reads or writes lines that differ only in where they begin: in memory itself where it holds values in order, else
// through a track.
type Access struct {
	Track
	Size   int64 // bytes of a value
	Direct bool
}

// Open opens the first of the lines.
func (l *Access) Open(line *device.Operand, c *Coding, size int64, f *Frame) {
	l.Size, l.Direct = size, c.Read == nil && c.Write == nil && line.IsContiguous()
	if !l.Direct {
		l.Track.Open(line, c, f, 0)
	}
}

// Copy copies the values of the line that begins at an address.
// SAFETY: the address is that of a line of the operand that was opened, and there is room for n values.
func (l *Access) Copy(to, at unsafe.Pointer, n int64) {
	if l.Direct {
		MoveStrided(to, at, l.Size, l.Size, l.Size, n)
		return
	}
	l.Walk.Base = at // the walk is at its end, which is the beginning of the next line
	for done := int64(0); done < n; done += Block {
		some := min(Block, n-done)
		MoveStrided(unsafe.Add(to, done*l.Size), l.Next(some), l.Size, l.Size, l.Size, some)
	}
}

// Values are those of the line that begins at an address, in room unless they lie in memory as values.
// SAFETY: see copy.
func (l *Access) Values(at, room unsafe.Pointer, n int64) unsafe.Pointer {
	if l.Direct {
		return at
	}
	l.Copy(room, at, n)
	return room
}

// Write writes values to the line that begins at an address.
// SAFETY: see copy.
func (l *Access) Write(at, values unsafe.Pointer, n int64) {
	if l.Direct {
		MoveStrided(at, values, l.Size, l.Size, l.Size, n)
		return
	}
	l.Walk.Base = at
	for done := int64(0); done < n; done += Block {
		some := min(Block, n-done)
		MoveStrided(l.Space(), unsafe.Add(values, done*l.Size), l.Size, l.Size, l.Size, some)
		l.Keep(some)
	}
}

// LineAccess is access to values of type C, which are not copied where the operand's own memory holds them.
type LineAccess[C any] struct{ Access }

// open opens the first of the lines.
func (l *LineAccess[C]) open(line *device.Operand, c *Codec[C], f *Frame) {
	l.Access.Open(line, &c.Coding, int64(unsafe.Sizeof(*new(C))), f)
}

// OpenLast opens the lines along the last axis of an operand.
func (l *LineAccess[C]) OpenLast(o *device.Operand, c *Codec[C], f *Frame) {
	line := device.Operand{Addr: o.Addr, DType: o.DType, Layout: shape.Layout{Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{o.Dims[o.Rank-1]}}}}
	line.Strides[0] = o.Strides[o.Rank-1]
	l.open(&line, c, f)
}

// Read is the line that begins at an address, in room unless it lies in memory as values.
// SAFETY: see access.copy.
func (l *LineAccess[C]) Read(at unsafe.Pointer, room []C) []C {
	if l.Direct {
		return Slice[C](at, int64(len(room)))
	}
	l.Copy(unsafe.Pointer(unsafe.SliceData(room)), at, int64(len(room)))
	return room
}

// Room is where the values of the line that begins at an address are put, before they are written.
// SAFETY: see access.copy.
func (l *LineAccess[C]) Room(at unsafe.Pointer, own []C) []C {
	if l.Direct {
		return Slice[C](at, int64(len(own)))
	}
	return own
}

// Write writes values to the line that begins at an address, unless they are there already.
// SAFETY: see access.copy.
func (l *LineAccess[C]) Write(at unsafe.Pointer, values []C) {
	if !l.Direct {
		l.Access.Write(at, unsafe.Pointer(unsafe.SliceData(values)), int64(len(values)))
	}
}

// Lines is an operand cut into lines along one axis.
type Lines struct {
	Across Walk           // visits the first element of each line
	Along  device.Operand // the first line
}

// NewLines cuts an operand and goes to line number line, in row-major order of the other axes. An operand
// without axes is one line of one element.
func NewLines(c *device.Call, o *device.Operand, line int64) (s Lines) {
	rest := o.Layout
	s.Along = device.Operand{Addr: o.Addr, DType: o.DType}
	if o.Rank > 0 {
		axis := c.Axes.First()
		s.Along.Layout = shape.Layout{Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{o.Dims[axis]}}}
		s.Along.Strides[0] = o.Strides[axis]
		rest.Remove(axis)
	}
	s.Across.Begin(o.Addr, o.DType.Size(), &rest)
	s.Across.SeekTo(line)
	return s
}
