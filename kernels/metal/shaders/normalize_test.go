package shaders_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/kernels/metal/shaders"
)

// layer_norm gives what the host gives whatever shares a line: some lanes, a SIMD group, several of them, and a threadgroup
// that keeps a line or reads it again; at each border between these, and also in pieces.
func TestSharedLayerNorm(t *testing.T) {
	r := open(t)
	row := op.MustByName("layer_norm")
	for _, length := range []int64{1, 2, 8, 9, 31, 33, 255, 257, 512, 513, 1000, 1024, 1025, 2049, 16384, 16385, 40003} {
		for i, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16} {
			t.Run(fmt.Sprintf("%d/%s", length, d), func(t *testing.T) {
				sample.Skip(t, 3, "layer_norm", int(length)+i)
				lines := max(3, min(70, 20000/length))
				test := func(t *testing.T) { r.on(t).normalizes(row, d, int(length), lines, length) }
				test(t)
				t.Run("in pieces", func(t *testing.T) {
					defer shaders.Move(3 * 1024)()
					test(t)
				})
			})
		}
	}
}

// normalizes runs a call on both devices, with operands and layouts that its number chooses. Of half of the calls the mean is
// large beside the deviation.
func (b bench) normalizes(row *op.Row, d dtype.DType, number int, lines, length int64) {
	b.T.Helper()
	arrangement := func(k int) string { return metaltest.ArrangementNames[(number+k)%len(metaltest.ArrangementNames)] }
	wide := dtype.Float32
	c := &device.Call{Axes: 0b10, Attrs: metaltest.Attributes(row, d)}
	c.Attrs[op.LayerNormCentered] = op.Value{Kind: op.Bool, I: int64(number % 3 & 1)}
	values := func(i int64) float64 { return metaltest.Steady(i*7 + 1) }
	if number%2 == 0 && d == dtype.Float32 {
		values = func(i int64) float64 { return 1000 + metaltest.Steady(i*7+1) }
	}
	c.In = []device.Operand{b.Operand(d, arrangement(0), values, lines, length), {}, {}}
	for i := range 2 {
		if number>>i&1 == 0 {
			c.In[1+i] = b.Operand(wide, "contiguous", func(at int64) float64 { return metaltest.Steady(at + int64(i) + 3) }, length)
		} else {
			c.In[1+i] = device.Operand{} // absent
		}
	}
	c.Out = []device.Operand{b.Operand(d, arrangement(1), metaltest.Steady, lines, length), b.Operand(wide, "contiguous", metaltest.Steady, lines, 1)}
	want := metaltest.ByHost(b.T, row, *c)
	require.NoError(b.T, want.Err)
	metaltest.AgreeWithin(b.T, d, want, b.ByGPU(row, c), metaltest.Bound{ULPs: metaltest.Tolerance(row, d)})
}
