// Package pool holds the pools: means, maxima with their places, and the gradients of both.
package pool

import (
	"math"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Pools work on planes, one channel of one image each: a plane is never split between threads, so that sums into it are
// always in one order. Floats of 16 bits are staged as float32, and integers, which max_unpool alone has, as int64: loops of their own
// would make the library 35 KB larger.

// Pool is the kernel of an operator for planes whose elements are computed in T.
type Pool[T engine.Number] struct {
	stager
	lowest T // the smallest finite number of the dtype of the elements
	Larger func(dst, a, b []T)
	plane  func(j *Pooling[T], image, channel int64, s *poolScratch) error
	jobs   sync.Pool
}

// poolScratch is the memory of one thread.
type poolScratch struct {
	ranges   [op.MaxSpatial][]span // of all windows, by axis
	measured bool                  // ranges are those of the call
	sums     []float64             // a plane
	places   []int64               // of a block of windows
	taps     []stencil.Tap         // of windows that see the same number of lines
	ones     []float32             // a one for each channel
}

var poolScratches = sync.Pool{New: func() any { return new(poolScratch) }}

// span is where a window lies on an axis; see op.Windows.Range.
type span struct{ low, high, share int64 }

// Sums and quotients are computed in float64 and rounded once.
func init() {
	registerPools[float32](dtype.Float16, dtype.Float32)
	registerPools[float32](dtype.BFloat16, dtype.Float32)
	registerPools[float32](dtype.Float32, dtype.Float32)
	registerPools[float64](dtype.Float64, dtype.Float64)
	registerUnpool[float32](dtype.Float16, dtype.Float32)
	registerUnpool[float32](dtype.BFloat16, dtype.Float32)
	registerUnpool[float32](dtype.Float32, dtype.Float32)
	registerUnpool[float64](dtype.Float64, dtype.Float64)
	for _, d := range []dtype.DType{dtype.Uint8, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64} {
		registerUnpool[int64](d, dtype.Int64) // sums of which wrap around in fewer bits as well
	}
}

// registerPools adds the kernels of floats of dtype d that are computed in T, whose dtype is in.
func registerPools[T float32 | float64](d, in dtype.DType) {
	for id, plane := range map[op.ID]func(*Pooling[T], int64, int64, *poolScratch) error{
		op.IDMaxPool: maxPlane[T], op.IDAvgPool: meanPlane[T], op.IDAvgUnpool: spreadPlane[T],
	} {
		k := newPool(d, in, plane)
		k.lowest, k.Larger = T(lowest[d]), arith.RowsOf[T](arith.Max).VV
		engine.Register(id, d, k)
	}
}

// lowest are the smallest finite numbers: what the largest of nothing is.
var lowest = map[dtype.DType]float64{
	dtype.Float16: -65504, dtype.BFloat16: -0x1.FEp127, dtype.Float32: -math.MaxFloat32, dtype.Float64: -math.MaxFloat64,
}

// registerUnpool adds the kernel of max_unpool, which moves elements of any dtype.
func registerUnpool[T engine.Number](d, in dtype.DType) {
	engine.Register(op.IDMaxUnpool, d, newPool(d, in, placePlane[T]))
}

func newPool[T engine.Number](d, in dtype.DType, plane func(*Pooling[T], int64, int64, *poolScratch) error) *Pool[T] {
	return &Pool[T]{stager: stager{in, d == in}, plane: plane}
}

// Pooling is one call.
type Pooling[T engine.Number] struct {
	*Pool[T]
	poolWindows
	X, y     window.Image[T]
	places   window.Image[int64] // the indices; of max_pool the layout alone where they are int32
	places32 []int32
	narrow   bool // indices are int32
	unread   bool // nothing reads the indices
	add      bool
	elem.Staging
}

// stager is what a pool does whatever T is: it is there once, and not for each T.
type stager struct {
	dtype  dtype.DType // of T
	native bool        // elements are of that dtype
}

// Cost takes an element of a window for an addition and a half.
func (k stager) Cost(c *device.Call) int64 {
	cost := max(c.In[0].Numel(), c.Out[0].Numel())
	if i := op.ByID(c.Op).AttrIndex("kernel_size"); i >= 0 {
		under := min(c.In[0].Numel(), c.Out[0].Numel())
		for _, n := range c.Attrs[i].Ints {
			under *= min(n, 1<<10)
		}
		cost = max(cost, under)
	}
	return cost + cost/2
}

// Workspace has room for the elements of both sides as elements of T.
func (k stager) Workspace(c *device.Call) int64 {
	if k.native {
		return 0
	}
	return k.room(&c.In[0]) + k.room(&c.Out[0])
}

// room is what an operand takes as elements of T.
func (k stager) room(o *device.Operand) int64 { return engine.RoundUp(o.Numel() * k.dtype.Size()) }

// stage makes the operands ones of elements of T, in the workspace where they are not, and copies the input there.
func (k stager) stage(t *engine.Threads, c *device.Call, s *elem.Staging, x, y *device.Operand) error {
	*x, *y = c.In[0], c.Out[0]
	if k.native {
		return nil
	}
	if c.Workspace == nil {
		return status.Errorf(status.Internal, "[pool] got no workspace; want %d bytes", k.Workspace(c))
	}
	// SAFETY: the workspace has room for both; see workspace.
	*x = device.Operand{Addr: c.Workspace, DType: k.dtype, Layout: shape.Contiguous(x.Shape)}
	*y = device.Operand{Addr: unsafe.Add(c.Workspace, k.room(x)), DType: k.dtype, Layout: shape.Contiguous(y.Shape)}
	if x.Numel() == 0 {
		return nil
	}
	return s.Copy(t, &c.In[0], x)
}

// Run stages what has to be, pools planes, and converts the result.
func (k *Pool[T]) Run(t *engine.Threads, c *device.Call) error {
	j, _ := k.jobs.Get().(*Pooling[T])
	if j == nil {
		j = &Pooling[T]{Pool: k}
	}
	defer k.jobs.Put(j)
	if err := j.read(c); err != nil {
		return err
	}
	var x, y device.Operand
	if err := k.stage(t, c, &j.Staging, &x, &y); err != nil {
		return err
	}
	j.open(c, &x, &y)
	if narrow, ok := any(j).(*Pooling[float32]); ok && k.native && isChannelsLast(c, &x, &y) {
		work := (*deepPooling)(narrow)
		return t.Each(work, c, work.lines(), k.Cost(c))
	}
	planes := j.y.Batch * j.y.Channels
	if err := t.Each(j, c, planes, k.Cost(c)); err != nil || k.native {
		return err
	}
	return j.Copy(t, &y, &c.Out[0])
}

// poolWindows are the windows of a call. They move along the axes of images, three in any case.
type poolWindows struct{ Windows op.Windows }

func (p *poolWindows) read(c *device.Call) error {
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, c.In[0].Rank-2)
	if err != nil {
		return err
	}
	p.Windows = w
	p.Windows.Axes = op.MaxSpatial
	p.Windows.Kernel, p.Windows.Stride = window.Spatial(w.Kernel, w.Axes, 1), window.Spatial(w.Stride, w.Axes, 1)
	p.Windows.Before, p.Windows.Behind = window.Spatial(w.Before, w.Axes, 0), window.Spatial(w.Behind, w.Axes, 0)
	return nil
}

