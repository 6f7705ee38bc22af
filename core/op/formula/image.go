package formula

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What formulas of images are too weak to say: shapes, of which dimensions may be symbols, and indices and weights that follow
// from sizes.

// plane are the axes of an operand of 4, as attribute channels_last says: channels, height and width.
func plane(c *op.Inference, what string, factor int64) (axes [3]int, err error) {
	s := &c.In[0].Shape
	if s.Rank != 4 || factor < 1 {
		return axes, status.Errorf(status.Invalid, "[%s] x has %d axes and %s is %d; want 4 axes and a number from 1", c.Row.Name, s.Rank, what, factor)
	}
	if c.Attr("channels_last").I != 0 {
		return [3]int{3, 1, 2}, nil
	}
	return [3]int{1, 2, 3}, nil
}

// fraction is a dimension over a number. What is wrong says how many there are of what.
func fraction(c *op.Inference, axis int, by int64, what string) (int64, error) {
	d := c.In[0].Shape.Dims[axis]
	switch {
	case by == 1:
		return d, nil
	case shape.IsSymbol(d):
		return c.Unknown(), nil
	case d%by != 0:
		return 0, status.Errorf(status.Invalid, "[%s] x has %d %s; want a multiple of %d", c.Row.Name, d, what, by)
	}
	return d / by, nil
}

// likeFirst is the rule of composites whose result has the dtype of the first operand, and whose other operands keep theirs.
func likeFirst(c *op.Inference) error {
	if d := c.In[0].DType; !c.Row.Accepts.Has(d) {
		return c.Settle(d) // which has the error
	}
	c.Out[0].DType = c.In[0].DType
	return nil
}

// unchanged is the rule of composites whose result has the shape of the first operand.
func unchanged(c *op.Inference) error {
	c.Out[0].Shape = c.In[0].Shape
	return nil
}

// mostFactor bounds factors, whose squares are numbers too.
const mostFactor = 1 << 31

// shuffledPixels is the rule of pixel_shuffle.
func shuffledPixels(c *op.Inference) error {
	r := min(c.Attr("upscale_factor").I, mostFactor)
	axes, err := plane(c, "upscale_factor", r)
	if err != nil {
		return err
	}
	s := c.In[0].Shape
	if s.Dims[axes[0]], err = fraction(c, axes[0], r*r, "channels"); err != nil {
		return err
	}
	for _, a := range axes[1:] {
		s.Dims[a] = c.Times(s.Dims[a], r)
	}
	c.Out[0].Shape = s
	return nil
}

// gatheredPixels is the rule of pixel_unshuffle.
func gatheredPixels(c *op.Inference) error {
	r := min(c.Attr("downscale_factor").I, mostFactor)
	axes, err := plane(c, "downscale_factor", r)
	if err != nil {
		return err
	}
	s := c.In[0].Shape
	for i, what := range [...]string{"rows", "columns"} {
		if s.Dims[axes[i+1]], err = fraction(c, axes[i+1], r, what); err != nil {
			return err
		}
	}
	s.Dims[axes[0]] = c.Times(s.Dims[axes[0]], r*r)
	c.Out[0].Shape = s
	return nil
}

// dealtChannels is the rule of channel_shuffle.
func dealtChannels(c *op.Inference) error {
	groups := c.Attr("groups").I
	axes, err := plane(c, "groups", groups)
	if err == nil {
		_, err = fraction(c, axes[0], groups, "channels")
	}
	c.Out[0].Shape = c.In[0].Shape
	return err
}

