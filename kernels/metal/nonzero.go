package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// nonzero lists the indices of the elements that are not zero; see nonzero.metal. How many there are is the
// call's Count.
type nonzero struct {
	variants
	dtype dtype.DType
}

func init() {
	shaders.Add("nonzero", elements, kernels.Portable, way{make: func(d *Device, c *device.Call) (kernel, error) {
		k := &nonzero{dtype: c.In[0].DType}
		k.device = d
		return k, nil
	}})
}

// The kernels of nonzero.metal.
const (
	nonzeroTally = iota
	nonzeroArrange
	nonzeroList
)

var nonzeroNames = []string{nonzeroTally: "tally", nonzeroArrange: "arrange", nonzeroList: "list"}

// nonzeroEach is how many elements a thread has; a block is what a threadgroup has.
const nonzeroEach = 4

// blocksOf is how many blocks there are where groups have so many threads.
func blocksOf(n int64, width uint64) int64 {
	block := int64(width) * nonzeroEach
	return (n + block - 1) / block
}

// workspace has a number for each block; groups have at least 32 threads.
func (k *nonzero) workspace(c *device.Call) int64 { return 4 * blocksOf(c.In[0].Numel(), 32) }

func (k *nonzero) encode(b *batch, c *device.Call) error {
	x := &c.In[0]
	n := x.Numel()
	if n == 0 {
		return nil
	}
	if err := numbered(x); err != nil {
		return err
	}
	key := wideness(x, &c.Out[0])
	p, err := k.get(key, nonzeroNames, func() (string, error) { return msl.Nonzero(k.dtype, wide(key)), nil })
	if err != nil {
		return err
	}
	width := min(p[nonzeroTally].threadsOf(n), p[nonzeroList].threadsOf(n))
	blocks := blocksOf(n, width)
	if err := k.tally(b, c, p[nonzeroTally], key, blocks, width); err != nil {
		return err
	}
	words, offset, err := b.word()
	if err != nil {
		return err
	}
	d := b.arguments()
	if err := bindScratch(d, c); err != nil {
		return err
	}
	bindCounts(d, blocks)
	d.Bind(objc.ID(words), offset)
	groups(d, 1, p[nonzeroArrange].threadsOf(blocks))
	if err := b.dispatch(p[nonzeroArrange].state, d); err != nil {
		return err
	}
	if c.Out[0].Numel() == 0 {
		return nil // the index of a scalar has no numbers
	}
	return k.list(b, c, p[nonzeroList], key, blocks, width)
}

// elementsOf binds the input: its memory, how it lies, and how many elements it has.
func (k *nonzero) elementsOf(d *objc.Dispatch, c *device.Call, key uint64) error {
	first, err := place(d, &c.In[0])
	if err != nil {
		return err
	}
	bindWalk(d, &c.In[0].Layout, first, key) // as it is: its axes are what is listed
	bindCounts(d, c.In[0].Numel())
	return nil
}

// tally counts, block by block.
func (k *nonzero) tally(b *batch, c *device.Call, p pipeline, key uint64, blocks int64, width uint64) error {
	d := b.arguments()
	if err := k.elementsOf(d, c, key); err != nil {
		return err
	}
	if err := bindScratch(d, c); err != nil {
		return err
	}
	groups(d, blocks, width)
	return b.dispatch(p.state, d)
}

// list writes, block by block.
func (k *nonzero) list(b *batch, c *device.Call, p pipeline, key uint64, blocks int64, width uint64) error {
	d := b.arguments()
	if err := k.elementsOf(d, c, key); err != nil {
		return err
	}
	if err := bindScratch(d, c); err != nil {
		return err
	}
	first, err := place(d, &c.Out[0])
	if err != nil {
		return err
	}
	out := &c.Out[0]
	bindOffsets(d, key, out.Strides[0], out.Strides[1], first)
	groups(d, blocks, width)
	return b.dispatch(p.state, d)
}

// finish hears how many there are.
func (k *nonzero) finish(c *device.Call, w word) error {
	c.Count = int64(w[0])
	return nil
}
