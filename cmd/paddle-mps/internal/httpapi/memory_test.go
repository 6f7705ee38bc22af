//go:build linux

package httpapi

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/sharedmemory"
)

// TestRoomOfSharedMemory: inputs in shared memory are memory of the server as well, however short the body is.
func TestRoomOfSharedMemory(t *testing.T) {
	f, err := os.CreateTemp("/dev/shm", "paddle-mps-test-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(f.Name()) })
	require.NoError(t, f.Truncate(1<<20))
	require.NoError(t, f.Close())
	a, _ := served(t, "")
	a.Regions = sharedmemory.New(true)
	t.Cleanup(a.Regions.Close)
	require.NoError(t, a.Regions.Register("r", strings.TrimPrefix(f.Name(), "/dev/shm"), 0, 1<<20))
	body := `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,262144],"parameters":{"shared_memory_region":"r","shared_memory_byte_size":1048576}}]}`
	a.Room = NewRoom(1 << 20)
	w := ask(a, http.MethodPost, infer, body)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), "Exceeds maximum memory of 1048576 bytes for all requests together")
	require.Zero(t, a.Room.Used())
	a.Room = NewRoom(2 << 20)
	require.Equal(t, http.StatusOK, ask(a, http.MethodPost, infer, body).Code)
	require.Zero(t, a.Room.Used())
}
