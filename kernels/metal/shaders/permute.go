package shaders

import (
	"encoding/binary"
	"math/bits"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// permutation is randperm: the numbers sorted by random bits; see permute.metal. A bitonic network sorts pairs of
// bits and number, whose order is total, so that the result is the host's whatever the width of groups.
type permutation struct{ compiled }

// A permutation is drawn and sorted in the workspace, in 16 bytes a place, so its length is bounded: longer ones are
// left to the CPU.
func init() {
	gpu.Register(gpu.Shader, op.IDRandperm, gpu.Elements, gpu.Variant{
		Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
			class, ok := walked(d, c)
			return class, ok && c.Out[0].Numel() <= mostPermuted
		},
		Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
			s, err := compile(d, class, msl.Permutation(c.Out[0].DType, class == 1), permuteNames...)
			return &permutation{s}, err
		},
	})
}

// The kernels of permute.metal: draw pairs random bits with numbers, far and near are steps of the sort across
// threadgroups and within one, give writes the numbers.
const (
	permuteDraw = iota
	permuteFar
	permuteNear
	permuteGive
)

// permuteNames are their names in the source.
var permuteNames = []string{permuteDraw: "draw", permuteFar: "far", permuteNear: "near", permuteGive: "give"}

// mostPermuted is the longest permutation, which takes 16 bytes a place.
const mostPermuted = 1 << 28

// placesFor is a power of two of places, which the network wants: enough for the numbers, and for one threadgroup. Places
// without a number sort behind all others.
func placesFor(n int64) int64 {
	return max(int64(1)<<bits.Len64(uint64(n-1)), 2*gpu.MostGroup)
}

// Workspace has two words of 64 bits for each place: random bits and the number that they came with.
func (k *permutation) Workspace(c *device.Call) int64 {
	n := c.Out[0].Numel()
	if n == 0 {
		return 0
	}
	return 16 * placesFor(n)
}

// Encode draws the bits, sorts, and writes the numbers in the order of their bits, in the dtype of the output.
func (k *permutation) Encode(e gpu.Encoder, c *device.Call) error {
	places := placesFor(c.Out[0].Numel())
	err := inParts(places, func(first, count int64) error { return k.draw(e, c, first, count) })
	if err != nil {
		return err
	}
	if err := network(e, c, &k.pipelines[permuteFar], &k.pipelines[permuteNear], places, places); err != nil {
		return err
	}
	return inScattered(c.Out[0].Numel(), func(first, count int64) error { return k.give(e, c, first, count) })
}

// draw encodes the drawing of some places.
func (k *permutation) draw(e gpu.Encoder, c *device.Call, first, count int64) error {
	d, p := e.Arguments(), &k.pipelines[permuteDraw]
	if err := bindScratch(d, c); err != nil {
		return err
	}
	seed := d.Constant(16) // key and counter of the generator, as on every device
	binary.LittleEndian.PutUint64(seed, c.Seed[0])
	binary.LittleEndian.PutUint64(seed[8:], c.Seed[1])
	bindCounts(d, c.Out[0].Numel(), first)
	p.Line(d, uint64(count))
	return e.Dispatch(p.State, d)
}

// give encodes the writing of some numbers.
func (k *permutation) give(e gpu.Encoder, c *device.Call, from, count int64) error {
	d, p := e.Arguments(), &k.pipelines[permuteGive]
	first, err := place(d, &c.Out[0])
	if err != nil {
		return err
	}
	to := c.Out[0].Layout.Collapse()
	bindWalk(d, &to, first, k.wide())
	if err := bindScratch(d, c); err != nil {
		return err
	}
	bindCounts(d, from)
	p.Line(d, uint64(count))
	return e.Dispatch(p.State, d)
}
