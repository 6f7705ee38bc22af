package engine

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// Track turns an operand into contiguous rows of at most block values, or takes such rows, in
// row-major order. Elements are gathered where they are not contiguous, and converted where they are not
// values; where both are given, it hands out the operand's own memory.
type Track struct {
	Walk  Walk
	Raw   unsafe.Pointer // room for elements as they are
	Buf   unsafe.Pointer // room for values
	fixed bool           // one value throughout, already in buf
	Coding
}

// Open begins at element lo.
func (l *Track) Open(o *device.Operand, c *Coding, f *Frame, lo int64) {
	l.Walk.startAt(o, lo)
	l.Coding = *c
	if !l.Walk.Contiguous() {
		l.Raw = f.Room()
	}
	if c.Read != nil || c.Write != nil {
		l.Buf = f.Room()
	} else {
		l.Buf = l.Raw
	}
}

// Own makes next answer copies, which nothing but the caller can change.
func (l *Track) Own(f *Frame) {
	if l.Raw != nil {
		return
	}
	l.Raw = f.Room()
	if l.Buf == nil {
		l.Buf = l.Raw
	}
}

// Next is the next n values, to be read before the next call.
func (l *Track) Next(n int64) unsafe.Pointer {
	if l.fixed {
		return l.Buf
	}
	from := l.Raw
	if l.Raw == nil {
		from = l.Walk.Here()
		l.Walk.Skip(n)
	} else {
		l.Walk.Gather(l.Raw, n)
	}
	if l.Read == nil {
		return from
	}
	l.Read(l.Buf, from, n)
	return l.Buf
}

// Hold fills a row with the value of an operand that has only one, so that next need not.
func (l *Track) Hold(n int64) {
	if l.Raw != nil && l.Walk.constant() {
		l.Next(n)
		l.fixed = true
	}
}

// Space is where the next values go; keep then writes n of them to the operand.
func (l *Track) Space() unsafe.Pointer {
	if l.Buf == nil {
		return l.Walk.Here()
	}
	return l.Buf
}

// Keep writes the row that space gave out.
// SAFETY: see slice.
func (l *Track) Keep(n int64) {
	switch {
	case l.Raw == nil:
		if l.Write != nil {
			l.Write(l.Walk.Here(), l.Buf, n)
		}
		l.Walk.Skip(n)
		return
	case l.Write != nil:
		l.Write(l.Raw, l.Buf, n)
	}
	l.Walk.Scatter(l.Raw, n)
}

// Lane is a track whose values are of type C.
type Lane[C any] struct {
	Track
	Row []C // the row that space gave out
}

// Open begins at element lo.
func (l *Lane[C]) Open(o *device.Operand, codec *Codec[C], f *Frame, lo int64) {
	l.Track.Open(o, &codec.Coding, f, lo)
}

// Next is the next n values, to be read before the next call.
func (l *Lane[C]) Next(n int64) []C { return Slice[C](l.Track.Next(n), n) }

// Space is where the next n values go; keep then writes them to the operand. It is not inlined for the reason of NewFrame.
//
//go:noinline
func (l *Lane[C]) Space(n int64) []C {
	l.Row = Slice[C](l.Track.Space(), n)
	return l.Row
}

// Keep writes the row that space gave out.
func (l *Lane[C]) Keep() { l.Track.Keep(int64(len(l.Row))) }

// SpanOf is the memory of an operand from its lowest to its highest element, which are so far from the one with all
// indices zero.
// SAFETY: see slice; an operand's layout lies in its memory.
func SpanOf[T any](o *device.Operand, low, high int64) []T {
	return Slice[T](unsafe.Add(o.Addr, low*int64(unsafe.Sizeof(*new(T)))), high-low+1)
}
