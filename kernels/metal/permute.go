package metal

import (
	"encoding/binary"
	"math/bits"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// permutation is randperm: the numbers sorted by random bits; see permute.metal.
type permutation struct {
	variants
	dtype dtype.DType
}

func init() {
	shaders.Add("randperm", elements, kernels.Portable, way{make: func(d *Device, c *device.Call) (kernel, error) {
		k := &permutation{dtype: c.Out[0].DType}
		k.device = d
		return k, nil
	}})
}

// The kernels of permute.metal.
const (
	permuteDraw = iota
	permuteFar
	permuteNear
	permuteGive
)

var permuteNames = []string{permuteDraw: "draw", permuteFar: "far", permuteNear: "near", permuteGive: "give"}

// mostPermuted is the longest permutation, which takes 16 bytes a place.
const mostPermuted = 1 << 28

// placesFor is a power of two of places: enough for the numbers, and for one threadgroup.
func placesFor(n int64) int64 {
	return max(int64(1)<<bits.Len64(uint64(n-1)), 2*groupMost)
}

func (k *permutation) workspace(c *device.Call) int64 {
	n := c.Out[0].Numel()
	if n == 0 || n > mostPermuted {
		return 0
	}
	return 16 * placesFor(n)
}

func (k *permutation) encode(b *batch, c *device.Call) error {
	out := &c.Out[0]
	n := out.Numel()
	if n == 0 {
		return nil
	}
	if n > mostPermuted {
		return status.Errorf(status.Unsupported, "got %d numbers; want at most %d", n, mostPermuted)
	}
	key := wideness(out)
	p, err := k.get(key, permuteNames, func() (string, error) { return msl.Permutation(k.dtype, wide(key)), nil })
	if err != nil {
		return err
	}
	d := b.arguments()
	if err := bindScratch(d, c); err != nil {
		return err
	}
	seed := d.Constant(16)
	binary.LittleEndian.PutUint64(seed, c.Seed[0])
	binary.LittleEndian.PutUint64(seed[8:], c.Seed[1])
	bindCounts(d, n)
	p[permuteDraw].line(d, uint64(placesFor(n)))
	if err := b.dispatch(p[permuteDraw].state, d); err != nil {
		return err
	}
	if err := k.sort(b, c, p, placesFor(n)); err != nil {
		return err
	}
	d = b.arguments()
	first, err := place(d, out)
	if err != nil {
		return err
	}
	to := joined(&out.Layout)
	bindWalk(d, &to, first, key)
	if err := bindScratch(d, c); err != nil {
		return err
	}
	p[permuteGive].line(d, uint64(n))
	return b.dispatch(p[permuteGive].state, d)
}

// sort encodes the network: first all that fits a threadgroup, then for each longer run the steps that do
// not, and again those that do.
func (k *permutation) sort(b *batch, c *device.Call, p []pipeline, places int64) error {
	width := int64(p[permuteNear].threadsOf(groupMost))
	step := func(which int, x, y int64) error {
		d := b.arguments()
		if err := bindScratch(d, c); err != nil {
			return err
		}
		bindCounts(d, x, y)
		if which == permuteNear {
			groups(d, places/(2*width), uint64(width))
		} else {
			p[which].line(d, uint64(places/2))
		}
		return b.dispatch(p[which].state, d)
	}
	if err := step(permuteNear, 2, 2*width); err != nil {
		return err
	}
	for run := 4 * width; run <= places; run *= 2 {
		for apart := run / 2; apart > width; apart /= 2 {
			if err := step(permuteFar, run, apart); err != nil {
				return err
			}
		}
		if err := step(permuteNear, run, run); err != nil {
			return err
		}
	}
	return nil
}
