package formula

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Pools whose windows the rows max_pool and avg_pool do not have: with gaps between their elements, as many as a caller says, over
// integers.
//
// They go axis by axis, because maximum and sum of a window are those of its lines: the elements of the windows of an axis are
// gathered side by side and reduced. It costs a copy of the operand for each axis.

// mostPooled bounds the elements of all windows of an axis.
const mostPooled = 1 << 28

// pooledWindows is the rule of window_pool and of window_pool_places.
func pooledWindows(c *op.Inference) error {
	if err := likeFirst(c); err != nil {
		return err
	}
	s := c.In[0].Shape
	axes := s.Rank - 2
	kernel, windows := c.Attr("kernel_size").Ints, c.Attr("windows").Ints
	stride, padding, dilation := c.Attr("stride").Ints, c.Attr("padding").Ints, c.Attr("dilation").Ints
	if axes < 1 || len(kernel) != axes || len(windows) != axes || len(stride) != axes || len(padding) != 2*axes || len(dilation) != axes {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, kernel_size is %v, stride %v, padding %v, dilation %v and windows %v; want [n, c, size...], a number for each size, and two of padding",
			c.Row.Name, &s, kernel, stride, padding, dilation, windows)
	}
	for i := range kernel {
		if kernel[i] < 1 || windows[i] < 0 || stride[i] < 1 || dilation[i] < 1 || windows[i] > mostPooled/kernel[i] || max(stride[i], dilation[i], padding[2*i], -padding[2*i]) > math.MaxInt32 {
			return status.Errorf(status.Invalid, "[%s] kernel_size is %v, stride %v, dilation %v and windows %v; want numbers from 1, and at most %d elements of windows", c.Row.Name, kernel, stride, dilation, windows, mostPooled)
		}
		s.Dims[i+2] = windows[i]
	}
	c.Out[0].Shape = s
	if c.Row.AttrIndex("mode") < 0 {
		c.Out[0].DType = dtype.Int64
		return nil
	}
	return oneOf(c, map[string][]string{"mode": {"max", "sum", "mean"}})
}

// pooling is a call of one of the rows: numbers for each axis behind batch and channels.
type pooling struct {
	*evaluation
	x                                         op.Var
	kernel, stride, padding, dilation, counts []int64
}

func poolingOf(e *evaluation, args []*quantity) *pooling {
	list := func(i int) []int64 { return args[i].value.Ints }
	return &pooling{evaluation: e, x: args[0].v, kernel: list(1), stride: list(2), padding: list(3), dilation: list(4), counts: list(5)}
}

// places are the elements of an axis that its windows have, -1 for the padding.
func (p *pooling) places(i int, n int64) []int64 {
	list := make([]int64, 0, p.counts[i]*p.kernel[i])
	for o := range p.counts[i] {
		for k := range p.kernel[i] {
			at := o*p.stride[i] + k*p.dilation[i] - p.padding[2*i]
			if at < 0 || at >= n {
				at = -1
			}
			list = append(list, at)
		}
	}
	return list
}

// gathered is elements along an axis, in which -1 stands for a number that is not there.
func (p *pooling) gathered(x op.Var, axis int, list []int64, fill op.Value) op.Var {
	s := p.Shape(x)
	n := s.Dims[axis]
	if slices.Contains(list, -1) {
		s.Dims[axis] = 1
		x = p.Do(op.IDConcat, op.Attrs{{Kind: op.Int, I: int64(axis)}}, x, p.Filled(&s, fill, p.dtypeOf(x)))
	}
	at := slices.Clone(list)
	for j := range at {
		if at[j] < 0 {
			at[j] = n
		}
	}
	return p.Do(op.IDGather, op.Attrs{{Kind: op.Int, I: int64(axis)}}, x, indices(p.Calls, at))
}

// least is what all numbers of a dtype beat.
func least(d dtype.DType) op.Value {
	if d.IsFloat() {
		return op.Value{Kind: op.Float, F: math.Inf(-1)}
	}
	low, _ := d.Range()
	return op.Value{Kind: op.Int, I: low}
}

// poolWindows computes window_pool. Maxima are exact; sums are added in another order than windows of several axes would have it.
// A mean is over the elements of x in the window or, unless it is exclusive, those in the padding too.
func poolWindows(e *evaluation, args []*quantity) *quantity {
	p := poolingOf(e, args)
	y, mode, exclusive := p.x, args[6].value.Str(), args[7].value.I != 0
	for i := range p.kernel {
		s := p.Shape(y)
		axis, n := i+2, s.Dims[i+2]
		fill := op.Value{Kind: op.Float}
		if mode == "max" {
			fill = least(p.dtypeOf(y))
		}
		y = p.gathered(y, axis, p.places(i, n), fill)
		split := s
		split.Rank++
		copy(split.Dims[axis+2:], s.Dims[axis+1:])
		split.Dims[axis], split.Dims[axis+1] = p.counts[i], p.kernel[i]
		y = p.Reshape(y, &split)
		if reduced := []int64{int64(axis + 1)}; mode == "max" {
			y = p.Do(op.IDMax, op.Attrs{{Kind: op.Ints, Ints: reduced}}, y)
		} else {
			y = p.sumOf(y, reduced)
		}
		if mode == "mean" {
			line := rows.Line(p.counts[i], s.Rank, axis)
			y = p.Divide(y, p.Reshape(constant(p.Calls, p.terms(i, n, exclusive), p.dtypeOf(y)), &line))
		}
	}
	return &quantity{v: y}
}

