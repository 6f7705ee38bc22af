package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// pad: elements are copied into the middle of the result, and what surrounds them is filled in, or copied from there.

// All of a result is filled, and not what surrounds the middle, where that is one call of few elements, or where the edges are many
// short lines.
const (
	fewPads  = 1 << 14
	lineCost = 64 // elements that are filled in the time that a line takes which begins elsewhere
)

// lowerPad copies x into the middle of the result. Numbers below 0 drop elements of x.
func lowerPad(e op.Emitter, s *op.Step) error {
	pads, mode, out := s.Attrs[op.PadPads].Ints, s.Attrs[op.PadMode].Str(), &s.Out[0]
	if out.Numel() == 0 {
		return nil
	}
	if mode != "constant" {
		return lowerContinued(e, s)
	}
	x, middle := op.Part{Layout: s.In[0].Layout}, op.Part{Layout: out.Layout}
	var edges []op.Ref
	lines := int64(0)
	for axis := range x.Rank {
		n, before, behind := x.Dims[axis], pads[2*axis], pads[2*axis+1]
		from := min(max(-before, 0), n)
		to := max(min(n, n+behind), from)
		x.Cut(axis, from, to, 1)
		start, end := min(max(before, 0), middle.Dims[axis]), min(max(before, 0)+to-from, middle.Dims[axis])
		for _, edge := range [...][2]int64{{0, start}, {end, middle.Dims[axis]}} {
			if part := middle; edge[0] < edge[1] {
				part.Cut(axis, edge[0], edge[1], 1)
				edges = append(edges, out.View(part.Offset, &part.Layout))
				lines += part.Numel() / max(part.Dims[part.Rank-1], 1)
			}
		}
		middle.Cut(axis, start, end, 1)
	}
	if len(edges) > 1 && (out.Numel() <= max(fewPads, lines*lineCost) || x.Numel() == 0) {
		edges = []op.Ref{*out}
	}
	for i := range edges {
		if err := fill(e, &edges[i], &s.Attrs[op.PadValue]); err != nil {
			return err
		}
	}
	if x.Numel() == 0 {
		return nil
	}
	return e.Copy(s.In[0].View(x.Offset, &x.Layout), out.View(middle.Offset, &middle.Layout))
}

// fill makes all elements a number. No kernel fills memory with complex numbers: one that was cast is copied.
func fill(e op.Emitter, to *op.Ref, v *op.Value) error {
	if to.DType.IsComplex() {
		at := op.Attrs{op.FullShape: {Kind: op.Ints}, op.FullFillValue: *v, op.FullDtype: {Kind: op.DType, I: int64(to.DType.Part())}}
		made, err := e.Call(op.ByID(op.IDFull), nil, at)
		if err == nil {
			made, err = e.Call(op.ByID(op.IDCast), made, op.Attrs{{Kind: op.DType, I: int64(to.DType)}})
		}
		if err != nil {
			return err
		}
		number := made[0] // which the step that makes it has too
		number.Layout = number.BroadcastTo(&to.Shape)
		return e.Copy(number, *to)
	}
	return e.Emit(&op.Step{Row: op.ByID(op.IDFull), Out: []op.Ref{*to}, Attrs: op.Attrs{
		op.FullShape:     {Kind: op.Ints, Ints: append([]int64{}, to.Slice()...)},
		op.FullFillValue: *v,
		op.FullDtype:     {Kind: op.DType, I: int64(to.DType)},
	}})
}

// lowerContinued is pad with elements of x. Those that are dropped may be some that are added elsewhere: they are dropped last.
func lowerContinued(e op.Emitter, s *op.Step) error {
	x, out := s.In[0], &s.Out[0]
	pads, more, drops := s.Attrs[op.PadPads].Ints, make([]int64, 2*x.Rank), false
	adds := false
	for i, n := range pads {
		more[i] = max(n, 0)
		drops, adds = drops || n < 0, adds || n > 0
	}
	if !drops {
		return continued(e, x, out, pads, s.Attrs[op.PadMode].Str())
	}
	if adds {
		made, err := e.Call(s.Row, []op.Ref{x}, op.Attrs{op.PadPads: {Kind: op.Ints, Ints: more}, op.PadMode: s.Attrs[op.PadMode], op.PadValue: s.Attrs[op.PadValue]})
		if err != nil {
			return err
		}
		x = made[0]
	}
	kept := op.Part{Layout: x.Layout}
	for axis := range x.Rank {
		from := max(-pads[2*axis], 0)
		kept.Cut(axis, from, from+out.Dims[axis], 1)
	}
	return e.Copy(x.View(kept.Offset, &kept.Layout), *out)
}

// edge is a line of axes along one axis of a result, of which the elements from low to high are written. Element 0 is the first of x.
type edge struct {
	op.Emitter
	out       *op.Ref
	done      op.Part // the elements from 0 to 1, and all that is written on other axes
	axis      int
	low, high int64
}

