//go:build linux

package sharedmemory

import (
	"fmt"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// made makes an object of a size and returns its key.
func made(t *testing.T, size int64) string {
	t.Helper()
	f, err := os.CreateTemp(folder, "paddle-mps-test-")
	require.NoError(t, err)
	require.NoError(t, f.Truncate(size))
	require.NoError(t, f.Close())
	t.Cleanup(func() { _ = os.Remove(f.Name()) })
	return "/" + f.Name()[len(folder)+1:]
}

// anyNumber has memory for any number of bytes.
func anyNumber(int64) error { return nil }

// TestRegister has the texts of tritonserver 2.73, and those of our own limits.
func TestRegister(t *testing.T) {
	key := made(t, 100)
	s := New(true)
	t.Cleanup(s.Close)
	require.NoError(t, s.Register("a", key, 10, 90))
	for _, c := range []struct {
		name, key    string
		offset, size uint64
		code         inference.Code
		want         string
	}{
		{"a", key, 0, 1, inference.AlreadyExists, "shared memory region 'a' already in manager"},
		{"b", key, 11, 90, inference.InvalidArg, "failed to register shared memory region 'b': invalid args"},
		{"b", key, math.MaxUint64, 2, inference.InvalidArg, "failed to register shared memory region 'b': invalid args"},
		{"b", key, 2, math.MaxUint64, inference.InvalidArg, "failed to register shared memory region 'b': invalid args"},
		{"b", key, 0, 0, inference.InvalidArg, "failed to register shared memory region 'b': unable to process address spaceInvalid argument"},
		{"b", "/none", 0, 1, inference.Internal, "Unable to open shared memory region: '/none'"},
		{"b", "//", 0, 1, inference.InvalidArg, "cannot register shared memory region 'b' - invalid shm key '//'"},
		{"b", "", 0, 1, inference.InvalidArg, "cannot register shared memory region 'b' - invalid shm key ''"},
		{"b", "/../../etc/passwd", 0, 1, inference.Internal, "Unable to open shared memory region: '/../../etc/passwd'"},
		{"b", "..", 0, 1, inference.Internal, "Unable to open shared memory region: '..'"},
		{"b", "/" + reserved + "1", 0, 1, inference.InvalidArg, "cannot register shared memory region 'b' with key '/" + reserved + "1' as the key contains the reserved prefix '" + reserved + "'"},
		{"", key, 0, 1, inference.InvalidArg, "'region name' is necessary to register system shared memory region"},
	} {
		err := s.Register(c.name, c.key, c.offset, c.size)
		require.EqualError(t, err, c.want)
		require.Equal(t, c.code, inference.From(err).Code)
	}
	all, err := s.List("")
	require.NoError(t, err)
	require.Equal(t, []Status{{"a", key, 10, 90}}, all)
	_, err = s.List("b")
	require.EqualError(t, err, "Unable to find system shared memory region: 'b'")
	require.NoError(t, s.Unregister("b"))
	require.NoError(t, s.Unregister(""))
	all, err = s.List("")
	require.NoError(t, err)
	require.Empty(t, all)
	require.ErrorContains(t, New(false).Register("a", key, 0, 1), "--allow-client-shm=true")
	require.ErrorContains(t, New(false).Unregister(""), "--allow-client-shm=true")
}

// TestLinksAndPipes: what is no object is not opened, and nothing waits for the other end of a pipe.
func TestLinksAndPipes(t *testing.T) {
	s := New(true)
	link := folder + "/paddle-mps-test-link"
	require.NoError(t, os.Symlink("/etc/hostname", link))
	t.Cleanup(func() { _ = os.Remove(link) })
	require.ErrorContains(t, s.Register("l", "/paddle-mps-test-link", 0, 1), "Unable to open")
	require.ErrorContains(t, s.Register("l", "/.", 0, 1), "Unable to open")
}

// TestPlaces: a place lies in its region, and offsets add up.
func TestPlaces(t *testing.T) {
	key := made(t, 64)
	s := New(true)
	t.Cleanup(s.Close)
	require.NoError(t, s.Register("a", key, 16, 32))
	for p, want := range map[Place]string{
		{"none", 0, 1}:            "Unable to find shared memory region: 'none'",
		{"a", 32, 0}:              "Invalid offset for shared memory region: 'a'",
		{"a", 1, 32}:              "Invalid offset + byte size for shared memory region: 'a'",
		{"a", 16, math.MaxUint64}: "Integer overflow detected: byte_size (18446744073709551615) + offset (16) exceeds maximum value (18446744073709551615) for region 'a'",
		{"a", math.MaxUint64, 1}:  "Invalid offset for shared memory region: 'a'",
		{"a", 0, 33}:              "Invalid offset + byte size for shared memory region: 'a'",
	} {
		_, err := s.Hold(p)
		require.EqualError(t, err, want)
	}
	h, err := s.Hold(Place{"a", 4, 8})
	require.NoError(t, err)
	require.NoError(t, h.Write("y", []byte("12345678")))
	require.EqualError(t, h.Write("y", make([]byte, 9)), "shared memory size specified with the request for output 'y' (8 bytes) should be at least 9 bytes to hold the results")
	got, err := h.Read(8, anyNumber)
	require.NoError(t, err)
	require.Equal(t, "12345678", string(got))
	_, err = h.Read(7, anyNumber)
	require.ErrorContains(t, err, "exceeds the maximum allowed input size")
	text, err := os.ReadFile(folder + key)
	require.NoError(t, err)
	require.Equal(t, "12345678", string(text[20:28]))
	// A hold outlives the registration.
	require.NoError(t, s.Unregister("a"))
	_, err = h.Read(8, anyNumber)
	require.NoError(t, err)
	h.Release()
}

// TestTruncated: an object that becomes shorter is an error, and does not become longer again by a write.
func TestTruncated(t *testing.T) {
	key := made(t, 1<<20)
	s := New(true)
	t.Cleanup(s.Close)
	require.NoError(t, s.Register("a", key, 0, 1<<20))
	h, err := s.Hold(Place{"a", 1 << 19, 1 << 19})
	require.NoError(t, err)
	defer h.Release()
	require.NoError(t, os.Truncate(folder+key, 0))
	_, err = h.Read(1<<20, anyNumber)
	require.ErrorContains(t, err, "which has been truncated")
	require.ErrorContains(t, h.Write("y", make([]byte, 1<<19)), "which has been truncated")
	info, err := os.Stat(folder + key)
	require.NoError(t, err)
	require.Zero(t, info.Size())
	// The object changes its size all the while it is read: errors, and no fault.
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 400 {
			_ = os.Truncate(folder+key, int64(i%2)<<20)
		}
	})
	failed := 0
	for range 400 {
		if _, err := h.Read(1<<20, anyNumber); err != nil {
			failed++
		}
	}
	all.Wait()
	require.Positive(t, failed)
}

// TestManyAtOnce registers, uses and unregisters from many goroutines; descriptors are closed with the last user.
func TestManyAtOnce(t *testing.T) {
	key := made(t, 4096)
	s := New(true)
	before := descriptors(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				name := fmt.Sprint(i % 3)
				_ = s.Register(name, key, 0, 4096)
				if h, err := s.Hold(Place{name, 0, 64}); err == nil {
					_, _ = h.Read(64, anyNumber)
					h.Release()
				}
				_ = s.Unregister(name)
			}
		})
	}
	all.Wait()
	s.Close()
	require.Equal(t, before, descriptors(t))
	// The number of regions is bounded.
	for i := range most {
		s.all[fmt.Sprint("full", i)] = nil
	}
	require.ErrorContains(t, s.Register("one more", key, 0, 1), "there are 4096 already")
}

// descriptors is the number of open files of the process that are of this package.
func descriptors(t *testing.T) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && len(to) > len(folder) && to[:len(folder)] == folder {
			n++
		}
	}
	return n
}
