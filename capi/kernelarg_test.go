package main

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/status"
)

func TestKernelBytes(t *testing.T) {
	raw := []byte{1, 2, 3, 4}
	list, err := kernelArgs(nil, "f", []kernelArg{{data: address(raw), size: 4}, {data: address(raw), size: 1}}, nil)
	require.NoError(t, err)
	require.Equal(t, []native.KernelArg{{Bytes: raw}, {Bytes: raw[:1]}}, list)
	releaseArgs(list)
	for name, bad := range map[string]kernelArg{
		"bytes at null":      {size: 4},
		"too many bytes":     {data: address(raw), size: 1 << 63},
		"a tensor and bytes": {tensor: 1, data: address(raw), size: 4},
		"a tensor and size":  {tensor: 1, size: 4},
	} {
		_, err := kernelArgs(nil, "f", []kernelArg{bad}, nil)
		require.Equal(t, status.Invalid, status.CodeOf(err), name)
	}
}

func TestGridOf(t *testing.T) {
	given := []uint64{3, 2, 1}
	grid, err := gridOf("f", unsafe.Pointer(&given[0]), nil)
	require.NoError(t, err)
	require.Equal(t, [3]uint64{3, 2, 1}, grid)
	_, err = gridOf("f", nil, []native.KernelArg{{Bytes: []byte{1}}})
	require.EqualError(t, err, "[f] got no tensor and no threads; want the threads to be given")
	require.Zero(t, triple(nil))
}
