package host

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// recurrentCall is a call with operands that are sines, and its results. The weight lies as a product wants it or transposed.
func recurrentCall(name string, d dtype.DType, steps, batch, hidden int64, linear, reverse, transposed bool) (c *device.Call, weight *tensor, out []*tensor) {
	gates, last := int64(4), dims(batch, hidden)
	at := op.Attrs{{Kind: op.Bool}}
	if name == "gru" {
		gates, at, last = 3, append(at, op.Value{Kind: op.Bool}), dims(3*hidden)
		at[op.GruLinear].I = map[bool]int64{true: 1}[linear]
	}
	at[0].I = map[bool]int64{true: 1}[reverse]
	waves := func(n int64, speed float64) []float64 {
		list := ramp(int(n), 0.3, speed)
		for i := range list {
			list[i] = math.Sin(list[i]) / 2
		}
		return list
	}
	layout := dims(hidden, gates*hidden)
	if transposed {
		layout.Strides[0], layout.Strides[1] = 1, hidden
	}
	weight = of(d, layout, waves(gates*hidden*hidden, 1.7)...)
	in := []*tensor{of(d, dims(steps, batch, gates*hidden), waves(steps*batch*gates*hidden, 0.9)...), weight, of(d, dims(batch, hidden), waves(batch*hidden, 0.4)...), of(d, last, waves(last.Numel(), 0.6)...)}
	out = []*tensor{of(d, dims(steps, batch, hidden), 0)}
	if name == "lstm" {
		out = append(out, of(d, dims(batch, hidden), 0))
	}
	return &device.Call{Attrs: at, In: operands(in...), Out: operands(out...)}, weight, out
}

// A weight that is packed when the program is made gives the bits of one that is an operand, on any number of threads. It may lie
// transposed, as that of an ONNX file does.
func TestRecurrentWeightsThatAreKnown(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, size := range [][3]int64{{1, 1, 1}, {4, 1, 48}, {3, 5, 33}, {2, 40, 64}} {
			for i := range 12 {
				name := []string{"lstm", "gru", "gru"}[i%3]
				var results [2][][]float64
				for known := range results {
					c, weight, out := recurrentCall(name, dtype.Float32, size[0], size[1], size[2], i%3 == 2, i/3%2 == 1, i >= 6)
					if known == 1 {
						c.In[engine.Right].Const = weight.memory
					}
					require.NoError(t, r.call(name, c))
					for _, o := range out {
						results[known] = append(results[known], o.values())
					}
				}
				for j := range results[0] {
					sameBits(t, results[0][j], results[1][j], name, size, i)
				}
			}
		}
	})
}

// A kernel holds what it has packed, and reads no operand for it.
func TestRecurrentWeightsAreCounted(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for _, name := range []string{"lstm", "gru"} {
		c, weight, _ := recurrentCall(name, dtype.Float32, 2, 1, 16, false, false, false)
		c.In[engine.Right].Const = weight.memory
		c.Op = op.MustByName(name).ID
		k, err := r.kernelFor(c)
		require.NoError(t, err)
		require.True(t, engine.HoldsWeight(k))
		require.GreaterOrEqual(t, engine.BytesOf(k), int64(len(weight.memory)))
	}
}
