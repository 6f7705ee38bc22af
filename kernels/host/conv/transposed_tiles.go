package conv

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/product"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// A transposed convolution whose result is made of tiles is a product for each line of the kernel: the elements of a line of the
// image are the rows of the left operand, and a row of the result is what the kernel's line makes of one, all channels of each of
// its elements. With channels last, these rows one behind the other are a line of the result.

// newTransposedTiles packs the weight line by line of the kernel.
func newTransposedTiles(t *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) {
	packed, err := packTiles(t, &c.In[engine.Right])
	if err != nil {
		return nil, err
	}
	return &Convolution[float32]{dtype: dtype.Float32, native: true, plan: planTiles, Right: packed, byRows: true}, nil
}

// packTiles lays out a contiguous weight [channels, outputs, kernel...] as a right operand whose columns are the lines of the
// kernel, each with its elements and for each of these the outputs. A line begins with a panel.
// SAFETY: the bytes are those of the matrix that is made here.
func packTiles(t *engine.Threads, weight *device.Operand) (*gemm.PackedRight, error) {
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
	return product.PackRight(t, &matrix, 1)
}

// panelColumns is a number of columns, rounded up to whole panels.
func panelColumns(n int64) int64 {
	_, width := gemm.MatMulTile[float32]()
	return roundTo(n, int64(width))
}

// planTiles is the plan of such a call. Pieces are lines of the result.
func planTiles(j *Convolving[float32], w *op.Windows) {
	j.work = tiled{j}
	j.Rows, j.Step = j.out.Channels, window.Spatial(w.Kernel, w.Axes, 1)
	j.pieces = j.out.Batch * j.out.Dims[0] * j.out.Dims[1]
}

// The part of a line of the kernel begins at its own panel of the weight, so that a line of the result is a product of whole panels
// but for its end. Where the result begins a line anew, so does the image, or it is the same line once more.

// tiled is a call as work that is cut into lines of the result.
type tiled struct{ *Convolving[float32] }

// Part computes lines lo to hi-1.
func (j tiled) Part(_ *device.Call, lo, hi int64) error {
	im, columns := &j.In, j.Step[2]*j.Rows
	for ; lo < hi; lo++ {
		b, a, image := lo%j.out.Dims[1], lo/j.out.Dims[1]%j.out.Dims[0], lo/(j.out.Dims[1]*j.out.Dims[0])
		from := im.Data[((image*im.Dims[0]+a/j.Step[0])*im.Dims[1]+b/j.Step[1])*im.Dims[2]*im.Channels:]
		line := (a%j.Step[0]*j.Step[1] + b%j.Step[1]) * panelColumns(columns)
		to := j.out.Data[lo*im.Dims[2]*columns:][:im.Dims[2]*columns]
		w := gemm.Windows{Lines: 1, PerLine: int(im.Dims[2]), Step: int(im.Channels), Runs: 1, Run: int(im.Channels)}
		if !j.conv.Right.AddWindows(to, from, w, 0, int(line), int(columns), int(columns), true) {
			return window.Misfit()
		}
	}
	return nil
}
