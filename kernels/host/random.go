package host

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// A call of n elements uses ceil(n/4) Philox counters from Seed[1] on where it draws 32 bits an
// element (uniform and normal of float32 and narrower), and ceil(n/2) where it draws 64 (float64,
// randint, randperm). Element i depends on Seed and i alone.

// Draws are computed in float64 or int64 and rounded once, so that dtypes differ by their rounding only.
func init() {
	registerSet(op.IDUniform, dtype.Floats, newCreate(dtype.Float64, heavy, uniform))
	registerSet(op.IDNormal, dtype.Floats, newCreate(dtype.Float64, 4*heavy, normal))
	registerSet(op.IDRandint, dtype.Integers, newCreate(dtype.Int64, heavy, randint))
	registerSet(op.IDRandperm, dtype.Numbers, newPermutation())
}

// precision is how many random bits an element of a float dtype can tell apart in [0, 1).
var precision = [dtype.Last + 1]int{dtype.Float16: 11, dtype.BFloat16: 8, dtype.Float32: 24}

// uniform draws from [min, max). Fractions have no more bits than the dtype holds, so that most
// ranges need no rounding; where rounding would give max, the value is the one just below it.
func uniform(c *device.Call, dst []float64, first int64) {
	low, high := c.Attrs[op.UniformMin].Float64(), c.Attrs[op.UniformMax].Float64()
	d := c.Out[0].DType
	r := newRandoms(c.Seed)
	top := math.Inf(1)
	if low < high {
		top = below(d, high)
	}
	for i := range dst {
		at := first + int64(i)
		var fraction float64
		if d == dtype.Float64 {
			fraction = float64(r.wide(at)>>11) / (1 << 53)
		} else {
			keep := precision[d]
			fraction = float64(r.word(at)>>(32-keep)) / float64(uint64(1)<<keep)
		}
		dst[i] = min(low+float64((high-low)*fraction), top)
	}
}

// below is the largest value of a float dtype that is less than x.
func below(d dtype.DType, x float64) float64 {
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
	double := c.Out[0].DType == dtype.Float64
	r := newRandoms(c.Seed)
	var pair [2]float64
	for i := range dst {
		at := first + int64(i)
		if i == 0 || at%2 == 0 {
			pair = gaussians(&r, at/2, double)
		}
		dst[i] = mean + float64(deviation*pair[at%2])
	}
}

// gaussians is pair i, from 32 random bits each or from 53.
func gaussians(r *randoms, i int64, double bool) [2]float64 {
	var u, v float64 // in (0, 1] and [0, 1)
	if double {
		u = float64(r.wide(2*i)>>11+1) / (1 << 53)
		v = float64(r.wide(2*i+1)>>11) / (1 << 53)
	} else {
		both := r.wide(i)
		u = float64(both>>32+1) / (1 << 32)
		v = float64(both&math.MaxUint32) / (1 << 32)
	}
	radius := math.Sqrt(-2 * math.Log(u))
	sin, cos := math.Sincos(2 * math.Pi * v)
	return [2]float64{radius * cos, radius * sin}
}

// randint draws from [low, high): the upper half of 64 random bits times the width, which no
// value's chance exceeds by more than width / 2**64.
func randint(c *device.Call, dst []int64, first int64) {
	low, high := c.Attrs[op.RandintLow].I, c.Attrs[op.RandintHigh].I
	r := newRandoms(c.Seed)
	for i := range dst {
		offset, _ := bits.Mul64(r.wide(first+int64(i)), uint64(high-low))
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
		for i, d := range slice[drawn](c.Workspace, c.Out[0].Numel())[first:][:len(dst)] {
			dst[i] = d.at
		}
	})}
}

// workspace has room for the list and for another, between which a sort goes back and forth.
func (k permutation) workspace(c *device.Call) int64 {
	return 2 * int64(unsafe.Sizeof(drawn{})) * c.Out[0].Numel()
}

// run sorts on one thread: the result must not depend on their number.
func (k permutation) run(t *threads, c *device.Call) error {
	n := c.Out[0].Numel()
	both := slice[drawn](c.Workspace, 2*n)
	r := newRandoms(c.Seed)
	for i := range n {
		both[i] = drawn{r.wide(i), i}
	}
	sortDrawn(both[:n], both[n:])
	return k.create.run(t, c)
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
