package elem

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/nontemporal"
)

// where moves bits, so that dtypes of one size share a function; clip compares, and has one for each dtype.
func init() {
	for _, d := range dtype.All.Members() {
		switch d.Size() {
		case 1:
			engine.Register(op.IDWhere, d, newWhere(1, choose[uint8]))
		case 2:
			engine.Register(op.IDWhere, d, newWhere(2, choose[uint16]))
		case 4:
			engine.Register(op.IDWhere, d, newWhere(4, choose[uint32]))
		case 8:
			engine.Register(op.IDWhere, d, newWhere(8, choose[uint64]))
		}
	}
	engine.Register(op.IDClip, dtype.Uint8, newClip(raised[uint8], lowered[uint8]))
	engine.Register(op.IDClip, dtype.Int8, newClip(raised[int8], lowered[int8]))
	engine.Register(op.IDClip, dtype.Int16, newClip(raised[int16], lowered[int16]))
	engine.Register(op.IDClip, dtype.Int32, newClip(raised[int32], lowered[int32]))
	engine.Register(op.IDClip, dtype.Int64, newClip(raised[int64], lowered[int64]))
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16} {
		h := engine.HalfCodec(d).Coding
		engine.Register(op.IDClip, d, &clip{Coding: h, Effort: EffortOf(h, h, 2), clamp: clamp[float32]})
	}
	engine.Register(op.IDClip, dtype.Float32, newClip(arith.RowsOf[float32](arith.Max).SV, arith.RowsOf[float32](arith.Min).SV))
	engine.Register(op.IDClip, dtype.Float64, newClip(arith.RowsOf[float64](arith.Max).SV, arith.RowsOf[float64](arith.Min).SV))
}

// where is out[i] = condition[i] ? x[i] : y[i].
type where struct {
	Effort
	choose func(to, condition, x, y unsafe.Pointer, n int64)
}

// newWhere is for elements of size bytes. It counts twice an addition: three operands are read.
func newWhere(size int64, choose func(dst, condition, a, b unsafe.Pointer, n int64)) engine.Kernel {
	k := &where{EffortOf(engine.Plain, engine.Plain, 2), choose}
	if nontemporal.HasChoose() {
		k.choose = inLines(size, false, choose)
	}
	if nontemporal.Available() {
		past := *k
		past.choose = inLines(size, true, choose)
		k.Past = &past
	}
	return k
}

// inLines chooses whole lines of the cache in vectors, and the elements before and behind these by rows.
// SAFETY: see streamedRows.
//
//go:noinline
func inLines(size int64, past bool, rows func(dst, condition, a, b unsafe.Pointer, n int64)) func(dst, condition, a, b unsafe.Pointer, n int64) {
	return func(dst, condition, a, b unsafe.Pointer, n int64) {
		head, whole := wholeLines(dst, n, size)
		if whole < nontemporal.LeastChosen {
			rows(dst, condition, a, b, n)
			return
		}
		rows(dst, condition, a, b, head)
		if whole > 0 {
			at := head * size
			nontemporal.Choose(size, past, unsafe.Add(dst, at), unsafe.Add(condition, head), unsafe.Add(a, at), unsafe.Add(b, at), whole*size)
		}
		if done := head + whole; done < n {
			at := done * size
			rows(unsafe.Add(dst, at), unsafe.Add(condition, done), unsafe.Add(a, at), unsafe.Add(b, at), n-done)
		}
	}
}

// Run splits the elements over the threads.
func (k *where) Run(t *engine.Threads, c *device.Call) error { return k.Elements(k, t, c) }

// Part computes elements lo to hi-1: on memory itself where all operands are contiguous, else through tracks.
func (k *where) Part(c *device.Call, lo, hi int64) error {
	if engine.AllContiguous(c.Out) && engine.AllContiguous(c.In) {
		k.choose(engine.AddressOf(&c.Out[0], lo), engine.AddressOf(&c.In[0], lo), engine.AddressOf(&c.In[1], lo), engine.AddressOf(&c.In[2], lo), hi-lo)
		return nil
	}
	var store [4]device.Operand
	out, in := engine.Arranged(c, store[:0])
	f := engine.NewFrame()
	defer f.Free()
	var to, condition, left, right engine.Track
	to.Open(out, &engine.Plain, f, lo)
	condition.Open(&in[0], &engine.Plain, f, lo)
	left.Open(&in[1], &engine.Plain, f, lo)
	right.Open(&in[2], &engine.Plain, f, lo)
	left.Hold(min(engine.Block, hi-lo))
	right.Hold(min(engine.Block, hi-lo))
	for lo < hi {
		n := min(engine.Block, hi-lo)
		k.choose(to.Space(), condition.Next(n), left.Next(n), right.Next(n), n)
		to.Keep(n)
		lo += n
	}
	return nil
}