// The operands of a call are looked at once, before the threads begin; a plane then needs two additions to be found.
//
// open reads the operands.
func (j *Pooling[T]) open(c *device.Call, x, y *device.Operand) {
	j.X.Open(x)
	j.y.Open(y)
	switch c.Op {
	case op.IDMaxUnpool:
		j.places.Open(&c.In[1])
		j.add = c.Attrs[op.MaxUnpoolAdd].I != 0
	case op.IDMaxPool:
		if j.unread = c.Out[1].Absent(); j.unread {
			return
		}
		if j.narrow = c.Out[1].DType == dtype.Int32; j.narrow {
			var narrow window.Image[int32]
			narrow.Open(&c.Out[1])
			j.places32 = narrow.Data
			j.places = window.Image[int64]{Planes: narrow.Planes}
		} else {
			j.places.Open(&c.Out[1])
		}
	}
}

// Part does planes lo to hi-1.
func (j *Pooling[T]) Part(_ *device.Call, lo, hi int64) error {
	s := poolScratches.Get().(*poolScratch)
	defer poolScratches.Put(s)
	s.measured = false
	for ; lo < hi; lo++ {
		if err := j.plane(j, lo/j.y.Channels, lo%j.y.Channels, s); err != nil {
			return err
		}
	}
	return nil
}

// Windows repeat from plane to plane and from axis to axis, so that each axis is measured once for all planes of a thread.

// measure finds where all windows lie on a plane.
func (j *Pooling[T]) measure(s *poolScratch, windows, plane *[op.MaxSpatial]int64) {
	if s.measured {
		return
	}
	s.measured = true
	for axis := range windows {
		s.ranges[axis] = window.Grown(s.ranges[axis], windows[axis])
		for i := range s.ranges[axis] {
			low, high, share := j.Windows.Range(axis, int64(i), plane[axis])
			s.ranges[axis][i] = span{low, high, share}
		}
	}
}

// PoolRows are the lines of a plane that a window touches.
type PoolRows struct{ FromA, ToA, FromB, ToB int64 }

func rowsOf(a, b *span) PoolRows { return PoolRows{a.low, a.high, b.low, b.high} }

