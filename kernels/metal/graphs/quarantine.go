package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
)

// knownBug is an operator that some versions of MPSGraph compute wrongly, or that ends the process there. Matching
// calls are refused, and another variant runs them. A row without a version or family at one end is open there.
type knownBug struct {
	op           op.ID
	oldest, last int                       // families of GPUs; 0: from the first, up to the newest
	since, until string                    // versions of macOS; "": from the first, and to this day
	dtypes       dtype.Set                 // 0: all
	when         func(c *device.Call) bool // nil: always
	why          string
	link         string
}

// quarantine is the defects that others have reported, each with its source. What can be computed correctly in
// another form is not here but in its lowering.
var quarantine = []knownBug{
	{
		op: op.IDArgmax, until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "answers the smallest integer", link: "https://github.com/pytorch/pytorch/issues/98191",
	},
	{
		op: op.IDArgmin, until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "answers the smallest integer", link: "https://github.com/pytorch/pytorch/issues/98191",
	},
	{
		op: op.IDMax, until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "computes int64 in fewer bits", link: "https://github.com/pytorch/pytorch/issues/87753",
	},
	{
		op: op.IDMin, until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "computes int64 in fewer bits", link: "https://github.com/pytorch/pytorch/issues/87753",
	},
	{
		op: op.IDFloorDivide, until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "computes int64 in fewer bits", link: "https://github.com/pytorch/pytorch/issues/92311",
	},
	{
		op: op.IDRemainder, until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "computes int64 in fewer bits", link: "https://github.com/pytorch/pytorch/issues/92311",
	},
	{
		op: op.IDMatmul, until: "15.0", when: longerThan(1 << 15),
		why: "is wrong for matrices longer than 32768", link: "https://github.com/pytorch/pytorch/issues/116769",
	},
	{
		op: op.IDMatmul, oldest: 10, dtypes: dtype.SetOf(dtype.Float16, dtype.BFloat16), when: inBatches,
		why: "answers other products of halves at each call", link: "https://github.com/pytorch/pytorch/issues/180776",
	},
	{
		op: op.IDMatmul, when: repeatsRows,
		why: "reads every sixteenth row of a matrix that repeats one", link: "https://github.com/pytorch/pytorch/issues/180201",
	},
	{
		op: op.IDConv, when: wideKernel,
		why: "is wrong for long kernels", link: "https://github.com/pytorch/pytorch/issues/188335",
	},
	{
		op: op.IDConvTranspose, when: wideKernel,
		why: "is wrong for long kernels", link: "https://github.com/pytorch/pytorch/issues/188335",
	},
	{
		op: op.IDConvWeight, when: wideKernel,
		why: "is wrong for long kernels", link: "https://github.com/pytorch/pytorch/issues/188335",
	},
}

// inBatches matches products of more than one pair of matrices. With one matrix on the right for all batches there is one pair.
func inBatches(c *device.Call) bool {
	x, y, out := &c.In[0], &c.In[1], &c.Out[0]
	batches := volume(out.Dims[:out.Rank-2])
	return batches > 1 && (volume(y.Dims[:y.Rank-2]) > 1 || volume(x.Dims[:x.Rank-2]) != batches)
}

// repeatsRows matches products with a matrix that shows one row or one column again and again.
func repeatsRows(c *device.Call) bool {
	for i := range c.In {
		o := &c.In[i]
		if gpu.HeapOf(o) == nil && o.Addr != nil {
			continue // a number, which no shader multiplies
		}
		for axis := max(o.Rank-2, 0); axis < o.Rank; axis++ {
			if o.Dims[axis] > 1 && o.Strides[axis] == 0 {
				return true
			}
		}
	}
	return false
}

// Sides of a kernel from which on convolutions are wrong: memory of a threadgroup is overrun, of which longer kernels and larger
// batches use more. Of batches the bound is half of the shortest side that was seen to be wrong.
const (
	wrongSide        = 256
	wrongSideInBatch = 128
)

// wideKernel matches convolutions with a long kernel.
func wideKernel(c *device.Call) bool {
	images, weight := &c.In[0], &c.In[1]
	if c.Op == op.IDConvWeight {
		weight = &c.Out[0]
	}
	side := int64(0)
	for _, d := range weight.Dims[min(2, weight.Rank):weight.Rank] {
		side = max(side, d)
	}
	return side >= wrongSide || side >= wrongSideInBatch && images.Dims[0] > 1
}

// longerThan matches calls with a matrix that has an axis of more than n elements.
func longerThan(n int64) func(c *device.Call) bool {
	return func(c *device.Call) bool {
		for _, o := range c.In {
			if o.Rank >= 2 && max(o.Dims[o.Rank-1], o.Dims[o.Rank-2]) > n {
				return true
			}
		}
		return false
	}
}

// covers reports whether a call on a GPU and a macOS is the one that goes wrong.
func (s *knownBug) covers(c *device.Call, family int, v objc.Version) bool {
	return c.Op == s.op &&
		(s.oldest == 0 || family >= s.oldest) && (s.last == 0 || family <= s.last) &&
		(s.since == "" || v.AtLeast(s.since)) && (s.until == "" || !v.AtLeast(s.until)) &&
		(s.dtypes == 0 || s.dtypes.Has(kernels.Decisive(c))) &&
		(s.when == nil || s.when(c))
}

// quarantined is status.Unsupported for a call that MPSGraph gets wrong here.
func quarantined(d *gpu.Device, c *device.Call) error {
	for i := range quarantine {
		if s := &quarantine[i]; s.covers(c, d.Family, objc.MacOS()) {
			return status.Errorf(status.Unsupported, "MPSGraph %s on macOS %s: %s", s.why, objc.MacOS(), s.link)
		}
	}
	return nil
}
