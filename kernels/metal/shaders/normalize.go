package shaders

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// normalize is layer_norm; see layer_norm.metal. A line is read once where the threads that share it can keep it.
//
// Which operands there are is part of the source and so of the class, because what is left out has no memory. Everything else
// is an argument: lengths, strides and epsilon need no kernels of their own.
type normalize struct{ compiled }

// The bits of the class, above that of wide offsets.
const (
	hasWeight = 2 << iota
	hasBias
	hasScale
	isCentered
)

// normalizeOperations is what an element costs: it is computed in two floats.
const normalizeOperations = 150

func init() {
	gpu.Register(gpu.Shader, op.IDLayerNorm, op.ByID(op.IDLayerNorm).Accepts&gpu.Elements, gpu.Variant{Accepts: normalizeClass, Make: makeNormalize})
}

// normalizeClass says which operands there are. A line that is too long for a threadgroup is the CPU's: its length has to be
// a float, and nothing divides it.
func normalizeClass(d *gpu.Device, c *device.Call) (class uint64, ok bool) {
	class, ok = walked(d, c)
	if _, length := linesOf(c); !ok || length > mostAccumulated {
		return 0, false
	}
	for bit, there := range map[uint64]bool{
		hasWeight: !c.In[1].Absent(), hasBias: !c.In[2].Absent(), hasScale: !c.Out[1].Absent(),
		isCentered: c.Attrs[op.LayerNormCentered].I != 0,
	} {
		if there {
			class |= bit
		}
	}
	return class, true
}

// makeNormalize compiles the kernel of a class.
func makeNormalize(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
	n := msl.Normalized{Weight: class&hasWeight != 0, Bias: class&hasBias != 0, Scale: class&hasScale != 0, Centered: class&isCentered != 0}
	s, err := compile(d, class, msl.LayerNorm(c.In[0].DType, n, class&1 == 1), op.ByID(op.IDLayerNorm).Name)
	if err != nil {
		return nil, err
	}
	return &normalize{s}, s.wantLanes()
}

// Workspace is none.
func (k *normalize) Workspace(*device.Call) int64 { return 0 }

// Encode dispatches several lines a threadgroup where they are short.
//
// The threads of a line are a power of two, because their sums are joined by flipping bits of their numbers, and whole SIMD
// groups where they are more than one.
func (k *normalize) Encode(e gpu.Encoder, c *device.Call) error {
	p := &k.pipelines[0]
	lines, length := linesOf(c)
	most := int64(p.ThreadsOf(gpu.MostGroup))
	// Some 8 elements a lane of a SIMD group; where that is not enough, as many as keep a line.
	threads := powerOfTwo((length+7)/8, gpu.Lanes)
	for threads*msl.HeldElements < length && 2*threads <= most {
		threads *= 2
	}
	width := max(threads, int64(p.ThreadsOf(min(lines*threads, gpu.MostGroup))))
	each := width / threads
	moved := int64(1)
	if threads*msl.HeldElements < length {
		moved = 3
	}
	bytes := each * length * (moved*apart(&c.In[0]) + apart(&c.Out[0]))
	operations := normalizeOperations * float64(each*max(length, threads*msl.HeldElements))
	return inTime((lines+each-1)/each, width, operations, bytes, func(first, groups int64) error {
		d := e.Arguments()
		if err := k.bind(d, c); err != nil {
			return err
		}
		bindCounts(d, length, threads, lines, first)
		// Two floats, as the sum has that it is added to.
		epsilon := c.Attrs[op.LayerNormEpsilon].F
		high := float32(epsilon)
		block := d.Constant(8)[:0]
		for _, v := range [2]float32{high, float32(epsilon - float64(high))} {
			block = binary.LittleEndian.AppendUint32(block, math.Float32bits(v))
		}
		gpu.Groups(d, groups, uint64(width))
		return e.Dispatch(p.State, d)
	})
}

// bind binds all tensors, and the input in place of those that are left out, which the kernel does not touch.
func (k *normalize) bind(d *objc.Dispatch, c *device.Call) error {
	var firsts [5]int64
	for i, o := range [...]*device.Operand{&c.Out[0], &c.In[0], &c.In[1], &c.In[2], &c.Out[1]} {
		if o.Absent() {
			o = &c.In[0]
		}
		first, err := place(d, o)
		if err != nil {
			return err
		}
		firsts[i] = first
	}
	outs, outStep := across(c, &c.Out[0])
	ins, inStep := across(c, &c.In[0])
	scales := outs
	if !c.Out[1].Absent() {
		scales, _ = across(c, &c.Out[1])
	}
	bindWalk(d, &outs, firsts[0], k.wide())
	bindWalk(d, &ins, firsts[1], k.wide())
	bindWalk(d, &scales, firsts[4], k.wide())
	// step is from element to element of a weight.
	step := func(o *device.Operand) int64 {
		if o.Absent() {
			return 0
		}
		return o.Strides[0]
	}
	bindOffsets(d, k.wide(), outStep, inStep, firsts[2], step(&c.In[1]), firsts[3], step(&c.In[2]))
	return nil
}