// sampledImages is the rule of grid_sample.
func sampledImages(c *op.Inference) error {
	x, grid := &c.In[0].Shape, &c.In[1].Shape
	axes := x.Rank - 2
	if axes < 1 || axes > 3 || grid.Rank != x.Rank || op.Differ(grid.Dims[x.Rank-1], int64(axes)) || op.Differ(grid.Dims[0], x.Dims[0]) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s and grid %s; want [n, c, size...] and [n, points..., axes] for 1 to 3 axes", c.Row.Name, x, grid)
	}
	if d := c.In[1].DType; !d.IsFloat() {
		return status.Errorf(status.Unsupported, "[%s] grid is %s; want a floating-point tensor", c.Row.Name, d)
	}
	out := *x
	copy(out.Dims[2:], grid.Dims[1:x.Rank-1])
	c.Out[0].Shape = out
	for _, word := range [...]struct {
		attr string
		of   []string
	}{{"mode", []string{"bilinear", "nearest", "bicubic"}}, {"padding_mode", []string{"zeros", "border", "reflection"}}} {
		if got := c.Attr(word.attr).Str(); !slices.Contains(word.of, got) {
			return status.Errorf(status.Invalid, "[%s] %s is '%s'; want one of %v", c.Row.Name, word.attr, got, word.of)
		}
	}
	return nil
}

// sampling reads images at the points of a grid.
type sampling struct {
	*evaluation
	image   op.Var // [n, size..., c], so that a read copies all channels of a pixel
	batch   op.Var // the number of the image, for each point
	sizes   []int64
	padding string
	corners bool // align_corners
	padded  bool // the pixels around a point are padded, and not the point
}

// sampleImages computes grid_sample: the pixels around each point, weighted by their distances.
func sampleImages(e *evaluation, args []*quantity) *quantity {
	x, grid := args[0].v, args[1].v
	s, mode := e.Shape(x), args[2].value.Str()
	axes := s.Rank - 2
	r := sampling{evaluation: e, sizes: s.Dims[2:s.Rank], padding: args[3].value.Str(), corners: args[4].value.I != 0}
	r.padded = args[5].value.I != 0 || mode == "bicubic"
	r.image = permute(e.Calls, x, channelsBehind(s.Rank))
	r.batch = rows.Column(e.Calls, s.Dims[0], axes+1, 0)
	points := make([]op.Var, axes)
	for i := range points {
		points[i] = r.point(grid, i)
	}
	var total op.Var
	if mode == "nearest" {
		for i, p := range points {
			points[i] = e.Do(op.IDRound, nil, p)
		}
		total = r.read(points, op.NoVar)
	} else {
		total = r.blended(points, mode == "bicubic")
	}
	return &quantity{v: permute(e.Calls, total, channelsInFront(s.Rank))}
}

// permute is transpose.
func permute(c *op.Calls, v op.Var, order []int64) op.Var {
	return c.Do(op.IDTranspose, op.Attrs{{Kind: op.Ints, Ints: order}}, v)
}

// channelsBehind is the order of axes that makes axis 1 the last one, and channelsInFront the reverse.
func channelsBehind(rank int) []int64 {
	order := []int64{0}
	for i := 2; i < rank; i++ {
		order = append(order, int64(i))
	}
	return append(order, 1)
}

func channelsInFront(rank int) []int64 {
	order := []int64{0, int64(rank - 1)}
	for i := 1; i < rank-1; i++ {
		order = append(order, int64(i))
	}
	return order
}

// point is the coordinates on one axis of images, counted in pixels.
func (r *sampling) point(grid op.Var, axis int) op.Var {
	s, n := r.Shape(grid), float64(r.sizes[axis])
	last, at := int64(s.Rank-1), int64(len(r.sizes)-1-axis)
	p := between(r.Calls, grid, last, at, at+1)
	s.Rank--
	p = r.Plus(r.Reshape(p, &s), 1)
	if r.corners {
		p = r.Scale(p, (n-1)/2)
	} else {
		p = r.Plus(r.Scale(p, n/2), -0.5)
	}
	if r.padded {
		return p
	}
	return r.inside(p, r.sizes[axis])
}

// inside moves coordinates to where pixels are, as padding_mode says.
func (r *sampling) inside(p op.Var, n int64) op.Var {
	switch r.padding {
	case "zeros":
		return p
	case "reflection":
		p = r.reflected(p, float64(n))
	}
	return r.within(p, n)
}

// within cuts coordinates off at the first and the last pixel.
func (r *sampling) within(p op.Var, n int64) op.Var {
	return r.Do(op.IDClip, nil, p, r.Float(0), r.Float(float64(n-1)))
}

