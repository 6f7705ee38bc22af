package conv

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// operand is an operand without memory.
func operand(t *testing.T, dims ...int64) device.Operand {
	s, err := shape.Of(dims...)
	require.NoError(t, err)
	return device.Operand{DType: dtype.Float32, Layout: shape.Contiguous(s)}
}

// chosen is the name of the plan that Explain marks, and the only one.
func chosen(t *testing.T, c *device.Call) (name string) {
	text := Explain(nil, c)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "* ") {
			require.Empty(t, name, text)
			name = strings.TrimSpace(line[2:38])
		}
	}
	return name
}

// TestExplainNamesThePlan compares the plan that is printed with the kernel that the registry makes.
func TestExplainNamesThePlan(t *testing.T) {
	row := op.ByID(op.IDConv)
	attrs := make([]op.Value, len(row.Attrs))
	for i := range row.Attrs {
		attrs[i] = row.Attrs[i].Default
	}
	for _, test := range []struct {
		weight, image, out []int64
		last, known        bool
		want               string
	}{
		{[]int64{64, 64, 3, 3}, []int64{1, 64, 16, 16}, []int64{1, 64, 14, 14}, true, true, "rows of channels"},
		{[]int64{64, 64, 3, 3}, []int64{1, 64, 16, 16}, []int64{1, 64, 14, 14}, true, false, ""},
		{[]int64{64, 64, 3, 3}, []int64{1, 64, 16, 16}, []int64{1, 64, 14, 14}, false, false, ""},
		{[]int64{64, 1, 3, 3}, []int64{1, 64, 16, 16}, []int64{1, 64, 14, 14}, true, true, "depthwise, channels last"},
	} {
		weight, image, out := operand(t, test.weight...), operand(t, test.image...), operand(t, test.out...)
		if test.last {
			image.Layout, out.Layout = window.LastLayout(image.Shape), window.LastLayout(out.Shape)
		}
		if test.known {
			values := make([]float32, weight.Numel())
			weight.Const = unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values)) // SAFETY: the bytes are those of values.
		}
		c := &device.Call{Op: op.IDConv, Attrs: attrs, In: []device.Operand{image, weight}, Out: []device.Operand{out}}
		name := chosen(t, c)
		if test.want == "" {
			require.Contains(t, name, "portable")
		} else {
			require.Equal(t, test.want, name)
		}
		v, _, _ := engine.Registry.Choose(nil, c, 0)
		require.Equal(t, test.want != "", v.Accepts != nil)
		for i := range packedPlans {
			if p := &packedPlans[i]; planTexts[i].name == name {
				require.Equal(t, p.priority, v.Priority)
			}
		}
	}
}
