package metal

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// tanhOf is tanh of each.
func tanhOf(x []float32) (y []float32) {
	for _, v := range x {
		y = append(y, float32(math.Tanh(float64(v))))
	}
	return y
}

// A shader serves calls of any length. Once it is refused a graph serves them, which is for one length: keys have to
// tell lengths apart from then on, or a call would get the graph of another.
func TestRefusalsChangeKeys(t *testing.T) {
	r := newRig(t, Config{})
	needGraphs(t, r.Device)
	var said []string
	r.OnRefusal(func(text string) { said = append(said, text) })
	tanh := op.MustByName("tanh")
	callOf := func(n int) (*device.Call, device.Key) {
		c, _ := call(r.of(make([]float32, n)...), r.of(random(n)...))
		c.Op = tanh.ID
		return c, r.Key(tanh.ID, c)
	}
	eight, a := callOf(8)
	nine, b := callOf(16)
	require.Equal(t, a, b)
	revision := r.Revision()
	fakemetal.Refuse(t, "library:*")
	for i, c := range []*device.Call{eight, nine} {
		p, err := r.Compile(metaltest.Single(tanh, c))
		require.NoError(t, err)
		o := newOwner()
		c.Owner = o
		r.stream.Sync(r.stream.Run(p, c))
		require.NoError(t, <-o.ended)
		require.InDeltaSlice(t, tanhOf(floats(&c.In[0])), floats(&c.Out[0]), 1e-6, "call %d", i)
		require.NoError(t, p.Close())
	}
	require.Equal(t, revision+1, r.Revision(), "the second call finds the shader refused")
	require.NotEqual(t, r.Key(tanh.ID, eight), r.Key(tanh.ID, nine))
	require.Equal(t, device.Refusals{Shaders: 1, SecondWay: 2}, r.Refusals())
	require.Len(t, said, 1)
	require.Contains(t, said[0], "[tanh] float32: Metal refuses its shader: it does not compile: program_source:")
	require.Contains(t, said[0], "(Build fakemetal)); a graph of MPSGraph computes it")
	r.Retry()
	require.Equal(t, a, r.Key(tanh.ID, eight))
}

// Where nothing is left the error quotes every compiler, is one that the CPU answers, and costs no second compilation.
func TestEverythingRefused(t *testing.T) {
	for name, prefer := range map[string]Prefer{"shaders": PreferShaders, "graphs": PreferGraphs} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Prefer: prefer})
			needGraphs(t, r.Device)
			fakemetal.Refuse(t, "*")
			c, _ := call(r.of(0, 0), r.of(1, 2))
			plan := metaltest.Single(op.MustByName("exp"), c)
			_, err := r.Compile(plan)
			require.Equal(t, status.Unsupported, status.CodeOf(err))
			var refused *device.Refused
			require.True(t, errors.As(err, &refused))
			require.ErrorContains(t, err, "error: reference to 'run' is ambiguous")
			require.ErrorContains(t, err, "MPSGraph refuses its graph: it makes no executable of it")
			require.NotContains(t, refused.Reason, "program_source:")
			libraries := fakemetal.Count(t, "refused")
			_, again := r.Compile(plan)
			require.EqualError(t, again, again.Error())
			require.Equal(t, libraries+1, fakemetal.Count(t, "refused"), "the graph, whose key the cache of programs has")
		})
	}
}
