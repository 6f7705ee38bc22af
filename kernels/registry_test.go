package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

func TestRegistryKeepsTheHighestPriority(t *testing.T) {
	var r Registry[string]
	add := op.MustByName("add").ID

	_, ok := r.Find(add, dtype.Float32)
	require.False(t, ok)
	require.Zero(t, r.DTypes(add))

	r.Add("add", dtype.SetOf(dtype.Float32), Tuned, "tuned")
	r.Add("add", dtype.SetOf(dtype.Float32, dtype.Int8), Portable, "portable")
	for d, want := range map[dtype.DType]string{dtype.Float32: "tuned", dtype.Int8: "portable"} {
		k, ok := r.Find(add, d)
		require.True(t, ok)
		require.Equal(t, want, k)
	}
	require.Equal(t, dtype.SetOf(dtype.Float32, dtype.Int8), r.DTypes(add))

	_, ok = r.Find(add, dtype.Bool)
	require.False(t, ok)
	_, ok = r.Find(op.MustByName("divide").ID, dtype.Float32)
	require.False(t, ok)
	_, ok = r.Find(add, dtype.Last+1)
	require.False(t, ok)
}

func TestRegistryRefusesTwins(t *testing.T) {
	var r Registry[int]
	r.Add("add", dtype.Floats, Portable, 1)
	require.Panics(t, func() { r.Add("add", dtype.SetOf(dtype.Float16), Portable, 2) })
	require.Panics(t, func() { r.Add("no such operator", dtype.Floats, Portable, 1) })
}
