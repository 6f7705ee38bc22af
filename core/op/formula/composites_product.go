package formula

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Products of vectors and matrices, distances of rows, and sums and differences along an axis.
var productFormulas = []composite{
	{
		id: 391, kind: op.Composed, accepts: dtype.All, python: methodByHand,
		formula: `dot(x, y) =
			products = x * y
			like(sum(products, axis=[-1]), products)`,
	},
	{
		id: 392, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `outer(x, y) = reshape(x, [-1, 1]) * reshape(y, [1, -1])`,
	},
	{
		// The next and the one after next of each of the three elements, in a circle.
		id: 393, kind: op.Composed, accepts: dtype.Numbers, python: methodByHand,
		formula: `cross(x, y, axis=-1) =
			x1 = concat([part(x, axis, 1, none), part(x, axis, 0, 1)], axis)
			x2 = concat([part(x, axis, 2, none), part(x, axis, 0, 2)], axis)
			y1 = concat([part(y, axis, 1, none), part(y, axis, 0, 1)], axis)
			y2 = concat([part(y, axis, 2, none), part(y, axis, 0, 2)], axis)
			x1 * y2 - x2 * y1`,
	},
	{
		// An input times 0 is not read, but has a gradient, of zeros.
		id: 394, kind: op.Composed, python: rows.ByHandInPlace,
		formula: `addmm(input, x, y, beta=1.0, alpha=1.0) =
			product = matmul(x, y)
			scaled = alpha == 1 ? product : product * alpha
			added = beta == 1 ? input : beta == 0 ? where(input != input & input == input, input, 0) : input * beta
			scaled + added`,
	},
	{
		id: 395, kind: op.Composed, python: rows.ByHandInPlace,
		formula: `baddbmm(input, x, y, beta=1.0, alpha=1.0) = addmm(input, x, y, beta, alpha)`,
	},
	{
		id: 396, kind: op.Composed, python: methodByHand,
		formula: `dist(x, y, p=2.0) = p_norm(x - y, p)`,
	},
	{
		// A product of matrices is faster and loses digits of distances that are small beside the vectors.
		id: 397, kind: op.Composed, python: methodByHand,
		formula: `cdist(x, y, p=2.0, by_product=false) =
			own = sum(square(x), axis=[-1], keepdim=true)
			other = unsqueeze(sum(square(y), axis=[-1]), [-2])
			squares = matmul(x, y, false, true) * -2 + other + own
			between = unsqueeze(x, [-2]) - unsqueeze(y, [-3])
			by_product ? root(clip(squares, 0, none)) : p_norm(between, p, [-1])`,
	},
	{
		// The areas below y between neighbours. Places are of the shape of y, or a line along the axis.
		id: 398, kind: op.Composed, python: &op.Python{Internal: true, PartOf: "trapezoid"},
		formula: `trapezoid_areas(y, x?, spacing?, dx=1.0, axis=-1) =
			sums = part(y, axis, 1, none) + part(y, axis, 0, -1)
			at = rank(x) == rank(y) ? axis : 0
			widths = part(x, at, 1, none) - part(x, at, 0, -1)
			steps = rank(x) == 1 & rank(y) > 1 ? along(widths, y, axis) : widths
			given(x) ? sums * steps * 0.5 :
			given(spacing) ? sums * spacing * 0.5 : sums * (dx / 2)`,
	},
	{
		id: 399, kind: op.Composed, python: methodByHand,
		formula: `trapezoid(y, x?, spacing?, dx=1.0, axis=-1) = sum(trapezoid_areas(y, x, spacing, dx, axis), axis=[axis])`,
	},
	{
		id: 400, kind: op.Composed, python: methodByHand,
		formula: `cumulative_trapezoid(y, x?, spacing?, dx=1.0, axis=-1) = cumsum(trapezoid_areas(y, x, spacing, dx, axis), axis)`,
	},
	{
		id: 401, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `diff(x, axis=-1) =
			back = part(x, axis, 1, none)
			front = part(x, axis, 0, -1)
			is_bool(x) ? back != front : back - front`,
	},
	{
		id: 402, kind: op.Composed, python: functionByHand,
		formula: `bilinear(x1, x2, weight, bias?) =
			forms = transpose(sum(matmul(x1, weight) * x2, axis=[-1]), [1, 0])
			given(bias) ? forms + bias : forms`,
	},
	{
		id: 403, kind: op.Composed, accepts: dtype.All, narrow: true, python: rows.ByHandInPlace,
		formula: `tril(x, diagonal=0) = where(places(x, -1) - places(x, -2) <= diagonal, x, number(x, 0))`,
	},
	{
		id: 404, kind: op.Composed, accepts: dtype.All, narrow: true, python: rows.ByHandInPlace,
		formula: `triu(x, diagonal=0) = where(places(x, -1) - places(x, -2) >= diagonal, x, number(x, 0))`,
	},
	{
		// The slices along an axis, scaled down to a norm of at most max_norm.
		id: 405, kind: op.Composed, python: rows.ByHandInPlace,
		formula: `renorm(x, p=2.0, axis=0, max_norm=1.0) =
			size = rank(x) == 1 ? abs(x) : p_norm(x, p, others(x, axis), true)
			x * where(size > max_norm, max_norm / size, 1)`,
	},
	{
		id: 406, kind: op.Composed, narrow: true, python: functionByHand,
		formula: `maxout(x, groups=2, axis=1) =
			first = reshape(x, [size(x, 0), size(x, 1) / groups, groups, size(x, 2), size(x, 3)])
			last = reshape(x, [size(x, 0), size(x, 1), size(x, 2), size(x, 3) / groups, groups])
			axis == 1 ? max(first, axis=[2]) : max(last, axis=[4])`,
	},
	{
		// The elements of x that indices name along an axis, each at its own place on the others.
		id: 407, kind: op.Index, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `take_along_axis(x, indices, axis=0) = pick(x, indices, axis)`,
	},
	{
		id: 416, kind: op.Composed, accepts: dtype.Numbers, python: functionByHand,
		formula: `linear(x, weight, bias?) = given(bias) ? matmul(x, weight) + bias : matmul(x, weight)`,
	},
	{
		id: 417, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `inner(x, y) =
			lines = reshape(x, [product(sizes(x, 0, -1)), size(x, -1)])
			products = matmul(lines, reshape(y, [product(sizes(y, 0, -1)), size(y, -1)]), false, true)
			rank(x) == 0 | rank(y) == 0 ? x * y : reshape(products, sizes(x, 0, -1) + sizes(y, 0, -1))`,
	},
	{
		// Blocks x[i] * y along all axes.
		id: 418, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `kron(x, y) =
			blocks = reshape(x, zipped(aligned(x, y), 1))
			within = reshape(y, zipped(1, aligned(y, x)))
			reshape(blocks * within, aligned(x, y) * aligned(y, x))`,
	},
	{
		id: 419, kind: op.Composed, accepts: dtype.Numbers, narrow: true, python: methodByHand,
		formula: `trace(x, offset=0, axis1=0, axis2=1) = like(sum(diagonal_of(x, offset, axis1, axis2), axis=[-1]), x)`,
	},
	{
		// The covariance of rows, whose elements may have weights; their sum less the divisor's correction divides.
		id: 420, kind: op.Composed, python: functionOfLinalg,
		formula: `cov(x, weights?, divisor?, correction=1.0) =
			total = sum(weights)
			middle = given(weights) ? sum(x * weights, axis=[1], keepdim=true) / total : mean(x, axis=[1], keepdim=true)
			centered = x - middle
			n = size(x, 1)
			terms = n > correction ? n - correction : 0
			matmul(centered, given(weights) ? centered * weights : centered, false, true) / (given(divisor) ? clip(divisor, 0, none) : terms)`,
	},
	{
		id: 421, kind: op.Composed, python: functionOfLinalg,
		formula: `corrcoef(x) =
			c = cov(x)
			deviations = sqrt(diagonal_of(c, 0, 0, 1))
			clip(c / unsqueeze(deviations, [1]) / unsqueeze(deviations, [0]), -1, 1)`,
	},
	{
		id: 535, kind: op.Composed, accepts: dtype.All, infer: op.Rules{summedAxes}, python: functionByHand, onnx: "Einsum-12",
		formula: `einsum(x..., equation="") = summed_products(x, equation)`,
	},
	{
		// Numbers are pairs of a real and an imaginary part on the last axis, or real parts alone.
		id: 536, kind: op.Composed, infer: op.Rules{rows.FloatOnly, transformedAxis}, onnx: "DFT-20",
		formula: `dft(x, length=0, axis=-2, inverse=false, onesided=false) = spectrum(x, length, axis, inverse, onesided)`,
	},
	{
		id: 537, kind: op.Composed, asFirst: true, infer: op.Rules{rows.Same, framedSignal},
		formula: `stft(x, window?, frame_length=1, frame_step=1, onesided=true) =
			n = (size(x, 1) - frame_length) // frame_step + 1
			places = unsqueeze(counted(n) * weak(frame_step), [1]) + counted(frame_length)
			parts = reshape(gather(x, reshape(places, [-1]), 1), [size(x, 0), n, frame_length, size(x, 2)])
			dft(given(window) ? parts * along(window, parts, 2) : parts, frame_length, 2, false, onesided)`,
	},
	{
		id: 502, kind: op.Product, accepts: dtype.Numbers, python: functionOfLinalg,
		formula: `multi_dot(x...) = chained(x)`,
	},
	{
		id: 503, kind: op.Composed, python: functionOfLinalg,
		formula: `pdist(x, p=2.0) = p_norm(gather(x, pairs(x, 0)) - gather(x, pairs(x, 1)), p, [-1])`,
	},
	{
		id: 504, kind: op.Index, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `reduce_as(x, target) = summed_to(x, target)`,
	},
	{
		id: 505, kind: op.Composed, accepts: dtype.Movable, narrow: true, infer: op.Rules{rows.Same, framesFit, op.InferFromCalls}, python: &op.Python{Internal: true},
		formula: `frame(x, frame_length=1, hop_length=1, axis=-1) =
			n = (size(x, axis) - frame_length) // hop_length + 1
			starts = counted(n) * weak(hop_length)
			within = counted(frame_length)
			behind = axis == -1
			places = behind ? unsqueeze(within, [1]) + starts : unsqueeze(starts, [1]) + within
			parts = gather(x, reshape(places, [-1]), axis)
			reshape(parts, behind ? sizes(x, 0, -1) + [frame_length, n] : [n, frame_length] + sizes(x, 1, none))`,
	},
	{
		id: 506, kind: op.Composed, accepts: dtype.Numbers, infer: op.Rules{rows.Same, framesFit, op.InferFromCalls}, python: &op.Python{Internal: true},
		formula: `overlap_add(x, hop_length=1, axis=-1) =
			behind = axis == -1
			n = size(x, behind ? -1 : 0)
			length = size(x, behind ? -2 : 1)
			rest = behind ? sizes(x, 0, -2) : sizes(x, 2, none)
			all = [(n - 1) * hop_length + length]
			frames = behind ? reshape(x, [product(rest), length, n]) : transpose(reshape(x, [n, length, product(rest)]), [2, 1, 0])
			sums = reshape(fold(frames, all, [length], [hop_length], [0, 0], [1]), [product(rest)] + all)
			reshape(behind ? sums : transpose(sums, [1, 0]), behind ? rest + all : all + rest)`,
	},
	{
		id: 492, kind: op.Composed, accepts: dtype.All, python: methodByHand,
		formula: `vecdot(x, y, axis=-1) = sum(x * y, axis=[axis])`,
	},
	{
		id: 493, kind: op.Composed, accepts: dtype.All, python: methodByHand,
		formula: `matrix_power(x, n=1) = power_of(x, n)`,
	},
}

