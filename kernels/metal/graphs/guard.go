package graphs

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
)

// What MPSGraph ends the process for is ruled out here, before anything is sent: a limit that a call
// exceeds is status.Unsupported, so that another way runs it, and a graph that makes no sense, which is a
// mistake of a lowering, is status.Internal.

// What MPSGraph takes. The numbers are those at which others have seen it fail; Apple documents none.
const (
	mostAxes   = 16
	mostExtent = math.MaxInt32
	mostOctets = 1<<32 - 1 // bytes of one tensor; https://github.com/pytorch/pytorch/issues/143859

	// mostFolded is the axes that reductions and products see; with more they have ended processes on
	// macOS 14. https://github.com/pytorch/pytorch/issues/123364
	mostFolded = 4
)

// refuse ends the building because MPSGraph cannot do the call; the next variant is asked.
func (b *builder) refuse(format string, args ...any) {
	if b.err == nil {
		b.err = status.Errorf(status.Unsupported, format, args...)
	}
}

// check ends the building if a lowering is wrong, which is a mistake of this package and not of the call.
func (b *builder) check(right bool, format string, args ...any) {
	if !right && b.err == nil {
		b.err = status.Errorf(status.Internal, "the graph "+format, args...)
	}
}

// expect checks a dtype.
func (b *builder) expect(x tensor, d dtype.DType) {
	b.check(x.dtype == d, "takes %s for %s", x.dtype, d)
}

// allows reports whether there can be a tensor of that form, and refuses it otherwise.
func (b *builder) allows(d dtype.DType, dims []int64) bool {
	n := d.Size()
	switch {
	case elementTypes[d] == 0:
		b.refuse("MPSGraph has no %s", d)
	case d == dtype.BFloat16 && !objc.MacOS().AtLeast("14.0"):
		b.refuse("MPSGraph has no bfloat16 before macOS 14")
	case len(dims) == 0 || len(dims) > mostAxes:
		b.refuse("got %d axes; MPSGraph takes 1 to %d", len(dims), mostAxes)
	}
	for _, extent := range dims {
		if extent < 1 || extent > mostExtent {
			b.refuse("got an axis of %d; MPSGraph takes 1 to %d", extent, mostExtent)
			return false
		}
		if n > mostOctets/extent {
			b.refuse("got %v of %s; MPSGraph takes less than 4 GiB", dims, d)
			return false
		}
		n *= extent
	}
	return b.err == nil
}

// allowsReduction checks a fold along an axis: its place, the number of axes, and what the system can fold.
func (b *builder) allowsReduction(x tensor, axis int) {
	b.check(0 <= axis && axis < len(x.dims), "folds axis %d of %v", axis, x.dims)
	switch {
	case len(x.dims) > mostFolded:
		b.check(false, "folds %d axes at once", len(x.dims))
	case x.dtype == dtype.Int64 && !objc.MacOS().AtLeast("13.3"):
		// https://github.com/pytorch/pytorch/pull/95817
		b.refuse("MPSGraph folds no int64 before macOS 13.3")
	}
}

// meet is the dimensions that two tensors of one dtype broadcast to, aligned at the last axis.
func (b *builder) meet(x, y tensor) []int64 {
	b.check(x.dtype == y.dtype, "joins %s and %s", x.dtype, y.dtype)
	long, short := x.dims, y.dims
	if len(long) < len(short) {
		long, short = short, long
	}
	dims := append([]int64(nil), long...)
	for i, d := range short {
		at := &dims[len(long)-len(short)+i]
		b.check(*at == d || *at == 1 || d == 1, "joins %v and %v", x.dims, y.dims)
		if *at == 1 {
			*at = d
		}
	}
	if d := x.dtype; d.Valid() {
		b.allows(d, dims)
	}
	return dims
}

// stretches reports whether axes of one are all that differs. Where another axis grows, MPSGraph fills up
// with zeros and reports nothing.
func stretches(from, to []int64) bool {
	if len(from) != len(to) {
		return false
	}
	for i := range from {
		if from[i] != to[i] && from[i] != 1 {
			return false
		}
	}
	return true
}

// volume is how many elements some dimensions have.
func volume(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}
