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

// StreamFrom is the bytes from which a result is written past the cache; docs/design/cpu_loops.md has the measurements. The limit is for
// processors that share a large cache among many cores. Tests change it.
var StreamFrom = min(lastCache()/2, 32<<20)

// Streams are the operators of float32 whose kernels have a loop that writes past the cache; those of arith.Binary have one of float64
// too. All of them take less time than memory does.
var Streams = [...]struct {
	Id op.ID
	F  nontemporal.Loop
}{
	{op.IDAdd, nontemporal.Loop(arith.Add)},
	{op.IDSubtract, nontemporal.Loop(arith.Sub)},
	{op.IDMultiply, nontemporal.Loop(arith.Mul)},
	{op.IDDivide, nontemporal.Loop(arith.Div)},
	{op.IDMaximum, nontemporal.Loop(arith.Max)},
	{op.IDMinimum, nontemporal.Loop(arith.Min)},
	{op.IDRelu, nontemporal.Relu},
	{op.IDLessThan, nontemporal.Less},
	{op.IDLessEqual, nontemporal.LessEqual},
	{op.IDEqual, nontemporal.Equal},
	{op.IDNotEqual, nontemporal.NotEqual},
	{op.IDGreaterThan, nontemporal.Greater},
	{op.IDGreaterEqual, nontemporal.GreaterEqual},
}

// registerStreamed registers a kernel that writes past the cache where it has a loop for that.
//
//go:noinline
func registerStreamed(id op.ID, d dtype.DType, k engine.Kernel) {
	addStream(id, d, k)
	engine.Register(id, d, k)
}

// addStream gives a kernel its loop of streams, if there is one.
func addStream(id op.ID, d dtype.DType, k engine.Kernel) {
	if !nontemporal.Available() || d != dtype.Float32 && d != dtype.Float64 {
		return
	}
	for _, s := range &Streams {
		if s.Id != id {
			continue
		}
		if d == dtype.Float64 {
			if s.F >= nontemporal.Relu {
				return
			}
			s.F = nontemporal.Of64(arith.Binary(s.F))
		}
		switch k := k.(type) {
		case *Binary:
			k.stream(s.F)
		case *Unary:
			k.stream(s.F)
		}
	}
}

// PastCache is the same kernel with stores past the cache, after which the thread needs a fence; nil where there is none.
//
//go:noinline
func PastCache(k engine.Kernel) engine.Elementwise {
	switch k := k.(type) {
	case *Binary:
		return k.Past
	case *Unary:
		return k.Past
	case *where:
		return k.Past
	}
	return nil
}

// ExceedsCache reports whether an operand is contiguous and so large that it is written past the cache.
//
//go:noinline
func ExceedsCache(o *device.Operand) bool {
	return o.IsContiguous() && o.Numel()*o.DType.Size() >= StreamFrom
}

// streamed is the kernel of a call whose result is written past the cache.
type streamed struct{ kernel engine.Elementwise }

// Part ends with a fence: what follows tells other threads that the part is done.
func (k streamed) Part(c *device.Call, lo, hi int64) error {
	err := k.kernel.Part(c, lo, hi)
	nontemporal.Fence()
	return err
}

// stream makes the kernel that writes past the cache, for scalars as well.
func (k *Binary) stream(f nontemporal.Loop) {
	past := *k
	past.Vv = streamedRows(f, k.Vv, false, false)
	if k.vs != nil {
		past.vs = streamedRows(f, k.vs, false, true)
	}
	if k.Sv != nil {
		past.Sv = streamedRows(f, k.Sv, true, false)
	}
	k.Past = &past
}

// stream makes the kernel that writes past the cache. The loop may read a second operand, which is 0.
// SAFETY: see streamedRows; k.f is a function of rows that needs no call.
func (k *Unary) stream(f nontemporal.Loop) {
	past, zero := *k, new(uint64)
	rows := streamedRows(f, func(dst, a, _ unsafe.Pointer, n int64) { k.F(nil, dst, a, n) }, false, true)
	past.F = func(_ *device.Call, dst, src unsafe.Pointer, n int64) { rows(dst, src, unsafe.Pointer(zero), n) }
	k.Past = &past
}

// streamedRows writes whole lines of the cache past it, and the elements before and behind these as rows does. Either operand may be
// one element.
// SAFETY: see slice. Nothing is addressed behind the last element.
//
//go:noinline
func streamedRows(f nontemporal.Loop, rows PairRows, scalarA, scalarB bool) PairRows {
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
			var sameA, sameB [nontemporal.LineBytes / 8]uint64
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
	before := int64(-uintptr(dst) % nontemporal.LineBytes)
	if before%size != 0 { // no element begins with a line
		return n, 0
	}
	head = min(n, before/size)
	return head, (n - head) &^ (nontemporal.LineBytes/size - 1)
}

// repeatedIn fills a line with an element of 4 or 8 bytes.
// SAFETY: see slice.
func repeatedIn(line *[nontemporal.LineBytes / 8]uint64, element unsafe.Pointer, size int64) unsafe.Pointer {
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
