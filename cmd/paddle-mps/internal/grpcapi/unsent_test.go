package grpcapi

import (
	"context"
	"encoding/binary"
	"io"
	goruntime "runtime"
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
		holds := func(want int64) {
			t.Helper()
			require.Eventually(t, func() bool {
				goruntime.GC() // what the transport forgets is given back when it is collected
				return room.Used() == want
			}, 10*time.Second, time.Millisecond, "%d bytes are held; want %d", room.Used(), want)
		}
		_, err := client.ModelInfer(t.Context(), request(n, 1))
		require.NoError(t, err)
		holds(0)
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
			require.Eventually(t, func() bool { return room.Used() >= size }, 10*time.Second, time.Millisecond, name)
			// There is room for the message of another request, and not for its response.
			_, err := client.ModelInfer(t.Context(), request(n+n/2, 1))
			require.Equal(t, codes.Unavailable, status.Code(err), "%s: %v", name, err)
			require.ErrorContains(t, err, "for all requests together")
			_, err = client.ModelInfer(t.Context(), request(16, 1))
			require.NoError(t, err, name)
			end(r)
			holds(0)
			_, err = client.ModelInfer(t.Context(), request(n, 1))
			require.NoError(t, err, name)
		}
	}
}
