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