// choose takes each of n elements at dst, as bits of type T, from x where the condition is not 0, else from y.
// SAFETY: see slice.
func choose[T uint8 | uint16 | uint32 | uint64](to, condition, x, y unsafe.Pointer, n int64) {
	dst, a, b := engine.Slice[T](to, n), engine.Slice[T](x, n), engine.Slice[T](y, n)
	for i, holds := range engine.Slice[uint8](condition, n) {
		x, y := a[i], b[i] // both, so that there is no branch to mispredict
		if holds == 0 {
			x = y
		}
		dst[i] = x
	}
}

// clip is out[i] = min(max(x[i], low[i]), high[i]). It reads and writes through one coding.
type clip struct {
	engine.Coding
	Effort
	// between clips n elements of memory to two bounds, unless one of these is nan; nil: see clamp.
	between func(dst, src, low, high unsafe.Pointer, n int64) bool
	clamp   func(dst, src, low, high unsafe.Pointer, n int64)
}

// newClip makes a kernel of max and min of a bound and a row. Of equals they are the element.
// SAFETY: see slice.
func newClip[T engine.Number](raise, lower func(dst []T, bound T, src []T)) engine.Kernel {
	return &clip{Effort: EffortOf(engine.Plain, engine.Plain, 2), clamp: clamp[T], between: func(to, from, low, high unsafe.Pointer, n int64) bool {
		least, most := *(*T)(low), *(*T)(high)
		if least != least || most != most {
			return false
		}
		// Two passes over a block, which stays in the cache between them.
		for dst, src := engine.Slice[T](to, n), engine.Slice[T](from, n); len(src) > 0; {
			m := min(engine.Block, len(src))
			raise(dst[:m], least, src[:m])
			lower(dst[:m], most, dst[:m])
			dst, src = dst[m:], src[m:]
		}
		return true
	}}
}

// Run splits the elements over the threads.
func (k *clip) Run(t *engine.Threads, c *device.Call) error { return k.Elements(k, t, c) }

// Part computes elements lo to hi-1: on memory itself where there are vectors for that, and both bounds are one value
// that is no nan, else through tracks. Bounds of one value are read once.
func (k *clip) Part(c *device.Call, lo, hi int64) error {
	if k.between != nil && c.Out[0].IsContiguous() && c.In[0].IsContiguous() && engine.IsScalar(&c.In[1]) && engine.IsScalar(&c.In[2]) &&
		k.between(engine.AddressOf(&c.Out[0], lo), engine.AddressOf(&c.In[0], lo), c.In[1].Addr, c.In[2].Addr, hi-lo) {
		return nil
	}
	var store [4]device.Operand
	out, in := engine.Arranged(c, store[:0])
	f := engine.NewFrame()
	defer f.Free()
	var to engine.Track
	var from [3]engine.Track
	to.Open(out, &k.Coding, f, lo)
	for i := range from {
		from[i].Open(&in[i], &k.Coding, f, lo)
		from[i].Hold(min(engine.Block, hi-lo))
	}
	for lo < hi {
		n := min(engine.Block, hi-lo)
		k.clamp(to.Space(), from[0].Next(n), from[1].Next(n), from[2].Next(n), n)
		to.Keep(n)
		lo += n
	}
	return nil
}

// clamp moves values to the nearest bound; a nan stays, and a bound of nan bounds nothing.
// SAFETY: see slice.
func clamp[T engine.Number](to, from, least, most unsafe.Pointer, n int64) {
	dst, low, high := engine.Slice[T](to, n), engine.Slice[T](least, n), engine.Slice[T](most, n)
	for i, v := range engine.Slice[T](from, n) {
		if v < low[i] {
			v = low[i]
		}
		if v > high[i] {
			v = high[i]
		}
		dst[i] = v
	}
}
