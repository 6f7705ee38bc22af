package shaders_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/describe"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/kernels/metal/shaders"
)

// Windows over images give what the host gives, in each setting of the rows and with both widths of offsets; also where a
// GPU is so slow that each threadgroup is a dispatch.
func TestWindows(t *testing.T) {
	r := open(t)
	for i := range op.Table {
		row := &op.Table[i]
		if row.Kind != op.Window || row.Lower != nil { // what is lowered has no shader
			continue
		}
		for n, setting := range describe.All()[row.Name].Settings {
			if n == 5 && testing.Short() {
				continue // the largest
			}
			t.Run(fmt.Sprintf("%s/%d", row.Name, n), func(t *testing.T) {
				everyWidth(t, func(t *testing.T) {
					b := r.on(t)
					b.windows(row, setting, "contiguous")
					b.windows(row, setting, "spread")
					defer shaders.Rate(1)()
					b.windows(row, setting, "contiguous")
				})
			})
		}
	}
}

// windows tries a setting whose operands lie in some arrangement.
func (b bench) windows(row *op.Row, setting describe.Setting, arrangement string) {
	b.T.Helper()
	c := &device.Call{Attrs: attributesOf(b.T, row, setting)}
	var infer op.Inference
	infer.Reset(row, slices.Clone(c.Attrs))
	for i, dims := range setting.Map()[describe.OperandShapes].([][]int) {
		// Some indices name one place several times, all of them one of every plane.
		d, values := dtype.Float32, metaltest.ValuesFor(row, i, dtype.Float32)
		if row.In[i].Domain == op.Position {
			d, values = dtype.Int64, func(i int64) float64 { return float64(i * 5 % 9) }
		}
		long := make([]int64, len(dims))
		for axis, n := range dims {
			long[axis] = int64(n)
		}
		c.In = append(c.In, b.Operand(d, arrangement, values, long...))
		infer.In = append(infer.In, op.Arg{Type: op.Type{DType: d, Shape: c.In[i].Shape}})
	}
	// Results have the shapes that the rules of the row give them.
	require.NoError(b.T, infer.Infer())
	// The device sees channels at axis 1, wherever they are: here they are moved as a frame does.
	if at := row.AttrIndex("channels_last"); c.Attrs[at].I != 0 {
		return
	}
	for _, out := range infer.Out {
		c.Out = append(c.Out, b.Operand(out.DType, arrangement, metaltest.Steady, out.Shape.Slice()...))
	}
	want := metaltest.ByHost(b.T, row, *c)
	bound := metaltest.Bound{ULPs: describe.ToleranceOf(row).ULPs(dtype.Float32, true), Slack: metaltest.Slack(b.T, row, c)}
	metaltest.AgreeWithin(b.T, dtype.Float32, want, b.ByGPU(row, c), bound)
}

// attributesOf is a row's defaults with those of a setting, which has them as Go values: lists, numbers, truths, and names of
// dtypes.
func attributesOf(t testing.TB, row *op.Row, setting describe.Setting) op.Attrs {
	at := metaltest.Attributes(row, dtype.Float32)
	for name, value := range setting.Map() {
		if name == describe.OperandShapes {
			continue
		}
		v := &at[row.AttrIndex(name)]
		switch value := value.(type) {
		case []int:
			*v = op.Value{Kind: op.Ints}
			for _, n := range value {
				v.Ints = append(v.Ints, int64(n))
			}
		case int:
			*v = op.Value{Kind: op.Int, I: int64(value)}
		case bool:
			*v = op.Value{Kind: op.Bool, I: map[bool]int64{true: 1}[value]}
		case string:
			*v = op.Value{Kind: op.DType, I: int64(dtype.Int32)} // the only one in the table
		default:
			require.Fail(t, "a setting has another kind of value", "%T", value)
		}
	}
	return at
}
