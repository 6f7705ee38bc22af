//go:build linux

package grpcapi

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/sharedmemory"
)

// TestRoomOfSharedMemory: inputs in shared memory are memory of the server as well, however short the message is.
func TestRoomOfSharedMemory(t *testing.T) {
	f, err := os.CreateTemp("/dev/shm", "paddle-mps-test-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(f.Name()) })
	require.NoError(t, f.Truncate(1<<20))
	require.NoError(t, f.Close())
	regions := sharedmemory.New(true)
	t.Cleanup(regions.Close)
	require.NoError(t, regions.Register("r", strings.TrimPrefix(f.Name(), "/dev/shm"), 0, 1<<20))
	for bytes, code := range map[int64]codes.Code{1 << 20: codes.Unavailable, 4 << 20: codes.OK} {
		room := httpapi.NewRoom(bytes)
		client, _ := served(t, func(c *Config) { c.Room, c.Regions = room, regions })
		r := request(1<<18, 1)
		r.RawInputContents = nil
		r.Inputs[0].Parameters = map[string]*kserve.InferParameter{
			"shared_memory_region":    {ParameterChoice: &kserve.InferParameter_StringParam{StringParam: "r"}},
			"shared_memory_byte_size": {ParameterChoice: &kserve.InferParameter_Int64Param{Int64Param: 1 << 20}},
		}
		_, err := client.ModelInfer(t.Context(), r)
		require.Equal(t, code, status.Code(err), "%v", err)
		require.Eventually(t, func() bool { return room.Used() == 0 }, 10*time.Second, time.Millisecond)
	}
}
