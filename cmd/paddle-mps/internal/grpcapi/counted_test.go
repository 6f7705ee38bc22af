package grpcapi

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
)

// raw is a client that writes frames by itself.
type raw struct {
	net.Conn
	*http2.Framer
}

// dial connects a client that writes frames by itself.
func dial(t *testing.T, address string) raw {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = io.WriteString(c, http2.ClientPreface)
	require.NoError(t, err)
	r := raw{c, http2.NewFramer(c, c)}
	require.NoError(t, r.WriteSettings())
	return r
}

// block is the headers of a call.
func block(method string) []byte {
	var headers bytes.Buffer
	e := hpack.NewEncoder(&headers)
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "a"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
		_ = e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}) // into memory
	}
	return headers.Bytes()
}

// begin sends the headers of a call and a part of a message that says it has so many bytes.
func (r raw) begin(stream uint32, method string, size, part int) error {
	err := r.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block(method), EndHeaders: true})
	if err == nil {
		err = r.WriteData(stream, false, binary.BigEndian.AppendUint32([]byte{0}, uint32(size)))
	}
	for err == nil && part > 0 {
		n := min(part, 16<<10)
		err = r.WriteData(stream, false, make([]byte, n))
		part -= n
	}
	return err
}

// settled waits until the room is used as it should be.
func settled(t *testing.T, room *httpapi.Room, want int64) {
	t.Helper()
	require.Eventually(t, func() bool { return room.Used() == want }, time.Minute, time.Millisecond, "%d bytes are held", room.Used())
}

// TestRoomWhileMessagesArrive: what has arrived of messages counts before they are complete, for as long as they are in memory.
func TestRoomWhileMessagesArrive(t *testing.T) {
	const all = 2 << 20
	room := httpapi.NewRoom(all)
	client, address := served(t, func(c *Config) { c.Room = room })
	const infer, stream = kserve.GRPCInferenceService_ModelInfer_FullMethodName, kserve.GRPCInferenceService_ModelStreamInfer_FullMethodName
	one := dial(t, address)
	require.NoError(t, one.begin(1, infer, 1<<20, 60000))
	require.NoError(t, one.begin(3, stream, 1<<20, 50000))
	require.NoError(t, one.begin(5, infer, 1<<20, 40000))
	call, streaming := memoryOf(block(infer)), memoryOf(block(stream))
	settled(t, room, 150000+2*call+streaming)
	// The client gives a call up, or the connection.
	require.NoError(t, one.WriteRSTStream(1, http2.ErrCodeCancel))
	settled(t, room, 90000+call+streaming)
	// The server ends a call: what its client still sends is dropped.
	require.NoError(t, one.begin(7, "/no/method", 1<<20, 30000))
	settled(t, room, 90000+call+streaming)
	require.NoError(t, one.WriteData(7, false, make([]byte, 10000)))
	require.NoError(t, one.WriteData(5, false, make([]byte, 100)))
	settled(t, room, 90100+call+streaming)
	_, err := client.ModelInfer(t.Context(), request(1000, 1))
	require.NoError(t, err)
	require.NoError(t, one.Close())
	settled(t, room, 0)
	// Streams without a message have headers in memory for as long as they are open.
	many := dial(t, address)
	long := append(block(stream), make([]byte, 0, 16<<10)...)
	long = append(long, 0, 1, 'a', 0x7F, 0x81, 0x7C) // a literal of 16,000 bytes: RFC 7541, sections 6.2.2 and 5.1
	long = append(long, bytes.Repeat([]byte{'b'}, 16000)...)
	for i := range uint32(10) {
		require.NoError(t, many.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: long, EndHeaders: true}))
	}
	settled(t, room, 10*(callMemory+largest))
	require.NoError(t, many.WriteData(1, true, nil)) // its client ends a stream
	settled(t, room, 9*(callMemory+largest))
	require.NoError(t, many.Close())
	settled(t, room, 0)

	// A hundred connections, none of which sends much: those that find no room are closed.
	var closed atomic.Int64
	var crowd []raw
	for range 100 {
		c := dial(t, address)
		_ = c.begin(1, infer, 1<<20, 32<<10) // it may be closed meanwhile
		go func() {
			_, _ = io.Copy(io.Discard, c) // until it is closed
			closed.Add(1)
		}()
		crowd = append(crowd, c)
	}
	require.Eventually(t, func() bool { return closed.Load() >= 100-all/(32<<10+call) }, 10*time.Second, time.Millisecond)
	require.LessOrEqual(t, room.Used(), int64(all))
	for _, c := range crowd {
		_ = c.Close()
	}
	settled(t, room, 0)
	_, err = client.ModelInfer(t.Context(), request(1000, 1))
	require.NoError(t, err)
	_, err = client.ModelInfer(t.Context(), request(all/2, 1))
	require.Equal(t, codes.Unavailable, status.Code(err))
	settled(t, room, 0)
}

