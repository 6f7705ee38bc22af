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

// Images at other sizes.
//
// interpolate goes axis by axis. An element of the result is a sum of a few elements along the axis, the taps, with weights that
// follow from the sizes alone; both are computed here. The formulas are those of the ONNX operator specification,
// https://onnx.ai/onnx/operators/onnx__Resize.html, in double precision. Paddle computes the same in float32, which rounds some
// coordinates to other elements: attribute single asks for that.

// resampling is how one axis is resized.
type resampling struct {
	mode, coordinates, nearest string
	n, out                     int64
	scale, start, end          float64 // start and end are those of the region that is read; a scale of 0 is that of the sizes
	cubic                      float64
	antialias, exclude, single bool
}

// tap is for each element of the result an element that it reads, and its weight; without weights that is all it reads.
type tap struct {
	at      []int64
	weights []float64
}

// The most of what is computed: taps of an element that are read one by one, and elements of a matrix of weights.
const (
	mostTaps    = 64
	mostWeights = 1 << 26
)

// resizedAxes is the rule of interpolate.
func resizedAxes(c *op.Inference) error {
	c.Out[0].Shape = c.In[0].Shape
	axes, err := resized(c)
	if err != nil {
		return err
	}
	sizes, scales := c.Attr("sizes").Ints, c.Attr("scales").Floats()
	for i, a := range axes {
		d := &c.Out[0].Shape.Dims[a]
		switch {
		case len(sizes) > 0:
			*d = c.SizeOf(sizes[i])
		case shape.IsSymbol(*d) && scales[i] == 1:
		case shape.IsSymbol(*d):
			*d = c.Unknown()
		default:
			start, end := region(c.Attr("region").Floats(), i, len(axes))
			*d = scaledSize(*d, scales[i], end-start, c.Attr("single").I != 0)
		}
		if *d < 0 && !shape.IsSymbol(*d) || *d > math.MaxInt32 {
			return status.Errorf(status.Invalid, "[%s] an axis would have %d elements; want 0 to %d", c.Row.Name, *d, math.MaxInt32)
		}
		if n := c.In[0].Shape.Dims[a]; n == 0 && *d != 0 && !shape.IsSymbol(*d) {
			return status.Errorf(status.Invalid, "[%s] an axis of no elements cannot have %d", c.Row.Name, *d)
		}
	}
	return nil
}

