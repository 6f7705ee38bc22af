package create

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/random"
)

// A call of n elements uses ceil(n/4) Philox counters from Seed[1] on where it draws 32 bits an
// element (uniform and normal of float32 and narrower), and ceil(n/2) where it draws 64 (float64,
// randint, randperm). Element i depends on Seed and i alone.

// Draws are computed in float64 or int64 and rounded once, so that dtypes differ by their rounding only.
func init() {
	engine.RegisterSet(op.IDUniform, dtype.Floats, newCreate(dtype.Float64, engine.Heavy, uniform))
	engine.RegisterSet(op.IDNormal, dtype.Floats, newCreate(dtype.Float64, 4*engine.Heavy, normal))
	engine.RegisterSet(op.IDRandint, dtype.Integers, newCreate(dtype.Int64, engine.Heavy, randint))
	engine.RegisterSet(op.IDRandperm, dtype.Numbers, newPermutation())
}

// precision is how many random bits an element of a float dtype can tell apart in [0, 1).
var precision = [dtype.Last + 1]int{dtype.Float16: 11, dtype.BFloat16: 8, dtype.Float32: 24}

// randoms is the numbers that one call may use: those of the counters from first on, numbered from 0. A counter gives four 32-bit
// numbers or two 64-bit numbers. Any of them can be computed without those before it, so a tensor is the same however it is
// split.
type randoms struct {
	key   [2]uint32
	first uint64
	room  []uint32 // for two words of each element of a block, and what is left of the counters at the ends
}

// newRandoms starts from a call's Seed, a key and the first counter. The numbers lie in the frame.
func newRandoms(seed [2]uint64, f *engine.Frame) randoms {
	// SAFETY: two buffers of 64-bit elements, until the frame is freed.
	return randoms{[2]uint32{uint32(seed[0]), uint32(seed[0] >> 32)}, seed[1], engine.Slice[uint32](f.Stretch(2), 4*engine.Block)}
}

// words are the 32-bit numbers from one on, at most two for each element of a block; valid until the next call.
func (r *randoms) words(from int64, n int) []uint32 {
	before := int(from % 4)
	random.Philox(r.room[:(before+n+3)&^3], r.key, r.first+uint64(from/4))
	return r.room[before:][:n]
}

// wide are the 64-bit numbers from one on, at most a block of them, lower half first.
func (r *randoms) wide(from int64, n int) []uint32 { return r.words(2*from, 2*n) }

// word64 is number i of those that wide returns.
func word64(words []uint32, i int) uint64 { return uint64(words[2*i]) | uint64(words[2*i+1])<<32 }

// uniform draws from [min, max). Fractions have no more bits than the dtype holds, so that most
// ranges need no rounding; where rounding would give max, the value is the one just below it.
func uniform(c *device.Call, dst []float64, first int64) {
	low, high := c.Attrs[op.UniformMin].Float64(), c.Attrs[op.UniformMax].Float64()
	d := c.Out[0].DType
	f := engine.NewFrame()
	defer f.Free()
	r := newRandoms(c.Seed, f)
	top := math.Inf(1)
	if low < high {
		top = Below(d, high)
	}
	if d == dtype.Float64 {
		words := r.wide(first, len(dst))
		for i := range dst {
			dst[i] = within(low+float64((high-low)*(float64(word64(words, i)>>11)/(1<<53))), top)
		}
		return
	}
	keep := precision[d]
	unit := 1 / float64(uint64(1)<<keep)
	for i, w := range r.words(first, len(dst)) {
		dst[i] = within(low+float64((high-low)*(float64(w>>(32-keep))*unit)), top)
	}
}

// within is min(x, top) in half the instructions: a zero of either sign and NaN stay what they are.
func within(x, top float64) float64 {
	if x > top {
		return top
	}
	return x
}

// Below is the largest value of a float dtype that is less than x.
func Below(d dtype.DType, x float64) float64 {
	down := math.Inf(-1)
	switch d {
	case dtype.Float16:
		return nearestBelow(x, dtype.F64ToF16, dtype.F16ToF32)
	case dtype.BFloat16:
		return nearestBelow(x, dtype.F64ToBF16, dtype.BF16ToF32)
	case dtype.Float32:
		if y := float32(x); float64(y) >= x {
			return float64(math.Nextafter32(y, float32(down)))
		}
		return float64(float32(x))
	}
	return math.Nextafter(x, down)
}

