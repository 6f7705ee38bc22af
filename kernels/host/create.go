package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels"
)

// create is out[i] = f(i), computed in T, int64 or float64, and stored as the output's dtype says.
type create[T any] struct {
	codecs [dtype.Last + 1]*codec[T]
	weight int64
	f      func(c *device.Call, dst []T, first int64) // dst[i] is element first + i
}

func newCreate[T any](from dtype.DType, weight int64, f func(*device.Call, []T, int64)) *create[T] {
	k := &create[T]{weight: weight, f: f}
	for _, to := range dtype.All.Members() {
		k.codecs[to] = storing[T](from, to)
	}
	return k
}

func (k *create[T]) cost(c *device.Call) int64    { return c.Out[0].Numel() * k.weight }
func (k *create[T]) workspace(*device.Call) int64 { return 0 }

func (k *create[T]) run(t *threads, c *device.Call) error {
	n := c.Out[0].Numel()
	if n == 0 {
		return nil
	}
	return t.each(k, c, n, grain/k.weight)
}

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
	start    int // the first values attributes
	values   int
	integers kernel
	floats   kernel
}

func (k *either) run(t *threads, c *device.Call) error {
	for _, v := range c.Attrs[k.start : k.start+k.values] {
		if v.Kind == op.Float {
			return k.floats.run(t, c)
		}
	}
	return k.integers.run(t, c)
}

func init() {
	registry.Add("full", dtype.All, kernels.Portable, &either{
		start: 1, values: 1,
		integers: newFull(dtype.Int64, func(v *op.Value) int64 { return v.I }),
		floats:   newFull(dtype.Float64, (*op.Value).Float64),
	})
	registry.Add("range", dtype.Numbers, kernels.Portable, &either{
		start: 0, values: 2,
		integers: newCreate(dtype.Int64, 1, rangeIntegers),
		floats:   newCreate(dtype.Float64, 1, rangeFloats),
	})
	registry.Add("linspace", dtype.Numbers, kernels.Portable, newCreate(dtype.Float64, 1, linspace))
}

func rangeIntegers(c *device.Call, dst []int64, first int64) {
	start, step := c.Attrs[0].I, c.Attrs[1].I
	for i := range dst {
		dst[i] = start + (first+int64(i))*step
	}
}

func rangeFloats(c *device.Call, dst []float64, first int64) {
	start, step := c.Attrs[0].Float64(), c.Attrs[1].Float64()
	for i := range dst {
		dst[i] = start + float64(float64(first+int64(i))*step) // rounded: never a fused multiply-add
	}
}

// linspace counts the first half from the start and the second half back from the stop, so that
// both are exact.
func linspace(c *device.Call, dst []float64, first int64) {
	start, stop, count := c.Attrs[0].Float64(), c.Attrs[1].Float64(), c.Attrs[2].I
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

func newFull[T any](from dtype.DType, value func(*op.Value) T) *full[T] {
	return &full[T]{codecs: newCreate[T](from, 1, nil).codecs, value: value}
}

func (k *full[T]) run(t *threads, c *device.Call) error {
	n := c.Out[0].Numel()
	if n == 0 {
		return nil
	}
	return t.each(k, c, n, 4*grain)
}

// SAFETY: the room holds one element, which is read with a stride of 0.
func (k *full[T]) part(c *device.Call, lo, hi int64) error {
	out := &c.Out[0]
	f := newFrame()
	defer f.free()
	one := f.room()
	value := slice[T](one, 1)
	value[0] = k.value(&c.Attrs[1])
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