// reflected are coordinates under mirrors at the first and the last pixel, or at their outer edges.
func (r *sampling) reflected(p op.Var, n float64) op.Var {
	period, shift := 2*n, 0.5
	if r.corners {
		period, shift = 2*(n-1), 0
	}
	if period <= 0 {
		return r.Scale(p, 0)
	}
	far := r.Do(op.IDAbs, nil, r.Plus(p, shift))
	rest := r.Subtract(far, r.Scale(r.Do(op.IDFloor, nil, r.Divide(far, r.Float(period))), period))
	return r.Plus(r.Do(op.IDMinimum, nil, rest, r.Subtract(r.Float(period), rest)), -shift)
}

// blended is the sum over the pixels around each point: two on each axis, or four.
func (r *sampling) blended(points []op.Var, cubic bool) op.Var {
	type tap struct{ at, weight op.Var }
	taps := make([][]tap, len(points))
	for i, p := range points {
		low := r.Do(op.IDFloor, nil, p)
		t := r.Subtract(p, low)
		rest := r.Subtract(r.Float(1), t)
		if cubic {
			taps[i] = []tap{{r.Plus(low, -1), r.far(r.Plus(t, 1))}, {low, r.near(t)}, {r.Plus(low, 1), r.near(rest)}, {r.Plus(low, 2), r.far(r.Plus(rest, 1))}}
		} else {
			taps[i] = []tap{{low, rest}, {r.Plus(low, 1), t}}
		}
	}
	total, around := op.NoVar, len(taps[0])
	for corner := range power(around, len(points)) {
		at, weight := make([]op.Var, len(points)), op.NoVar
		for i, rest := len(points)-1, corner; i >= 0; i, rest = i-1, rest/around {
			at[i] = taps[i][rest%around].at
		}
		for i := range points {
			w := taps[i][corner/power(around, len(points)-1-i)%around].weight
			if weight == op.NoVar {
				weight = w
			} else {
				weight = r.Multiply(weight, w)
			}
		}
		if term := r.read(at, weight); total == op.NoVar {
			total = term
		} else {
			total = r.Add(total, term)
		}
	}
	return total
}

func power(x, n int) int {
	y := 1
	for range n {
		y *= x
	}
	return y
}

// cubicReach is the coefficient of Keys' kernel, Cubic Convolution Interpolation for Digital Image Processing, 1981.
const cubicReach = -0.75

// near is Keys' kernel at distances up to 1, and far from 1 to 2.
func (r *sampling) near(d op.Var) op.Var {
	const a = cubicReach
	slope := r.Plus(r.Scale(d, a+2), -(a + 3))
	return r.Plus(r.Multiply(r.Multiply(slope, d), d), 1)
}

func (r *sampling) far(d op.Var) op.Var {
	const a = cubicReach
	v := r.Plus(r.Scale(d, a), -5*a)
	v = r.Plus(r.Multiply(v, d), 8*a)
	return r.Plus(r.Multiply(v, d), -4*a)
}

// read is the pixels at whole numbers, 0 where there are none, times a weight.
func (r *sampling) read(at []op.Var, weight op.Var) op.Var {
	in, known := []op.Var{r.image, r.batch}, op.NoVar
	for i, p := range at {
		n := r.sizes[i]
		if r.padded {
			p = r.inside(p, n)
		}
		if !r.padded || r.padding == "zeros" {
			there := r.Do(op.IDLogicalAnd, nil, r.Do(op.IDGreaterEqual, nil, p, r.Float(0)), r.Do(op.IDLessEqual, nil, p, r.Float(float64(n-1))))
			if known != op.NoVar {
				there = r.Do(op.IDLogicalAnd, nil, known, there)
			}
			known = there
		}
		in = append(in, r.Cast(r.within(p, n), dtype.Int64))
	}
	found := r.Do(op.IDIndex, nil, in...)
	if r.Err != nil {
		return op.NoVar
	}
	behind := r.Shape(at[0])
	behind.Append(1)
	if weight != op.NoVar {
		found = r.Multiply(found, r.Reshape(weight, &behind))
	}
	if known == op.NoVar {
		return found
	}
	return r.Where(r.Reshape(known, &behind), found, none(r.Calls, found))
}

