package host

import (
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// streamFrom is the bytes from which a result is written past the cache; RATIONALE.md has the measurements. The limit is for
// processors that share a large cache among many cores. Tests change it.
var streamFrom = min(lastCache()/2, 32<<20)

// streams are the operators of float32 whose kernels have a loop that writes past the cache; those of vec.Binary have one of float64
// too. All of them take less time than memory does.
var streams = [...]struct {
	id op.ID
	f  vec.Stream
}{
	{op.IDAdd, vec.Stream(vec.Add)},
	{op.IDSubtract, vec.Stream(vec.Sub)},
	{op.IDMultiply, vec.Stream(vec.Mul)},
	{op.IDDivide, vec.Stream(vec.Div)},
	{op.IDMaximum, vec.Stream(vec.Max)},
	{op.IDMinimum, vec.Stream(vec.Min)},
	{op.IDRelu, vec.StreamRelu},
	{op.IDLessThan, vec.StreamLess},
	{op.IDLessEqual, vec.StreamLessEqual},
	{op.IDEqual, vec.StreamEqual},
	{op.IDNotEqual, vec.StreamNotEqual},
	{op.IDGreaterThan, vec.StreamGreater},
	{op.IDGreaterEqual, vec.StreamGreaterEqual},
}

// addStream gives a kernel that is registered its loop of streams, if there is one.
func addStream(id op.ID, d dtype.DType, k kernel) {
	if !vec.HasStreams() || d != dtype.Float32 && d != dtype.Float64 {
		return
	}
	for _, s := range &streams {
		if s.id != id {
			continue
		}
		if d == dtype.Float64 {
			if s.f >= vec.StreamRelu {
				return
			}
			s.f = vec.StreamOf64(vec.Binary(s.f))
		}
		switch k := k.(type) {
		case *binary:
			k.stream(s.f)
		case *unary:
			k.stream(s.f)
		}
	}
}

// pastCache is the same kernel with stores past the cache, after which the thread needs a fence; nil where there is none.
//
//go:noinline
func pastCache(k kernel) elementwise {
	switch k := k.(type) {
	case *binary:
		return k.past
	case *unary:
		return k.past
	case *where:
		return k.past
	}
	return nil
}

// exceedsCache reports whether an operand is contiguous and so large that it is written past the cache.
//
//go:noinline
func exceedsCache(o *device.Operand) bool {
	return o.IsContiguous() && o.Numel()*o.DType.Size() >= streamFrom
}

// streamed is the kernel of a call whose result is written past the cache.
type streamed struct{ kernel elementwise }

// part ends with a fence: what follows tells other threads that the part is done.
func (k streamed) part(c *device.Call, lo, hi int64) error {
	err := k.kernel.part(c, lo, hi)
	vec.Fence()
	return err
}

// stream has the steps of a group write past the cache whose results exceed it. What the group reads itself stays in the cache.
func (f *fused) stream() {
	for i := range f.steps {
		past := pastCache(f.kernels[i])
		if past != nil && f.steps[i].Out[0].Space != device.Local && exceedsCache(&f.steps[i].Call.Out[0]) && !f.reads(i) {
			f.kernels[i], f.fence = past, true
		}
	}
}

// reads reports whether a later step of the group, or its tail, reads the result of step i.
//
//go:noinline
func (f *fused) reads(i int) bool {
	found := f.tail != nil && f.tail.from == i
	for j := i + 1; j < len(f.steps); j++ {
		found = found || slices.Contains(f.steps[j].In, f.steps[i].Out[0])
	}
	return found
}

// stream makes the kernel that writes past the cache, for scalars as well.
func (k *binary) stream(f vec.Stream) {
	past := *k
	past.vv = streamedRows(f, k.vv, false, false)
	if k.vs != nil {
		past.vs = streamedRows(f, k.vs, false, true)
	}
	if k.sv != nil {
		past.sv = streamedRows(f, k.sv, true, false)
	}
	k.past = &past
}

// stream makes the kernel that writes past the cache. The loop may read a second operand, which is 0.
// SAFETY: see streamedRows; k.f is a function of rows that needs no call.
func (k *unary) stream(f vec.Stream) {
	past, zero := *k, new(uint64)
	rows := streamedRows(f, func(dst, a, _ unsafe.Pointer, n int64) { k.f(nil, dst, a, n) }, false, true)
	past.f = func(_ *device.Call, dst, src unsafe.Pointer, n int64) { rows(dst, src, unsafe.Pointer(zero), n) }
	k.past = &past
}

// streamedRows writes whole lines of the cache past it, and the elements before and behind these as rows does. Either operand may be
// one element.
// SAFETY: see slice. Nothing is addressed behind the last element.
//
//go:noinline
func streamedRows(f vec.Stream, rows pairing, scalarA, scalarB bool) pairing {
	to, from := f.Sizes()
	stepA, stepB := from, from
	if scalarA {
		stepA = 0
	}
	if scalarB {
		stepB = 0
	}
	return func(dst, a, b unsafe.Pointer, n int64) {
		head, whole := wholeLines(dst, n, to)
		rows(dst, a, b, head)
		if whole > 0 {
			var sameA, sameB [vec.StreamLine / 8]uint64
			x, y := unsafe.Add(a, head*stepA), unsafe.Add(b, head*stepB)
			if scalarA {
				x = repeatedIn(&sameA, a, from)
			}
			if scalarB {
				y = repeatedIn(&sameB, b, from)
			}
			f.Lines(unsafe.Add(dst, head*to), x, y, whole*to, scalarA, scalarB)
		}
		if done := head + whole; done < n {
			rows(unsafe.Add(dst, done*to), unsafe.Add(a, done*stepA), unsafe.Add(b, done*stepB), n-done)
		}
	}
}

// wholeLines divides n elements of size bytes: how many come before the first line of the cache that is written as a whole, and how
// many such lines have.
//
//go:noinline
func wholeLines(dst unsafe.Pointer, n, size int64) (head, whole int64) {
	before := int64(-uintptr(dst) % vec.StreamLine)
	if before%size != 0 { // no element begins with a line
		return n, 0
	}
	head = min(n, before/size)
	return head, (n - head) &^ (vec.StreamLine/size - 1)
}

// repeatedIn fills a line with an element of 4 or 8 bytes.
// SAFETY: see slice.
func repeatedIn(line *[vec.StreamLine / 8]uint64, element unsafe.Pointer, size int64) unsafe.Pointer {
	v := uint64(0)
	if size == 8 {
		v = *(*uint64)(element)
	} else {
		low := uint64(*(*uint32)(element))
		v = low<<32 | low
	}
	for i := range line {
		line[i] = v
	}
	return unsafe.Pointer(line)
}