// terms is how many elements of each window of an axis a mean counts.
func (p *pooling) terms(i int, n int64, exclusive bool) []float64 {
	counts := make([]float64, p.counts[i])
	for o := range counts {
		for k := range p.kernel[i] {
			at := int64(o)*p.stride[i] + k*p.dilation[i] - p.padding[2*i]
			if at >= 0 && at < n || !exclusive && at >= -p.padding[2*i] && at < n+p.padding[2*i+1] {
				counts[o]++
			}
		}
	}
	return counts
}

// placesOfMaxima computes window_pool_places: the windows of all axes are crossed here, one list of places for a plane, and planes
// are gathered as lines.
func placesOfMaxima(e *evaluation, args []*quantity) *quantity {
	p := poolingOf(e, args)
	s := p.Shape(p.x)
	flat, outer, inner, n := []int64{0}, int64(1), int64(1), int64(1)
	for i, d := range s.Slice()[2:] {
		list := p.places(i, d)
		if len(list) > 0 && len(flat) > mostPooled/len(list) {
			return e.refuse("the windows have more than %d elements", mostPooled)
		}
		next := make([]int64, 0, len(flat)*len(list))
		for a := range outer {
			for o := range p.counts[i] {
				for b := range inner {
					for k := range p.kernel[i] {
						before, at := flat[a*inner+b], list[o*p.kernel[i]+k]
						if before < 0 || at < 0 {
							next = append(next, -1)
						} else {
							next = append(next, before*d+at)
						}
					}
				}
			}
		}
		flat, outer, inner, n = next, outer*p.counts[i], inner*p.kernel[i], n*d
	}
	lead := s.Dims[:2]
	lines := p.gathered(p.ranked(p.x, lead[0], lead[1], n), 2, flat, least(p.dtypeOf(p.x)))
	best := p.Do(op.IDArgmax, op.Attrs{{Kind: op.Int, I: 3}}, p.ranked(lines, lead[0], lead[1], outer, inner))
	first := p.Do(op.IDMultiply, nil, rows.Column(p.Calls, outer, 3, 2), p.Int(inner))
	which := p.ranked(p.Do(op.IDAdd, nil, best, first), lead[0]*lead[1]*outer)
	return &quantity{v: p.ranked(p.Do(op.IDGather, nil, indices(p.Calls, flat), which), slices.Concat(lead, p.counts)...)}
}

// The sums of windows that overlap.

// folding adds windows up on the axes of images.
type folding struct {
	*evaluation
	op.Windows
}

// addWindows computes fold: the axes are added up one after the other, from the last one on.
func addWindows(e *evaluation, args []*quantity) *quantity {
	size := args[1].value.Ints
	at := make(op.Attrs, len(args)-1)
	for i := range at {
		at[i] = args[1+i].value
	}
	w, err := op.WindowsOf(op.ByID(op.IDFold), at, len(size))
	if err != nil {
		e.Err = err
		return args[0]
	}
	f, s := folding{e, w}, e.Shape(args[0].v)
	apart := shape.Shape{Rank: 2 + 2*f.Axes, Dims: [shape.MaxRank]int64{s.Dims[0], s.Dims[1]}}
	for i := range f.Axes {
		apart.Dims[1] /= f.Kernel[i]
		apart.Dims[2+i], apart.Dims[2+f.Axes+i] = f.Kernel[i], f.Count(i, size[i])
	}
	v := e.Reshape(args[0].v, &apart)
	for i := f.Axes - 1; i >= 0; i-- {
		v = f.added(v, i, size[i])
		v = between(e.Calls, v, int64(2+2*i), f.Before[i], f.Before[i]+size[i])
	}
	return &quantity{v: v}
}

// added are the sums on a padded axis of n elements between, where axis 2+i of v has the elements of a window, and an axis i+1 further
// the windows.
func (f *folding) added(v op.Var, i int, n int64) op.Var {
	s, element := f.Shape(v), 2+i
	if f.Err != nil {
		return v
	}
	at := element + i + 1
	count, stride, padded := s.Dims[at], f.Stride[i], n+f.Before[i]+f.Behind[i]
	if count == 1 && f.Dilation[i] == 1 { // a single window, of which a stride may be all
		stride = s.Dims[element]
	}
	switch {
	case f.Dilation[i] == 1 && (f.Kernel[i]-1)/max(stride, 1) < mostTaps:
		v = f.shifted(v, element, at, stride)
	case f.Dilation[i] > 1 && f.Kernel[i] <= mostTaps && stride <= mostTaps:
		v = f.interleaved(v, element, at, stride, f.Dilation[i])
	default:
		return f.placed(v, element, at, padded, stride, f.Dilation[i])
	}
	return f.pad(v, at-1, 0, max(padded-f.Shape(v).Dims[at-1], 0))
}

