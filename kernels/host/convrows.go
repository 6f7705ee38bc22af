package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Where the channels of an element are neighbours in memory, a window is a row of the left operand of a product, and the right
// operand is the weight, packed once: what a window sees at one element of the kernel is a run of channels, and so is a row of
// the result. A kernel of one element multiplies an image where it lies. Else some rows at a time are copied side by side, runs
// of all channels of a line of the kernel, which costs little beside the product: each row serves all channels of the result.
//
// A sum is over the elements of the kernel, and for each over the channels, in this order: those of the other kernels are over
// the channels first, and have other roundings.

func init() {
	registry.Add(variant{
		Op: op.IDConv, DTypes: dtype.SetOf(dtype.Float32), Priority: kernels.Special + 2, Accepts: acceptsRows,
		Make: func(d *Device, c *device.Call, _ uint64) (kernel, error) {
			packed, err := packTaps(d.threads, &c.In[right])
			if err != nil {
				return nil, err
			}
			k := &convolution[float32]{dtype: dtype.Float32, native: true, plan: planRows, right: packed, byRows: true}
			if k.lined, err = readsLines(c); k.lined {
				k.plan = planLines
			}
			return k, err
		},
	})
}

// packTaps lays out a contiguous weight as a right operand whose rows are the taps, and for each the channels.
func packTaps(t *threads, weight *device.Operand) (*vec.Right, error) {
	turned := *weight
	outputs, channels := weight.Dims[0], weight.Dims[1]
	taps := weight.Numel() / (outputs * channels)
	turned.Layout = shape.Layout{Shape: shape.Shape{Rank: 3, Dims: [shape.MaxRank]int64{taps, channels, outputs}}}
	turned.Strides[0], turned.Strides[1], turned.Strides[2] = 1, taps, taps*channels
	return packRight(t, &turned, 2)
}

// acceptsRows takes convolutions of one group with a constant weight whose result has its channels last in memory, as every result
// of one element for each channel has them, or has few elements.
func acceptsRows(_ *Device, c *device.Call) (uint64, bool) {
	weight, out := &c.In[right], &c.Out[0]
	if !isFilter(weight) || weight.Dims[1] != c.In[left].Dims[1] {
		return 0, false
	}
	single := out.Numel() > 0 && out.Numel() == out.Dims[0]*out.Dims[1] && isLast(out)
	return 0, channelsLast(out) || single || fewElements(c)
}

// A product whose columns are the windows would compute whole tiles for the few windows at the end of a network. Turned, its columns
// are the channels, of which there are many: the image and the result are small enough to be copied. The sums are the same for
// kernels of one element only.

// mostFewWindows is the number of windows up to which that pays.
const mostFewWindows = 64

// fewElements reports whether a contiguous result has so few windows that the turned product has less to compute.
func fewElements(c *device.Call) bool {
	weight, out := &c.In[right], &c.Out[0]
	channels := out.Dims[1]
	if !out.IsContiguous() || weight.Numel() != weight.Dims[0]*weight.Dims[1] || channels < int64(vec.FewRows[float32]()) {
		return false
	}
	windows := out.Numel() / channels
	rows, cols := vec.MatMulTile[float32]()
	straight := roundTo(channels, int64(rows)) * roundTo(windows, int64(cols))
	turned := roundTo(windows, int64(rows)) * roundTo(channels, int64(cols))
	return windows > 0 && windows <= mostFewWindows && turned < straight
}

// channelsLast reports whether images of several channels and elements lie one behind the other with their channels last.
func channelsLast(o *device.Operand) bool {
	return o.Dims[1] > 1 && o.Numel() > o.Dims[0]*o.Dims[1] && isLast(o)
}

// Devices see all images in the frame of a call, channels at axis 1: what tells where they lie in memory is the strides alone.

// isLast reports whether the layout of an operand is lastLayout, but for axes of one element, whose strides are never used.
func isLast(o *device.Operand) bool {
	want := lastLayout(o.Shape)
	for i, d := range o.Shape.Slice() {
		if d > 1 && o.Strides[i] != want.Strides[i] {
			return false
		}
	}
	return true
}

// lastLayout is the layout of images whose elements lie one behind the other with their channels last.
func lastLayout(s shape.Shape) shape.Layout {
	l := shape.Layout{Shape: s}
	step := s.Dims[1]
	l.Strides[1] = 1
	for axis := s.Rank - 1; axis >= 2; axis-- {
		l.Strides[axis] = step
		step *= s.Dims[axis]
	}
	l.Strides[0] = step
	return l
}

// lastAxes is an image with its channels as the last axis: a copy goes over the elements in the order of the axes.
func lastAxes(o device.Operand) device.Operand {
	turned := o
	last := o.Rank - 1
	copy(turned.Dims[1:last], o.Dims[2:o.Rank])
	copy(turned.Strides[1:last], o.Strides[2:o.Rank])
	turned.Dims[last], turned.Strides[last] = o.Dims[1], o.Strides[1]
	return turned
}

