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

// object is a shared-memory object of a size that ends with the test; key is its name.
func object(t testing.TB, size int64) (f *os.File, key string) {
	t.Helper()
	f, err := os.CreateTemp("/dev/shm", "paddle-mps-test-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close(); _ = os.Remove(f.Name()) })
	require.NoError(t, f.Truncate(size))
	return f, strings.TrimPrefix(f.Name(), "/dev/shm")
}

// TestRoomOfSharedMemory: inputs in shared memory are memory of the server as well, however short the body is.
func TestRoomOfSharedMemory(t *testing.T) {
	_, key := object(t, 1<<20)
	a, _ := served(t, "")
	a.Regions = sharedmemory.New(true)
	t.Cleanup(a.Regions.Close)
	require.NoError(t, a.Regions.Register("r", key, 0, 1<<20))
	body := `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,262144],"parameters":{"shared_memory_region":"r","shared_memory_byte_size":1048576}}]}`
	a.Room = NewRoom(1 << 20)
	w := ask(a, http.MethodPost, infer, body)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), "Exceeds maximum memory of 1048576 bytes for all requests together")
	require.Zero(t, a.Room.Used())
	a.Room = NewRoom(4 << 20)
	require.Equal(t, http.StatusOK, ask(a, http.MethodPost, infer, body).Code)
	require.Zero(t, a.Room.Used())
}

// FuzzSharedMemory: no registration and no request is a fault, each is answered in the form of the protocol, and nothing is
// written outside of the region.
func FuzzSharedMemory(f *testing.F) {
	const size = 64
	file, key := object(f, size)
	a := newAPI(f)
	a.Regions = sharedmemory.New(true)
	f.Cleanup(a.Regions.Close)
	f.Add(`{"key":"KEY","offset":16,"byte_size":32}`,
		`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"parameters":{"shared_memory_region":"r","shared_memory_byte_size":8}}],
		"outputs":[{"name":"y","parameters":{"shared_memory_region":"r","shared_memory_offset":24,"shared_memory_byte_size":8}}]}`)
	f.Add(`{"key":"/../KEY","offset":18446744073709551615,"byte_size":2}`,
		`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}],
		"outputs":[{"name":"y","parameters":{"shared_memory_region":"r","shared_memory_offset":16,"shared_memory_byte_size":18446744073709551615}}]}`)
	f.Fuzz(func(t *testing.T, register, request string) {
		require.NoError(t, a.Regions.Unregister(""))
		_, err := file.WriteAt(make([]byte, size), 0)
		require.NoError(t, err)
		for _, c := range [][2]string{{"/v2/systemsharedmemory/region/r/register", register}, {infer, request}} {
			w := ask(a, http.MethodPost, c[0], strings.ReplaceAll(c[1], "KEY", key))
			if w.Code != http.StatusOK && !strings.HasPrefix(w.Body.String(), `{"error":`) {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
		}
		all, err := a.Regions.List("")
		require.NoError(t, err)
		text := make([]byte, size+1)
		n, _ := file.ReadAt(text, 0) // it ends before the last byte
		require.Equal(t, size, n)
		for i, b := range text[:size] {
			inside := len(all) == 1 && uint64(i) >= all[0].Offset && uint64(i)-all[0].Offset < all[0].Size
			require.True(t, b == 0 || inside, "byte %d is %d", i, b)
		}
	})
}
