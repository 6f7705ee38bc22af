package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// scan is an operator along one axis, a threadgroup a line; what it computes is in the file of package msl that is
// named after it.
type scan struct{ compiled }

// What package msl has a file for is registered, so that a new scan needs a file there and no line here.
func init() {
	for i := range op.Table {
		row := &op.Table[i]
		if row.Kind != op.Scan || !msl.HasScan(row.Name) || row.ID == op.IDSoftmax {
			continue // softmax.go has its own
		}
		gpu.Register(gpu.Shader, row.ID, row.Accepts&gpu.Elements, gpu.Variant{
			Accepts: walked,
			Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
				s, err := compile(d, class, msl.Scan(row.Name, c.In[0].DType, class == 1), msl.Name)
				return &scan{s}, err
			},
		})
	}
}

// Workspace is none.
func (k *scan) Workspace(*device.Call) int64 { return 0 }

// Encode binds both tensors without the axis of the lines, the steps along it, and its length.
func (k *scan) Encode(e gpu.Encoder, c *device.Call) error {
	x, y := &c.In[0], &c.Out[0]
	key, p := k.wide(), &k.pipelines[0]
	d := e.Arguments()
	to, err := place(d, y)
	if err != nil {
		return err
	}
	from, err := place(d, x)
	if err != nil {
		return err
	}
	// The axes that are not scanned make the grid, a group a line; the threads of a group share the line.
	length := int64(1) // of a scalar
	if x.Rank > 0 {
		length = x.Dims[c.Axes.First()]
	}
	lines, outStep := across(c, y)
	sources, inStep := across(c, x)
	// The order is that of the arguments in the files of package msl.
	bindWalk(d, &lines, to, key)
	bindWalk(d, &sources, from, key)
	bindOffsets(d, key, outStep, inStep)
	bindCounts(d, length)
	gpu.Groups(d, y.Numel()/length, p.ThreadsOf(length))
	return e.Dispatch(p.State, d)
}