// none is a zero for where, of the dtype of a value.
func none(c *op.Calls, v op.Var) op.Var {
	if c.Err != nil || c.TypeOf(v).DType.IsFloat() {
		return c.Zero()
	}
	return c.Filled(&shape.Shape{}, op.Value{Kind: op.Int}, c.TypeOf(v).DType)
}

// mappedGrid is the rule of affine_grid.
func mappedGrid(c *op.Inference) error {
	size, s := c.Attr("out_shape").Ints, &c.In[0].Shape
	axes := len(size) - 2
	if axes < 2 || axes > 3 || s.Rank != 3 || op.Differ(s.Dims[1], int64(axes)) || op.Differ(s.Dims[2], int64(axes+1)) {
		return status.Errorf(status.Invalid, "[%s] theta has shape %s and out_shape is %v; want [n, 2, 3] for 4 numbers or [n, 3, 4] for 5", c.Row.Name, s, size)
	}
	out := shape.Shape{Rank: axes + 2}
	out.Dims[0] = s.Dims[0]
	for i, n := range size[2:] {
		if n < 0 {
			return status.Errorf(status.Invalid, "[%s] out_shape is %v; want numbers from 0", c.Row.Name, size)
		}
		out.Dims[i+1] = n
	}
	out.Dims[axes+1] = int64(axes)
	c.Out[0].Shape = out
	return nil
}

// mapGrid computes affine_grid: the points of pixels times the maps.
func mapGrid(e *evaluation, args []*quantity) *quantity {
	theta, size := args[0].v, args[1].value.Ints
	corners, centered := args[2].value.I != 0, args[3].value.I != 0
	axes := len(size) - 2
	full := shape.Shape{Rank: axes + 1}
	copy(full.Dims[:], size[2:])
	full.Dims[axes] = 1
	d := e.TypeOf(theta).DType
	columns := make([]op.Var, axes+1)
	for i, n := range size[2:] {
		line := rows.Line(n, axes+1, i)
		steps, inner := float64(n), 1.0
		if corners && (n != 1 || !centered) {
			steps, inner = float64(n-1), 0
		}
		// (2 * i + inner) / steps - 1, of which the numerator is a whole number.
		twice := e.Do(op.IDMultiply, nil, e.Range(n), e.Int(2))
		above := e.Do(op.IDSubtract, nil, twice, e.Int(int64(steps-inner)))
		place := e.Divide(e.Cast(above, wideOf(d)), e.Float(steps))
		columns[axes-1-i] = e.Expand(e.Reshape(e.Cast(place, d), &line), &full) // the last axis is the first coordinate
	}
	columns[axes] = e.Filled(&full, op.Value{Kind: op.Float, F: 1}, d)
	base := e.Do(op.IDConcat, op.Attrs{{Kind: op.Int, I: int64(axes)}}, columns...)
	s := e.Shape(theta)
	result := shape.Shape{Rank: axes + 2}
	result.Dims[0], result.Dims[axes+1] = s.Dims[0], int64(axes)
	copy(result.Dims[1:], size[2:])
	pixels := shape.Shape{Rank: 2}
	pixels.Dims[0], pixels.Dims[1] = 1, int64(axes+1)
	for _, n := range size[2:] {
		pixels.Dims[0] *= n
	}
	return &quantity{v: e.Reshape(rows.Product(e.Calls, e.Reshape(base, &pixels), theta, false, true), &result)}
}

// wideOf is the dtype in which numbers of a floating-point dtype are computed.
func wideOf(d dtype.DType) dtype.DType {
	if d == dtype.Float64 {
		return d
	}
	return dtype.Float32
}

// nearChannels is the rule of local_response_norm.
func nearChannels(c *op.Inference) error {
	c.Out[0].Shape = c.In[0].Shape
	if n := c.Attr("size").I; n < 1 {
		return status.Errorf(status.Invalid, "[%s] size is %d; want 1 or more", c.Row.Name, n)
	}
	_, err := shape.Axis(c.Row.Name, c.Attr("axis").I, c.In[0].Shape.Rank)
	return err
}

