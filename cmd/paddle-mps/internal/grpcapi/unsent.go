package grpcapi

// A method returns before its response is sent. gRPC keeps the response until the client has opened its window, which it may
// never do: gRPC has neither a limit on what such clients make it keep, nor on how long it does. Keepalive does not see them,
// because they answer pings.
//
// So responses are held in the room of all requests, and a client has a time to read each, as over HTTP. When it has passed, the
// connection is closed. gRPC cannot end a stream whose method has returned in another way, nor free what is queued on it.

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
	"weak"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
)

// outgoing is a response with the connection that it goes to.
type outgoing struct {
	message any             // *kserve.ModelInferResponse, or *kserve.ModelStreamInferResponse
	to      *counted        // nil: unknown
	trace   *traces.Request // it ends when the response was handed to the transport: gRPC knows no other moment; nil: none
}

// identified is the authentication of a connection, by which a call finds the connection.
type identified struct {
	credentials.AuthInfo
	connection *counted
}

// connectionOf is the connection of a call.
func connectionOf(ctx context.Context) *counted {
	if p, ok := peer.FromContext(ctx); ok {
		if i, ok := p.AuthInfo.(identified); ok {
			return i.connection
		}
	}
	return nil
}

// departure is the time that a client has to read a response, beside that for its size and for what it has not read before.
// Consumers of streams may do other work between two responses, so it is longer than the grace of HTTP.
const departure = time.Minute

// allow starts the time of the client to read bytes.
func (c *counted) allow(bytes int64, late func()) limit {
	c.mu.Lock()
	bytes += c.unsent
	c.mu.Unlock()
	return startLimit(departure+httpapi.AtPace(bytes), late)
}

// end closes the connection of a client that is late.
func (c *counted) end() { _ = c.Close() } // no caller is left to have the error

// hold counts bytes of responses that the transport has, or does not have any more if they are less than 0. Those of a connection
// that was closed are no longer held: what gRPC does not free of them is garbage.
func (c *counted) hold(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.unsent += bytes
		c.room.Hold(bytes)
	}
}

// uncounted is the size of parts that are not counted: gRPC itself keeps as much of each call.
const uncounted = 2 << 10

// unsent is a part of a response, which is held in the room of all requests until the transport has no use for it.
func unsent(data []byte, to *counted) mem.Buffer {
	if to == nil || len(data) < uncounted {
		return mem.SliceBuffer(data)
	}
	p := &part{to: to}
	h := &held{p}
	p.pool = weak.Make(h)
	p.bytes.Store(int64(len(data)))
	p.limit = to.allow(int64(len(data)), p.late)
	to.hold(int64(len(data)))
	// The transport forgets the buffer if the stream has ended by now. It is collected then.
	runtime.AddCleanup(h, (*part).done, p)
	return mem.NewBuffer(&data, h)
}

// part is what is known of a part of a response.
type part struct {
	to    *counted
	limit limit
	bytes atomic.Int64       // 0 when they have been given back
	pool  weak.Pointer[held] // of its buffer
}

// late is the end of the limit. A part that was forgotten with its stream, and not collected yet, is not the fault of a client that
// has given the call up.
func (p *part) late() {
	p.to.mu.Lock()
	closed := p.to.closed
	p.to.mu.Unlock()
	if closed {
		return
	}
	runtime.GC()
	if p.pool.Value() == nil {
		p.done()
		return
	}
	p.to.end()
}

// done gives the bytes back.
func (p *part) done() {
	p.to.hold(-p.bytes.Swap(0))
	p.limit.Stop()
}

// held is a pool of one buffer: gRPC puts it back when it is sent, or when its stream has ended.
type held struct{ part *part }

// Get is not called: nothing is taken from this pool.
func (h *held) Get(length int) *[]byte {
	b := make([]byte, length)
	return &b
}

// Put is the end of the buffer.
func (h *held) Put(*[]byte) { h.part.done() }