// resized is the axes that are resized, and what is wrong with the attributes.
func resized(c *op.Inference) (axes []int, err error) {
	rank := c.In[0].Shape.Rank
	for _, a := range c.Attr("axes").Ints {
		axis, err := shape.Axis(c.Row.Name, a, rank)
		if err != nil {
			return nil, err
		}
		if slices.Contains(axes, axis) {
			return nil, status.Errorf(status.Invalid, "[%s] axes are %v, which name axis %d twice; want each once", c.Row.Name, c.Attr("axes").Ints, axis)
		}
		axes = append(axes, axis)
	}
	sizes, scales, part := c.Attr("sizes").Ints, c.Attr("scales").Floats(), c.Attr("region").Floats()
	if len(sizes) == 0 && len(scales) == 0 && len(axes) > 0 || len(sizes) > 0 && len(sizes) != len(axes) || len(scales) > 0 && len(scales) != len(axes) || len(part) > 0 && len(part) != 2*len(axes) {
		return nil, status.Errorf(status.Invalid, "[%s] there are %d sizes, %d scales and %d numbers of a region for %d axes; want sizes or scales, one an axis, and two numbers", c.Row.Name, len(sizes), len(scales), len(part), len(axes))
	}
	for _, s := range scales {
		if !(s > 0) && (s != 0 || len(sizes) == 0) {
			return nil, status.Errorf(status.Invalid, "[%s] a scale is %g; want a number above 0", c.Row.Name, s)
		}
	}
	return axes, oneOf(c, map[string][]string{
		"mode":        {"nearest", "linear", "cubic"},
		"coordinates": {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"},
		"nearest":     {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"},
	})
}

// oneOf refuses attributes that are none of some words.
func oneOf(c *op.Inference, words map[string][]string) error {
	for i := range c.Row.Attrs {
		name := c.Row.Attrs[i].Name
		if list := words[name]; list != nil && !slices.Contains(list, c.Attrs[i].Str()) {
			return status.Errorf(status.Invalid, "[%s] %s is '%s'; want one of %v", c.Row.Name, name, c.Attrs[i].Str(), list)
		}
	}
	return nil
}

// region is where an axis begins and ends that is read, as parts of it: all of it, if no region is given.
func region(part []float64, i, axes int) (start, end float64) {
	if len(part) == 0 {
		return 0, 1
	}
	return part[i], part[axes+i]
}

// scaledSize is a size times a scale, rounded down.
func scaledSize(n int64, scale, part float64, single bool) int64 {
	if single {
		return int64(float64(float32(n) * float32(scale)))
	}
	return int64(math.Floor(min(float64(n)*part*scale, 1<<32)))
}

// resizeAxes computes interpolate. Other numbers than floats, and halves, are interpolated in float32; integers lose their fraction.
func resizeAxes(e *evaluation, args []*quantity) *quantity {
	x := args[0].v
	axes, sizes := args[1].value.Ints, args[2].value.Ints
	scales, part := args[3].value.Floats(), args[4].value.Floats()
	s, before := e.Shape(x), e.TypeOf(x).DType
	if mode := args[5].value.Str(); mode != "nearest" {
		x = e.Cast(x, wideOf(before))
	}
	for i, a := range axes {
		r := resampling{
			mode: args[5].value.Str(), coordinates: args[6].value.Str(), nearest: args[7].value.Str(), cubic: args[8].value.F,
			exclude: args[9].value.I != 0, antialias: args[10].value.I != 0, single: args[12].value.I != 0,
		}
		axis := int((a + int64(s.Rank)) % int64(s.Rank))
		r.n = s.Dims[axis]
		r.start, r.end = region(part, i, len(axes))
		if len(scales) > 0 {
			r.scale = scales[i]
		}
		if r.out = scaledSize(r.n, r.scale, r.end-r.start, r.single); len(sizes) > 0 {
			r.out = sizes[i]
		}
		if r.scale == 0 && !r.single {
			r.scale = float64(r.out) / float64(r.n)
		}
		x = e.resampled(x, axis, &r, args[11].value.F)
	}
	return &quantity{v: e.Cast(x, before)}
}

// resampled is a value at another size of an axis. In coordinates of a region, outside is what elements become that lie outside
// of the operand. An axis that stays as it is costs nothing.
func (e *evaluation) resampled(x op.Var, axis int, r *resampling, outside float64) op.Var {
	if e.Err != nil || !r.single && r.out == r.n && r.scale == 1 && r.start == 0 && r.end == 1 {
		return x
	}
	t := e.TypeOf(x)
	line := rows.Line(r.out, t.Shape.Rank, axis)
	if r.n == 0 {
		t.Shape.Dims[axis] = 0
		return e.Reshape(x, &t.Shape)
	}
	var y op.Var
	if n := r.reach(); int64(n) > min(mostTaps, max(r.n, 4)) {
		y = e.weighted(x, axis, r)
	} else {
		for k, tap := range r.taps(n) {
			term := e.Do(op.IDGather, op.Attrs{{Kind: op.Int, I: int64(axis)}}, x, indices(e.Calls, tap.at))
			if tap.weights != nil {
				term = e.Multiply(term, e.Reshape(constant(e.Calls, tap.weights, t.DType), &line))
			}
			if k == 0 {
				y = term
			} else {
				y = e.Add(y, term)
			}
		}
	}
	if r.coordinates != "tf_crop_and_resize" {
		return y
	}
	beyond := make([]float64, r.out)
	for o := range beyond {
		if at := r.coordinate(int64(o)); at < 0 || at > float64(r.n-1) {
			beyond[o] = 1
		}
	}
	if !slices.Contains(beyond, 1) {
		return y
	}
	fill := e.Filled(&shape.Shape{}, op.Value{Kind: op.Float, F: outside}, t.DType)
	return e.Where(e.Reshape(constant(e.Calls, beyond, dtype.Bool), &line), fill, y)
}

// constant is a line of numbers.
func constant(c *op.Calls, list []float64, d dtype.DType) op.Var {
	return c.Do(op.IDNumberLine, op.Attrs{op.NumberLineValues: {Kind: op.Floats, Ref: list}, op.NumberLineDtype: {Kind: op.DType, I: int64(d)}})
}

// indices is a line of integers.
func indices(c *op.Calls, list []int64) op.Var {
	floats := make([]float64, len(list))
	for i, n := range list {
		floats[i] = float64(n)
	}
	return constant(c, floats, dtype.Int64)
}

// weighted is a product with a matrix of the weights: shrinking with antialias may read many elements for each of the result.
func (e *evaluation) weighted(x op.Var, axis int, r *resampling) op.Var {
	if r.n > mostWeights/max(r.out, 1) || int64(r.reach()) > mostWeights/max(r.out, 1) {
		e.refuse("an axis of %d elements to %d with %d taps is not supported", r.n, r.out, r.reach())
		return op.NoVar
	}
	matrix := make([]float64, r.n*r.out)
	for _, tap := range r.taps(r.reach()) {
		for o, at := range tap.at {
			matrix[at*r.out+int64(o)] += tap.weights[o]
		}
	}
	return e.alongMatrix(x, axis, constant(e.Calls, matrix, e.TypeOf(x).DType), r.n, r.out)
}

// alongMatrix is the product of the lines along an axis, of n elements, with a matrix [n, out].
func (e *evaluation) alongMatrix(x op.Var, axis int, matrix op.Var, n, out int64) op.Var {
	order := make([]int64, e.Shape(x).Rank)
	for i := range order {
		order[i] = int64(i)
	}
	last := len(order) - 1
	order[axis], order[last] = order[last], order[axis]
	square := shape.Shape{Rank: 2}
	square.Dims[0], square.Dims[1] = n, out
	return permute(e.Calls, rows.Product(e.Calls, permute(e.Calls, x, order), e.Reshape(matrix, &square), false, false), order)
}

// coordinate is where an element of the result lies in the operand. It may lie outside of the operand, where the
// elements at the ends count. The names are those of ONNX. For pytorch_half_pixel with one element the text of ONNX says 0,
// which onnxruntime follows, and the code of ONNX's reference -0.5.
func (r *resampling) coordinate(o int64) float64 {
	x, n, out := float64(o), float64(r.n), r.scale*float64(r.n)
	switch r.coordinates {
	case "align_corners":
		if out == 1 {
			return 0
		}
		return x * (n - 1) / (out - 1)
	case "asymmetric":
		return x / r.scale
	case "tf_crop_and_resize":
		if r.out == 1 {
			return (r.start + r.end) / 2 * (n - 1)
		}
		return r.start*(n-1) + x*(r.end-r.start)*(n-1)/float64(r.out-1)
	case "pytorch_half_pixel":
		if r.out == 1 {
			return 0
		}
	case "half_pixel_symmetric":
		return n/2*(1-float64(r.out)/out) + (x+0.5)/r.scale - 0.5
	case "tf_half_pixel_for_nn":
		return (x + 0.5) / r.scale
	}
	return (x+0.5)/r.scale - 0.5
}

// reach is how many taps an element has.
func (r *resampling) reach() int {
	switch {
	case r.mode == "nearest":
		return 1
	case r.antialias:
		low, _ := r.window()
		return int(min(2-2*low, 1<<40))
	case r.mode == "linear":
		return 2
	}
	return 4
}

// window is the first tap beside the coordinate, and how much narrower the kernel is than distances. With antialias it is as
// much wider as the image becomes smaller.
func (r *resampling) window() (low, narrow float64) {
	first := -1.0
	if r.mode == "cubic" {
		first = -2
	}
	narrow = 1
	if r.antialias {
		narrow = min(r.step(), 1)
	}
	return math.Floor(first/narrow) + 1, narrow
}

// step is the scale, for antialias: of one that is computed in float32, that is the only number that is not.
func (r *resampling) step() float64 {
	switch {
	case !r.single || r.coordinates != "align_corners" && r.scale > 0:
		return r.scale
	case r.coordinates != "align_corners":
		return float64(r.out) / float64(r.n)
	case r.out > 1 && r.n > 1:
		return float64(r.out-1) / float64(r.n-1)
	}
	return math.Inf(1)
}

// taps are n taps of each element. Weights add up to 1, also where exclude has dropped some.
func (r *resampling) taps(n int) []tap {
	if r.single && !r.antialias {
		return r.singleTaps()
	}
	taps := make([]tap, n)
	for k := range taps {
		taps[k].at = make([]int64, r.out)
		if r.mode != "nearest" {
			taps[k].weights = make([]float64, r.out)
		}
	}
	if r.mode == "nearest" {
		for o := range r.out {
			taps[0].at[o] = r.inside(r.rounded(r.coordinate(o)))
		}
		return taps
	}
	low, narrow := r.window()
	for o := range r.out {
		at := r.coordinate(o)
		if r.single { // with antialias Paddle does not align corners, and only takes their scale
			at = (float64(o)+0.5)/r.step() - 0.5
		}
		base, total := math.Floor(at), 0.0
		for k := range taps {
			place := base + low + float64(k)
			w := r.kernel((place - at) * narrow)
			if r.exclude && (place < 0 || place > float64(r.n-1)) {
				w = 0
			}
			taps[k].at[o], taps[k].weights[o] = r.inside(place), w
			total += w
		}
		for k := range taps {
			if taps[k].weights[o] /= total; r.single {
				taps[k].weights[o] = float64(float32(taps[k].weights[o]))
			}
		}
	}
	return taps
}

// inside is the nearest index.
func (r *resampling) inside(f float64) int64 { return int64(min(max(f, 0), float64(r.n-1))) }

// kernel is that of linear interpolation, a triangle, or Keys' with a coefficient.
func (r *resampling) kernel(d float64) float64 {
	d = math.Abs(d)
	switch a := r.cubic; {
	case r.mode == "linear":
		return max(1-d, 0)
	case d <= 1:
		return (a+2)*d*d*d - (a+3)*d*d + 1
	case d < 2:
		return a*d*d*d - 5*a*d*d + 8*a*d - 4*a
	}
	return 0
}

// rounded is a coordinate as an index. The names say what happens to halves.
func (r *resampling) rounded(at float64) float64 {
	switch r.nearest {
	case "round_prefer_floor":
		return math.Ceil(at - 0.5)
	case "round_prefer_ceil":
		return math.Floor(at + 0.5)
	case "ceil":
		return math.Ceil(at)
	}
	return math.Floor(at)
}

// singleTaps are taps as Paddle computes them: in float32, but coordinates of cubic ones in float64. Conversions keep products
// from being fused with sums.
func (r *resampling) singleTaps() []tap {
	step := r.singleStep()
	at := make([]float32, r.out)
	for o := range at {
		switch x := float32(o); {
		case r.coordinates != "half_pixel" && r.mode == "cubic":
			at[o] = float32(float64(step) * float64(o))
		case r.coordinates != "half_pixel":
			at[o] = step * x
		case r.mode == "cubic":
			at[o] = float32(float64(float64(step)*(float64(o)+0.5)) - 0.5)
		default: // what lies before the first element is the first
			at[o] = max(float32(step*(x+0.5))-0.5, 0)
		}
	}
	of := func(shift int64, weight func(t float32) float32) tap {
		t := tap{make([]int64, r.out), make([]float64, r.out)}
		for o, f := range at {
			low := math.Floor(float64(f))
			if r.mode == "linear" {
				low = min(low, float64(r.n-1))
			}
			t.at[o] = r.inside(low + float64(shift))
			t.weights[o] = float64(weight(f - float32(low)))
		}
		return t
	}
	a := float32(r.cubic)
	near := func(d float32) float32 { return float32(float32(float32(float32((a+2)*d)-(a+3))*d)*d) + 1 }
	far := func(d float32) float32 {
		return float32(float32(float32(float32(float32(a*d)-5*a)*d)+8*a)*d) - 4*a
	}
	switch r.mode {
	case "nearest":
		t := of(0, func(float32) float32 { return 1 })
		return []tap{{at: t.at}}
	case "linear":
		return []tap{of(0, func(t float32) float32 { return 1 - t }), of(1, func(t float32) float32 { return t })}
	}
	return []tap{
		of(-1, func(t float32) float32 { return far(t + 1) }), of(0, near),
		of(1, func(t float32) float32 { return near(1 - t) }), of(2, func(t float32) float32 { return far(2 - t) }),
	}
}

// singleStep is the distance of neighbours of the result in elements of the operand.
func (r *resampling) singleStep() float32 {
	switch {
	case r.out <= 1:
		return 0
	case r.coordinates == "align_corners":
		return float32(r.n-1) / float32(r.out-1)
	case r.scale > 0:
		return 1 / float32(r.scale)
	}
	return float32(r.n) / float32(r.out)
}
