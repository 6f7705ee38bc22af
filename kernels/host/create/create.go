// Package create holds the kernels without operands: constants, ranges and random numbers.
package create

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// create is out[i] = f(i), computed in T, int64 or float64, and stored as the output's dtype says.
type create[T any] struct {
	codecs [dtype.Last + 1]*engine.Codec[T]
	weight int64
	f      func(c *device.Call, dst []T, first int64) // dst[i] is element first + i
}

// newCreate makes a kernel that computes with T, which elements of dtype from are, for outputs of every dtype.
func newCreate[T any](from dtype.DType, weight int64, f func(*device.Call, []T, int64)) *create[T] {
	k := &create[T]{weight: weight, f: f}
	for _, to := range dtype.All.Members() {
		k.codecs[to] = elem.Storing[T](from, to)
	}
	return k
}

// Cost counts the weight for each element.
func (k *create[T]) Cost(c *device.Call) int64    { return c.Out[0].Numel() * k.weight }
func (k *create[T]) Workspace(*device.Call) int64 { return 0 }

// Run splits the elements over the threads.
func (k *create[T]) Run(t *engine.Threads, c *device.Call) error {
	return t.Each(k, c, c.Out[0].Numel(), k.Cost(c))
}

// Part computes elements lo to hi-1, a block at a time.
func (k *create[T]) Part(c *device.Call, lo, hi int64) error {
	f := engine.NewFrame()
	defer f.Free()
	var to engine.Lane[T]
	to.Open(&c.Out[0], k.codecs[c.Out[0].DType], f, lo)
	for lo < hi {
		n := min(engine.Block, hi-lo)
		k.f(c, to.Space(n), lo)
		to.Keep()
		lo += n
	}
	return nil
}

// either runs a creation in int64 if the values that it starts from are all integers or bools, and
// in float64 otherwise.
type either struct {
	engine.Simple
	values   []int // the attributes that are values
	integers engine.Kernel
	floats   engine.Kernel
}

// Run looks at the values of the call: their kinds are not part of a key.
func (k *either) Run(t *engine.Threads, c *device.Call) error {
	for _, i := range k.values {
		if c.Attrs[i].Kind == op.Float {
			return k.floats.Run(t, c)
		}
	}
	return k.integers.Run(t, c)
}

// An integer output of whole numbers is exact beyond 2**53, where float64 is not.
func init() {
	engine.RegisterSet(op.IDFull, dtype.All, &either{
		values:   []int{op.FullFillValue},
		integers: newFull(dtype.Int64, func(v *op.Value) int64 { return v.I }),
		floats:   newFull(dtype.Float64, (*op.Value).Float64),
	})
	engine.RegisterSet(op.IDRange, dtype.Numbers, &either{
		values:   []int{op.RangeStart, op.RangeStep},
		integers: newCreate(dtype.Int64, 1, rangeIntegers),
		floats:   newCreate(dtype.Float64, 1, rangeFloats),
	})
	engine.RegisterSet(op.IDLinspace, dtype.Numbers, newCreate(dtype.Float64, 1, linspace))
	engine.RegisterSet(op.IDNumberLine, dtype.All, newCreate(dtype.Float64, 1, listed))
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

// listed is the numbers themselves.
func listed(c *device.Call, dst []float64, first int64) {
	copy(dst, c.Attrs[op.NumberLineValues].Floats()[first:])
}

// full is out[i] = value. The value is stored once and copied.
type full[T any] struct {
	engine.Simple
	codecs [dtype.Last + 1]*engine.Codec[T]
	value  func(v *op.Value) T
}

// newFull makes a kernel for outputs of every dtype; value takes the attribute to a T.
func newFull[T any](from dtype.DType, value func(*op.Value) T) *full[T] {
	return &full[T]{codecs: newCreate[T](from, 1, nil).codecs, value: value}
}

// Run splits the elements over the threads, at four times the size of others: it only writes.
func (k *full[T]) Run(t *engine.Threads, c *device.Call) error {
	return t.Each(k, c, c.Out[0].Numel(), c.Out[0].Numel()/4)
}

// SAFETY: the room holds one element, which is read with a stride of 0.
func (k *full[T]) Part(c *device.Call, lo, hi int64) error {
	out := &c.Out[0]
	f := engine.NewFrame()
	defer f.Free()
	one := f.Room()
	value := engine.Slice[T](one, 1)
	value[0] = k.value(&c.Attrs[op.FullFillValue])
	if store := k.codecs[out.DType].Store; store != nil {
		one = f.Room()
		store(one, value)
	}
	var to engine.Walk
	to.Start(out)
	if to.Contiguous() {
		engine.Repeat(engine.Slice[byte](unsafe.Add(to.Base, lo*to.Size), (hi-lo)*to.Size), engine.Slice[byte](one, to.Size))
		return nil
	}
	to.SeekTo(lo)
	for n := hi - lo; n > 0; {
		m := to.Run(n)
		engine.MoveStrided(to.Here(), one, to.Strides[to.Rank-1], 0, to.Size, m)
		to.Skip(m)
		n -= m
	}
	return nil
}
