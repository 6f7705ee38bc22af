package op

import (
	"errors"

	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Part is one result of a view: the offset of its first element in elements, and its layout.
type Part struct {
	Offset int64
	shape.Layout
}

// ViewRule appends the results of a view of a layout to c.Parts. ErrCopy asks for a contiguous input
// instead.
type ViewRule func(c *Inference, in *shape.Layout) error

// ErrCopy is a view rule's answer when strides cannot say it; the runtime copies and asks again.
var ErrCopy = errors.New("the view needs a contiguous input")

// CutAll cuts as slice does. at has its axes, starts, ends and steps, of a call that inference has checked.
func (p *Part) CutAll(at Attrs) {
	starts, ends, steps := at[SliceStarts].Ints, at[SliceEnds].Ints, at[SliceSteps].Ints
	for i, axis := range at[SliceAxes].Ints {
		if axis < 0 {
			axis += int64(p.Rank)
		}
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		p.Cut(int(axis), starts[i], ends[i], step)
	}
}

// Cut keeps start, start+step, ... before end of an axis. Negative bounds count from the end and
// bounds outside are moved to the nearest edge, as Python slices do. step is not zero.
//
// The view begins at the first element that is kept. One without elements begins where the operand does, because there
// may be no memory where its first element would be.
func (p *Part) Cut(axis int, start, end, step int64) {
	n := p.Dims[axis]
	low, high := int64(0), n // where bounds are clamped to
	if step < 0 {
		low, high = -1, n-1
	}
	clamp := func(v int64) int64 {
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	start, end = clamp(start), clamp(end)
	count := int64(0)
	switch {
	case step > 0 && start < end:
		count = (end-start-1)/step + 1
	case step < 0 && start > end:
		count = (start-end-1)/-step + 1
	}
	if count > 0 {
		p.Offset += start * p.Strides[axis]
	}
	p.Dims[axis] = count
	if count > 1 || step < 0 {
		p.Strides[axis] *= step
	}
}
