package grpcapi

// gRPC tells the size of a message when all of it is in memory. The frames of HTTP/2 on the connection tell it before: their
// headers, and the five bytes before each message, are all that is read here (RFC 9113, section 4.1, and gRPC's
// doc/PROTOCOL-HTTP2.md). gRPC itself checks that they are right: what is wrong ends the connection there.

import "encoding/binary"

// The types and flags of frames that count.
const (
	frameData     = 0
	frameHeaders  = 1
	frameReset    = 3
	frameContinue = 9 // headers go on

	flagEnd    = 1 // of a stream: no more frames in this direction
	flagPadded = 8
)

// frameHead is the size of the header of a frame; prefix is that of what stands before a message: a flag, and its size.
const (
	frameHead = 9
	prefix    = 5
)

// preface is what a client sends before its first frame.
const preface = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

// frames are those of one direction of a connection, which arrive in pieces of any size.
type frames struct {
	skip   int // bytes of the preface that are still to come
	head   [frameHead]byte
	have   int  // bytes of head
	left   int  // bytes of the payload that are still to come
	pad    int  // of these, the padding at the end
	padded bool // the next byte is the size of the padding
}

// kind, flags, stream and size are those of the frame; the size is that of its payload.
func (f *frames) kind() byte     { return f.head[3] }
func (f *frames) flags() byte    { return f.head[4] }
func (f *frames) stream() uint32 { return binary.BigEndian.Uint32(f.head[5:]) & (1<<31 - 1) }
func (f *frames) size() int      { return int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2]) }

// ends reports whether the frame is the last one of its stream in this direction.
func (f *frames) ends() bool {
	k := f.kind()
	return k == frameReset || (k == frameData || k == frameHeaders) && f.flags()&flagEnd != 0
}

// next takes bytes off the front of b: a part of a frame. It returns what of them is data of the stream, and whether the frame
// is complete.
func (f *frames) next(b []byte) (data, rest []byte, done bool) {
	if f.skip > 0 {
		n := min(f.skip, len(b))
		f.skip -= n
		return nil, b[n:], false
	}
	if f.have < frameHead {
		n := copy(f.head[f.have:], b)
		if f.have += n; f.have == frameHead {
			f.left = f.size()
			f.pad, f.padded = 0, f.kind() == frameData && f.flags()&flagPadded != 0
		}
		return nil, b[n:], f.complete()
	}
	if f.padded {
		f.padded = false
		f.left--
		f.pad = min(int(b[0]), f.left)
		return nil, b[1:], f.complete()
	}
	// Data come before the padding.
	n := min(f.left, len(b))
	if f.kind() == frameData {
		data = b[:min(n, f.left-f.pad)]
	}
	// Padding that has begun is all that is left.
	f.left -= n
	f.pad = min(f.pad, f.left)
	return data, b[n:], f.complete()
}

// complete begins the next frame where this one has arrived.
func (f *frames) complete() bool {
	if f.have < frameHead || f.left > 0 {
		return false
	}
	f.have = 0
	return true
}

// message is one that arrives on a stream.
type message struct {
	head [prefix]byte
	have int   // bytes of head
	left int64 // bytes of the message that are still to come
	got  int64 // bytes of it that are in memory
}

// add takes data of the stream. Of a message that is complete nothing is left here: its reader counts it from there.
func (m *message) add(data []byte) {
	for len(data) > 0 {
		if m.have < prefix {
			n := copy(m.head[m.have:], data)
			m.have, data = m.have+n, data[n:]
			if m.have < prefix {
				return
			}
			m.left = int64(binary.BigEndian.Uint32(m.head[1:]))
		}
		n := min(m.left, int64(len(data)))
		m.left, m.got, data = m.left-n, m.got+n, data[n:]
		if m.left == 0 {
			*m = message{}
		}
	}
}