// meanPlane is avg_pool of a plane. The divisor is a product of whole numbers, and as in Paddle it may be 0 or less for a
// window without elements.
func meanPlane[T float32 | float64](j *Pooling[T], img, channel int64, s *poolScratch) error {
	j.measure(s, &j.y.Dims, &j.X.Dims)
	from, to := j.X.Start(img, channel), j.y.Start(img, channel)
	for a, ra := range s.ranges[0] {
		for b, rb := range s.ranges[1] {
			for c, rc := range s.ranges[2] {
				mean := j.sum(from, ra, rb, rc) / float64(ra.share*rb.share*rc.share)
				j.y.Data[to+int64(a)*j.y.Strides[0]+int64(b)*j.y.Strides[1]+int64(c)*j.y.Strides[2]] = T(mean)
			}
		}
	}
	return nil
}

// sum adds the elements of a window up.
func (j *Pooling[T]) sum(from int64, ra, rb, rc span) (sum float64) {
	for a := ra.low; a < ra.high; a++ {
		for b := rb.low; b < rb.high; b++ {
			i := from + a*j.X.Strides[0] + b*j.X.Strides[1] + rc.low*j.X.Strides[2]
			for range rc.high - rc.low {
				sum += float64(j.X.Data[i])
				i += j.X.Strides[2]
			}
		}
	}
	return sum
}

// Sums are kept in float64 until all windows have been added and are rounded once, as the means of avg_pool are. Windows
// are added in their order.

// spreadPlane is avg_unpool of a plane: x is what windows made, and y what they lie on.
func spreadPlane[T float32 | float64](j *Pooling[T], img, channel int64, s *poolScratch) error {
	j.measure(s, &j.X.Dims, &j.y.Dims)
	s.sums = window.Grown(s.sums, j.y.Plane())
	clear(s.sums)
	from := j.X.Start(img, channel)
	for a, ra := range s.ranges[0] {
		for b, rb := range s.ranges[1] {
			for c, rc := range s.ranges[2] {
				at := [op.MaxSpatial]int64{int64(a), int64(b), int64(c)}
				share := float64(j.X.Data[from+j.X.Offset(&at)]) / float64(ra.share*rb.share*rc.share)
				spread(s.sums, share, &j.y.Dims, ra, rb, rc)
			}
		}
	}
	to := j.y.Start(img, channel)
	if j.y.Flat() {
		y := j.y.Data[to:][:len(s.sums)]
		for i, sum := range s.sums {
			y[i] = T(sum)
		}
		return nil
	}
	for i, sum := range s.sums {
		j.y.Data[to+j.y.Element(int64(i))] = T(sum)
	}
	return nil
}

// spread adds a number to all elements under a window.
func spread(sums []float64, v float64, dims *[op.MaxSpatial]int64, ra, rb, rc span) {
	if rc.low >= rc.high {
		return
	}
	for a := ra.low; a < ra.high; a++ {
		for b := rb.low; b < rb.high; b++ {
			line := sums[(a*dims[1]+b)*dims[2]:]
			for c := rc.low; c < rc.high; c++ {
				line[c] += v
			}
		}
	}
}

// placePlane is max_unpool of a plane. Elements are placed in their order: without add the last one for a place stays, and
// with it sums are rounded in the same order each time. Halves are added in float32 and rounded at the end.
func placePlane[T engine.Number](j *Pooling[T], img, channel int64, _ *poolScratch) error {
	from, to, indices := j.X.Start(img, channel), j.y.Start(img, channel), &j.places
	if j.X.Plane() > 0 && j.X.Flat() && j.y.Flat() && indices.Flat() {
		y := j.y.Data[to:][:j.y.Plane()]
		clear(y)
		return placeFlat(y, j.X.Data[from:][:j.X.Plane()], indices.Data[indices.Start(img, channel):], j.add)
	}
	for i := range j.y.Plane() {
		j.y.Data[to+j.y.Element(i)] = 0
	}
	for i := range j.X.Plane() {
		number := indices.Data[indices.Start(img, channel)+indices.Element(i)]
		if number < 0 || number >= j.y.Plane() {
			return outside(number, j.y.Plane())
		}
		v := j.X.Data[from+j.X.Element(i)]
		if element := &j.y.Data[to+j.y.Element(number)]; j.add {
			*element += v
		} else {
			*element = v
		}
	}
	return nil
}

// Planes without holes, which most are, need neither cursors nor strides.

// placeFlat puts elements of x where indices say, in planes whose elements lie one behind the other. An index is read once:
// another thread may change it.
func placeFlat[T engine.Number](y, x []T, indices []int64, add bool) error {
	indices = indices[:len(x)]
	for i, v := range x {
		number := indices[i]
		if uint64(number) >= uint64(len(y)) {
			return outside(number, int64(len(y)))
		}
		if add {
			y[number] += v
		} else {
			y[number] = v
		}
	}
	return nil
}

// outside is the error of an index that names no element of a plane.
func outside(number, plane int64) error {
	return status.Errorf(status.Index, "[max_unpool] an index is %d; want 0 to %d", number, plane-1)
}
