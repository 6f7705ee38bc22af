package service

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
)

// connections are those of an endpoint, of which there are at most so many: each has a descriptor, which files of models and
// regions of shared memory need as well, and memory that counts nowhere else. Where there is no place for a new one, the one
// that has waited longest for a request is closed. Clients of HTTP and gRPC expect that of a connection that is not in use.
// Each endpoint has its own, so that clients which fill one, such as by streams of gRPC, do not close the others.
type connections struct {
	most int
	room *httpapi.Room

	mu   sync.Mutex
	open map[*connection]struct{}
}

// mostConnections is the number of connections of an endpoint where the system allows more descriptors.
const mostConnections = 8192

// sixteenths are the parts of the descriptors of the process that the connections of an endpoint may take. Three are left for
// everything else.
var sixteenths = map[string]uint64{"http": 6, "grpc": 6, "metrics": 1}

// newConnections are no connections yet, of an endpoint by name.
func newConnections(endpoint string, room *httpapi.Room) *connections {
	most := mostConnections
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil {
		most = int(min(mostConnections, limit.Cur/16*sixteenths[endpoint]))
	}
	return &connections{most: most, room: room, open: map[*connection]struct{}{}}
}

// listener accepts connections that are counted.
type listener struct {
	net.Listener
	all     *connections
	headers bool // whether what arrives before a request is counted too; that of gRPC counts it itself
}

// Accept accepts a connection. One that finds no place is closed at once.
func (l listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: raw, all: l.all, headers: l.headers, waits: time.Now()}
		if l.all.add(c) {
			return c, nil
		}
		_ = raw.Close() // nothing was sent
	}
}

// add counts a connection, and makes a place for it; false where all others have a request.
func (all *connections) add(c *connection) bool {
	all.mu.Lock()
	var idle *connection
	if len(all.open) >= all.most {
		idle = all.longestWaiting()
		if idle == nil {
			all.mu.Unlock()
			return false
		}
		delete(all.open, idle)
	}
	all.open[c] = struct{}{}
	all.mu.Unlock()
	if idle != nil {
		_ = idle.Close() // its client may be gone
	}
	return true
}

// longestWaiting is the connection that has waited longest for a request; nil if none waits. The caller has the lock.
func (all *connections) longestWaiting() (found *connection) {
	var since time.Time
	for c := range all.open {
		if at := c.waitsSince(); !at.IsZero() && (found == nil || at.Before(since)) {
			found, since = c, at
		}
	}
	return found
}

// connection is one of connections. It waits for a request, or has some.
type connection struct {
	net.Conn
	all     *connections
	headers bool // see listener

	mu    sync.Mutex // the server reads ahead on a goroutine of its own
	waits time.Time  // since when; zero: it has a request
	read  int64      // bytes since then
	held  int64      // bytes of the room
	ended bool       // nothing is taken any more
}

// The header of a request is parsed as it arrives: a line of a few bytes becomes an entry of a map. What most requests need
// is not counted.
const (
	smallHeader     = 4 << 10
	headerExpansion = 24 // of a byte
)

// errRoom ends a connection.
var errRoom = errors.New("there is no room for the header of a request")

// waitsSince is when the connection began to wait for a request; zero where it has one.
func (c *connection) waitsSince() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits
}

// Read reads, and counts what may be the header of a request. The body is counted by the API.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.headers {
		return n, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.waits.IsZero() {
		return n, err
	}
	c.read += int64(n)
	if more := (c.read-smallHeader)*headerExpansion - c.held; more > 0 {
		if full := c.all.room.Take(more); full != nil {
			return n, cmp.Or(err, errRoom)
		}
		c.held += more
	}
	return n, err
}

// Close closes the connection.
func (c *connection) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c)
	c.all.mu.Unlock()
	c.mu.Lock()
	c.ended = true // a read that is under way may have bytes still
	c.mu.Unlock()
	c.Wait(true)
	return c.Conn.Close()
}

// Wait says that the connection begins to wait for a request, or has one.
func (c *connection) Wait(begins bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = time.Time{}
	if begins {
		c.all.room.Give(c.held)
		c.waits, c.read, c.held = time.Now(), 0, 0
	}
}

// connectionKey is the key under which the context of a request has its connection.
type connectionKey struct{}

// withConnection is the context of the requests of a connection. That of TLS is around ours.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// inUse is a handler whose connection does not wait while it answers.
func inUse(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
			c.Wait(false)
			defer c.Wait(true)
		}
		h.ServeHTTP(w, r)
	})
}