// powerOf is square matrices to the power of n, by repeated squares; the identity matrices for 0.
func powerOf(e *evaluation, args []*quantity) *quantity {
	x, n := args[0].v, args[1].value.I
	s := e.Shape(x)
	switch {
	case s.Rank < 2 || op.Differ(s.Dims[s.Rank-1], s.Dims[s.Rank-2]):
		return e.refuse("x has shape %s; want [..., n, n]", &s)
	case n < 0:
		return e.refuse("n is %d; want 0 or more", n)
	case n == 0, s.Dims[s.Rank-1] == 0:
		line := func(axis int) op.Var { return rows.Column(e.Calls, s.Dims[axis], s.Rank, axis) }
		same := e.Cast(e.Do(op.IDEqual, nil, line(s.Rank-2), line(s.Rank-1)), e.TypeOf(x).DType)
		return &quantity{v: e.Expand(same, &s)}
	}
	product := func(x, y op.Var) op.Var { return e.Do(op.IDMatmul, nil, x, y) }
	power, known := x, false
	for ; n > 0; n >>= 1 {
		switch {
		case n&1 == 1 && known:
			power = product(power, x)
		case n&1 == 1:
			power, known = x, true
		}
		if n > 1 {
			x = product(x, x)
		}
	}
	return &quantity{v: power}
}

