package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// convolution is conv, conv_transpose or conv_weight; see convolution.metal. Any number of axes, padding, dilation and
// groups will do, wherever the channels are: the device sees them at axis 1.
type convolution struct{ compiled }

// convolutionNames are the kernels in the source, by operator.
var convolutionNames = map[op.ID]string{op.IDConv: "forward", op.IDConvTranspose: "transposed", op.IDConvWeight: "weight"}

// MPSGraph's convolutions are faster where there is much to compute, so that the shader comes first only for calls that take
// less time than MPSGraph needs to begin; others run here where MPSGraph does not take them.
func init() {
	for id, name := range convolutionNames {
		make := func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
			s, err := compile(d, class, msl.Convolution(c.In[0].DType, class == 1), name)
			return &convolution{s}, err
		}
		for rank, small := range map[gpu.Rank]bool{gpu.Shader: true, gpu.Slow: false} {
			gpu.Register(rank, id, dtype.Floats&gpu.Elements, gpu.Variant{
				Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
					class, ok := walked(d, c)
					if !ok {
						return 0, false
					}
					j, ok := convolve(c)
					return class, ok && (!small || j.operations() < graphDispatch*m1Operations*reached)
				},
				Make: make,
			})
		}
	}
}

// convolving is what is counted of a call. It is worked out anew each time, because lengths are no part of a key.
type convolving struct {
	windowing
	channelCounts
	outputs int64
	shared  bool // a threadgroup computes an element of the result, not a thread
}

// convolve reads a call. Which operand has the windows and which the kernel differs between the three.
func convolve(c *device.Call) (j convolving, ok bool) {
	x, y, out := &c.In[0], &c.In[1], &c.Out[0]
	// conv_transpose makes the images that its windows lie on, and conv_weight the weight that the windows share.
	images, windows, weight := x, out, y
	switch c.Op {
	case op.IDConvTranspose:
		images, windows = out, x
	case op.IDConvWeight:
		windows, weight = y, out
	}
	if j.windowing, ok = windowsOf(c, images, windows); !ok {
		return j, false
	}
	j.Kernel, j.outputs = kernelOf(weight), out.Numel()
	taps := volumeOf(&j.Kernel)
	// Groups divide the channels of images as well as those of windows; a weight has the former of one group.
	switch c.Op {
	case op.IDConv:
		j.channelCounts = channelCounts{channels: out.Dims[1], each: out.Dims[1] / j.Groups, depth: weight.Dims[1]}
		j.terms = j.depth * taps
	case op.IDConvTranspose:
		j.channelCounts = channelCounts{channels: out.Dims[1], each: weight.Dims[1], depth: x.Dims[1] / j.Groups}
		j.terms = j.depth * taps
	default:
		j.channelCounts = channelCounts{channels: x.Dims[1], each: windows.Dims[1] / j.Groups, depth: weight.Dims[1]}
		j.terms, j.shared = windows.Dims[0]*volumeOf(&j.count), true
	}
	// The threads of a group share the terms of an element of a weight, of which there may be as many more.
	most := int64(mostTerms)
	if j.shared {
		most *= gpu.MostGroup
	}
	return j, j.fits() && j.terms <= most
}

// operations is those of all of a call.
func (j *convolving) operations() float64 {
	return termOperations * float64(j.outputs) * float64(max(j.terms, 1))
}

// Workspace is none.
func (k *convolution) Workspace(*device.Call) int64 { return 0 }

// Images are computed by thread and not by tile of threadgroup memory, because what is large goes to MPSGraph: the kernel is
// for small calls, and for those that MPSGraph does not take.

// Encode dispatches a thread for each element of an image, or a group for each of a weight.
func (k *convolution) Encode(e gpu.Encoder, c *device.Call) error {
	j, _ := convolve(c)
	p := &k.pipelines[0]
	width := int64(p.ThreadsOf(gpu.MostGroup))
	// A group that has elements takes as long as its threads, which work side by side, take for one each.
	groups, operations := (j.outputs+width-1)/width, float64(width)*(outputOperations+termOperations*float64(j.terms))
	if j.shared {
		width = int64(p.ThreadsOf(j.terms))
		groups, operations = j.outputs, 2*termOperations*float64(j.terms+width)
	}
	// Threads of a group have one weight, or a window each, and the elements of images that they are next to.
	moved := j.terms*j.apart(&c.In[0]) + apart(&c.Out[0])
	if j.shared {
		moved = (j.terms*(j.apart(&c.In[0])+apart(&c.In[1])) + msl.LineSize) / width
	}
	return inTime(groups, width, operations, width*moved, func(first, groups int64) error {
		d := e.Arguments()
		operands := [...]*device.Operand{&c.Out[0], &c.In[0], &c.In[1]}
		var firsts [len(operands)]int64
		if err := bindAll(d, firsts[:], operands[:]...); err != nil {
			return err
		}
		bindImages(d, k.wide(), firsts[:], operands[:]...)
		bindWindows(d, &j.windowing, j.outputs, first, j.channelCounts, false)
		gpu.Groups(d, groups, uint64(width))
		return e.Dispatch(p.State, d)
	})
}
