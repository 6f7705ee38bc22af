package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// A tensor of pieces has their elements one after the other, wherever the pieces lie and however they are cut.
func TestGather(t *testing.T) {
	w := newWorld(t)
	all := make([]byte, 257)
	for i := range all {
		all[i] = byte(i)
	}
	s, err := shape.Of(3, 8)
	require.NoError(t, err)
	for _, c := range []*runtime.Context{w.cpu, w.mps} {
		for from := range 17 { // every alignment
			want := all[from : from+48]
			for _, pieces := range [][][]byte{{want}, {want[:1], want[1:]}, {want[:16], nil, want[16:40], want[40:]}} {
				x, err := w.rt.Gather(c, dtype.Int16, s, pieces)
				require.NoError(t, err)
				got, err := x.Contents()
				require.NoError(t, err)
				require.Equal(t, want, got)
				require.True(t, w.rt.Free(x.Handle()))
			}
		}
		for _, pieces := range [][][]byte{nil, {all[:47]}, {all[:49]}, {all[:48], all[:1]}} {
			_, err := w.rt.Gather(c, dtype.Int16, s, pieces)
			require.ErrorContains(t, err, "want 48")
		}
		none, err := w.rt.Gather(c, dtype.Int16, shape.Shape{Rank: 1}, nil)
		require.NoError(t, err)
		got, err := none.Contents()
		require.NoError(t, err)
		require.Empty(t, got)
		require.True(t, w.rt.Free(none.Handle()))
	}
}
