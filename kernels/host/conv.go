package host

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Convolutions are matrix products. A weight of one group is a matrix of output channels times the elements under a
// window; the other matrix has a column for each window, and is never in memory. Its row for a channel and an element of
// the kernel is the channel itself, padded and shifted: see convstrip.go.
//
// conv_transpose is several such products, one for each phase of its result: elements of the result whose distance is
// the stride see the same elements of the kernel, and no others. A phase is a convolution of stride 1.
//
// Every element of a result is the sum over ascending rows of that matrix, whatever thread or strip it falls in. Convolutions of 3 x 3
// elements and many channels are the exception: see convwinograd.go.

// convolution is the kernel of one of the three operators for images whose elements are computed in T.
type convolution[T float32 | float64] struct {
	dtype  dtype.DType                           // of T
	native bool                                  // elements are of that dtype
	plan   func(j *convolving[T], w *op.Windows) // says how the product is cut
	known  []T                                   // the weights packed, where they were known when the kernel was made
	right  *vec.Right                            // likewise, as the right operand: see convrows.go
	byRows bool                                  // images have their channels last in memory: see convrows.go
	jobs   sync.Pool
}

// Halves are multiplied in float32 and rounded once at the end.
func init() {
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32} {
		registerConvolutions[float32](d, dtype.Float32)
	}
	registerConvolutions[float64](dtype.Float64, dtype.Float64)
}

// The plans differ and all else is shared: what is staged, how blocks are gathered, and what multiplies them.

// registerConvolutions adds the kernels of elements of dtype d that are computed in T, whose dtype is in.
func registerConvolutions[T float32 | float64](d, in dtype.DType) {
	for id, plan := range map[op.ID]func(*convolving[T], *op.Windows){
		op.IDConv: planForward[T], op.IDConvTranspose: planBack[T], op.IDConvWeight: planWeight[T],
	} {
		register(id, d, &convolution[T]{dtype: in, native: d == in, plan: plan})
	}
	if d == in {
		registry.Add(variant{
			Op: op.IDConv, DTypes: dtype.SetOf(d), Priority: kernels.Special, Accepts: knownFilter[T],
			Make: func(_ *Device, c *device.Call, _ uint64) (kernel, error) {
				return &convolution[T]{dtype: in, native: true, plan: planForward[T], known: packFilter[T](c)}, nil
			},
		})
	}
}

// knownFilter takes convolutions whose weight is a constant that is worth packing. No operand of a call is a constant, so
// calls never share a kernel that has been made for one.
func knownFilter[T float32 | float64](_ *Device, c *device.Call) (uint64, bool) {
	weight := &c.In[right]
	return 0, isFilter(weight) && isPacked[T](resultRows(c))
}

// isPacked reports whether a product of so many rows reads its weight packed, and not where it lies.
func isPacked[T float32 | float64](rows int64) bool {
	return rows >= int64(vec.FewRows[T]()) && vec.PanelRows[T]() > 1
}

// isFilter reports whether the weight of a convolution is known, and its elements are in their order.
func isFilter(weight *device.Operand) bool {
	return weight.Const != nil && weight.IsContiguous() && weight.Numel() > 0
}

// packFilter lays out a constant weight as each call would.
// SAFETY: the layout of the operand lies in its Const.
func packFilter[T float32 | float64](c *device.Call) []T {
	weight, rows := &c.In[right], resultRows(c)
	from := unsafe.Slice((*T)(unsafe.Pointer(&weight.Const[0])), weight.Numel())
	groups := weight.Dims[0] / rows
	terms := weight.Numel() / weight.Dims[0]
	size := int64(vec.LeftSize[T](int(rows), int(terms)))
	to := make([]T, groups*size)
	for g := range groups {
		packLeft(to[g*size:], from[g*rows*terms:], rows, terms)
	}
	return to
}

// packLeft is vec.PackLeft of contiguous rows. It panics where to has not the room that vec.LeftSize asks for, which
// workspace counts.
func packLeft[T float32 | float64](to, from []T, rows, terms int64) {
	if rows*terms > 0 && !vec.PackLeft(to, from, int(rows), int(terms), int(terms)) {
		panic("weights that do not fit the room for them")
	}
}

// bytes is the packed weight of a kernel that has one.
func (k *convolution[T]) bytes() int64 {
	n := int64(len(k.known)) * int64(unsafe.Sizeof(*new(T)))
	if k.right != nil {
		n += k.right.Bytes() + int64(unsafe.Sizeof(*k.right))
	}
	return n
}