// shifted are sums of windows without dilation, in parts as long as a stride: part q of a window lies where part 0 of the window
// lies that is q further.
func (f *folding) shifted(v op.Var, element, at int, stride int64) op.Var {
	s := f.Shape(v)
	parts := (s.Dims[element]-1)/stride + 1
	v = f.pad(v, element, 0, parts*stride-s.Dims[element])
	l := shape.Layout{Shape: s}
	l.Dims[element] = stride
	l.Insert(element)
	l.Dims[element] = parts
	v = f.Reshape(v, &l.Shape)
	total, part := op.NoVar, s
	part.Dims[element] = stride
	for q := range parts {
		piece := f.Reshape(between(f.Calls, v, int64(element), q, q+1), &part)
		total = f.plus(total, f.pad(piece, at, q, parts-1-q))
	}
	return f.joined(total, element, at)
}

// joined merges an axis into another one behind it, of which it becomes the faster part.
func (f *folding) joined(v op.Var, fast, slow int) op.Var {
	s := f.Shape(v)
	var order []int64
	for i := range int64(s.Rank) {
		if i != int64(fast) {
			order = append(order, i)
		}
		if i == int64(slow) {
			order = append(order, int64(fast))
		}
	}
	l := shape.Layout{Shape: s}
	l.Dims[slow] *= l.Dims[fast]
	l.Remove(fast)
	return f.Reshape(permute(f.Calls, v, order), &l.Shape)
}

// interleaved are sums of windows with dilation: element k of window w lies at k * dilation + w * stride. Elements with one remainder
// by the stride are added up first, as lines that are moved by whole windows.
func (f *folding) interleaved(v op.Var, element, at int, stride, dilation int64) op.Var {
	s := f.Shape(v)
	last := (s.Dims[element] - 1) * dilation
	lines := make([]op.Var, stride)
	for r := range lines {
		lines[r] = op.NoVar
	}
	l := shape.Layout{Shape: s}
	l.Remove(element)
	for k := range s.Dims[element] {
		moved, r := k*dilation/stride, k*dilation%stride
		piece := f.Reshape(between(f.Calls, v, int64(element), k, k+1), &l.Shape)
		lines[r] = f.plus(lines[r], f.pad(piece, at-1, moved, last/stride-moved))
	}
	zeros, like := op.NoVar, f.Shape(lines[0])
	for r, line := range lines {
		if line == op.NoVar {
			if zeros == op.NoVar {
				zeros = f.Filled(&like, op.Value{Kind: op.Int}, f.TypeOf(v).DType)
			}
			lines[r] = zeros
		}
	}
	if stride == 1 {
		return lines[0]
	}
	together := f.Do(op.IDStack, op.Attrs{{Kind: op.Int, I: int64(at)}}, lines...)
	like.Dims[at-1] *= stride
	return f.Reshape(together, &like)
}

// placed adds each element of long windows to its place.
func (f *folding) placed(v op.Var, element, at int, padded, stride, dilation int64) op.Var {
	s := f.Shape(v)
	front, back := []int64{int64(element), int64(at)}, make([]int64, 0, s.Rank-1)
	sums := shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{padded}}
	for i, d := range s.Slice() {
		switch i {
		case element:
		case at:
			back = append(back, 0)
		default:
			back = append(back, int64(sums.Rank))
			front = append(front, int64(i))
			sums.Append(d)
		}
	}
	times := func(places op.Var, by int64) op.Var {
		return f.Do(op.IDMultiply, nil, places, f.Int(by))
	}
	places := f.Add(times(rows.Column(f.Calls, s.Dims[element], 2, 0), dilation), times(rows.Column(f.Calls, s.Dims[at], 2, 1), stride))
	zeros := f.Filled(&sums, op.Value{Kind: op.Int}, f.TypeOf(v).DType)
	total := f.Do(op.IDIndexReduce, op.Attrs{{Kind: op.String, Ref: "add"}}, zeros, permute(f.Calls, v, front), places)
	return permute(f.Calls, total, back)
}

// plus is a sum, of which the first term may be missing.
func (f *folding) plus(x, y op.Var) op.Var {
	if x == op.NoVar {
		return y
	}
	return f.Add(x, y)
}

// pad adds zeros before and behind an axis.
func (f *folding) pad(v op.Var, axis int, before, behind int64) op.Var {
	if f.Err != nil || before == 0 && behind == 0 {
		return v
	}
	pads := make([]int64, 2*f.Shape(v).Rank)
	pads[2*axis], pads[2*axis+1] = before, behind
	return f.Do(op.IDPad, op.Attrs{op.PadPads: {Kind: op.Ints, Ints: pads}}, v)
}
