package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// create is out[i] = f(i), computed in T, int64 or float64, and stored as the output's dtype says.
type create[T any] struct {
	codecs [dtype.Last + 1]*codec[T]
	weight int64
	f      func(c *device.Call, dst []T, first int64) // dst[i] is element first + i
}

// newCreate makes a kernel that computes with T, which elements of dtype from are, for outputs of every dtype.
func newCreate[T any](from dtype.DType, weight int64, f func(*device.Call, []T, int64)) *create[T] {
	k := &create[T]{weight: weight, f: f}
	for _, to := range dtype.All.Members() {
		k.codecs[to] = storing[T](from, to)
	}
	return k
}

// cost counts the weight for each element.
func (k *create[T]) cost(c *device.Call) int64    { return c.Out[0].Numel() * k.weight }
func (k *create[T]) workspace(*device.Call) int64 { return 0 }

// run splits the elements over the threads.
func (k *create[T]) run(t *threads, c *device.Call) error {
	return t.each(k, c, c.Out[0].Numel(), k.cost(c))
}

// part computes elements lo to hi-1, a block at a time.
func (k *create[T]) part(c *device.Call, lo, hi int64) error {
	f := newFrame()
	defer f.free()
	var to lane[T]
	to.open(&c.Out[0], k.codecs[c.Out[0].DType], f, lo)
	for lo < hi {
		n := min(block, hi-lo)
		k.f(c, to.space(n), lo)
		to.keep()
		lo += n
	}
	return nil
}

// either runs a creation in int64 if the values that it starts from are all integers or bools, and
// in float64 otherwise.
type either struct {
	simple
	values   []int // the attributes that are values
	integers kernel
	floats   kernel
}

// run looks at the values of the call: their kinds are not part of a key.
func (k *either) run(t *threads, c *device.Call) error {
	for _, i := range k.values {
		if c.Attrs[i].Kind == op.Float {
			return k.floats.run(t, c)
		}
	}
	return k.integers.run(t, c)
}

// An integer output of whole numbers is exact beyond 2**53, where float64 is not.
func init() {
	registerSet(op.IDFull, dtype.All, &either{
		values:   []int{op.FullFillValue},
		integers: newFull(dtype.Int64, func(v *op.Value) int64 { return v.I }),
		floats:   newFull(dtype.Float64, (*op.Value).Float64),
	})
	registerSet(op.IDRange, dtype.Numbers, &either{
		values:   []int{op.RangeStart, op.RangeStep},
		integers: newCreate(dtype.Int64, 1, rangeIntegers),
		floats:   newCreate(dtype.Float64, 1, rangeFloats),
	})
	registerSet(op.IDLinspace, dtype.Numbers, newCreate(dtype.Float64, 1, linspace))
}

// rangeIntegers wraps around where an element does not fit.
func rangeIntegers(c *device.Call, dst []int64, first int64) {
	start, step := c.Attrs[op.RangeStart].I, c.Attrs[op.RangeStep].I
	for i := range dst {
		dst[i] = start + (first+int64(i))*step
	}
}

// rangeFloats computes each element from its number, so that errors do not add up.
func rangeFloats(c *device.Call, dst []float64, first int64) {
	start, step := c.Attrs[op.RangeStart].Float64(), c.Attrs[op.RangeStep].Float64()
	for i := range dst {
		dst[i] = start + float64(float64(first+int64(i))*step) // rounded: never a fused multiply-add
	}
}

// linspace counts the first half from the start and the second half back from the stop, so that
// both are exact.
func linspace(c *device.Call, dst []float64, first int64) {
	start, stop := c.Attrs[op.LinspaceStart].Float64(), c.Attrs[op.LinspaceStop].Float64()
	count := c.Attrs[op.LinspaceCount].I
	step := (stop - start) / float64(max(count-1, 1))
	for i := range dst {
		if at := first + int64(i); at < (count+1)/2 {
			dst[i] = start + float64(step*float64(at))
		} else {
			dst[i] = stop - float64(step*float64(count-1-at))
		}
	}
}

// full is out[i] = value. The value is stored once and copied.
type full[T any] struct {
	simple
	codecs [dtype.Last + 1]*codec[T]
	value  func(v *op.Value) T
}

// newFull makes a kernel for outputs of every dtype; value takes the attribute to a T.
func newFull[T any](from dtype.DType, value func(*op.Value) T) *full[T] {
	return &full[T]{codecs: newCreate[T](from, 1, nil).codecs, value: value}
}

// run splits the elements over the threads, at four times the size of others: it only writes.
func (k *full[T]) run(t *threads, c *device.Call) error {
	return t.each(k, c, c.Out[0].Numel(), c.Out[0].Numel()/4)
}

// SAFETY: the room holds one element, which is read with a stride of 0.
func (k *full[T]) part(c *device.Call, lo, hi int64) error {
	out := &c.Out[0]
	f := newFrame()
	defer f.free()
	one := f.room()
	value := slice[T](one, 1)
	value[0] = k.value(&c.Attrs[op.FullFillValue])
	if store := k.codecs[out.DType].store; store != nil {
		one = f.room()
		store(one, value)
	}
	var to walk
	to.start(out)
	if to.contiguous() {
		repeat(slice[byte](unsafe.Add(to.base, lo*to.size), (hi-lo)*to.size), slice[byte](one, to.size))
		return nil
	}
	to.seek(lo)
	for n := hi - lo; n > 0; {
		m := to.run(n)
		moveStrided(to.here(), one, to.strides[to.rank-1], 0, to.size, m)
		to.skip(m)
		n -= m
	}
	return nil
}

// repeat fills memory with copies of a pattern whose length divides that of the memory.
func repeat(memory, pattern []byte) {
	const chunk = 16 << 10 // stays in the first-level cache while it is copied from
	for n := copy(memory, pattern); n < len(memory); {
		n += copy(memory[n:], memory[:min(n, chunk)])
	}
}
