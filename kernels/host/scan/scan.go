// Package scan holds the kernels that replace each line along an axis by a function of the whole line: cumulative sums and
// products, softmax, and normalization of layers.
package scan

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// scan is an operator along one axis: f replaces each line of values by its result. An operator of this kind only supplies f:
// scan reads lines of any layout and divides them among the threads. It knows values by their addresses and their size, so
// that it is compiled once and not for each type.
type scan struct {
	engine.Coding
	size   int64 // bytes of a value
	weight int64 // of an element in additions
	f      func(line unsafe.Pointer, n int64)
	lines  sync.Pool // of *[]uint64, for whole lines, which may be long
	zero   uint64    // see running, of whose functions these have no types
	beside func(as, row unsafe.Pointer, n int64)
	direct func(dst, src unsafe.Pointer, n int64)

	directBeside func(as, dst, src unsafe.Pointer, n int64)
}

// running is how a scan of values of type C goes from element to element, where an operator knows that: lines that lie beside
// each other are then computed together, in the order in which they lie in memory. What is nil an operator lacks.
type running[C any] struct {
	// beside puts an element of each line behind what has accumulated of it: row becomes the result, as accumulators do.
	zero   C
	beside func(as, row []C)
	// Both again on elements as they are, without a codec: for a line, and for n neighbours.
	direct       func(dst, src unsafe.Pointer, n int64)
	directBeside func(as, dst, src unsafe.Pointer, n int64)
}

// newScan makes a kernel of functions of values of type C.
// SAFETY: see slice; a value has 8 bytes at most and holds no pointers.
func newScan[C any](in engine.Coding, weight int64, f func(line []C), r running[C]) *scan {
	k := &scan{Coding: in, size: int64(unsafe.Sizeof(r.zero)), weight: weight, direct: r.direct, directBeside: r.directBeside}
	*(*C)(unsafe.Pointer(&k.zero)) = r.zero
	k.f = func(line unsafe.Pointer, n int64) { f(engine.Slice[C](line, n)) }
	if beside := r.beside; beside != nil { // captured by itself, as in reduce
		k.beside = func(as, row unsafe.Pointer, n int64) { beside(engine.Slice[C](as, n), engine.Slice[C](row, n)) }
	}
	return k
}

// registerScanFloats registers an operator for all floats, computed in float64 and rounded once. The direct functions of r
// are for float32.
func registerScanFloats(id op.ID, weight int64, f func(line []float64), r running[float64]) {
	engine.Register(id, dtype.Float32, newScan(elem.Float64Codec().Coding, weight, f, r))
	r.direct, r.directBeside = nil, nil
	engine.Register(id, dtype.Float16, newScan(engine.Half64Codec(dtype.Float16).Coding, weight, f, r))
	engine.Register(id, dtype.BFloat16, newScan(engine.Half64Codec(dtype.BFloat16).Coding, weight, f, r))
	engine.Register(id, dtype.Float64, newScan(engine.Plain, weight, f, r))
}

// registerScan registers an operator for a dtype that it is computed in.
func registerScan[T engine.Integer](id op.ID, d dtype.DType, weight int64, f func(line []T), r running[T]) {
	engine.Register(id, d, newScan(engine.Plain, weight, f, r))
}

// Cost is in additions, as weight is.
func (k *scan) Cost(c *device.Call) int64 { return k.weight * c.Out[0].Numel() }

// Workspace is nothing: a line is read and written by blocks.
func (k *scan) Workspace(*device.Call) int64 { return 0 }

// Run gives each thread whole lines, as many as are worth a thread: a line is never split, because f needs all
// of it at once.
func (k *scan) Run(t *engine.Threads, c *device.Call) error {
	return t.Each(k, c, c.Out[0].Numel()/engine.LengthAlong(c), k.Cost(c))
}