// chainProduct is the product of matrices, of which the first may be a row and the last a column, in the order that takes the fewest
// multiplications.
func chainProduct(e *evaluation, args []*quantity) *quantity {
	chain, end := slices.Clone(args[0].results), len(args[0].results)-1
	var dims []int64
	from, to := 0, 2 // which of the axes of a matrix the result has
	for i, v := range chain {
		s := e.Shape(v)
		rank, rows, columns := s.Rank, s.Dims[0], s.Dims[1]
		if i == 0 && rank == 1 {
			rank, rows, columns, from = 2, 1, rows, 1
		} else if i == end && rank == 1 {
			rank, columns, to = 2, 1, 1
		}
		if i == 0 {
			dims = append(dims, rows)
		}
		if rank != 2 || end == 0 || op.Differ(rows, dims[i]) {
			return e.refuse("operand %d of %d has shape %s; want two or more matrices, and one with %d rows here", i, end+1, &s, dims[i])
		}
		chain[i] = e.ranked(v, rows, columns)
		dims = append(dims, columns)
	}
	return &quantity{v: e.ranked(e.cheapestProduct(chain, dims), []int64{dims[0], dims[end+1]}[from:to]...)}
}

// cheapestProduct is the product of a chain of matrices [dims[i], dims[i+1]]. A run of them from i to j is split where both parts and
// their product take the fewest multiplications.
func (e *evaluation) cheapestProduct(chain []op.Var, dims []int64) op.Var {
	n := len(chain)
	cost, split := make([]int64, n*n), make([]int, n*n)
	for length := 1; length < n; length++ {
		for i := range n - length {
			j := i + length
			for k := i; k < j; k++ {
				c := cost[i*n+k] + cost[(k+1)*n+j] + dims[i]*dims[k+1]*dims[j+1]
				if k == i || c < cost[i*n+j] {
					cost[i*n+j], split[i*n+j] = c, k
				}
			}
		}
	}
	var product func(i, j int) op.Var
	product = func(i, j int) op.Var {
		if i == j {
			return chain[i]
		}
		k := split[i*n+j]
		return e.Do(op.IDMatmul, nil, product(i, k), product(k+1, j))
	}
	return product(0, n-1)
}

