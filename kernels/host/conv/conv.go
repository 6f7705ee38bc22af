package conv

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/fusion"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Convolutions are matrix products. A weight of one group is a matrix of output channels times the elements under a
// window; the other matrix has a column for each window, and is never in memory. Its row for a channel and an element of
// the kernel is the channel itself, padded and shifted: see strip.go.
//
// conv_transpose is several such products, one for each phase of its result: elements of the result whose distance is
// the stride see the same elements of the kernel, and no others. A phase is a convolution of stride 1.
//
// Every element of a result is the sum over ascending rows of that matrix, whatever thread or strip it falls in. Convolutions of 3 x 3
// elements and many channels are the exception: see winograd.go.

// Convolution is the kernel of one of the three operators for images whose elements are computed in T.
type Convolution[T float32 | float64] struct {
	dtype  dtype.DType                           // of T
	native bool                                  // elements are of that dtype
	plan   func(j *Convolving[T], w *op.Windows) // says how the product is cut
	known  []T                                   // the weights packed, where they were known when the kernel was made
	Right  *gemm.PackedRight                     // likewise, as the right operand: see channelslast.go
	byRows bool                                  // images have their channels last in memory: see channelslast.go
	jobs   sync.Pool
}

// newPackedLeft packs the weight as each call would.
func newPackedLeft[T float32 | float64](d dtype.DType) func(*engine.Threads, *device.Call, uint64) (engine.Kernel, error) {
	return func(_ *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) {
		return &Convolution[T]{dtype: d, native: true, plan: planForward[T], known: packFilter[T](c)}, nil
	}
}

// packFilter lays out a constant weight as each call would.
// SAFETY: the layout of the operand lies in its Const.
func packFilter[T float32 | float64](c *device.Call) []T {
	weight, rows := &c.In[engine.Right], resultRows(c)
	from := unsafe.Slice((*T)(unsafe.Pointer(&weight.Const[0])), weight.Numel())
	groups := weight.Dims[0] / rows
	terms := weight.Numel() / weight.Dims[0]
	size := int64(gemm.LeftSize[T](int(rows), int(terms)))
	to := make([]T, groups*size)
	for g := range groups {
		packLeft(to[g*size:], from[g*rows*terms:], rows, terms)
	}
	return to
}

// packLeft is gemm.PackLeft of contiguous rows. It panics where to has not the room that gemm.LeftSize asks for, which
// workspace counts.
func packLeft[T float32 | float64](to, from []T, rows, terms int64) {
	if rows*terms > 0 && !gemm.PackLeft(to, from, int(rows), int(terms), int(terms)) {
		panic("weights that do not fit the room for them")
	}
}

// Bytes is the packed weight of a kernel that has one.
func (k *Convolution[T]) Bytes() int64 {
	n := int64(len(k.known)) * int64(unsafe.Sizeof(*new(T)))
	if k.Right != nil {
		n += k.Right.Bytes() + int64(unsafe.Sizeof(*k.Right))
	}
	return n
}

// HoldsWeight: see engine.WeightHolder.
func (k *Convolution[T]) HoldsWeight() bool { return k.known != nil || k.Right != nil }

// Convolving is one call. It comes from a pool and is filled in by open, then read by all threads: a part of the work
// writes to its own piece of the result and to scratch memory alone.
type Convolving[T float32 | float64] struct {
	conv       *Convolution[T]
	all        [3]device.Operand // the operands as elements of T
	In, out    window.Image[T]   // what is gathered from, and what is written; a weight is an image of kernels
	Seen       window.Image[T]   // the images that the weight is multiplied with in conv_weight
	shares     shares            // of conv_weight
	CutInLines lineCut[T]        // of conv_weight too
	sums       []T               // the weights of its shares of images, where there are several
	sizes      sizes             // of the operands of a convolution in tiles
	other      []T               // the weight that is read, which is contiguous
	room       unsafe.Pointer    // for weights: those of the phases of conv_transpose, and those that are packed
	threads    int
	Groups     int64
	Rows       int64 // of a product: output channels of a group
	Channels   int64 // of one group of the image that is gathered from
	phases     []convPhase[T]
	Taps       [][op.MaxSpatial]int64 // of all phases
	planes     [][op.MaxSpatial]int64 // likewise, and so are the offsets
	offsets    []int
	Step       [op.MaxSpatial]int64 // distance of windows in the image
	byPads     padCut               // where images have their channels last
	planeCut   planeCut             // of depthwise convolutions
	pieces     int64
	work       engine.Splitter
	elem.Staging
	epilogue fusion.Epilogue
}