// rowCut says how the rows of a product are cut into pieces and copied.
type rowCut struct {
	taps    int64 // of a line of the kernel, whose channels are neighbours in the image
	windows int64 // of all images
	block   int64 // windows of a piece
}

const (
	copiedTerms    = 256 // of a row that are copied at a time
	vectorElements = 16  // between copied rows, so that they are in other sets of the first-level cache
)

// planRows is the plan of a conv whose windows are copied as the rows of the product, those of kernels with gaps and of volumes. A
// piece is a block of windows. How a result is cut depends on shapes alone, and changes no bit of it.
func planRows(j *convolving[float32], w *op.Windows) {
	j.work = (*rowed)(j)
	j.rows = j.out.channels
	kernel := j.noteTaps(w)
	r := &j.byLines
	*r = rowCut{taps: 1, windows: volumeOf(&j.out.dims) * j.out.batch}
	if dilation := spatial(w.Dilation, w.Axes, 1); dilation[2] == 1 {
		r.taps = kernel[2]
	}
	r.block = leastRows
	j.pieces = (r.windows + r.block - 1) / r.block
}

// The terms of a sum are copied and multiplied some at a time. In between the sums wait in the result.

// rowed is a call as work that is cut into blocks of windows.
type rowed convolving[float32]

// part computes pieces lo to hi-1.
func (j *rowed) part(_ *device.Call, lo, hi int64) error {
	pool := scratchPool[float32]()
	s := pool.Get().(*scratch[float32])
	defer pool.Put(s)
	b := j.epilogue.begin()
	defer j.epilogue.end(b)
	r := &j.byLines
	terms := j.channels * int64(len(j.taps))
	for piece := lo; piece < hi; piece++ {
		first := piece * r.block
		n := min(r.block, r.windows-first)
		for term := int64(0); term < terms; term += copiedTerms {
			steps := min(copiedTerms, terms-term)
			distance := steps + vectorElements
			s.columns = grown(s.columns, n*distance)
			j.copyRows(s.columns, first, n, term, steps, distance)
			w := vec.Windows{Lines: 1, PerLine: int(n), Step: int(distance), Runs: 1, Run: int(steps)}
			if !j.right.AddWindows(j.out.data[first*j.rows:], s.columns, w, int(term), 0, int(j.rows), int(j.rows), term == 0) {
				return misfit()
			}
		}
		if err := j.epilogue.rows(b, first*j.rows, n, j.rows, j.rows); err != nil {
			return err
		}
	}
	return nil
}

// Padding is zeros that are multiplied like other elements, as in the other kernels. Windows of one line see the same lines of
// the image, so that what is inside of it is worked out once for all of them.

// copyRows copies steps elements, from number term on, of the rows of n windows, the first of which has number first. Rows
// begin distance elements apart.
func (j *rowed) copyRows(to []float32, first, n, term, steps, distance int64) {
	im, run := &j.in, j.byLines.taps*j.channels
	at := cursorAt(&j.out.dims, first)
	for n > 0 {
		windows := min(n, j.out.dims[op.MaxSpatial-1]-at.at[op.MaxSpatial-1])
		for done := int64(0); done < steps; {
			number := (term + done) / run
			skip := term + done - number*run // of the run, for the first
			length := min(run-skip, steps-done)
			tap := &j.taps[number*j.byLines.taps]
			a, b := at.at[0]*j.step[0]+tap[0], at.at[1]*j.step[1]+tap[1]
			line := im.origin + at.image*im.perImage + a*im.strides[0] + b*im.strides[1] + skip
			inside := a >= 0 && a < im.dims[0] && b >= 0 && b < im.dims[1]
			for w := range windows {
				part := to[w*distance+done:][:length]
				if c := (at.at[2]+w)*j.step[2] + tap[2]; !inside {
					clear(part)
				} else if c >= 0 && c+j.byLines.taps <= im.dims[2] {
					copyShort(part, im.data[line+c*j.channels:][:length])
				} else {
					j.copyEdge(part, line, c, skip)
				}
			}
			done += length
		}
		to, n = to[min(windows*distance, int64(len(to))):], n-windows
		at.next(&j.out.dims, windows)
	}
}

// copyEdge copies a part of a run that begins at element c of a line, where some of the run is outside of the image.
func (j *rowed) copyEdge(part []float32, line, c, skip int64) {
	size := int64(len(part))
	low := min(max(-c*j.channels-skip, 0), size) // elements low to high are inside
	high := max(min((j.in.dims[2]-c)*j.channels-skip, size), low)
	clear(part[:low])
	if low < high {
		copy(part[low:high], j.in.data[line+c*j.channels+low:])
	}
	clear(part[high:])
}