// convolving is one call. It comes from a pool and is filled in by open, then read by all threads: a part of the work
// writes to its own piece of the result and to scratch memory alone.
type convolving[T float32 | float64] struct {
	conv       *convolution[T]
	all        [3]device.Operand // the operands as elements of T
	in, out    image[T]          // what is gathered from, and what is written; a weight is an image of kernels
	seen       image[T]          // the images that the weight is multiplied with in conv_weight
	shares     shares            // of conv_weight
	cutInLines lineCut[T]        // of conv_weight too
	sums       []T               // the weights of its shares of images, where there are several
	other      []T               // the weight that is read, which is contiguous
	room       unsafe.Pointer    // for weights: those of the phases of conv_transpose, and those that are packed
	threads    int
	groups     int64
	rows       int64 // of a product: output channels of a group
	channels   int64 // of one group of the image that is gathered from
	phases     []convPhase[T]
	taps       [][op.MaxSpatial]int64 // of all phases
	planes     [][op.MaxSpatial]int64 // likewise, and so are the offsets
	offsets    []int
	step       [op.MaxSpatial]int64 // distance of windows in the image
	byPads     padCut               // where images have their channels last
	planeCut   planeCut             // of depthwise convolutions
	pieces     int64
	work       splitter
	staging
	epilogue epilogue
}

// leastPlane is the number of elements of a channel from which on an epilogue pays: pieces have a part of each channel.
const leastPlane = 2048

// leads takes conv, whose windows are in the order of the result, where this is not converted. With channels last it does not
// know yet whether the weight will be a constant; see lead.
func (k *convolution[T]) leads(c *device.Call) bool {
	if k.native && c.Op == op.IDConv && k.dtype == dtype.Float32 && channelsLast(&c.Out[0]) && (c.In[left].Dims[1] == c.In[right].Dims[1] || isDepthwise(c)) {
		return c.Out[0].Numel() >= leastLed/c.Out[0].DType.Size()
	}
	if !k.native || c.Op != op.IDConv || !worthLeading(&c.Out[0]) {
		return false
	}
	return c.Out[0].Numel() >= leastPlane*c.Out[0].Dims[0]*c.Out[0].Dims[1]
}

// shortSum is the number of terms from which on a sum keeps the processor's multipliers busy.
const shortSum = 64

// cost takes eight multiply-adds for an addition, as that of matmul does, but one where sums are short, as those of depthwise
// convolutions are; and an element of the weight for one, because all are read.
func (k *convolution[T]) cost(c *device.Call) int64 {
	other := &c.In[1]
	terms := other.Numel() / max(other.Dims[0], 1) // of conv, and about that of conv_transpose
	if c.Op == op.IDConvWeight {
		terms = other.Numel() / max(other.Dims[1], 1)
	}
	if terms >= shortSum {
		return max(c.Out[0].Numel()*terms/8, other.Numel())
	}
	return max(c.Out[0].Numel()*max(terms, 1), other.Numel())
}

// staged reports whether operand i goes through the workspace: all of other dtypes do, a weight that is not contiguous, and an
// image that has its channels elsewhere than the kernel needs them.
func (k *convolution[T]) staged(c *device.Call, i int) bool {
	if k.byRows {
		return i == result && !isLast(&c.Out[0]) || i == left && !isLast(&c.In[left]) && !(k.right != nil && c.Op == op.IDConv && threeLines(&c.In[left]))
	}
	return !k.native || i == right && c.Op != op.IDConvWeight && !c.In[right].IsContiguous()
}

// workspace bounds what a run needs from the shapes, which are all that is known when it is asked.
//
// It has room for the staged operands, and for the weights of all phases together, as they are and packed.
func (k *convolution[T]) workspace(c *device.Call) (bytes int64) {
	for i := left; i <= result; i++ {
		if k.staged(c, i) {
			bytes += packedSize[T](nth(c, i))
		}
	}
	switch {
	case c.Op == op.IDConv && !k.byRows && k.dtype == dtype.Float32:
		bytes += cellBytes(c)
	case c.Op == op.IDConvTranspose && k.right == nil:
		bytes += packedSize[T](&c.In[right])
	case c.Op == op.IDConvWeight:
		bytes += shareBytes[T](c)
	}
	if rows := resultRows(c); isPacked[T](rows) && k.known == nil && k.right == nil {
		bytes += roundUp(c.In[right].Numel() / rows * (rows + int64(vec.PanelRows[T]())) * int64(unsafe.Sizeof(*new(T))))
	}
	return bytes
}

// resultRows is the number of rows of a product, the channels that a group of the result has; 0 for conv_weight, which packs
// no weight.
func resultRows(c *device.Call) int64 {
	switch weight := &c.In[right]; c.Op {
	case op.IDConv:
		return weight.Dims[0] * weight.Dims[1] / max(c.In[left].Dims[1], 1)
	case op.IDConvTranspose:
		return weight.Dims[1]
	}
	return 0
}

// packedSize is the room that an operand takes as elements of T.
func packedSize[T any](o *device.Operand) int64 {
	return roundUp(o.Numel() * int64(unsafe.Sizeof(*new(T))))
}

// run stages what has to be, multiplies, and converts the result; each step is split over the threads by itself.
func (k *convolution[T]) run(t *threads, c *device.Call) error { return k.lead(t, c, epilogue{}) }

