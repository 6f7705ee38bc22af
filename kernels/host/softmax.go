package host

import (
	"math"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Lines are shifted by their maximum, so that no exponential overflows.
func init() {
	for d, c := range map[dtype.DType]*codec[float32]{
		dtype.Float16: halfCodec(dtype.Float16), dtype.BFloat16: halfCodec(dtype.BFloat16), dtype.Float32: new(codec[float32]),
	} {
		register(op.IDSoftmax, d, &scan[float32]{codec: c, weight: 2 * heavy, f: softmaxLine})
	}
	register(op.IDSoftmax, dtype.Float64, &scan[float64]{codec: new(codec[float64]), weight: 3 * heavy, f: normalise})
}

// softmaxRooms has *[]float64, the exponentials of a line.
var softmaxRooms sync.Pool

// Halves and float32 go through float32, whose lines need no copy; vec.Softmax computes in float64 and rounds once.

// softmaxLine replaces a line by its softmax; see vec.Softmax.
func softmaxLine(line []float32) {
	room, ok := softmaxRooms.Get().(*[]float64)
	if !ok || cap(*room) < len(line) {
		room = new([]float64)
		*room = make([]float64, len(line))
	}
	vec.Softmax(line, line, (*room)[:len(line)])
	softmaxRooms.Put(room)
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
