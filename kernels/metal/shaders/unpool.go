package shaders

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// unpool is max_unpool; see unpool.metal. Elements for one place are added in their order, as on the CPU, so a SIMD group
// has a plane to itself, and sums that are not halves in the workspace.
type unpool struct {
	compiled
	size int64 // of a sum, in bytes
}

// The kernels of unpool.metal: clear makes the sums zero, put adds the elements to them, and finish writes the result, or
// says which index is out of range.
const (
	unpoolClear = iota
	unpoolPut
	unpoolFinish
)

// unpoolNames are their names in the source.
var unpoolNames = []string{unpoolClear: "clear", unpoolPut: "put", unpoolFinish: "finish"}

// mostPlane is how many elements of a plane a SIMD group looks at: some 25 ns each.
const mostPlane = 1 << 20

// putOperations is what an element costs each thread of its group.
const putOperations = 8

// MPSGraph's scatter adds in no particular order, so that there is no other way.
func init() {
	gpu.Register(gpu.Shader, op.IDMaxUnpool, dtype.Numbers&gpu.Elements, gpu.Variant{
		Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
			class, ok := walked(d, c)
			if !ok {
				return 0, false
			}
			w, ok := windowsOf(c, &c.Out[0], &c.In[0])
			return class, ok && volumeOf(&w.count) <= mostPlane && volumeOf(&w.size) <= math.MaxInt32
		},
		Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
			s, err := compile(d, class, msl.Unpool(c.In[0].DType, class == 1), unpoolNames...)
			return &unpool{s, max(4, c.In[0].DType.Size())}, err
		},
	})
}

// Workspace has a sum for each element of the result.
func (k *unpool) Workspace(c *device.Call) int64 { return k.size * c.Out[0].Numel() }

// Encode dispatches the kernels one behind the other; each sees what the one before has written.
func (k *unpool) Encode(e gpu.Encoder, c *device.Call) error {
	w, _ := windowsOf(c, &c.Out[0], &c.In[0])
	out := &c.Out[0]
	planes := out.Dims[0] * out.Dims[1]
	for which := range k.pipelines {
		p := &k.pipelines[which]
		width := int64(p.ThreadsOf(gpu.MostGroup))
		groups, operations := (out.Numel()+width-1)/width, float64(outputOperations*width)
		moved := width * (apart(out) + k.size)
		// A SIMD group goes over a plane, whatever the width of groups of the others is.
		if which == unpoolPut {
			width = gpu.Lanes
			groups, operations = planes, putOperations*gpu.Lanes*float64(volumeOf(&w.count))
			moved = volumeOf(&w.count) * (apart(&c.In[0]) + apart(&c.In[1]) + 2*msl.LineSize)
		}
		err := inTime(groups, width, operations, moved, func(first, groups int64) error {
			d := e.Arguments()
			if err := k.bind(d, e, c, &w, first); err != nil {
				return err
			}
			gpu.Groups(d, groups, uint64(width))
			return e.Dispatch(p.State, d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bind makes the arguments that all kernels of unpool.metal have, in its order.
func (k *unpool) bind(d *objc.Dispatch, e gpu.Encoder, c *device.Call, w *windowing, first int64) error {
	// Operands without elements have no memory; the word stands for it, and no kernel looks there.
	operands := [...]*device.Operand{&c.Out[0], &c.In[0], &c.In[1]}
	var firsts [len(operands)]int64
	words, offset, err := e.Word()
	if err != nil {
		return err
	}
	if firsts[0], err = placeOr(d, operands[0], words, offset); err != nil {
		return err
	}
	if err := bindScratch(d, c); err != nil {
		return err
	}
	for i := 1; i < len(operands); i++ {
		if firsts[i], err = placeOr(d, operands[i], words, offset); err != nil {
			return err
		}
	}
	d.Bind(objc.ID(words), offset)
	bindImages(d, k.wide(), firsts[:], operands[:]...)
	bindWindows(d, w, c.Out[0].Numel(), first, channelCounts{channels: c.Out[0].Dims[1]}, c.Attrs[op.MaxUnpoolAdd].I != 0)
	return nil
}

// Finish reports an index that was out of range: the word has a flag and the index in two halves.
func (k *unpool) Finish(c *device.Call, w gpu.Word) error {
	if w[0] == 0 {
		return nil
	}
	out := &c.Out[0]
	plane := int64(1)
	for _, n := range out.Dims[2:out.Rank] {
		plane *= n
	}
	i := int64(uint64(w[2])<<32 | uint64(w[1]))
	if 0 <= i && i < plane {
		return status.Errorf(status.Index, "an index was out of range, and has been overwritten since")
	}
	return status.Errorf(status.Index, "an index is %d; want 0 to %d", i, plane-1)
}
