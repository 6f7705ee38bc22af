package formula

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Elements by their order and by their places: medians, tables, and writes through indices and masks.
var indexFormulas = []composite{
	{
		// nan if any element is, and then where the first is. Of an even number the mean of both middle ones, or with low the smaller one,
		// whose place is that of the result. The axis stays with 1 element.
		id: 422, kind: op.Composed, accepts: dtype.All, narrow: true, python: &op.Python{Internal: true, PartOf: "median"},
		formula: `median_along(x, axis=-1, low=false) -> values, indices =
			last = size(x, axis) - 1
			sorted = topk(x, none, axis, false)
			below = at(sorted, axis, last // 2)
			above = at(sorted, axis, (last + 1) // 2)
			middle = low ? below : last // 2 == (last + 1) // 2 ? wide(below) : mean(concat([wide(below), wide(above)], axis), axis=[axis], keepdim=true)
			unknown = any(isnan(x), axis=[axis], keepdim=true)
			values = is_float(x) ? where(unknown, number(middle, nan), middle) : middle
			place = at(sorted[1], axis, last // 2)
			first = argmax(whole(isnan(x)), axis, true)
			[values, is_float(x) ? where(unknown, first, place) : place]`,
	},
	{
		// The same of the elements that are not nan; -1 is the place of none.
		id: 423, kind: op.Composed, accepts: dtype.All, narrow: true, python: &op.Python{Internal: true, PartOf: "nanmedian"},
		formula: `median_without_nan(x, axis=-1, low=false) -> values, indices =
			n = sum(whole(!isnan(x)), axis=[axis], keepdim=true)
			below = where(n > 0, n - number(n, 1), n) // number(n, 2)
			above = n // number(n, 2)
			sorted = topk(x, none, axis, false)
			first = pick(sorted, below, axis)
			both = mean(concat([first, pick(sorted, above, axis)], axis), axis=[axis], keepdim=true)
			[low ? first : both, where(n > 0, pick(sorted[1], below, axis), number(n, -1))]`,
	},
	{
		id: 424, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `kthvalue(x, k=1, axis=-1) -> values, indices =
			sorted = topk(x, none, axis, false)
			[at(sorted, axis, k - 1), at(sorted[1], axis, k - 1)]`,
	},
	{
		// A number below 0 would count from the end: it becomes one that is out of range.
		id: 425, kind: op.Composed, accepts: dtype.SetOf(dtype.Int32, dtype.Int64), narrow: true, python: &op.Python{Internal: true, PartOf: "embedding"},
		formula: `embedding_rows(ids, weight) =
			rows = gather(weight, checked(reshape(ids, [-1]), size(weight, 0)), 0)
			reshape(rows, sizes(ids, 0, none) + sizes(weight, 1, none))`,
	},
	{
		id: 480, kind: op.Index, accepts: dtype.Movable, narrow: true, python: methodByHand,
		formula: `put_along_axis(x, indices, values, axis=0, reduce="assign", include_self=true) =
			put(x, values, own_places(indices, axis), reduce, include_self)`,
	},
	{
		id: 481, kind: op.Index, accepts: dtype.Movable, narrow: true, python: methodByHand,
		formula: `scatter(x, index, updates, overwrite=true) =
			put(x, updates, slices(x, index, 0), overwrite | rank(index) == 0 ? "assign" : "add", false)`,
	},
	{
		id: 482, kind: op.Index, accepts: dtype.Movable, narrow: true, python: methodByHand,
		formula: `scatter_nd(x, index, updates, reduce="assign") = put(x, updates, coordinates(index, x, 0), reduce, true)`,
	},
	{
		// Each sequence reads through two index tensors: its own number, and its places in the other order.
		id: 473, kind: op.Index, accepts: dtype.Movable, narrow: true, infer: op.Rules{likeFirst, reversedSequences, unchanged},
		python: &op.Python{Internal: true}, onnx: "ReverseSequence-10",
		formula: `reverse_sequence(x, lengths, batch_axis=1, time_axis=0) =
			length = along(whole(lengths), x, batch_axis)
			place = places(x, time_axis)
			from = where(place < length, length - place - number(place, 1), place)
			index(x, own_places(reshape(from, sizes(x, 0, 2)), time_axis))`,
	},
	{
		id: 485, kind: op.Composed, accepts: dtype.All, narrow: true, python: rows.ByHandInPlace,
		formula: `masked_fill(x, mask, value=number) = like(where(mask, value, x), x)`,
	},
	{
		// The number of elements of the mask that hold up to each, less 1, is the place of its element of value; before the first it is -1,
		// which is a place as well.
		id: 486, kind: op.Composed, accepts: dtype.All, narrow: true, python: rows.ByHandInPlace,
		formula: `masked_scatter(x, mask, value) =
			line = reshape(value, [-1])
			places = cumsum(reshape(mask, [-1]), 0)
			where(mask, shaped(index(line, places - number(places, 1)), mask), x)`,
	},
	{
		id: 487, kind: op.Index, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `gather_nd(x, index, batch_dims=0) = index(x, coordinates(index, x, batch_dims))`,
	},
	{
		// nan if any element is, which is sorted to the end.
		id: 488, kind: op.Composed, narrow: true, python: methodByHand,
		formula: `quantile(x, q=floats, axis=-1, interpolation="linear") =
			sorted = sort(x, axis, false)
			end = at(sorted, axis, size(x, axis) - 1)
			where(isnan(end), end, quantiles(sorted, q, axis, interpolation))`,
	},
	{
		// All are sorted together, with the values before equal ones of the sequence or behind them: of the elements before a value those of
		// the sequence are counted.
		id: 489, kind: op.Index, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `searchsorted(sorted_sequence, values, right=false) =
			n = size(sorted_sequence, -1)
			lines = [product(sizes(sorted_sequence, 0, -1))]
			sequence = reshape(sorted_sequence, lines + [n])
			wanted = reshape(values, lines + [-1])
			order = topk(concat(right ? [sequence, wanted] : [wanted, sequence], 1), none, 1, false)[1]
			counted = right ? order < n : order >= size(wanted, 1)
			before = put_along_axis(order, order, cumsum(counted, 1), 1)
			found = right ? part(before, 1, n, none) : part(before, 1, 0, size(wanted, 1))
			shaped(is_float(values) ? where(isnan(wanted), number(found, n), found) : found, values)`,
	},
	{
		id: 490, kind: op.Index, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `isin(x, test_x, invert=false) =
			sorted = sort(reshape(test_x, [-1]), 0, false)
			line = reshape(x, [-1])
			near = gather(sorted, clip(searchsorted(sorted, line), none, weak(size(sorted, 0) - 1)), 0)
			found = is_few(test_x) ? among(x, test_x) : shaped(line == near, x)
			invert ? !found : found`,
	},
	{
		// Equal elements are neighbours in order: where a run begins is known up to its end, whose distance is the length so far.
		id: 491, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `mode(x, axis=-1) -> values, indices =
			sorted = topk(x, none, axis, false)
			first = part(sorted[1], axis, 0, 1) >= 0
			begins = concat([first, part(sorted, axis, 1, none) != part(sorted, axis, 0, -1)], axis)
			place = places(x, axis)
			end = argmax(place - cummax(where(begins, place, number(place, 0)), axis), axis, true)
			[pick(sorted, end, axis), pick(sorted[1], end, axis)]`,
	},
	{
		// A slice that is not named is 0. The gradient of an extreme goes to all elements that are it, as in Paddle.
		id: 594, kind: op.Index, accepts: dtype.Numbers,
		formula: `segment_pool(x, segment_ids, pooltype="sum", segments=0) = pooled_by(x, segment_ids, pooltype, segments)`,
		gradient: `
			taken = gather(dy, segment_ids, 0)
			extreme = pooltype == "max" | pooltype == "min"
			kept = extreme ? x == gather(segment_pool(x, segment_ids, pooltype, segments), segment_ids, 0) : x
			pooltype == "sum" ? taken : extreme ? where(kept, taken, 0) :
			taken / gather(segment_pool(x * 0 + 1, segment_ids, "sum", segments), segment_ids, 0)`,
	},
	{
		id: 595, kind: op.Index, accepts: dtype.Numbers,
		formula: `send_u_recv(x, src_index, dst_index, reduce_op="sum", out_size=0) =
			n = out_size > 0 ? out_size : size(x, 0)
			segment_pool(gather(x, checked(src_index, size(x, 0)), 0), dst_index, reduce_op, n)`,
	},
	{
		id: 596, kind: op.Index, accepts: dtype.Numbers,
		formula: `send_ue_recv(x, y, src_index, dst_index, message_op="add", reduce_op="sum", out_size=0) =
			n = out_size > 0 ? out_size : size(x, 0)
			sent = gather(x, checked(src_index, size(x, 0)), 0)
			edge = rank(y) == 1 ? along(y, sent, 0) : y
			segment_pool(message(sent, edge, message_op), dst_index, reduce_op, n)`,
	},
	{
		id: 597, kind: op.Index, accepts: dtype.Numbers,
		formula: `send_uv(x, y, src_index, dst_index, message_op="add") =
			same_shape(src_index, dst_index)
			message(gather(x, checked(src_index, size(x, 0)), 0), gather(y, checked(dst_index, size(y, 0)), 0), message_op)`,
	},
	{
		// From the last step back, the beam that each beam continues.
		id: 557, kind: op.Index, accepts: dtype.SetOf(dtype.Int32, dtype.Int64), narrow: true, infer: op.Rules{likeFirst, unchanged}, python: functionByHand,
		formula: `gather_tree(ids, parents) =
			same_shape(ids, parents)
			n = size(ids, 0)
			before = checked(parents, size(ids, 2))
			beams = scan(b, expand(counted(size(ids, 2)), sizes(ids, 1, none)), i, n - 1, pick(squeeze(part(before, 0, n - 1 - i, n - i), [0]), b, 1))
			numel(ids) == 0 ? ids : pick(ids, flip(beams, [0]), 2)`,
	},
	{
		// Without an axis all elements are one line.
		id: 441, kind: op.Composed, accepts: dtype.Movable, narrow: true, python: methodByHand,
		gradient: `given(axis) ? rolled(dy, shifts, axis, true) : shaped(rolled(reshape(dy, [-1]), shifts, [0], true), dy)`,
		formula: `roll(x, shifts=ints, axis=ints) =
			given(axis) ? rolled(x, shifts, axis, false) : shaped(rolled(reshape(x, [-1]), shifts, [0], false), x)`,
	},
	{
		id: 442, kind: op.Composed, accepts: dtype.Movable, narrow: true, python: &op.Python{Module: "fft", ByHand: true},
		gradient: `ifftshift(dy, axes)`,
		formula:  `fftshift(x, axes=ints) = rolled(x, none, axes, false)`,
	},
	{
		id: 443, kind: op.Composed, accepts: dtype.Movable, narrow: true, python: &op.Python{Module: "fft", ByHand: true},
		gradient: `fftshift(dy, axes)`,
		formula:  `ifftshift(x, axes=ints) = rolled(x, none, axes, true)`,
	},
	{
		// Blocks behind the axis are repeated as a whole.
		id: 444, kind: op.Composed, accepts: dtype.Movable, narrow: true, python: methodByHand,
		formula: `repeat_interleave(x, repeats=1, axis=int) =
			along = given(axis) & rank(x) > 0
			at = along ? axis : 0
			line = along ? x : reshape(x, [-1])
			front = sizes(line, 0, at)
			rest = at == -1 ? [] : sizes(line, at + 1, none)
			blocks = reshape(line, [product(front + [size(line, at)]), 1, product(rest)])
			reshape(tile(blocks, [repeats, 1]), front + [size(line, at) * repeats] + rest)`,
	},
	{
		id: 445, kind: op.Composed, accepts: dtype.All, narrow: true, python: functionByHand,
		formula: `sequence_mask(x, maxlen=1, dtype=dtype) =
			places = is_float(x) ? like(counted(maxlen), x) : counted(maxlen)
			kept = places < unsqueeze(is_float(x) ? x : whole(x), [-1])
			given(dtype) ? cast(kept, dtype=dtype) : whole(kept)`,
	},
	{
		id: 446, kind: op.Composed, accepts: dtype.Integers, narrow: true, python: &op.Python{ByHand: true},
		formula: `multiplex(index, inputs...) =
			all = stack(inputs)
			index(all, [checked(reshape(index, [-1]), size(all, 0)), counted(size(index, 0))])`,
	},
}

