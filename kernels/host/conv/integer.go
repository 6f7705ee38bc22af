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
	"github.com/paddle-mps/paddle-mps/kernels/host/product"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/lowprec"
)

// Convolutions of 8-bit integers are products of the weight of a group, a row for each channel of the result, times a matrix
// with a column for each window and a row for each element under it. The second is gathered in blocks, as the product reads
// it, and padding in it is the zero point. What the zero point adds to a row of the result is the sum of the row's weights
// times it; the rows begin with that, with the sign turned over.

type convInteger struct {
	sums []int32 // of the weights of each channel of the result, where they were known when the kernel was made
	jobs sync.Pool
}

// newKnownInteger adds up the rows of the weight.
func newKnownInteger(_ *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) {
	weight := c.In[engine.Right]
	weight.Addr = unsafe.Pointer(&weight.Const[0]) // SAFETY: the layout of the operand lies in its Const.
	k := &convInteger{sums: make([]int32, weight.Dims[0])}
	addUpRows(k.sums, &weight)
	return k, nil
}

// Bytes is what a kernel keeps of a weight.
func (k *convInteger) Bytes() int64 { return int64(4 * len(k.sums)) }

// Cost takes 32 multiply-adds for an addition.
func (k *convInteger) Cost(c *device.Call) int64 {
	weight := &c.In[engine.Right]
	return c.Out[0].Numel() * max(weight.Numel()/max(weight.Dims[0], 1), 32) / 32
}

// Workspace has room for operands that are not contiguous, and for the sums of the weights.
func (k *convInteger) Workspace(c *device.Call) (bytes int64) {
	for i := engine.Left; i <= engine.Result; i++ {
		if o := engine.OperandAt(c, i); !o.IsContiguous() {
			bytes += engine.RoundUp(o.Numel() * o.DType.Size())
		}
	}
	if k.sums == nil {
		bytes += engine.RoundUp(4 * c.In[engine.Right].Dims[0])
	}
	return bytes
}

// addUpRows adds up the weights of each channel of the result.
// SAFETY: the operand is contiguous, and has as many channels as there are sums.
func addUpRows(sums []int32, weight *device.Operand) {
	m, k := int64(len(sums)), weight.Numel()/max(weight.Dims[0], 1)
	ones := lowprec.Bytes{Gather: func(to []uint8, step, _, rows, _, cols int) {
		for i := range rows {
			for j := range cols {
				to[i*step+j] = 1
			}
		}
	}}
	a := product.BytesAt(weight.Addr, m, k, k, weight.DType)
	lowprec.MatMul8(&lowprec.Sums{Wide: sums, Step: 1}, &a, &ones, int(m), 1, int(k))
}

// integerWindows is one call of convInteger. It is filled in by open and then read by all threads. Of fewer than three
// spatial axes the last ones are there; the others have one element.
type integerWindows struct {
	*convInteger
	operands                                      [3]device.Operand // contiguous
	zero                                          int32
	sums                                          []int32
	rows, k, n                                    int64 // of a product: channels of a group of the result, elements under a window, windows
	groups, taps, plane                           int64 // elements of a kernel and of a channel of an image
	size, kernel, count, stride, dilation, before [op.MaxSpatial]int64
	direct                                        bool // windows are the elements of a channel in their order
	byCols                                        bool // pieces are strips of columns, otherwise of rows
	strips                                        int64
	tile                                          [2]int64
	elem.Staging
}

// Run makes the operands contiguous, multiplies, and copies the result to where it goes.
func (k *convInteger) Run(t *engine.Threads, c *device.Call) error {
	if c.Workspace == nil && k.Workspace(c) > 0 {
		return status.Errorf(status.Internal, "[conv_integer] got no workspace; want %d bytes", k.Workspace(c))
	}
	if c.Out[0].Numel() == 0 {
		return nil
	}
	j, _ := k.jobs.Get().(*integerWindows)
	if j == nil {
		j = &integerWindows{convInteger: k}
	}
	defer k.jobs.Put(j)
	if err := j.open(t, c); err != nil {
		return err
	}
	if err := t.Each(j, c, j.strips*j.groups*c.In[engine.Left].Dims[0], k.Cost(c)); err != nil {
		return err
	}
	if c.Out[0].IsContiguous() {
		return nil
	}
	return j.Copy(t, &j.operands[engine.Result], &c.Out[0])
}

