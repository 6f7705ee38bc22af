package grpcapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
)

// TestRoom: requests together are bounded, in calls and in streams, and leave nothing behind. Those that arrive within the bound,
// because they are compressed, get an error of their own. TestRoomWhileMessagesArrive has the others.
func TestRoom(t *testing.T) {
	room := httpapi.NewRoom(1 << 20)
	client, _ := served(t, func(c *Config) { c.Room = room })
	compressed := grpc.UseCompressor("gzip")
	_, err := client.ModelInfer(t.Context(), request(1<<19, 1), compressed)
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "Exceeds maximum memory of 1048576 bytes for all requests together")
	_, err = client.ModelInfer(t.Context(), request(1<<10, 1))
	require.NoError(t, err)

	stream, err := client.ModelStreamInfer(t.Context(), compressed)
	require.NoError(t, err)
	for i, n := range []int{1 << 10, 1 << 19, 1 << 10} {
		require.NoError(t, stream.Send(request(n, 1)))
		r, err := stream.Recv()
		require.NoError(t, err)
		require.Equal(t, i == 1, r.ErrorMessage != "", r.ErrorMessage)
		require.Equal(t, "a", r.InferResponse.Id)
	}
	require.NoError(t, stream.CloseSend())
	require.Eventually(t, func() bool { return room.Used() == 0 }, 10*time.Second, time.Millisecond)
}
