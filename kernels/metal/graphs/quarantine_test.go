package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/objc"
)

// TestQuarantineOfReports has the calls of the reports that a row stands for, and neighbours of them that are right.
func TestQuarantineOfReports(t *testing.T) {
	of := func(d dtype.DType, dims ...int64) device.Operand {
		s := shape.Shape{Rank: len(dims)}
		copy(s.Dims[:], dims)
		return device.Operand{DType: d, Layout: shape.Contiguous(s)}
	}
	repeated := func(o device.Operand, axis int) device.Operand {
		o.Strides[axis] = 0
		return o
	}
	half, single, brain := dtype.Float16, dtype.Float32, dtype.BFloat16
	for name, c := range map[string]struct {
		op      op.ID
		x, y, z device.Operand
		family  int
		macOS   objc.Version
		want    bool
	}{
		"halves in batches on M5":     {op.IDMatmul, of(half, 2, 13, 64), of(half, 2, 64, 8), of(half, 2, 13, 8), 10, objc.Version{Major: 26, Minor: 2}, true},
		"bfloat16 in batches on M5":   {op.IDMatmul, of(brain, 4, 2, 3), of(brain, 4, 3, 5), of(brain, 4, 2, 5), 10, objc.Version{Major: 27}, true},
		"one matrix for all batches":  {op.IDMatmul, of(half, 2, 13, 64), of(half, 64, 8), of(half, 2, 13, 8), 10, objc.Version{Major: 26}, false},
		"one matrix on the left":      {op.IDMatmul, of(half, 13, 64), of(half, 2, 64, 8), of(half, 2, 13, 8), 10, objc.Version{Major: 26}, true},
		"halves in batches on M4":     {op.IDMatmul, of(half, 2, 13, 64), of(half, 2, 64, 8), of(half, 2, 13, 8), 9, objc.Version{Major: 26}, false},
		"float32 in batches on M5":    {op.IDMatmul, of(single, 2, 13, 64), of(single, 2, 64, 8), of(single, 2, 13, 8), 10, objc.Version{Major: 26}, false},
		"a row that is repeated":      {op.IDMatmul, repeated(of(single, 1024, 512), 0), of(single, 512, 512), of(single, 1024, 512), 7, objc.Version{Major: 15}, true},
		"a column that is repeated":   {op.IDMatmul, of(single, 64, 32), repeated(of(single, 32, 16), 1), of(single, 64, 16), 7, objc.Version{Major: 15}, true},
		"a batch that is repeated":    {op.IDMatmul, of(single, 3, 64, 32), repeated(of(single, 3, 32, 16), 0), of(single, 3, 64, 16), 7, objc.Version{Major: 15}, false},
		"a kernel of 400":             {op.IDConv, of(single, 1, 1, 16000), of(single, 8, 1, 400), of(single, 1, 8, 15601), 7, objc.Version{Major: 26}, true},
		"a kernel of 256":             {op.IDConv, of(half, 1, 1, 9, 999), of(half, 8, 1, 1, 256), of(half, 1, 8, 9, 744), 7, objc.Version{Major: 14}, true},
		"a kernel of 255":             {op.IDConv, of(single, 1, 1, 999), of(single, 8, 1, 255), of(single, 1, 8, 745), 7, objc.Version{Major: 26}, false},
		"a kernel of 128 and a batch": {op.IDConvTranspose, of(single, 8, 1, 999), of(single, 1, 8, 128), of(single, 8, 8, 1126), 7, objc.Version{Major: 26}, true},
		"the gradient of a weight":    {op.IDConvWeight, of(single, 2, 1, 999), of(single, 2, 8, 600), of(single, 8, 1, 400), 7, objc.Version{Major: 26}, true},
	} {
		t.Run(name, func(t *testing.T) {
			call := &device.Call{Op: c.op, In: []device.Operand{c.x, c.y}, Out: []device.Operand{c.z}}
			found := false
			for i := range quarantine {
				found = found || quarantine[i].covers(call, c.family, c.macOS)
			}
			require.Equal(t, c.want, found)
		})
	}
}