// rollAxes moves elements along axes, one after the other; what leaves at one end enters at the other. Without shifts it is by half of
// an axis; without axes it is along all of them. The last argument is for the way back: shifts are reversed, and halves rounded up.
func rollAxes(e *evaluation, args []*quantity) *quantity {
	x, shifts, axes := args[0].v, args[1].value.Ints, args[2].value.Ints
	s := e.Shape(x)
	if !args[2].value.Set() {
		axes = otherAxes(e, []*quantity{args[0], whole(-1 - shape.MaxRank)}).value.Ints
	}
	if args[1].value.Set() && len(shifts) != len(axes) {
		return e.refuse("there are %d shifts and %d axes; want as many", len(shifts), len(axes))
	}
	for i := range axes {
		axis, ok := e.axis(&s, whole(axes[i]))
		if !ok {
			break
		}
		n := s.Dims[axis]
		shift := (n + args[3].value.I) / 2
		if shifts != nil {
			shift = shifts[i] * (1 - 2*args[3].value.I)
		}
		if n <= 0 { // of a symbol there are types alone, which stay
			continue
		}
		if shift %= n; shift < 0 {
			shift += n
		}
		if shift > 0 {
			end := between(e.Calls, x, int64(axis), n-shift, n)
			x = e.Do(op.IDConcat, op.Attrs{{Kind: op.Int, I: int64(axis)}}, end, between(e.Calls, x, int64(axis), 0, n-shift))
		}
	}
	return &quantity{v: x}
}