// pairedPlaces are the first or the second ones of all pairs of places along the first axis, those of the first place first.
func pairedPlaces(e *evaluation, args []*quantity) *quantity {
	s := e.Shape(args[0].v)
	n := s.Dims[0]
	if s.Rank != 2 {
		return e.refuse("x has shape %s; want [rows, columns]", &s)
	}
	if shape.IsSymbol(n) {
		count, _ := e.NewSize()
		return &quantity{v: e.Range(count)}
	}
	var list []int64
	second := args[1].value.I
	for i := range n {
		for j := i + 1; j < n; j++ {
			list = append(list, i+second*(j-i))
		}
	}
	return &quantity{v: indices(e.Calls, list)}
}

// sumTo is the sum over the axes along which y is broadcast to the shape of x.
func sumTo(e *evaluation, args []*quantity) *quantity {
	x, y := e.Shape(args[0].v), e.Shape(args[1].v)
	lead := x.Rank - y.Rank
	fits := lead >= 0
	for i, d := range y.Slice() {
		fits = fits && (d == 1 || !op.Differ(d, x.Dims[lead+i]))
	}
	if !fits {
		return e.refuse("target has shape %s; want one that broadcasts to %s", &y, &x)
	}
	return &quantity{v: e.SumTo(args[0].v, &y)}
}