// leastPlane is the number of elements of a channel from which on an epilogue pays: pieces have a part of each channel.
const leastPlane = 2048

// Leads takes conv, whose windows are in the order of the result, where this is not converted. With channels last it does not
// know yet whether the weight will be a constant; see lead.
func (k *Convolution[T]) Leads(c *device.Call) bool {
	if k.native && c.Op == op.IDConv && k.dtype == dtype.Float32 && window.ChannelsLast(&c.Out[0]) && (c.In[engine.Left].Dims[1] == c.In[engine.Right].Dims[1] || isDepthwise(c)) {
		return c.Out[0].Numel() >= fusion.LeastBytes/c.Out[0].DType.Size()
	}
	if !k.native || c.Op != op.IDConv || !fusion.WorthLeading(&c.Out[0]) {
		return false
	}
	return c.Out[0].Numel() >= leastPlane*c.Out[0].Dims[0]*c.Out[0].Dims[1]
}

// shortSum is the number of terms from which on a sum keeps the processor's multipliers busy.
const shortSum = 64

// Cost takes eight multiply-adds for an addition, as that of matmul does, but one where sums are short, as those of depthwise
// convolutions are; and an element of the weight for one, because all are read.
func (k *Convolution[T]) Cost(c *device.Call) int64 {
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
func (k *Convolution[T]) staged(c *device.Call, i int) bool {
	if k.byRows {
		return i == engine.Result && !window.IsLast(&c.Out[0]) || i == engine.Left && !window.IsLast(&c.In[engine.Left]) && !(k.Right != nil && c.Op == op.IDConv && threeLines(&c.In[engine.Left]))
	}
	return !k.native || i == engine.Right && c.Op != op.IDConvWeight && !c.In[engine.Right].IsContiguous()
}

// Workspace bounds what a run needs from the shapes, which are all that is known when it is asked.
//
// It has room for the staged operands, and for the weights of all phases together, as they are and packed.
func (k *Convolution[T]) Workspace(c *device.Call) (bytes int64) {
	for i := engine.Left; i <= engine.Result; i++ {
		if k.staged(c, i) {
			bytes += packedSize[T](engine.OperandAt(c, i))
		}
	}
	switch {
	case c.Op == op.IDConv && !k.byRows && k.dtype == dtype.Float32:
		bytes += cellBytes(c)
	case c.Op == op.IDConvTranspose && k.Right == nil:
		bytes += packedSize[T](&c.In[engine.Right])
	case c.Op == op.IDConvWeight:
		bytes += shareBytes[T](c)
	}
	if rows := resultRows(c); isPacked[T](rows) && k.known == nil && k.Right == nil {
		bytes += engine.RoundUp(c.In[engine.Right].Numel() / rows * (rows + int64(gemm.PanelRows[T]())) * int64(unsafe.Sizeof(*new(T))))
	}
	return bytes
}

// resultRows is the number of rows of a product, the channels that a group of the result has; 0 for conv_weight, which packs
// no weight.
func resultRows(c *device.Call) int64 {
	switch weight := &c.In[engine.Right]; c.Op {
	case op.IDConv:
		return weight.Dims[0] * weight.Dims[1] / max(c.In[engine.Left].Dims[1], 1)
	case op.IDConvTranspose:
		return weight.Dims[1]
	}
	return 0
}

// packedSize is the room that an operand takes as elements of T.
func packedSize[T any](o *device.Operand) int64 {
	return engine.RoundUp(o.Numel() * int64(unsafe.Sizeof(*new(T))))
}

// Run stages what has to be, multiplies, and converts the result; each step is split over the threads by itself.
func (k *Convolution[T]) Run(t *engine.Threads, c *device.Call) error {
	return k.Lead(t, c, fusion.Epilogue{})
}

// Lead is run with an epilogue. Other kernels than those for images with their channels last run it at the end where the
// result has them there: pieces are in another order than its elements.
func (k *Convolution[T]) Lead(t *engine.Threads, c *device.Call, e fusion.Epilogue) error {
	if e.Steps != nil && !k.byRows && !c.Out[0].IsContiguous() {
		if err := k.Lead(t, c, fusion.Epilogue{}); err != nil {
			return err
		}
		return e.Steps.Run(t, e.Run)
	}
	if c.Workspace == nil && k.Workspace(c) > 0 {
		return status.Errorf(status.Internal, "[conv] got no workspace; want %d bytes", k.Workspace(c))
	}
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, c.In[0].Rank-2)
	if err != nil {
		return err
	}
	j, _ := k.jobs.Get().(*Convolving[T])
	if j == nil {
		j = &Convolving[T]{conv: k}
	}
	j.epilogue = e
	defer func() {
		j.epilogue = fusion.Epilogue{}
		k.jobs.Put(j)
	}()
	if err := j.stage(t, c); err != nil {
		return err
	}
	j.threads, j.sizes.termByTerm = t.Count(), t.TermByTerm
	j.open(c, &w)
	if f, ok := any(j).(*Convolving[float32]); ok && len(f.phases) > 0 && f.phases[0].tiling.on {
		if err := (winogradCall{f}).prepare(t, c); err != nil {
			return err
		}
	}
	if err := t.Each(j.work, c, j.pieces, k.Cost(c)); err != nil {
		return err
	}
	if j.sums != nil {
		(*weighed[T])(j).addShares()
	}
	if !k.staged(c, engine.Result) {
		return nil
	}
	return j.Copy(t, &j.all[engine.Result], &c.Out[0])
}

