package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// nonzero lists the indices of the elements that are not zero; see nonzero.metal. How many there are is the call's
// Count. Three dispatches: blocks of elements are tallied, the tallies become the places where each block's indices
// begin, and the indices are written there, in row-major order.
type nonzero struct{ compiled }

// One kernel for all dtypes of a size would do but for floats, whose zero has a sign.
func init() {
	gpu.Register(gpu.Shader, op.IDNonzero, gpu.Elements, gpu.Variant{
		Accepts: walked,
		Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
			s, err := compile(d, class, msl.Nonzero(c.In[0].DType, class == 1), nonzeroNames...)
			return &nonzero{s}, err
		},
	})
}

// The kernels of nonzero.metal: tally counts blocks of elements, arrange sums the counts up, list writes the
// indices.
const (
	nonzeroTally = iota
	nonzeroArrange
	nonzeroList
)

// nonzeroNames are their names in the source.
var nonzeroNames = []string{nonzeroTally: "tally", nonzeroArrange: "arrange", nonzeroList: "list"}

// nonzeroEach is how many elements a thread has; a block is what a threadgroup has.
const nonzeroEach = 4

// blocksOf is how many blocks n elements make where groups have so many threads.
func blocksOf(n int64, width uint64) int64 {
	block := int64(width) * nonzeroEach
	return (n + block - 1) / block
}

// Workspace has a number for each block. How wide groups are is known only when the pipeline is; they have 32
// threads at least, which makes the most blocks.
func (k *nonzero) Workspace(c *device.Call) int64 { return 4 * blocksOf(c.In[0].Numel(), 32) }

// Encode dispatches the three. An input without elements has a count of 0, which is what the call begins with.
func (k *nonzero) Encode(e gpu.Encoder, c *device.Call) error {
	x := &c.In[0]
	n := x.Numel()
	if n == 0 {
		return nil
	}
	key, p := k.wide(), k.pipelines
	// Blocks are those of threadgroups, so both kernels that go by blocks have groups of one width.
	width := min(p[nonzeroTally].ThreadsOf(n), p[nonzeroList].ThreadsOf(n))
	blocks := blocksOf(n, width)
	if err := k.tally(e, c, p[nonzeroTally], key, blocks, width); err != nil {
		return err
	}
	words, offset, err := e.Word()
	if err != nil {
		return err
	}
	d := e.Arguments()
	if err := bindScratch(d, c); err != nil {
		return err
	}
	bindCounts(d, blocks)
	d.Bind(objc.ID(words), offset)
	gpu.Groups(d, 1, p[nonzeroArrange].ThreadsOf(blocks))
	if err := e.Dispatch(p[nonzeroArrange].State, d); err != nil {
		return err
	}
	if c.Out[0].Numel() == 0 {
		return nil // the index of a scalar has no numbers
	}
	return k.list(e, c, p[nonzeroList], key, blocks, width)
}

// elementsOf binds the input: its memory, how it lies, how many elements it has, and the first block of the dispatch. The layout is not collapsed,
// because its axes are what is listed.
func (k *nonzero) elementsOf(d *objc.Dispatch, c *device.Call, key uint64, block int64) error {
	first, err := place(d, &c.In[0])
	if err != nil {
		return err
	}
	bindWalk(d, &c.In[0].Layout, first, key) // as it is: its axes are what is listed
	bindCounts(d, c.In[0].Numel(), block)
	return nil
}

// tally counts what is not zero, block by block, a threadgroup each.
func (k *nonzero) tally(e gpu.Encoder, c *device.Call, p gpu.Pipeline, key uint64, blocks int64, width uint64) error {
	block := int64(width) * nonzeroEach
	return inTime(blocks, int64(width), nonzeroOperations*float64(block), block*apart(&c.In[0]), func(first, groups int64) error {
		d := e.Arguments()
		if err := k.elementsOf(d, c, key, first); err != nil {
			return err
		}
		if err := bindScratch(d, c); err != nil {
			return err
		}
		gpu.Groups(d, groups, width)
		return e.Dispatch(p.State, d)
	})
}

// list writes the indices, block by block; the threads of a group count again what is before them.
func (k *nonzero) list(e gpu.Encoder, c *device.Call, p gpu.Pipeline, key uint64, blocks int64, width uint64) error {
	out, block := &c.Out[0], int64(width)*nonzeroEach
	moved := block * (apart(&c.In[0]) + out.Dims[1]*out.DType.Size())
	return inTime(blocks, int64(width), nonzeroOperations*float64(block), moved, func(begin, groups int64) error {
		d := e.Arguments()
		if err := k.elementsOf(d, c, key, begin); err != nil {
			return err
		}
		if err := bindScratch(d, c); err != nil {
			return err
		}
		first, err := place(d, out)
		if err != nil {
			return err
		}
		bindOffsets(d, key, out.Strides[0], out.Strides[1], first)
		gpu.Groups(d, groups, width)
		return e.Dispatch(p.State, d)
	})
}

// nonzeroOperations is what an element costs: finding it, and the numbers of its index.
const nonzeroOperations = 128

// Finish reads how many there are.
func (k *nonzero) Finish(c *device.Call, w gpu.Word) error {
	c.Count = int64(w[0])
	return nil
}

// Counts: the index of a scalar has no numbers, but the scalar counts.
func (k *nonzero) Counts() bool { return true }
