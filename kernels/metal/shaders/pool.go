package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// pool is max_pool, avg_pool or avg_unpool; see pool.metal. MPSGraph's pools have no adaptive windows, none that reach
// beyond the padding, and say nothing about nan and ties, so that there is no other way.
type pool struct{ compiled }

// poolNames are the kernels in the source, by operator.
var poolNames = map[op.ID]string{op.IDMaxPool: "largest_of", op.IDAvgPool: "mean_of", op.IDAvgUnpool: "spread_of"}

// The class says no more than the width of offsets: windows are arguments, so that one program serves all of them.
func init() {
	for id, name := range poolNames {
		gpu.Register(gpu.Shader, id, dtype.Floats&gpu.Elements, gpu.Variant{
			Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
				class, ok := walked(d, c)
				if !ok {
					return 0, false
				}
				_, terms, ok := poolWindows(c)
				return class, ok && terms <= mostTerms
			},
			Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
				index, name := dtype.Int64, name
				switch {
				case len(c.Out) == 1:
				case c.Out[1].Absent():
					name = "largest_value_of"
				default:
					index = c.Out[1].DType
				}
				s, err := compile(d, class, msl.Pool(c.In[0].DType, index, class == 1), name)
				return &pool{s}, err
			},
		})
	}
}

// poolWindows reads the windows of a call, and how many elements a thread looks at.
func poolWindows(c *device.Call) (w windowing, terms int64, ok bool) {
	// avg_unpool makes the images from what there is of each window.
	images, windows := &c.In[0], &c.Out[0]
	if c.Op == op.IDAvgUnpool {
		images, windows = windows, images
	}
	if w, ok = windowsOf(c, images, windows); !ok || !w.fits() {
		return w, 0, false
	}
	terms = 1
	for axis := range w.size {
		terms *= w.most(axis, c.Op == op.IDAvgUnpool)
		if terms > mostTerms {
			break // before the product overflows
		}
	}
	return w, terms, true
}

// most is how many elements a window has on an axis, or how many windows an element is in. Adaptive windows differ in size
// by one, and each shares an element with its neighbours where the sizes do not divide.
func (w *windowing) most(axis int, windows bool) int64 {
	size, n := w.size[axis], w.Kernel[axis]
	switch {
	case w.Adaptive && windows:
		return n/max(size, 1) + 2
	case w.Adaptive:
		return size/n + 2
	case windows:
		return min((n-1)/w.Stride[axis]+1, w.count[axis])
	}
	return min(n, size)
}

// Workspace is none.
func (k *pool) Workspace(*device.Call) int64 { return 0 }

// Encode dispatches a thread for each element of the result.
func (k *pool) Encode(e gpu.Encoder, c *device.Call) error {
	w, terms, _ := poolWindows(c)
	out, p := &c.Out[0], &k.pipelines[0]
	width := int64(p.ThreadsOf(gpu.MostGroup))
	groups := (out.Numel() + width - 1) / width
	operations := float64(width) * (outputOperations + termOperations*float64(terms))
	moved := terms * w.apart(&c.In[0])
	for i := range c.Out {
		moved += apart(&c.Out[i])
	}
	return inTime(groups, width, operations, width*moved, func(first, groups int64) error {
		// Values and indices of max_pool, or the one result of the others, and the operand.
		var room [3]*device.Operand
		operands := room[:0]
		for i := range c.Out {
			if !c.Out[i].Absent() { // indices that nothing reads
				operands = append(operands, &c.Out[i])
			}
		}
		operands = append(operands, &c.In[0])
		var firsts [len(room)]int64
		d := e.Arguments()
		if err := bindAll(d, firsts[:], operands...); err != nil {
			return err
		}
		bindImages(d, k.wide(), firsts[:], operands...)
		bindWindows(d, &w, out.Numel(), first, channelCounts{channels: out.Dims[1]}, false)
		gpu.Groups(d, groups, uint64(width))
		return e.Dispatch(p.State, d)
	})
}
