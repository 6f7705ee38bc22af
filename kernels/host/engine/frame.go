package engine

import (
	"sync"
	"unsafe"
)

// Buffer holds a block of elements of any dtype.
type Buffer [Block]uint64

// Frame is the buffers of the lanes of one part of a call. It has enough of them for three inputs
// and an output, and grows for more operands.
//
// A frame is aligned to a page. Rooms are aligned to lines of the cache, because a vector that crosses two takes twice as long; but not
// to pages, as large operands often are: a processor that reads one of two such places and writes the other mistakes them for one.
type Frame struct {
	_     [4 * 64]byte
	rooms [10]Buffer
	Used  int
	more  []*Buffer
}

var frames = sync.Pool{New: func() any { return new(Frame) }}

// NewFrame takes a frame that free gives back. Inlined, it would be in each kernel once for each type.
//
//go:noinline
func NewFrame() *Frame { return frames.Get().(*Frame) }

// Free makes the buffers available to other parts, contents and all.
func (f *Frame) Free() {
	f.Used = 0
	frames.Put(f)
}

// Room is one more buffer.
// SAFETY: the buffer belongs to the caller until the frame is freed.
func (f *Frame) Room() unsafe.Pointer {
	i := f.Used
	f.Used++
	if i < len(f.rooms) {
		return unsafe.Pointer(&f.rooms[i])
	}
	return f.another(i - len(f.rooms))
}

// Stretch is several buffers that lie one behind the other, of those that the frame has from the beginning.
// SAFETY: see room.
func (f *Frame) Stretch(n int) unsafe.Pointer {
	first := &f.rooms[f.Used]
	f.Used += n
	return unsafe.Pointer(first)
}

// another is buffer i of those beyond rooms. Inlined, it would be in each kernel once for each type.
// SAFETY: see room.
//
//go:noinline
func (f *Frame) another(i int) unsafe.Pointer {
	if i == len(f.more) {
		f.more = append(f.more, new(Buffer))
	}
	return unsafe.Pointer(f.more[i])
}

// WorkspaceAlign is the alignment of a call's workspace, and so of its parts.
const WorkspaceAlign = 256

// RoundUp is the next multiple of line.
func RoundUp(bytes int64) int64 {
	return (bytes + WorkspaceAlign - 1) / WorkspaceAlign * WorkspaceAlign
}