// lead is run with an epilogue. Other kernels than those for images with their channels last run it at the end where the
// result has them there: pieces are in another order than its elements.
func (k *convolution[T]) lead(t *threads, c *device.Call, e epilogue) error {
	if e.steps != nil && !k.byRows && !c.Out[0].IsContiguous() {
		if err := k.lead(t, c, epilogue{}); err != nil {
			return err
		}
		return e.steps.run(t, e.run)
	}
	if c.Workspace == nil && k.workspace(c) > 0 {
		return status.Errorf(status.Internal, "[conv] got no workspace; want %d bytes", k.workspace(c))
	}
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, c.In[0].Rank-2)
	if err != nil {
		return err
	}
	j, _ := k.jobs.Get().(*convolving[T])
	if j == nil {
		j = &convolving[T]{conv: k}
	}
	j.epilogue = e
	defer func() {
		j.epilogue = epilogue{}
		k.jobs.Put(j)
	}()
	if err := j.stage(t, c); err != nil {
		return err
	}
	j.threads = t.count()
	j.open(c, &w)
	if f, ok := any(j).(*convolving[float32]); ok && len(f.phases) > 0 && f.phases[0].tiling.cells != nil {
		if err := t.each(winograd{f}, c, j.groups*j.rows, int64(len(f.phases[0].tiling.cells))); err != nil {
			return err
		}
	}
	if err := t.each(j.work, c, j.pieces, k.cost(c)); err != nil {
		return err
	}
	if j.sums != nil {
		(*weighed[T])(j).addShares()
	}
	if !k.staged(c, result) {
		return nil
	}
	return j.copy(t, &j.all[result], &c.Out[0])
}

// Staging costs a pass over an operand of halves. An image of float32 or float64 with any strides is read and written where
// it is.

// stage makes all operands elements of T, and a weight contiguous.
// SAFETY: the workspace has room for each; see workspace.
func (j *convolving[T]) stage(t *threads, c *device.Call) error {
	j.room = c.Workspace
	for i := left; i <= result; i++ {
		o := *nth(c, i)
		if j.all[i] = o; !j.conv.staged(c, i) {
			continue
		}
		j.all[i] = device.Operand{Addr: j.room, DType: j.conv.dtype, Layout: shape.Contiguous(o.Shape)}
		if j.conv.byRows {
			j.all[i].Layout = lastLayout(o.Shape)
		}
		j.room = unsafe.Add(j.room, packedSize[T](&o))
		if i == result || o.Numel() == 0 {
			continue
		}
		to := j.all[i]
		if j.conv.byRows {
			o, to = lastAxes(o), lastAxes(to)
		}
		if err := j.copy(t, &o, &to); err != nil {
			return err
		}
	}
	return nil
}

// open reads the operands and plans the product.
//
// The size of a kernel is no attribute of two of the three operators: it is that of the weight, which is an operand of
// conv and conv_transpose and the result of conv_weight. Its last axes are the spatial ones in any case.
func (j *convolving[T]) open(c *device.Call, w *op.Windows) {
	j.in.open(&j.all[left])
	j.out.open(&j.all[result])
	j.other, j.sums = nil, nil
	if n := j.all[right].Numel(); n > 0 && c.Op != op.IDConvWeight {
		j.other = slice[T](j.all[right].Addr, n)
	}
	kernel := &c.In[1]
	if c.Op == op.IDConvWeight {
		kernel = &c.Out[0]
	}
	copy(w.Kernel[:w.Axes], kernel.Dims[2:kernel.Rank])
	j.groups, j.channels, j.step = w.Groups, j.in.channels/w.Groups, neighbours
	j.phases, j.taps, j.pieces = j.phases[:0], j.taps[:0], 0
	j.planes, j.offsets = j.planes[:0], j.offsets[:0]
	j.conv.plan(j, w)
}

// reserve takes room for n elements from the workspace.
// SAFETY: workspace counts all that is taken.
func (j *convolving[T]) reserve(n int64) []T {
	if n == 0 {
		return nil
	}
	room := unsafe.Slice((*T)(j.room), n)
	j.room = unsafe.Add(j.room, n*int64(unsafe.Sizeof(*new(T))))
	return room
}

// neighbours are steps of one element.
var neighbours = [op.MaxSpatial]int64{1, 1, 1}

// The blocks are too large for the stack and too small to be worth a place in the workspace of each call, whose size would
// then depend on the number of threads.

// scratch is the memory of one thread: a strip of an image or a block of the column matrix, and a block of the result.
type scratch[T any] struct {
	columns, sums []T
	tiles         vec.Tiles
	again         []int64 // rows that are not finite in tiles
}

var (
	scratch32 = sync.Pool{New: func() any { return new(scratch[float32]) }}
	scratch64 = sync.Pool{New: func() any { return new(scratch[float64]) }}
)

// tapLists are the lists of taps of threads.
var tapLists = sync.Pool{New: func() any { return new([]vec.Tap) }}

// scratchPool is the pool of a type.
func scratchPool[T float32 | float64]() *sync.Pool {
	if unsafe.Sizeof(*new(T)) == 4 {
		return &scratch32
	}
	return &scratch64
}

// grown is a slice of n elements with undefined contents, in the same memory where that is enough.
func grown[T any](s []T, n int64) []T {
	if int64(cap(s)) < n {
		return make([]T, n)
	}
	return s[:n]
}

// misfit is the error of a product whose operands do not lie in their memory.
func misfit() error {
	return status.Errorf(status.Internal, "[conv] got a block that does not fit its memory")
}
