package scan

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/reduce"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rownorm"
)

func init() {
	for d, c := range map[dtype.DType]engine.Coding{
		dtype.Float16: engine.HalfCodec(dtype.Float16).Coding, dtype.BFloat16: engine.HalfCodec(dtype.BFloat16).Coding, dtype.Float32: engine.Plain,
	} {
		engine.Register(op.IDSoftmax, d, &softmax{newScan(c, engine.Heavy, softmaxLine, running[float32]{}), rownorm.Softmax})
	}
	engine.Register(op.IDLogSoftmax, dtype.Float32, &softmax{newScan(engine.Plain, engine.Heavy, logSoftmaxLine, running[float32]{}), rownorm.LogSoftmax})
	engine.Register(op.IDSoftmax, dtype.Float64, newScan(engine.Plain, 3*engine.Heavy, normalise, running[float64]{}))
}

// softmax is softmax or its logarithm: a scan that computes rows which lie in memory as values, one behind another, all at once.
//
// Halves and float32 go through float32; see rownorm.Softmax.
type softmax struct {
	*scan
	rows func(dst, src []float32, length int)
}

func softmaxLine(line []float32)    { rownorm.Softmax(line, line, len(line)) }
func logSoftmaxLine(line []float32) { rownorm.LogSoftmax(line, line, len(line)) }

// Run gives each thread whole lines, as those of other scans.
func (k *softmax) Run(t *engine.Threads, c *device.Call) error {
	return t.Each(k, c, c.Out[0].Numel()/engine.LengthAlong(c), k.Cost(c))
}

// Part computes lines lo to hi-1. Neither the length of a part nor its first line shows in a result.
func (k *softmax) Part(c *device.Call, lo, hi int64) error {
	x, y := &c.In[0], &c.Out[0]
	last := y.Rank == 0 || c.Axes.First() == y.Rank-1
	if k.Read != nil || k.Write != nil || !last || !x.IsContiguous() || !y.IsContiguous() {
		return k.scan.Part(c, lo, hi)
	}
	length := engine.LengthAlong(c)
	k.rows(engine.RowAt[float32](y, lo*length, hi*length), engine.RowAt[float32](x, lo*length, hi*length), int(length))
	return nil
}

// normalise replaces a line by its softmax in float64, exp(x - max(x)) / sum(exp(x - max(x))). A nan anywhere, or an
// infinite maximum, makes all of it nan.
func normalise(line []float64) {
	top := math.Inf(-1)
	for _, x := range line {
		top = reduce.Larger(top, x)
	}
	for i := range line {
		line[i] -= top
	}
	maths.Exp.Row64(line, line)
	var sum reduce.Compensated // any other sum would cost more ulps than there are to spare in float64
	for _, x := range line {
		sum = sum.Plus(x)
	}
	for i := range line {
		line[i] /= sum.Value()
	}
}
