package host

import (
	"math"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Pools work on planes, one channel of one image each: a plane is never split between threads, so that sums into it are
// always in one order. Floats of 16 bits are staged as float32, and integers, which max_unpool alone has, as int64: loops of their own
// would make the library 35 KB larger.

// pool is the kernel of an operator for planes whose elements are computed in T.
type pool[T number] struct {
	stager
	lowest T // the smallest finite number of the dtype of the elements
	larger func(dst, a, b []T)
	plane  func(j *pooling[T], image, channel int64, s *poolScratch) error
	jobs   sync.Pool
}

// poolScratch is the memory of one thread.
type poolScratch struct {
	ranges   [op.MaxSpatial][]span // of all windows, by axis
	measured bool                  // ranges are those of the call
	sums     []float64             // a plane
	places   []int64               // of a block of windows
	taps     []vec.Tap             // of windows that see the same number of lines
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
	for id, plane := range map[op.ID]func(*pooling[T], int64, int64, *poolScratch) error{
		op.IDMaxPool: maxPlane[T], op.IDAvgPool: meanPlane[T], op.IDAvgUnpool: spreadPlane[T],
	} {
		k := newPool(d, in, plane)
		k.lowest, k.larger = T(lowest[d]), vec.RowsOf[T](vec.Max).VV
		register(id, d, k)
	}
}

// lowest are the smallest finite numbers: what the largest of nothing is.
var lowest = map[dtype.DType]float64{
	dtype.Float16: -65504, dtype.BFloat16: -0x1.FEp127, dtype.Float32: -math.MaxFloat32, dtype.Float64: -math.MaxFloat64,
}

// registerUnpool adds the kernel of max_unpool, which moves elements of any dtype.
func registerUnpool[T number](d, in dtype.DType) {
	register(op.IDMaxUnpool, d, newPool(d, in, placePlane[T]))
}

func newPool[T number](d, in dtype.DType, plane func(*pooling[T], int64, int64, *poolScratch) error) *pool[T] {
	return &pool[T]{stager: stager{in, d == in}, plane: plane}
}

// pooling is one call.
type pooling[T number] struct {
	*pool[T]
	poolWindows
	x, y     image[T]
	places   image[int64] // the indices; of max_pool the layout alone where they are int32
	places32 []int32
	narrow   bool // indices are int32
	unread   bool // nothing reads the indices
	add      bool
	staging
}

// stager is what a pool does whatever T is: it is there once, and not for each T.
type stager struct {
	dtype  dtype.DType // of T
	native bool        // elements are of that dtype
}

// cost takes an element of a window for an addition and a half.
func (k stager) cost(c *device.Call) int64 {
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

// workspace has room for the elements of both sides as elements of T.
func (k stager) workspace(c *device.Call) int64 {
	if k.native {
		return 0
	}
	return k.room(&c.In[0]) + k.room(&c.Out[0])
}

// room is what an operand takes as elements of T.
func (k stager) room(o *device.Operand) int64 { return roundUp(o.Numel() * k.dtype.Size()) }

// stage makes the operands ones of elements of T, in the workspace where they are not, and copies the input there.
func (k stager) stage(t *threads, c *device.Call, s *staging, x, y *device.Operand) error {
	*x, *y = c.In[0], c.Out[0]
	if k.native {
		return nil
	}
	if c.Workspace == nil {
		return status.Errorf(status.Internal, "[pool] got no workspace; want %d bytes", k.workspace(c))
	}
	// SAFETY: the workspace has room for both; see workspace.
	*x = device.Operand{Addr: c.Workspace, DType: k.dtype, Layout: shape.Contiguous(x.Shape)}
	*y = device.Operand{Addr: unsafe.Add(c.Workspace, k.room(x)), DType: k.dtype, Layout: shape.Contiguous(y.Shape)}
	if x.Numel() == 0 {
		return nil
	}
	return s.copy(t, &c.In[0], x)
}

// run stages what has to be, pools planes, and converts the result.
func (k *pool[T]) run(t *threads, c *device.Call) error {
	j, _ := k.jobs.Get().(*pooling[T])
	if j == nil {
		j = &pooling[T]{pool: k}
	}
	defer k.jobs.Put(j)
	if err := j.read(c); err != nil {
		return err
	}
	var x, y device.Operand
	if err := k.stage(t, c, &j.staging, &x, &y); err != nil {
		return err
	}
	j.open(c, &x, &y)
	if narrow, ok := any(j).(*pooling[float32]); ok && k.native && deep(c, &x, &y) {
		work := (*deepPooling)(narrow)
		return t.each(work, c, work.lines(), k.cost(c))
	}
	planes := j.y.batch * j.y.channels
	if err := t.each(j, c, planes, k.cost(c)); err != nil || k.native {
		return err
	}
	return j.copy(t, &y, &c.Out[0])
}

// poolWindows are the windows of a call. They move along the axes of images, three in any case.
type poolWindows struct{ windows op.Windows }

// read reads the attributes of a call.
func (p *poolWindows) read(c *device.Call) error {
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, c.In[0].Rank-2)
	if err != nil {
		return err
	}
	p.windows = w
	p.windows.Axes = op.MaxSpatial
	p.windows.Kernel, p.windows.Stride = spatial(w.Kernel, w.Axes, 1), spatial(w.Stride, w.Axes, 1)
	p.windows.Before, p.windows.Behind = spatial(w.Before, w.Axes, 0), spatial(w.Behind, w.Axes, 0)
	return nil
}

// The operands of a call are looked at once, before the threads begin; a plane then needs two additions to be found.
//
// open reads the operands.
func (j *pooling[T]) open(c *device.Call, x, y *device.Operand) {
	j.x.open(x)
	j.y.open(y)
	switch c.Op {
	case op.IDMaxUnpool:
		j.places.open(&c.In[1])
		j.add = c.Attrs[op.MaxUnpoolAdd].I != 0
	case op.IDMaxPool:
		if j.unread = c.Out[1].Absent(); j.unread {
			return
		}
		if j.narrow = c.Out[1].DType == dtype.Int32; j.narrow {
			var narrow image[int32]
			narrow.open(&c.Out[1])
			j.places32 = narrow.data
			j.places = image[int64]{planes: narrow.planes}
		} else {
			j.places.open(&c.Out[1])
		}
	}
}

// part does planes lo to hi-1.
func (j *pooling[T]) part(_ *device.Call, lo, hi int64) error {
	s := poolScratches.Get().(*poolScratch)
	defer poolScratches.Put(s)
	s.measured = false
	for ; lo < hi; lo++ {
		if err := j.plane(j, lo/j.y.channels, lo%j.y.channels, s); err != nil {
			return err
		}
	}
	return nil
}

// Windows repeat from plane to plane and from axis to axis, so that each axis is measured once for all planes of a thread.

// measure finds where all windows lie on a plane.
func (j *pooling[T]) measure(s *poolScratch, windows, plane *[op.MaxSpatial]int64) {
	if s.measured {
		return
	}
	s.measured = true
	for axis := range windows {
		s.ranges[axis] = grown(s.ranges[axis], windows[axis])
		for i := range s.ranges[axis] {
			low, high, share := j.windows.Range(axis, int64(i), plane[axis])
			s.ranges[axis][i] = span{low, high, share}
		}
	}
}

// start is the index of the first element of a plane.
func (p *planes) start(img, channel int64) int64 {
	return p.origin + img*p.perImage + channel*p.perChannel
}

// poolRows are the lines of a plane that a window touches.
type poolRows struct{ fromA, toA, fromB, toB int64 }

func rowsOf(a, b *span) poolRows { return poolRows{a.low, a.high, b.low, b.high} }

// offset is how far an element of a plane is from its first.
func (p *planes) offset(at *[op.MaxSpatial]int64) int64 {
	return at[0]*p.strides[0] + at[1]*p.strides[1] + at[2]*p.strides[2]
}

// element is offset for an element of any plane by its number. Planes with holes are rare: it is not inlined for the size of the library.
//
//go:noinline
func (p *planes) element(number int64) int64 {
	c := cursorAt(&p.dims, number)
	return p.offset(&c.at)
}

// meanPlane is avg_pool of a plane. The divisor is a product of whole numbers, and as in Paddle it may be 0 or less for a
// window without elements.
func meanPlane[T float32 | float64](j *pooling[T], img, channel int64, s *poolScratch) error {
	j.measure(s, &j.y.dims, &j.x.dims)
	from, to := j.x.start(img, channel), j.y.start(img, channel)
	for a, ra := range s.ranges[0] {
		for b, rb := range s.ranges[1] {
			for c, rc := range s.ranges[2] {
				mean := j.sum(from, ra, rb, rc) / float64(ra.share*rb.share*rc.share)
				j.y.data[to+int64(a)*j.y.strides[0]+int64(b)*j.y.strides[1]+int64(c)*j.y.strides[2]] = T(mean)
			}
		}
	}
	return nil
}

// sum adds the elements of a window up.
func (j *pooling[T]) sum(from int64, ra, rb, rc span) (sum float64) {
	for a := ra.low; a < ra.high; a++ {
		for b := rb.low; b < rb.high; b++ {
			i := from + a*j.x.strides[0] + b*j.x.strides[1] + rc.low*j.x.strides[2]
			for range rc.high - rc.low {
				sum += float64(j.x.data[i])
				i += j.x.strides[2]
			}
		}
	}
	return sum
}

// Sums are kept in float64 until all windows have been added and are rounded once, as the means of avg_pool are. Windows
// are added in their order.

// spreadPlane is avg_unpool of a plane: x is what windows made, and y what they lie on.
func spreadPlane[T float32 | float64](j *pooling[T], img, channel int64, s *poolScratch) error {
	j.measure(s, &j.x.dims, &j.y.dims)
	s.sums = grown(s.sums, j.y.plane())
	clear(s.sums)
	from := j.x.start(img, channel)
	for a, ra := range s.ranges[0] {
		for b, rb := range s.ranges[1] {
			for c, rc := range s.ranges[2] {
				at := [op.MaxSpatial]int64{int64(a), int64(b), int64(c)}
				share := float64(j.x.data[from+j.x.offset(&at)]) / float64(ra.share*rb.share*rc.share)
				spread(s.sums, share, &j.y.dims, ra, rb, rc)
			}
		}
	}
	to := j.y.start(img, channel)
	if j.y.flat() {
		y := j.y.data[to:][:len(s.sums)]
		for i, sum := range s.sums {
			y[i] = T(sum)
		}
		return nil
	}
	for i, sum := range s.sums {
		j.y.data[to+j.y.element(int64(i))] = T(sum)
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
func placePlane[T number](j *pooling[T], img, channel int64, _ *poolScratch) error {
	from, to, indices := j.x.start(img, channel), j.y.start(img, channel), &j.places
	if j.x.plane() > 0 && j.x.flat() && j.y.flat() && indices.flat() {
		y := j.y.data[to:][:j.y.plane()]
		clear(y)
		return placeFlat(y, j.x.data[from:][:j.x.plane()], indices.data[indices.start(img, channel):], j.add)
	}
	for i := range j.y.plane() {
		j.y.data[to+j.y.element(i)] = 0
	}
	for i := range j.x.plane() {
		number := indices.data[indices.start(img, channel)+indices.element(i)]
		if number < 0 || number >= j.y.plane() {
			return outside(number, j.y.plane())
		}
		v := j.x.data[from+j.x.element(i)]
		if element := &j.y.data[to+j.y.element(number)]; j.add {
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
func placeFlat[T number](y, x []T, indices []int64, add bool) error {
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
