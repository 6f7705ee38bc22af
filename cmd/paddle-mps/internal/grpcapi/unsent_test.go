package grpcapi

import (
	"encoding/binary"
	"io"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
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