// Staging costs a pass over an operand of halves. An image of float32 or float64 with any strides is read and written where
// it is.

// stage makes all operands elements of T, and a weight contiguous.
// SAFETY: the workspace has room for each; see workspace.
func (j *Convolving[T]) stage(t *engine.Threads, c *device.Call) error {
	j.room = c.Workspace
	for i := engine.Left; i <= engine.Result; i++ {
		o := *engine.OperandAt(c, i)
		if j.all[i] = o; !j.conv.staged(c, i) {
			continue
		}
		j.all[i] = device.Operand{Addr: j.room, DType: j.conv.dtype, Layout: shape.Contiguous(o.Shape)}
		if j.conv.byRows {
			j.all[i].Layout = window.LastLayout(o.Shape)
		}
		j.room = unsafe.Add(j.room, packedSize[T](&o))
		if i == engine.Result || o.Numel() == 0 {
			continue
		}
		to := j.all[i]
		if j.conv.byRows {
			o, to = window.LastAxes(o), window.LastAxes(to)
		}
		if err := j.Copy(t, &o, &to); err != nil {
			return err
		}
	}
	return nil
}

// open reads the operands and plans the product.
//
// The size of a kernel is no attribute of two of the three operators: it is that of the weight, which is an operand of
// conv and conv_transpose and the result of conv_weight. Its last axes are the spatial ones in any case.
func (j *Convolving[T]) open(c *device.Call, w *op.Windows) {
	j.In.Open(&j.all[engine.Left])
	j.out.Open(&j.all[engine.Result])
	j.other, j.sums = nil, nil
	if n := j.all[engine.Right].Numel(); n > 0 && c.Op != op.IDConvWeight {
		j.other = engine.Slice[T](j.all[engine.Right].Addr, n)
	}
	kernel := &c.In[1]
	if c.Op == op.IDConvWeight {
		kernel = &c.Out[0]
	}
	copy(w.Kernel[:w.Axes], kernel.Dims[2:kernel.Rank])
	j.Groups, j.Channels, j.Step = w.Groups, j.In.Channels/w.Groups, window.UnitSteps
	j.phases, j.Taps, j.pieces = j.phases[:0], j.Taps[:0], 0
	j.planes, j.offsets = j.planes[:0], j.offsets[:0]
	j.conv.plan(j, w)
}

// reserve takes room for n elements from the workspace.
// SAFETY: workspace counts all that is taken.
func (j *Convolving[T]) reserve(n int64) []T {
	if n == 0 {
		return nil
	}
	room := unsafe.Slice((*T)(j.room), n)
	j.room = unsafe.Add(j.room, n*int64(unsafe.Sizeof(*new(T))))
	return room
}

// The blocks are too large for the stack and too small to be worth a place in the workspace of each call, whose size would
// then depend on the number of threads.

// tapLists are the lists of taps of threads.
var tapLists = sync.Pool{New: func() any { return new([]stencil.Tap) }}

var (
	_ engine.Stateful     = (*Convolution[float32])(nil)
	_ engine.Stateful     = (*convInteger)(nil)
	_ engine.WeightHolder = (*Convolution[float32])(nil)
	_ fusion.Head         = (*Convolution[float32])(nil)
)