// open fills in the call.
// SAFETY: the workspace has room for what is placed there; see workspace.
func (j *integerWindows) open(t *engine.Threads, c *device.Call) error {
	room := c.Workspace
	for i := engine.Left; i <= engine.Result; i++ {
		o := engine.OperandAt(c, i)
		if j.operands[i] = *o; o.IsContiguous() {
			continue
		}
		j.operands[i].Addr, j.operands[i].Layout = room, shape.Contiguous(o.Shape)
		room = unsafe.Add(room, engine.RoundUp(o.Numel()*o.DType.Size()))
		if i == engine.Result {
			continue
		}
		if err := j.Copy(t, o, &j.operands[i]); err != nil {
			return err
		}
	}
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, c.In[engine.Left].Rank-2)
	if err != nil {
		return err
	}
	j.measure(&w)
	j.zero, j.sums = product.ZeroPoint(c), j.convInteger.sums
	if j.sums == nil && j.zero != 0 {
		j.sums = engine.Slice[int32](room, j.operands[engine.Right].Dims[0])
		addUpRows(j.sums, &j.operands[engine.Right])
	}
	rows, cols := lowprec.MatMul8Tile()
	j.tile = [2]int64{int64(rows), int64(cols)}
	high, wide := (j.rows+j.tile[0]-1)/j.tile[0], (j.n+j.tile[1]-1)/j.tile[1]
	j.byCols, j.strips = wide > high, max(high, wide)
	return nil
}

// measure takes sizes from the windows and the operands.
func (j *integerWindows) measure(w *op.Windows) {
	x, weight, out := &j.operands[engine.Left], &j.operands[engine.Right], &j.operands[engine.Result]
	j.groups, j.rows = w.Groups, weight.Dims[0]/w.Groups
	j.n, j.taps, j.plane, j.direct = 1, 1, 1, true
	for i := range j.size {
		from := i - (op.MaxSpatial - w.Axes)
		if from < 0 {
			j.size[i], j.kernel[i], j.count[i], j.stride[i], j.dilation[i], j.before[i] = 1, 1, 1, 1, 1, 0
			continue
		}
		j.size[i], j.kernel[i], j.count[i] = x.Dims[2+from], weight.Dims[2+from], out.Dims[2+from]
		j.stride[i], j.dilation[i], j.before[i] = w.Stride[from], w.Dilation[from], w.Before[from]
		j.n, j.taps, j.plane = j.n*j.count[i], j.taps*j.kernel[i], j.plane*j.size[i]
		j.direct = j.direct && j.kernel[i] == 1 && j.stride[i] == 1 && j.before[i] == 0 && j.count[i] == j.size[i]
	}
	j.k = weight.Dims[1] * j.taps
}

// Part does strips lo to hi-1, counted through all groups of all images; neighbouring ones of a group in one go.
func (j *integerWindows) Part(_ *device.Call, lo, hi int64) error {
	for lo < hi {
		first := lo % j.strips
		last := min(first+hi-lo, j.strips)
		if !j.strip(lo/j.strips, first, last) {
			return status.Errorf(status.Internal, "[conv_integer] got strips %d to %d of %d x %d x %d that do not fit their memory", first, last, j.rows, j.n, j.k)
		}
		lo += last - first
	}
	return nil
}

