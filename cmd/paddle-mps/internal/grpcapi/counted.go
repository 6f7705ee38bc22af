package grpcapi

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
)

// counting are credentials whose connections count what arrives against the room of all requests. gRPC hands a connection over
// to them once, and what they return has no encryption any more.
type counting struct {
	credentials.TransportCredentials
	room *httpapi.Room

	mu   sync.Mutex
	open map[*counted]struct{}
}

// newCounting wraps credentials; nil are those of a server without TLS.
func newCounting(c credentials.TransportCredentials, room *httpapi.Room) credentials.TransportCredentials {
	if c == nil {
		c = insecure.NewCredentials()
	}
	all := &counting{TransportCredentials: c, room: room, open: map[*counted]struct{}{}}
	room.Reclaim(all.closeLargest)
	return all
}

// closeLargest closes the connection whose open calls and incomplete messages take most, where these are least bytes or more. A
// client could otherwise keep all others out for good by streams on which it sends nothing: they have no limit of time.
func (c *counting) closeLargest(least int64) bool {
	c.mu.Lock()
	var found *counted
	for one := range c.open {
		if size := one.taken.Load(); size >= least {
			found, least = one, size+1
		}
	}
	c.mu.Unlock()
	// A connection that is being counted at this moment, such as that of the caller, is left alone.
	if found == nil || !found.mu.TryLock() {
		return false
	}
	gives := found.held > 0
	found.forget()
	found.mu.Unlock()
	_ = found.Conn.Close() // the transport has the error
	return gives
}

// ServerHandshake is that of the credentials.
func (c *counting) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nil, nil, err
	}
	counts := &counted{Conn: conn, room: c.room, in: frames{skip: preface}, open: map[uint32]*call{}}
	counts.waiter, _ = raw.(waiter)
	counts.all = c
	c.mu.Lock()
	c.open[counts] = struct{}{}
	c.mu.Unlock()
	return counts, identified{info, counts}, nil
}

// waiter is told whether the connection waits for calls, or has some. The listener closes one that waits where it has to.
type waiter interface{ Wait(begins bool) }

// counted is a connection that counts the messages which have not arrived completely, and the calls that neither side has ended,
// with their headers. gRPC has them in memory, and no code of ours sees a message before it is complete. A connection that
// finds no room is closed: nothing else ends one of its messages before it has arrived.
type counted struct {
	net.Conn
	room *httpapi.Room

	mu      sync.Mutex // reads and writes are on two goroutines
	in, out frames
	open    map[uint32]*call // by stream; those that neither side has ended
	held    int64            // bytes of all calls, which are taken from the room
	unsent  int64            // bytes of responses that the transport has, likewise; see unsent.go
	closed  bool             // nothing is taken any more
	taken   atomic.Int64     // held, for those without the lock
	all     *counting        // nil: it is in none
	waiter  waiter           // nil: none
	busy    bool             // what waiter was told
}

// call is what is in memory of a call that is open.
type call struct {
	headers int64 // bytes on the connection
	message message
}

// What an open call takes beside its message. A byte on the connection may stand for a header of any size in HPACK's table, and
// gRPC keeps lists of the fields, of 34 bytes or more as HTTP/2 counts them, which take about four times that.
const (
	callMemory = 16 << 10        // goroutines, and queues of gRPC
	expansion  = 4 * 34          // of a byte of headers
	largest    = 4 * headerBytes // of all headers of a call
)

// memory is that of the call without its message.
func (c *call) memory() int64 { return callMemory + min(c.headers*expansion, largest) }

// errRoom ends a connection.
var errRoom = errors.New("there is no room for the messages of the connection")

// Read reads, and counts what has arrived.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if full := c.received(b[:n]); full != nil && err == nil {
		err = full
	}
	return n, err
}

// received counts bytes of the client. Messages that are complete within them need no room.
func (c *counted) received(b []byte) error {
	before := c.held
	defer c.tell()
	for len(b) > 0 && !c.closed {
		data, rest, done := c.in.next(b)
		b = rest
		stream := c.in.stream()
		if len(data) > 0 {
			c.add(stream, data)
		}
		switch {
		case !done:
		case c.in.ends():
			c.drop(stream)
		case c.in.kind() == frameHeaders && c.open[stream] == nil:
			c.open[stream] = &call{}
			c.held += callMemory
			fallthrough
		case c.in.kind() == frameHeaders, c.in.kind() == frameContinue:
			c.addHeaders(stream, int64(c.in.size()))
		}
	}
	return c.settle(before)
}

// tell tells the waiter whether there are calls, where that has changed.
func (c *counted) tell() {
	if busy := len(c.open) > 0; busy != c.busy && c.waiter != nil {
		c.busy = busy
		c.waiter.Wait(!busy)
	}
}

// settle takes from the room what is held more than before, or gives back what is less.
func (c *counted) settle(before int64) error {
	more := c.held - before
	switch {
	case c.closed:
	case more < 0:
		c.room.Give(-more)
	case more > 0 && c.room.Take(more) != nil:
		c.held = before
		c.forget()
		return errRoom
	}
	c.taken.Store(c.held)
	return nil
}

// forget gives back all that is held. The connection is about to end.
func (c *counted) forget() {
	if !c.closed {
		c.room.Give(c.held + c.unsent)
		c.closed, c.open = true, nil
		c.taken.Store(0)
	}
}

// addHeaders counts headers of a call that is open.
func (c *counted) addHeaders(stream uint32, size int64) {
	if one := c.open[stream]; one != nil {
		before := one.memory()
		one.headers += size
		c.held += one.memory() - before
	}
}

// add counts data of a call. gRPC drops what comes on a stream that has ended.
func (c *counted) add(stream uint32, data []byte) {
	if one := c.open[stream]; one != nil {
		before := one.message.got
		one.message.add(data)
		c.held += one.message.got - before
	}
}

// drop forgets a call that has ended.
func (c *counted) drop(stream uint32) {
	if one := c.open[stream]; one != nil {
		c.held -= one.memory() + one.message.got
		delete(c.open, stream)
	}
}

// Write writes. A stream that the server ends holds nothing any more, whatever its client goes on to send.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.held
	defer c.tell()
	for sent := b[:n]; len(sent) > 0 && !c.closed; {
		_, rest, done := c.out.next(sent)
		if sent = rest; done && c.out.ends() {
			c.drop(c.out.stream())
		}
	}
	_ = c.settle(before) // it is no more than before
	return n, err
}

// Close gives back what is held.
func (c *counted) Close() error {
	c.mu.Lock()
	c.forget()
	c.mu.Unlock()
	if c.all != nil {
		c.all.mu.Lock()
		delete(c.all.open, c)
		c.all.mu.Unlock()
	}
	return c.Conn.Close()
}
