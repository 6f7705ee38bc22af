package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
)

// sick is an operator that MPSGraph gets wrong somewhere. Another way runs it there.
type sick struct {
	op           string
	oldest, last int                       // families of GPUs; 0: from the first, up to the newest
	since, until string                    // versions of macOS; "": from the first, and to this day
	dtypes       dtype.Set                 // 0: all
	when         func(c *device.Call) bool // nil: always
	why          string
	link         string
}

// quarantine is what others have found. Whatever can be had right in another form is not here but in the
// lowering.
var quarantine = []sick{
	{
		op: "argmax", until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "answers the smallest integer", link: "https://github.com/pytorch/pytorch/issues/98191",
	},
	{
		op: "argmin", until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "answers the smallest integer", link: "https://github.com/pytorch/pytorch/issues/98191",
	},
	{
		op: "max", until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "computes int64 in fewer bits", link: "https://github.com/pytorch/pytorch/issues/87753",
	},
	{
		op: "min", until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "computes int64 in fewer bits", link: "https://github.com/pytorch/pytorch/issues/87753",
	},
	{
		op: "floor_divide", until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "computes int64 in fewer bits", link: "https://github.com/pytorch/pytorch/issues/92311",
	},
	{
		op: "remainder", until: "13.3", dtypes: dtype.SetOf(dtype.Int64),
		why: "computes int64 in fewer bits", link: "https://github.com/pytorch/pytorch/issues/92311",
	},
	{
		op: "matmul", until: "15.0", when: longerThan(1 << 15),
		why: "is wrong for matrices longer than 32768", link: "https://github.com/pytorch/pytorch/issues/116769",
	},
}

// longerThan asks for a matrix with an axis of more elements.
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
func (s *sick) covers(c *device.Call, family int, v objc.Version) bool {
	return op.ByID(c.Op).Name == s.op &&
		(s.oldest == 0 || family >= s.oldest) && (s.last == 0 || family <= s.last) &&
		(s.since == "" || v.AtLeast(s.since)) && (s.until == "" || !v.AtLeast(s.until)) &&
		(s.dtypes == 0 || s.dtypes.Has(decisive(c))) &&
		(s.when == nil || s.when(c))
}

// quarantined is status.Unsupported for a call that MPSGraph gets wrong here.
func (d *Device) quarantined(c *device.Call) error {
	for i := range quarantine {
		if s := &quarantine[i]; s.covers(c, d.family, objc.MacOS()) {
			return status.Errorf(status.Unsupported, "MPSGraph %s on macOS %s: %s", s.why, objc.MacOS(), s.link)
		}
	}
	return nil
}
