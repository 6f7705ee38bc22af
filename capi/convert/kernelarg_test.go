package convert

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/status"
)

func TestKernelBytes(t *testing.T) {
	raw := []byte{1, 2, 3, 4}
	list, err := KernelArgs(nil, "f", []KernelArg{{Data: address(raw), Size: 4}, {Data: address(raw), Size: 1}}, nil)
	require.NoError(t, err)
	require.Equal(t, []native.KernelArg{{Bytes: raw}, {Bytes: raw[:1]}}, list)
	ReleaseArgs(list)
	for name, bad := range map[string]KernelArg{
		"bytes at null":      {Size: 4},
		"too many bytes":     {Data: address(raw), Size: 1 << 63},
		"a tensor and bytes": {tensor: 1, Data: address(raw), Size: 4},
		"a tensor and size":  {tensor: 1, Size: 4},
	} {
		_, err := KernelArgs(nil, "f", []KernelArg{bad}, nil)
		require.Equal(t, status.Invalid, status.CodeOf(err), name)
	}
}

func TestGridOf(t *testing.T) {
	given := []uint64{3, 2, 1}
	grid, err := GridOf("f", unsafe.Pointer(&given[0]), nil)
	require.NoError(t, err)
	require.Equal(t, [3]uint64{3, 2, 1}, grid)
	_, err = GridOf("f", nil, []native.KernelArg{{Bytes: []byte{1}}})
	require.EqualError(t, err, "[f] got no tensor and no threads; want the threads to be given")
	require.Zero(t, Triple(nil))
}
