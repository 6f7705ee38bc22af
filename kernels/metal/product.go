package metal

import (
	"encoding/binary"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// product is matmul in tiles; see product.metal. Floats come here only where MPSGraph does not take them,
// integers always.
type product struct {
	variants
	dtype dtype.DType
}

func init() {
	one := way{make: func(d *Device, c *device.Call) (kernel, error) {
		k := &product{dtype: c.In[0].DType}
		k.device = d
		return k, nil
	}}
	shaders.Add("matmul", dtype.Integers&elements, kernels.Portable, one)
	one.last = true
	shaders.Add("matmul", dtype.Floats&elements, kernels.Portable, one)
}

// productTile is the side of the tiles; the kernel knows it too.
const productTile = 16

func (k *product) workspace(*device.Call) int64 { return 0 }

func (k *product) encode(b *batch, c *device.Call) error {
	x, y, out := &c.In[0], &c.In[1], &c.Out[0]
	if out.Numel() == 0 {
		return nil
	}
	if err := numbered(x, y, out); err != nil {
		return err
	}
	key := wideness(x, y, out)
	p, err := k.get(key, oneName, func() (string, error) { return msl.Product(k.dtype, wide(key)), nil })
	if err != nil {
		return err
	}
	d := b.arguments()
	axis := out.Rank - 2
	var first [3]int64
	for i, o := range [3]*device.Operand{out, x, y} {
		if o.Numel() == 0 {
			o = out // an inner axis without elements: nothing is read
		}
		if first[i], err = place(d, o); err != nil {
			return err
		}
	}
	for i, o := range [3]*device.Operand{out, x, y} {
		batches, _ := cut(o, axis)
		bindWalk(d, &batches, first[i], key)
	}
	rows, inner, cols := out.Dims[axis], x.Dims[axis+1], out.Dims[axis+1]
	block := d.Constant(productSize(key))[:0]
	for _, n := range [4]int64{rows, inner, cols} {
		block = binary.LittleEndian.AppendUint32(block, uint32(n))
	}
	if key == 0 {
		block = block[:12] // offsets of 32 bits need no padding
	}
	for _, o := range [3]*device.Operand{out, x, y} {
		block = appendOffset(appendOffset(block, o.Strides[axis], key), o.Strides[axis+1], key)
	}
	tiles := func(n int64) uint64 { return uint64(n+productTile-1) / productTile * productTile }
	d.Threads = objc.Size{Width: tiles(cols), Height: tiles(rows), Depth: uint64(out.Numel() / (rows * cols))}
	d.Group = objc.Size{Width: productTile, Height: productTile, Depth: 1}
	return b.dispatch(p[0].state, d)
}

// productSize is that of Sizes in product.metal.
func productSize(key uint64) int {
	if key == 1 {
		return 16 + 6*8
	}
	return 12 + 6*4
}
