package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// TestWorkOfConvolutions: those of less than about ten milliseconds run on the thread of the caller, and longer ones do not.
func TestWorkOfConvolutions(t *testing.T) {
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{})})
	require.NoError(t, err)
	ctx, err := rt.Context(place.CPU)
	require.NoError(t, err)
	window := op.Value{Kind: op.Ints, Ints: []int64{3, 3}}
	for _, test := range []struct {
		name  string
		x, y  []int64
		last  bool
		heavy bool
	}{
		{"conv", []int64{1, 64, 56, 56}, []int64{64, 64, 3, 3}, false, false},
		{"conv", []int64{1, 56, 56, 64}, []int64{64, 64, 3, 3}, true, false},
		{"conv", []int64{1, 64, 256, 256}, []int64{64, 64, 3, 3}, false, true},
		{"conv", []int64{1, 256, 256, 64}, []int64{64, 64, 3, 3}, true, true},
		{"conv", []int64{1, 672, 14, 14}, []int64{672, 1, 5, 5}, false, false},
		{"conv_transpose", []int64{1, 64, 56, 56}, []int64{64, 64, 3, 3}, false, false},
		{"conv_transpose", []int64{1, 256, 256, 64}, []int64{64, 64, 3, 3}, true, true},
		{"conv_weight", []int64{1, 64, 56, 56}, []int64{1, 64, 56, 56}, false, false},
		{"conv_weight", []int64{1, 64, 256, 256}, []int64{1, 64, 256, 256}, false, true},
		{"conv_weight", []int64{1, 256, 256, 64}, []int64{1, 256, 256, 64}, true, true},
	} {
		c := convert.Call{Row: op.MustByName(test.name)}
		for _, dims := range [][]int64{test.x, test.y} {
			s, err := shape.Of(dims...)
			require.NoError(t, err)
			x, err := rt.FromHost(ctx, dtype.Float32, s, make([]byte, 4*s.Numel()))
			require.NoError(t, err)
			c.In = append(c.In, runtime.Operand{Tensor: x})
		}
		for i := range c.Row.Attrs {
			v := c.Row.Attrs[i].Default
			switch c.Row.Attrs[i].Name {
			case "kernel_size":
				v = window
			case "channels_last":
				if test.last {
					v.I = 1
				}
			}
			c.At = append(c.At, v)
		}
		require.Equal(t, test.heavy, workOf(&c, nil) > heavyWork, "%+v: %d", test, workOf(&c, nil))
		for i := range c.In {
			rt.Free(c.In[i].Tensor.Handle())
		}
	}
	require.NoError(t, rt.Close())
}