// strip multiplies strips first to last-1 of a group of an image.
// SAFETY: all addresses lie in contiguous operands of the sizes that measure has read.
func (j *integerWindows) strip(number, first, last int64) bool {
	row, rows, col, cols := int64(0), j.rows, int64(0), j.n
	if j.byCols {
		col = first * j.tile[1]
		cols = min(last*j.tile[1], cols) - col
	} else {
		row = first * j.tile[0]
		rows = min(last*j.tile[0], rows) - row
	}
	x, weight, out := &j.operands[engine.Left], &j.operands[engine.Right], &j.operands[engine.Result]
	channel := number%j.groups*j.rows + row
	image := engine.Slice[uint8](unsafe.Add(x.Addr, number*weight.Dims[1]*j.plane), weight.Dims[1]*j.plane)
	to := unsafe.Add(out.Addr, ((number*j.rows+row)*j.n+col)*4)
	c := lowprec.Sums{Wide: product.Matrix[int32](to, rows, cols, j.n), Step: int(j.n), Add: j.zero != 0}
	for i := int64(0); i < rows && c.Add; i++ {
		begin := -j.zero * j.sums[channel+i]
		for at := range c.Wide[i*j.n:][:cols] {
			c.Wide[i*j.n+int64(at)] = begin
		}
	}
	a := product.BytesAt(unsafe.Add(weight.Addr, channel*j.k), rows, j.k, j.k, weight.DType)
	b := lowprec.Bytes{Signed: x.DType == dtype.Int8}
	if j.direct {
		b.Data, b.Step = image[min(col, int64(len(image))):], int(j.plane)
	} else {
		b.Gather = func(to []uint8, step, row, rows, from, cols int) {
			for i := range rows {
				j.gather(to[i*step:][:cols], image, int64(row+i), col+int64(from))
			}
		}
	}
	return lowprec.MatMul8(&c, &a, &b, int(rows), int(cols), int(j.k))
}

// gather writes the elements that row of the matrix has for windows from number window on.
func (j *integerWindows) gather(to, image []uint8, row, window int64) {
	channel, tap := row/j.taps, row%j.taps
	var at, start [op.MaxSpatial]int64 // of the window, and of its element in the channel
	for i := op.MaxSpatial - 1; i >= 0; i-- {
		at[i], window = window%j.count[i], window/j.count[i]
		start[i] = tap%j.kernel[i]*j.dilation[i] - j.before[i]
		tap /= j.kernel[i]
	}
	const outer, middle, inner = 0, 1, 2
	for len(to) > 0 {
		n := min(j.count[inner]-at[inner], int64(len(to)))
		z, y := at[outer]*j.stride[outer]+start[outer], at[middle]*j.stride[middle]+start[middle]
		line := image[:0]
		if z >= 0 && z < j.size[outer] && y >= 0 && y < j.size[middle] {
			line = image[((channel*j.size[outer]+z)*j.size[middle]+y)*j.size[inner]:][:j.size[inner]]
		}
		j.gatherLine(to[:n], line, at[inner]*j.stride[inner]+start[inner], j.stride[inner])
		to, at[inner] = to[n:], 0
		if at[middle]++; at[middle] == j.count[middle] {
			at[middle] = 0
			at[outer]++
		}
	}
}

// gatherLine takes elements of a line from a place on, step apart; those that are not there are the zero point.
func (j *integerWindows) gatherLine(to, line []uint8, from, step int64) {
	zero := uint8(j.zero)
	if step != 1 {
		for i := range to {
			if to[i] = zero; from >= 0 && from < int64(len(line)) {
				to[i] = line[from]
			}
			from += step
		}
		return
	}
	n := int64(len(to))
	if from >= 0 && from+n <= int64(len(line)) {
		copy(to, line[from:])
		return
	}
	low := min(max(-from, 0), n)
	high := min(max(int64(len(line))-from, low), n)
	for i := range to[:low] {
		to[i] = zero
	}
	if high > low {
		copy(to[low:high], line[from+low:])
	}
	rest := to[high:]
	for i := range rest {
		rest[i] = zero
	}
}