// continued copies x into the middle of the result and then, axis by axis, what is written to where it is repeated.
func continued(e op.Emitter, x op.Ref, out *op.Ref, pads []int64, mode string) error {
	done := op.Part{Layout: out.Layout}
	for axis := range x.Rank {
		done.Cut(axis, pads[2*axis], pads[2*axis]+x.Dims[axis], 1)
	}
	if err := e.Copy(x, out.View(done.Offset, &done.Layout)); err != nil {
		return err
	}
	for axis, n := range x.Slice() {
		before, behind := pads[2*axis], pads[2*axis+1]
		if before == 0 && behind == 0 {
			continue
		}
		line := edge{Emitter: e, out: out, done: done, axis: axis, high: n}
		if err := line.extend(before, behind, mode); err != nil {
			return err
		}
		done.Offset -= before * out.Strides[axis]
		done.Dims[axis] = n + before + behind
	}
	return nil
}

// extend writes as many elements before 0 and behind the end.
func (l *edge) extend(before, behind int64, mode string) error {
	n := l.high
	switch period := 2 * (n - 1); {
	case mode == "circular":
		return l.repeat(-before, n+behind, n)
	case mode == "replicate" || n == 1:
		if err := l.copy(n, n+behind, n-1, 0); err != nil {
			return err
		}
		return l.copy(-before, 0, 0, 0)
	default:
		low, high := max(-before, 1-n), min(n+behind, 2*n-1)
		if err := l.copy(n, high, n-2, -1); err != nil {
			return err
		}
		if err := l.copy(low, 0, -low, -1); err != nil {
			return err
		}
		l.low, l.high = low, high
		return l.repeat(-before, n+behind, period)
	}
}

// repeat writes what repeats with a period, of which all is written: whole periods at once, and twice as many each time.
func (l *edge) repeat(low, high, period int64) error {
	for l.high < high {
		shift := (l.high - l.low) / period * period
		end := min(high, l.high+shift)
		if err := l.copy(l.high, end, l.high-shift, 1); err != nil {
			return err
		}
		l.high = end
	}
	for l.low > low {
		shift := (l.high - l.low) / period * period
		start := max(low, l.low-shift)
		if err := l.copy(start, l.low, start+shift, 1); err != nil {
			return err
		}
		l.low = start
	}
	return nil
}

// copy writes the elements from low to high: those from another one on, by steps.
func (l *edge) copy(low, high, from, step int64) error {
	if low >= high {
		return nil
	}
	stride := l.out.Strides[l.axis]
	to := l.done.Layout
	to.Dims[l.axis] = high - low
	read := to
	read.Strides[l.axis] = step * stride
	return l.Copy(l.out.View(l.done.Offset+from*stride, &read), l.out.View(l.done.Offset+low*stride, &to))
}

// gradPad drops what was added and adds zeros for what was dropped: it is pad too. Elements that were repeated get the sum of the
// gradients, axis by axis from the last one.
func gradPad(g *op.Gradient) {
	pads, mode := g.Attrs[op.PadPads].Ints, g.Attrs[op.PadMode].Str()
	if mode == "constant" {
		back := make([]int64, len(pads))
		for i, n := range pads {
			back[i] = -n
		}
		g.Set(0, g.Do(op.IDPad, op.Attrs{op.PadPads: {Kind: op.Ints, Ints: back}}, g.Dy[0]))
		return
	}
	dy, x := g.Dy[0], g.Shape(g.In[0])
	s := g.Shape(dy)
	for axis := x.Rank - 1; axis >= 0; axis-- {
		before, behind := pads[2*axis], pads[2*axis+1]
		if s.Dims[axis] = x.Dims[axis]; before != 0 || behind != 0 {
			dy = addAlong(g, &s, dy, padPlaces(&g.Calls, x.Dims[axis], before, behind, mode), int64(axis))
		}
	}
	g.Set(0, dy)
}

// fewPlaces is up to how many places are a list of numbers; more are computed, so that no program has them all.
const fewPlaces = 1 << 10

// padPlaces are the elements of an axis of n that pad reads.
func padPlaces(c *op.Calls, n, before, behind int64, mode string) op.Var {
	count := n + before + behind
	if count <= fewPlaces {
		places := make([]float64, count)
		for i := range places {
			places[i] = float64(padPlace(int64(i)-before, n, mode))
		}
		return c.Do(op.IDNumberLine, op.Attrs{op.NumberLineValues: {Kind: op.Floats, Ref: places}, op.NumberLineDtype: {Kind: op.DType, I: int64(dtype.Int64)}})
	}
	places := c.Subtract(c.Range(count), c.Int(before))
	switch period := 2 * (n - 1); {
	case mode == "circular":
		return c.Do(op.IDRemainder, nil, places, c.Int(n))
	case mode == "replicate" || n == 1:
		return c.Do(op.IDClip, nil, places, c.Int(0), c.Int(n-1))
	default:
		places = c.Do(op.IDRemainder, nil, places, c.Int(period))
		return c.Do(op.IDMinimum, nil, places, c.Subtract(c.Int(period), places))
	}
}

// padPlace is the element at a place of an axis of n that is continued.
func padPlace(i, n int64, mode string) int64 {
	switch period := 2 * (n - 1); {
	case mode == "circular":
		return ((i % n) + n) % n
	case mode == "replicate" || n == 1:
		return min(max(i, 0), n-1)
	default:
		i = ((i % period) + period) % period
		return min(i, period-i)
	}
}
