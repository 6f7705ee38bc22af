package grpcapi

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
)

// ask sends a whole request of n floats.
func (r raw) ask(t *testing.T, stream uint32, method string, n int) {
	t.Helper()
	message, err := proto.Marshal(request(n, 1))
	require.NoError(t, err)
	require.NoError(t, r.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block(method), EndHeaders: true}))
	message = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	for len(message) > 0 {
		part := message[:min(len(message), 16<<10)]
		message = message[len(part):]
		require.NoError(t, r.WriteData(stream, len(message) == 0, part))
	}
}

// encodings are the encodings of responses that a client gets.
type encodings struct {
	list []string
}

func (e *encodings) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (e *encodings) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (e *encodings) HandleConn(context.Context, stats.ConnStats)                       {}

func (e *encodings) HandleRPC(_ context.Context, s stats.RPCStats) {
	if h, ok := s.(*stats.InHeader); ok {
		e.list = append(e.list, h.Compression)
	}
}

// TestResponsesAreNotCompressed: also where the request is, whose compressor gRPC would take, into memory that is not counted.
func TestResponsesAreNotCompressed(t *testing.T) {
	_, address := served(t, nil)
	got := &encodings{}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStatsHandler(got), grpc.WithDefaultCallOptions(grpc.UseCompressor("gzip")))
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close()) }()
	client := kserve.NewGRPCInferenceServiceClient(connection)
	_, err = client.ModelInfer(t.Context(), request(1<<16, 1))
	require.NoError(t, err)
	s, err := client.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Send(request(1<<16, 1)))
	r, err := s.Recv()
	require.NoError(t, err)
	require.Len(t, r.InferResponse.RawOutputContents[0], 4<<16)
	require.NoError(t, s.CloseSend())
	for _, encoding := range got.list {
		require.Contains(t, []string{"", "identity"}, encoding)
	}
	require.Len(t, got.list, 2)
}

// TestUnsentResponses: responses of clients that do not read are memory of the server, for which other requests are refused, until
// the client has read them, gives the call up, or is gone.
func TestUnsentResponses(t *testing.T) {
	const n = 12 << 10 // floats, which fit into the windows of a connection that has been opened just now
	const size = 4 * n
	for _, method := range []string{"ModelInfer", "ModelStreamInfer"} {
		room := httpapi.NewRoom(3 * size)
		client, address := served(t, func(c *Config) { c.Room = room })
		_, err := client.ModelInfer(t.Context(), request(n, 1))
		require.NoError(t, err)
		settled(t, room, 0)
		for name, end := range map[string]func(r raw){
			"the client is gone":   func(r raw) { _ = r.Close() },
			"the call is given up": func(r raw) { require.NoError(t, r.WriteRSTStream(1, http2.ErrCodeCancel)) },
			"the client has read it": func(r raw) {
				require.NoError(t, r.WriteWindowUpdate(1, 1<<20))
				go func() { _, _ = io.Copy(io.Discard, r.Conn) }()
			},
		} {
			r := dial(t, address)
			require.NoError(t, r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
			r.ask(t, 1, "/inference.GRPCInferenceService/"+method, n)
			require.Eventually(t, func() bool { return room.Used() >= size }, time.Minute, time.Millisecond, name)
			// There is room for the message of another request, and not for its response.
			_, err := client.ModelInfer(t.Context(), request(n+n/2, 1))
			require.Equal(t, codes.Unavailable, status.Code(err), "%s: %v", name, err)
			require.ErrorContains(t, err, "for all requests together")
			_, err = client.ModelInfer(t.Context(), request(16, 1))
			require.NoError(t, err, name)
			end(r)
			settled(t, room, 0)
			_, err = client.ModelInfer(t.Context(), request(n, 1))
			require.NoError(t, err, name)
		}
	}
}

// clock has the limits that run. It has no time: tests end it.
type clock struct {
	mu     sync.Mutex
	limits map[*ticking]time.Duration
}

// ticking is a limit of a clock.
type ticking struct {
	clock *clock
	late  func()
}

// Stop reports whether the limit was running.
func (l *ticking) Stop() bool {
	l.clock.mu.Lock()
	defer l.clock.mu.Unlock()
	_, running := l.clock.limits[l]
	delete(l.clock.limits, l)
	return running
}

// newClock is the clock of servers that are made later in a test.
func newClock(t *testing.T) *clock {
	t.Helper()
	c, before := &clock{limits: map[*ticking]time.Duration{}}, startLimit
	startLimit = func(after time.Duration, late func()) limit {
		c.mu.Lock()
		defer c.mu.Unlock()
		l := &ticking{c, late}
		c.limits[l] = after
		return l
	}
	t.Cleanup(func() { startLimit = before })
	return c
}

// running are the limits that run.
func (c *clock) running() (all []time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, after := range c.limits {
		all = append(all, after)
	}
	return all
}

// expire lets the time of all limits pass.
func (c *clock) expire() {
	c.mu.Lock()
	var late []func()
	for l := range c.limits {
		late = append(late, l.late)
		delete(c.limits, l)
	}
	c.mu.Unlock()
	for _, end := range late {
		end()
	}
}

// closed is closed when the server has closed the connection.
func (r raw) closed() chan struct{} {
	c := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, r.Conn) // windows stay closed
		close(c)
	}()
	return c
}