// TestRoomOfStreamsThatSendNothing: a client that fills the room with calls on which nothing arrives loses its connection when
// another one needs room.
func TestRoomOfStreamsThatSendNothing(t *testing.T) {
	const all = 8 << 20
	room := httpapi.NewRoom(all)
	client, address := served(t, func(c *Config) { c.Room = room })
	const stream = kserve.GRPCInferenceService_ModelStreamInfer_FullMethodName
	one := memoryOf(block(stream))
	count := uint32(all / one)
	many := dial(t, address)
	for i := range count {
		require.NoError(t, many.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: block(stream), EndHeaders: true}))
	}
	settled(t, room, int64(count)*one)
	_, err := client.ModelInfer(t.Context(), request(10000, 1))
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, many)
	if err != nil { // a reset, or an end
		require.ErrorContains(t, err, "reset")
	}
	settled(t, room, 0)
}

// told counts what a connection tells about its calls.
type told struct{ begins, ends int }

func (w *told) Wait(begins bool) {
	if begins {
		w.begins++
	} else {
		w.ends++
	}
}

// TestWaiter: a connection waits while it has no call.
func TestWaiter(t *testing.T) {
	var client, server bytes.Buffer
	in, out := http2.NewFramer(&client, nil), http2.NewFramer(&server, nil)
	w := &told{}
	c := &counted{Conn: &piecewise{}, open: map[uint32]*call{}, waiter: w}
	read := func() {
		c.Conn.(*piecewise).text, c.Conn.(*piecewise).size = client.Bytes(), client.Len()
		_, err := c.Read(make([]byte, 1000))
		require.NoError(t, err)
		client.Reset()
	}
	require.NoError(t, in.WritePing(false, [8]byte{}))
	read()
	require.Equal(t, told{}, *w)
	for _, stream := range []uint32{1, 3} {
		require.NoError(t, in.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true, BlockFragment: []byte("abc")}))
	}
	read()
	require.Equal(t, told{ends: 1}, *w)
	require.NoError(t, in.WriteRSTStream(1, http2.ErrCodeCancel))
	read()
	require.Equal(t, told{ends: 1}, *w)
	require.NoError(t, out.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, EndHeaders: true, EndStream: true}))
	_, err := c.Write(server.Bytes())
	require.NoError(t, err)
	require.Equal(t, told{begins: 1, ends: 1}, *w)
}

// memoryOf is what a call with these headers takes without its message.
func memoryOf(headers []byte) int64 {
	c := call{headers: int64(len(headers))}
	return c.memory()
}

// messageBytes is how many bytes of an incomplete message a stream ends with.
func messageBytes(text []byte) int64 {
	for len(text) >= prefix {
		size := int64(binary.BigEndian.Uint32(text[1:]))
		if text = text[prefix:]; int64(len(text)) < size {
			return int64(len(text))
		}
		text = text[size:]
	}
	return 0
}

