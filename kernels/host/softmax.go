package host

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

func init() {
	for d, c := range map[dtype.DType]coding{
		dtype.Float16: halfCodec(dtype.Float16).coding, dtype.BFloat16: halfCodec(dtype.BFloat16).coding, dtype.Float32: plain,
	} {
		register(op.IDSoftmax, d, &softmax{newScan(c, heavy, softmaxLine, running[float32]{}), vec.Softmax})
	}
	register(op.IDLogSoftmax, dtype.Float32, &softmax{newScan(plain, heavy, logSoftmaxLine, running[float32]{}), vec.LogSoftmax})
	register(op.IDSoftmax, dtype.Float64, newScan(plain, 3*heavy, normalise, running[float64]{}))
}

// softmax is softmax or its logarithm: a scan that computes rows which lie in memory as values, one behind another, all at once.
//
// Halves and float32 go through float32; see vec.Softmax.
type softmax struct {
	*scan
	rows func(dst, src []float32, length int)
}

func softmaxLine(line []float32)    { vec.Softmax(line, line, len(line)) }
func logSoftmaxLine(line []float32) { vec.LogSoftmax(line, line, len(line)) }

// run gives each thread whole lines, as those of other scans.
func (k *softmax) run(t *threads, c *device.Call) error {
	return t.each(k, c, c.Out[0].Numel()/lengthAlong(c), k.cost(c))
}

// part computes lines lo to hi-1. Neither the length of a part nor its first line shows in a result.
func (k *softmax) part(c *device.Call, lo, hi int64) error {
	x, y := &c.In[0], &c.Out[0]
	last := y.Rank == 0 || c.Axes.First() == y.Rank-1
	if k.read != nil || k.write != nil || !last || !x.IsContiguous() || !y.IsContiguous() {
		return k.scan.part(c, lo, hi)
	}
	length := lengthAlong(c)
	k.rows(rowAt[float32](y, lo*length, hi*length), rowAt[float32](x, lo*length, hi*length), int(length))
	return nil
}

// normalise replaces a line by its softmax in float64, exp(x - max(x)) / sum(exp(x - max(x))). A nan anywhere, or an
// infinite maximum, makes all of it nan.
func normalise(line []float64) {
	top := math.Inf(-1)
	for _, x := range line {
		top = larger(top, x)
	}
	for i := range line {
		line[i] -= top
	}
	vec.Exp.Row64(line, line)
	var sum twofold // any other sum would cost more ulps than there are to spare in float64
	for _, x := range line {
		sum = sum.plus(x)
	}
	for i := range line {
		line[i] /= sum.value()
	}
}