// TestClientsThatDoNotRead: a client that has not read a response within its time loses its connection, and what was held for it is
// there for others.
func TestClientsThatDoNotRead(t *testing.T) {
	const size = 40 << 10 // bytes of a response, which fit into the windows of a connection
	for _, method := range []string{"ModelInfer", "ModelStreamInfer"} {
		room, clock := httpapi.NewRoom(4*size), newClock(t)
		client, address := served(t, func(c *Config) { c.Room = room })
		r := dial(t, address)
		require.NoError(t, r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
		gone := r.closed()
		r.ask(t, 1, "/inference.GRPCInferenceService/"+method, size/4)
		want := []time.Duration{departure + time.Second}
		require.Eventually(t, func() bool { return slices.Equal(clock.running(), want) }, time.Minute, time.Millisecond, "%s: %v", method, clock.running())
		require.GreaterOrEqual(t, room.Used(), int64(size))
		// A second response has the time for both.
		r.ask(t, 3, "/inference.GRPCInferenceService/"+method, size/4)
		want = append(want, departure+2*time.Second)
		sorted := func() []time.Duration { return slices.Sorted(slices.Values(clock.running())) }
		require.Eventually(t, func() bool { return slices.Equal(sorted(), want) }, time.Minute, time.Millisecond, "%s: %v", method, clock.running())
		_, err := client.ModelInfer(t.Context(), request(size/4*3/2, 1))
		require.Equal(t, codes.Unavailable, status.Code(err), method)
		clock.expire()
		<-gone
		settled(t, room, 0)
		_, err = client.ModelInfer(t.Context(), request(size/4*3/2, 1))
		require.NoError(t, err, method)
		require.Eventually(t, func() bool { return len(clock.running()) == 0 }, time.Minute, time.Millisecond, "the client has read its response")
	}
}

// TestSmallResponsesThatAreNotRead: a stream whose responses are too small to be counted, so that requests wait behind them.
func TestSmallResponsesThatAreNotRead(t *testing.T) {
	room, clock := httpapi.NewRoom(1<<20), newClock(t)
	client, address := served(t, func(c *Config) { c.Room = room })
	r := dial(t, address)
	require.NoError(t, r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
	gone := r.closed()
	message, err := proto.Marshal(request(1, 1))
	require.NoError(t, err)
	message = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	const most = 64<<10 - 1 // bytes that the window of the server takes
	require.NoError(t, r.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block(kserve.GRPCInferenceService_ModelStreamInfer_FullMethodName), EndHeaders: true}))
	for range most / len(message) {
		require.NoError(t, r.WriteData(1, false, message))
	}
	ended := func() bool {
		clock.expire() // a response that is just being handed over is none that waits, but may end the connection as well
		select {
		case <-gone:
			return true
		default:
			return false
		}
	}
	require.Eventually(t, ended, time.Minute, time.Millisecond)
	settled(t, room, 0)
	_, err = client.ModelInfer(t.Context(), request(1, 1))
	require.NoError(t, err)
}

// TestForgottenResponses: gRPC drops the response to a call that its client has given up, without freeing it. The client keeps its
// connection.
func TestForgottenResponses(t *testing.T) {
	clock, room := newClock(t), httpapi.NewRoom(1<<20)
	mine, theirs := net.Pipe()
	defer func() { require.NoError(t, theirs.Close()) }()
	c := &counted{Conn: mine, room: room, open: map[uint32]*call{}}
	func() { unsent(make([]byte, 4<<10), c) }()
	clock.expire()
	settled(t, room, 0)
	require.False(t, c.closed)
	kept := unsent(make([]byte, 4<<10), c)
	settled(t, room, 4<<10)
	clock.expire()
	require.True(t, c.closed)
	settled(t, room, 0)
	kept.Free()
	settled(t, room, 0)
	require.Empty(t, clock.running())
}