// Part scans lines lo to hi-1, numbered in row-major order of the other axes. A line is read as a whole before any of
// it is written, so the output may be the operand itself.
// SAFETY: the room is this part's until it is put back, and holds a line.
func (k *scan) Part(c *device.Call, lo, hi int64) error {
	length := engine.LengthAlong(c)
	x, y := engine.NewLines(c, &c.In[0], lo), engine.NewLines(c, &c.Out[0], lo)
	if k.beside != nil && besides(&x, &y) {
		k.columns(&x, &y, hi-lo)
		return nil
	}
	if k.direct != nil && x.Along.IsContiguous() && y.Along.IsContiguous() {
		for ; lo < hi; lo++ {
			k.direct(y.Across.Here(), x.Across.Here(), length)
			x.Across.Skip(1)
			y.Across.Skip(1)
		}
		return nil
	}
	if k.Read == nil && k.Write == nil && x.Along.IsContiguous() && y.Along.IsContiguous() {
		// Lines that lie in memory as the values themselves are computed where the result lies, without room of their
		// own. The copy comes first, so that a result in place of the operand is one too.
		for ; lo < hi; lo++ {
			line := y.Across.Here()
			engine.MoveStrided(line, x.Across.Here(), k.size, k.size, k.size, length)
			k.f(line, length)
			x.Across.Skip(1)
			y.Across.Skip(1)
		}
		return nil
	}
	room := engine.RoomOf[uint64](&k.lines, (length*k.size+7)/8)
	defer k.lines.Put(room)
	f := engine.NewFrame()
	defer f.Free()
	var from, to engine.Access
	from.Open(&x.Along, &k.Coding, k.size, f)
	to.Open(&y.Along, &k.Coding, k.size, f)
	values := unsafe.Pointer(unsafe.SliceData(*room))
	for ; lo < hi; lo++ {
		from.Copy(values, x.Across.Here(), length) // f writes over them
		k.f(values, length)
		to.Write(y.Across.Here(), values, length)
		x.Across.Skip(1)
		y.Across.Skip(1)
	}
	return nil
}

// besides reports whether neighbouring lines of operand and result lie closer together than the elements of one.
func besides(x, y *engine.Lines) bool {
	w, v := &x.Across, &y.Across
	return x.Along.Numel() > 1 && w.Strides[w.Rank-1] == w.Size && v.Strides[v.Rank-1] == v.Size &&
		w.Dims[w.Rank-1] >= 8 && v.Dims[v.Rank-1] >= 8 && engine.Abs(x.Along.Strides[0]) > 1 && engine.Abs(y.Along.Strides[0]) > 1
}

// columns scans n lines in runs of neighbours: an element of each line of a run, then the next. A line by itself would touch
// another cache line for each of its elements, and another page for each where lines are long.
//
// SAFETY: see walk.here; the rooms are the frame's, and hold no pointers.
func (k *scan) columns(x, y *engine.Lines, n int64) {
	f := engine.NewFrame()
	defer f.Free()
	const buffers = 4 // see reduction.columns
	as, values := f.Stretch(buffers), f.Room()
	from, to, length := &x.Across, &y.Across, x.Along.Numel()
	most := buffers * int64(unsafe.Sizeof(engine.Buffer{})) / k.size
	if k.directBeside == nil {
		most = engine.Block
	}
	for n > 0 {
		m := to.Run(from.Run(min(n, most)))
		engine.MoveStrided(as, unsafe.Pointer(&k.zero), k.size, 0, k.size, m)
		for at := range length {
			src := unsafe.Add(from.Here(), at*x.Along.Strides[0]*from.Size)
			dst := unsafe.Add(to.Here(), at*y.Along.Strides[0]*to.Size)
			if k.directBeside != nil {
				k.directBeside(as, dst, src, m)
			} else {
				k.step(as, values, dst, src, m)
			}
		}
		from.Skip(m)
		to.Skip(m)
		n -= m
	}
}

// step is running.beside of n elements through the coding, with row as room.
// SAFETY: see columns.
func (k *scan) step(as, row, dst, src unsafe.Pointer, n int64) {
	if k.Read == nil {
		engine.MoveStrided(row, src, k.size, k.size, k.size, n)
	} else {
		k.Read(row, src, n)
	}
	k.beside(as, row, n)
	if k.Write == nil {
		engine.MoveStrided(dst, row, k.size, k.size, k.size, n)
	} else {
		k.Write(dst, row, n)
	}
}