// FuzzFrames: a connection holds what its streams have of messages that are not complete, in whatever pieces it arrives.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x09\x00\x00\x00\x00\x09part\x03\x04"), 3)
	f.Add([]byte("\x00\x11\x05\x00\x00\x00\x00\x01\x21\x02pq"), 100)
	f.Fuzz(func(t *testing.T, script []byte, size int) {
		// Each byte of the script is a frame of a stream; for data the next one is their size.
		var client, server bytes.Buffer
		in, out := http2.NewFramer(&client, nil), http2.NewFramer(&server, nil)
		open, headers := map[uint32][]byte{}, map[uint32]*call{}
		for len(script) > 0 {
			what, stream := script[0]&7, uint32(script[0]>>4)*2+1
			script = script[1:]
			text, is := open[stream]
			switch {
			case what == 0:
				require.NoError(t, in.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true, BlockFragment: []byte("abc")}))
				if !is {
					open[stream], headers[stream] = []byte{}, &call{}
				}
				headers[stream].headers += 3
			case what == 1:
				require.NoError(t, in.WriteRSTStream(stream, http2.ErrCodeCancel))
				delete(open, stream)
			case what == 2:
				require.NoError(t, in.WritePing(false, [8]byte{}))
			case what == 3:
				require.NoError(t, in.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true, EndStream: true}))
				delete(open, stream)
			case len(script) > 0:
				n := min(int(script[0]), len(script)-1)
				data := script[1 : 1+n]
				script = script[1+n:]
				if what == 4 {
					require.NoError(t, in.WriteDataPadded(stream, false, data, make([]byte, n%5)))
				} else {
					require.NoError(t, in.WriteData(stream, what == 5, data))
				}
				if is {
					open[stream] = append(text, data...)
				}
				if what == 5 {
					delete(open, stream)
				}
			}
		}
		room := httpapi.NewRoom(1 << 40)
		c := &counted{Conn: &piecewise{text: client.Bytes(), size: max(size, 1)}, room: room, open: map[uint32]*call{}}
		for b := make([]byte, 100); ; {
			if _, err := c.Read(b); err != nil {
				break
			}
		}
		want := int64(0)
		for stream, text := range open {
			want += headers[stream].memory() + messageBytes(text)
		}
		require.Equal(t, want, room.Used())
		// The server ends all of them.
		require.NoError(t, out.WriteSettings())
		for stream := range open {
			require.NoError(t, out.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true, EndStream: true}))
		}
		for b := server.Bytes(); len(b) > 0; b = b[min(max(size, 1), len(b)):] {
			_, err := c.Write(b[:min(max(size, 1), len(b))])
			require.NoError(t, err)
		}
		require.Zero(t, room.Used())
		require.Empty(t, c.open)
	})
}

// FuzzAnyFrames: bytes that are no frames do no harm, and leave nothing behind.
func FuzzAnyFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x01\x04\x00\x00\x00\x01a\xff\xff\xff\x00\x08\x00\x00\x00\x01\xff\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		room := httpapi.NewRoom(1 << 10)
		c := &counted{Conn: &piecewise{text: text, size: 1 << 20}, room: room, in: frames{skip: len(text) % 30}, open: map[uint32]*call{}}
		for b := make([]byte, 100); ; {
			if _, err := c.Read(b); err != nil {
				break
			}
			_, err := c.Write(b)
			require.NoError(t, err)
			require.GreaterOrEqual(t, room.Used(), int64(0))
		}
		require.NoError(t, c.Close())
		require.Zero(t, room.Used())
	})
}

// piecewise is a connection that reads a text in pieces of a size, and takes what is written.
type piecewise struct {
	net.Conn
	text []byte
	size int
}

// Read reads a piece.
func (p *piecewise) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.text)
	p.text = p.text[n:]
	return n, nil
}

// Write takes all.
func (p *piecewise) Write(b []byte) (int, error) { return len(b), nil }

// Close does nothing.
func (p *piecewise) Close() error { return nil }
