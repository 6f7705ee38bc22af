package service

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
)

// pipes is a listener whose clients are in this process.
type pipes struct{ accepted chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.accepted; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects a client.
func (p pipes) dial(t *testing.T) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	p.accepted <- server
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// serving serves a handler to pipes with a number of connections at most.
func serving(t *testing.T, most int, room *httpapi.Room, h http.HandlerFunc) (pipes, *connections) {
	t.Helper()
	p := pipes{make(chan net.Conn)}
	all := newConnections("http", room)
	all.most = most
	s := &http.Server{Handler: inUse(h), ConnContext: withConnection, MaxHeaderBytes: headerBytes}
	go func() { _ = s.Serve(listener{p, all, true}) }() // it ends with the listener
	t.Cleanup(func() { close(p.accepted); _ = s.Close() })
	return p, all
}

// ask sends a request and returns the status of the answer, or the error of the connection.
func ask(c net.Conn) (int, error) {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return 0, err
	}
	return answered(c)
}

func answered(c net.Conn) (int, error) {
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, r.Body)
	return r.StatusCode, err
}

// isClosed waits for the end of a connection.
func isClosed(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // a pipe has deadlines
	_, err := c.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

// TestConnections: a client is served however many others hold connections without a request, and those with one stay.
func TestConnections(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	clients, all := serving(t, 4, nil, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			begun <- struct{}{}
			<-end
		}
	})
	slow := clients.dial(t)
	_, err := io.WriteString(slow, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	<-begun
	var idle []net.Conn
	for range 10 {
		idle = append(idle, clients.dial(t))
	}
	status, err := ask(clients.dial(t))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	for _, c := range idle[:8] { // the one that has waited longest goes first
		isClosed(t, c)
	}
	status, err = ask(idle[9])
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	// A connection that was used waits from the end of its request on.
	clients.dial(t)
	clients.dial(t)
	status, err = ask(idle[9])
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	close(end)
	status, err = answered(slow)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	all.mu.Lock()
	defer all.mu.Unlock()
	require.Len(t, all.open, 4)
}

// TestConnectionsInUse: where every connection has a request, a new one is closed at once.
func TestConnectionsInUse(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	clients, _ := serving(t, 1, nil, func(http.ResponseWriter, *http.Request) { begun <- struct{}{}; <-end })
	one := clients.dial(t)
	_, err := io.WriteString(one, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	<-begun
	isClosed(t, clients.dial(t))
	close(end)
	_, err = answered(one)
	require.NoError(t, err)
}

// TestRoomOfHeaders: headers that are large in memory count against the room of all requests, and leave nothing behind.
func TestRoomOfHeaders(t *testing.T) {
	room := httpapi.NewRoom(1 << 20)
	clients, _ := serving(t, 100, room, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // it may end early
	})
	var lines bytes.Buffer
	lines.WriteString("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n")
	for i := range 3000 {
		fmt.Fprintf(&lines, "%x:\r\n", i+0x1000)
	}
	first := clients.dial(t)
	_, err := first.Write(lines.Bytes())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return room.Used() > 300<<10 }, time.Minute, time.Millisecond)
	// The next ones find no room. What is small is served as before.
	for range 5 {
		c := clients.dial(t)
		go func() { _, _ = io.Copy(io.Discard, c) }() // an error, where there is no room
		_, _ = c.Write(lines.Bytes())                 // it may be closed meanwhile
	}
	require.LessOrEqual(t, room.Used(), int64(1<<20))
	other := clients.dial(t)
	status, err := ask(other)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	// The headers are in memory until the request has ended.
	_, err = io.WriteString(first, "\r\nx")
	require.NoError(t, err)
	_, err = answered(first)
	require.NoError(t, err)
	_ = first.Close() // as all others
	require.Eventually(t, func() bool { return room.Used() < 900<<10 }, time.Minute, time.Millisecond)
	status, err = ask(other)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
}

// TestUnreadMetrics: a response with a time for it ends, also if its client does not read.
func TestUnreadMetrics(t *testing.T) {
	e := &endpoints{failed: make(chan error, 1)}
	ended := make(chan error, 1)
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				ended <- err
				return
			}
		}
	})
	log, err := newLog(httpapi.Logging{Format: "default"}, io.Discard)
	require.NoError(t, err)
	require.NoError(t, e.http("metrics", local, 0, certificates{}, endless, log, 50*time.Millisecond, nil))
	go func() { _ = e.all[0].serve() }()
	defer func() { require.NoError(t, e.all[0].shutdown(context.Background())) }()
	c, err := net.Dial("tcp", e.all[0].address)
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	require.Error(t, <-ended)
}

// late is a connection of which bytes arrive while it is closed.
type late struct {
	net.Conn
	closing func()
}

func (l late) Read(b []byte) (int, error) {
	l.closing()
	return len(b), nil
}

func (l late) Close() error { return nil }

// A closed connection takes nothing of the room, although a read that was under way returns bytes.
func TestClosedConnectionsHoldNothing(t *testing.T) {
	room := httpapi.NewRoom(1 << 20)
	c := &connection{all: newConnections("http", room), headers: true, waits: time.Now()}
	c.Conn = late{closing: func() { require.NoError(t, c.Close()) }}
	_, err := c.Read(make([]byte, smallHeader+1))
	require.NoError(t, err)
	require.Zero(t, room.Used())
}
