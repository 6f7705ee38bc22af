package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// A transposed convolution whose result is made of tiles is a product for each line of the kernel: the elements of a line of the
// image are the rows of the left operand, and a row of the result is what the kernel's line makes of one, all channels of each of
// its elements. With channels last, these rows one behind the other are a line of the result.

func init() {
	registry.Add(variant{
		Op: op.IDConvTranspose, DTypes: dtype.SetOf(dtype.Float32), Priority: kernels.Special + 2, Accepts: acceptsTiles,
		Make: func(d *Device, c *device.Call, _ uint64) (kernel, error) {
			packed, err := packTiles(d.threads, &c.In[right])
			if err != nil {
				return nil, err
			}
			return &convolution[float32]{dtype: dtype.Float32, native: true, plan: planTiles, right: packed, byRows: true}, nil
		},
	})
}

// acceptsTiles takes such calls with a constant weight whose result has its channels last in memory.
func acceptsTiles(_ *Device, c *device.Call) (uint64, bool) {
	return 0, isFilter(&c.In[right]) && channelsLast(&c.Out[0]) && op.Tiled(c.Attrs, &c.In[left].Shape, &c.In[right].Shape, &c.Out[0].Shape)
}

// packTiles lays out a contiguous weight [channels, outputs, kernel...] as a right operand whose columns are the lines of the
// kernel, each with its elements and for each of these the outputs. A line begins with a panel.
// SAFETY: the bytes are those of the matrix that is made here.
func packTiles(t *threads, weight *device.Operand) (*vec.Right, error) {
	channels, outputs, length := weight.Dims[0], weight.Dims[1], weight.Dims[weight.Rank-1]
	lines, apart := weight.Numel()/(channels*outputs*length), panelColumns(length*outputs)
	arranged := make([]float32, channels*lines*apart)
	for i, v := range weightsOf(weight) {
		k, i := int64(i)%length, int64(i)/length
		line, i := i%lines, i/lines
		arranged[(i/outputs*lines+line)*apart+k*outputs+i%outputs] = v
	}
	matrix := device.Operand{DType: dtype.Float32, Const: unsafe.Slice((*byte)(unsafe.Pointer(&arranged[0])), 4*len(arranged))}
	matrix.Layout = shape.Contiguous(shape.Shape{Rank: 2, Dims: [shape.MaxRank]int64{channels, lines * apart}})
	return packRight(t, &matrix, 1)
}

// panelColumns is a number of columns, rounded up to whole panels.
func panelColumns(n int64) int64 {
	_, width := vec.MatMulTile[float32]()
	return roundTo(n, int64(width))
}

// planTiles is the plan of such a call. Pieces are lines of the result.
func planTiles(j *convolving[float32], w *op.Windows) {
	j.work = tiled{j}
	j.rows, j.step = j.out.channels, spatial(w.Kernel, w.Axes, 1)
	j.pieces = j.out.batch * j.out.dims[0] * j.out.dims[1]
}

// The part of a line of the kernel begins at its own panel of the weight, so that a line of the result is a product of whole panels
// but for its end. Where the result begins a line anew, so does the image, or it is the same line once more.

// tiled is a call as work that is cut into lines of the result.
type tiled struct{ *convolving[float32] }

// part computes lines lo to hi-1.
func (j tiled) part(_ *device.Call, lo, hi int64) error {
	im, columns := &j.in, j.step[2]*j.rows
	for ; lo < hi; lo++ {
		b, a, image := lo%j.out.dims[1], lo/j.out.dims[1]%j.out.dims[0], lo/(j.out.dims[1]*j.out.dims[0])
		from := im.data[((image*im.dims[0]+a/j.step[0])*im.dims[1]+b/j.step[1])*im.dims[2]*im.channels:]
		line := (a%j.step[0]*j.step[1] + b%j.step[1]) * panelColumns(columns)
		to := j.out.data[lo*im.dims[2]*columns:][:im.dims[2]*columns]
		w := vec.Windows{Lines: 1, PerLine: int(im.dims[2]), Step: int(im.channels), Runs: 1, Run: int(im.channels)}
		if !j.conv.right.AddWindows(to, from, w, 0, int(line), int(columns), int(columns), true) {
			return misfit()
		}
	}
	return nil
}
