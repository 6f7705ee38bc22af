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

func poolingOf(e *evaluation, args []quantity) *pooling {
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
func poolWindows(e *evaluation, args []quantity) quantity {
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
	return quantity{v: y}
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
func placesOfMaxima(e *evaluation, args []quantity) quantity {
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
	ranked := func(v op.Var, dims ...int64) op.Var {
		to := shape.Shape{Rank: len(dims)}
		copy(to.Dims[:], dims)
		return p.Reshape(v, &to)
	}
	lead := s.Dims[:2]
	lines := p.gathered(ranked(p.x, lead[0], lead[1], n), 2, flat, least(p.dtypeOf(p.x)))
	best := p.Do(op.IDArgmax, op.Attrs{{Kind: op.Int, I: 3}}, ranked(lines, lead[0], lead[1], outer, inner))
	number := func(n int64) op.Var { return p.Number(op.Value{Kind: op.Int, I: n}) }
	first := p.Do(op.IDMultiply, nil, rows.Column(p.Calls, outer, 3, 2), number(inner))
	which := ranked(p.Do(op.IDAdd, nil, best, first), lead[0]*lead[1]*outer)
	return quantity{v: ranked(p.Do(op.IDGather, nil, indices(p.Calls, flat), which), slices.Concat(lead, p.counts)...)}
}