// sumNear adds up neighbours: parts of an axis that has zeros before and behind it, each one element further.
func sumNear(e *evaluation, args []*quantity) *quantity {
	x, size := args[0].v, args[1].value.I
	s := e.Shape(x)
	axis := int((args[2].value.I + int64(s.Rank)) % int64(max(s.Rank, 1)))
	n := s.Dims[axis]
	before := size / 2
	if args[3].value.I != 0 {
		before = (size - 1) / 2
	}
	if e.Err != nil || n == 0 || size == 1 {
		return &quantity{v: x}
	}
	behind := min(size-1-before, n-1) // further ones are all beyond the ends
	before = min(before, n-1)
	list := []op.Var{x}
	for i, count := range [...]int64{before, behind} {
		if s.Dims[axis] = count; count > 0 {
			zeros := e.Filled(&s, op.Value{Kind: op.Float}, e.TypeOf(x).DType)
			list = slices.Insert(list, i*len(list), zeros)
		}
	}
	padded := x
	if len(list) > 1 {
		padded = e.Do(op.IDConcat, op.Attrs{{Kind: op.Int, I: int64(axis)}}, list...)
	}
	total := op.NoVar
	for i := range before + behind + 1 {
		part := between(e.Calls, padded, int64(axis), i, i+n)
		if total == op.NoVar {
			total = part
		} else {
			total = e.Add(total, part)
		}
	}
	return &quantity{v: total}
}

// between is a part of an axis.
func between(c *op.Calls, v op.Var, axis, from, to int64) op.Var {
	one := func(n int64) op.Value { return op.Value{Kind: op.Ints, Ints: []int64{n}} }
	return c.Do(op.IDSlice, op.Attrs{one(axis), one(from), one(to), one(1)}, v)
}

// shiftedFrames is the rule of temporal_shift.
func shiftedFrames(c *op.Inference) error {
	s, n, ratio := c.In[0].Shape, c.Attr("seg_num").I, c.Attr("shift_ratio").F
	if s.Rank != 4 || n < 1 || !shape.IsSymbol(s.Dims[0]) && s.Dims[0]%n != 0 || !(ratio > 0 && ratio < 0.5) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, seg_num is %d and shift_ratio %g; want 4 axes, a divisor of the first, and a ratio between 0 and 0.5", c.Row.Name, &s, n, ratio)
	}
	c.Out[0].Shape = s
	return nil
}

// shiftFrames computes temporal_shift: the first channels come from the frame before, the next ones from the frame behind.
func shiftFrames(e *evaluation, args []*quantity) *quantity {
	s, n, ratio := e.Shape(args[0].v), args[1].value.I, args[2].value.Float64()
	axis := 1
	if args[3].value.I != 0 {
		axis = 3
	}
	channels := s.Dims[axis]
	l := shape.Layout{Shape: s}
	l.Insert(0)
	l.Dims[0], l.Dims[1] = s.Dims[0]/n, n
	frames := e.Reshape(args[0].v, &l.Shape)
	ends := [...]int64{0, int64(float64(channels) * ratio), int64(float64(channels*2) * ratio), channels}
	var list []op.Var
	for i, steps := range [...]int64{1, -1, 0} {
		if ends[i] == ends[i+1] {
			continue
		}
		part := between(e.Calls, frames, int64(axis+1), ends[i], ends[i+1])
		if steps != 0 {
			part = e.Do(op.IDPad, op.Attrs{op.PadPads: {Kind: op.Ints, Ints: []int64{0, 0, steps, -steps, 0, 0, 0, 0, 0, 0}}}, part)
		}
		list = append(list, part)
	}
	if len(list) > 1 {
		frames = e.Do(op.IDConcat, op.Attrs{{Kind: op.Int, I: int64(axis + 1)}}, list...)
	}
	return &quantity{v: e.Reshape(frames, &s)}
}