// nearestBelow is below for a half: the bits of a float count away from zero.
func nearestBelow(x float64, narrow func(float64) uint16, widen func(uint16) float32) float64 {
	const negative = 0x8000
	h := narrow(x)
	switch {
	case float64(widen(h)) < x:
	case h&^negative == 0:
		h = negative | 1
	case h&negative != 0:
		h++
	default:
		h--
	}
	return float64(widen(h))
}

// normal draws by the transform of Box and Muller: two uniform numbers give elements 2i and 2i+1.
func normal(c *device.Call, dst []float64, first int64) {
	mean, deviation := c.Attrs[op.NormalMean].Float64(), c.Attrs[op.NormalStd].Float64()
	size := 2 // words of a pair
	if c.Out[0].DType == dtype.Float64 {
		size = 4
	}
	f := engine.NewFrame()
	defer f.Free()
	r := newRandoms(c.Seed, f)
	skip := int(first % 2) // the first element of a pair may not be asked for
	words := r.words(first/2*int64(size), (skip+len(dst)+1)/2*size)
	var pair [2]float64
	for i := range dst {
		at := skip + i
		if i == 0 || at%2 == 0 {
			pair = gaussians(words[at/2*size:][:size])
		}
		dst[i] = mean + float64(deviation*pair[at%2])
	}
}

// gaussians is a pair from 32 random bits each or from 53.
func gaussians(words []uint32) [2]float64 {
	var u, v float64 // in (0, 1] and [0, 1)
	if len(words) == 4 {
		u = float64(word64(words, 0)>>11+1) / (1 << 53)
		v = float64(word64(words, 1)>>11) / (1 << 53)
	} else {
		u = (float64(words[1]) + 1) / (1 << 32)
		v = float64(words[0]) / (1 << 32)
	}
	radius := math.Sqrt(-2 * math.Log(u))
	sin, cos := math.Sincos(2 * math.Pi * v)
	return [2]float64{radius * cos, radius * sin}
}

// randint draws from [low, high): the upper half of 64 random bits times the width, which no
// value's chance exceeds by more than width / 2**64.
func randint(c *device.Call, dst []int64, first int64) {
	low, high := c.Attrs[op.RandintLow].I, c.Attrs[op.RandintHigh].I
	f := engine.NewFrame()
	defer f.Free()
	r := newRandoms(c.Seed, f)
	words := r.wide(first, len(dst))
	for i := range dst {
		offset, _ := bits.Mul64(word64(words, i), uint64(high-low))
		dst[i] = low + int64(offset)
	}
}

// permutation is randperm: the numbers sorted by 64 random bits each, which other devices can do too.
type permutation struct{ *create[int64] }

// drawn is a number with its random bits.
type drawn struct {
	key uint64
	at  int64
}

// newPermutation makes the kernel; the elements are read from the sorted list in the workspace.
func newPermutation() permutation {
	// SAFETY: the workspace holds a drawn for every element; see workspace.
	return permutation{newCreate(dtype.Int64, 4, func(c *device.Call, dst []int64, first int64) {
		for i, d := range engine.Slice[drawn](c.Workspace, c.Out[0].Numel())[first:][:len(dst)] {
			dst[i] = d.at
		}
	})}
}

// Workspace has room for the list and for another, between which a sort goes back and forth.
func (k permutation) Workspace(c *device.Call) int64 {
	return 2 * int64(unsafe.Sizeof(drawn{})) * c.Out[0].Numel()
}

// Run sorts on one thread: the result must not depend on their number.
func (k permutation) Run(t *engine.Threads, c *device.Call) error {
	n := c.Out[0].Numel()
	both := engine.Slice[drawn](c.Workspace, 2*n)
	f := engine.NewFrame()
	defer f.Free()
	r := newRandoms(c.Seed, f)
	for i := int64(0); i < n; i += engine.Block {
		words := r.wide(i, int(min(n-i, engine.Block)))
		for j := range len(words) / 2 {
			both[i+int64(j)] = drawn{word64(words, j), i + int64(j)}
		}
	}
	sortDrawn(both[:n], both[n:])
	return k.create.Run(t, c)
}

// sortDrawn sorts by keys, and equal ones by number: digit by digit from the lowest, each keeping the order
// of the one before. There is an even number of digits, so the result is where the list was.
func sortDrawn(list, spare []drawn) {
	const digit, digits = 11, 6
	var begin [1 << digit]int
	for shift := 0; shift < digit*digits; shift += digit {
		clear(begin[:])
		for i := range list {
			begin[list[i].key>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, n := range begin {
			begin[i] = sum
			sum += n
		}
		for _, d := range list {
			at := &begin[d.key>>shift&(1<<digit-1)]
			spare[*at] = d
			*at++
		}
		list, spare = spare, list
	}
}
