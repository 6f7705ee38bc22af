package onnx

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Operators that find elements again: those that are equal, and sequences of them.
//
// Nothing here looks up elements one by one. Equals are neighbours once they are sorted, and a sequence is compared with all
// places at once. The memory for that is a bool for each sequence at each place.

var texts = []entry{
	// Unique: x. Results: the elements or slices, where each is first, which of them each element is, how often each occurs.
	{"Unique", 11, 0, unique},
	// TfIdfVectorizer: words as integers or strings, [words] or [texts, words].
	{"TfIdfVectorizer", 9, 0, termCounts},
}

// unique sorts the elements, or the slices of an axis, and counts where one differs from that before it. What follows from
// that count runs as a stage of its own. All NaNs are one element.
func unique(c *call) []*value {
	x, axis := c.x(0), 0
	if x.elem != 0 && x.elem != elemString {
		c.refuse("elements of type %s are not supported", x.elem)
	}
	if c.given("axis") {
		axis = c.axis(c.int("axis", 0), x.rank())
	} else {
		x = c.reshape(x, x.Shape.Numel()).as(x.elem)
	}
	n := x.dims()[axis]
	front := slices.Insert(slices.Delete(count(x.rank()), axis, axis+1), 0, int64(axis))
	keys := x
	if x.elem == elemString {
		keys = c.ranks(x)
	}
	lines := c.reshape(c.transpose(keys, front...), n, x.Shape.Numel()/max(n, 1))
	order, differs := c.sortedLines(lines)
	starts := c.squeeze(c.counted(op.IDNonzero, nil, differs), 1)
	k := starts.dims()[0]
	// By slices in order: to which group each belongs. Sorting keeps the order of equals, so that the first of a group is the
	// first of x.
	group := c.sub(c.do(op.IDCumsum, with(op.CumsumAxis, 0), c.cast(differs, dtype.Int64)), whole(1))
	first := c.gathered(order, starts, 0)
	// A group ends where the next one starts, and the last one behind the last slice.
	ends := c.concat(0, c.slice(starts, 0, min(1, k), k), c.vector(n)) // of as many groups as there are; of none it has one
	counts := c.sub(c.slice(ends, 0, 0, k), starts)
	if !c.yes("sorted", 1) { // by the place of the first slice of each group
		by := c.arranged(first)
		first, counts = c.gathered(first, by, 0), c.gathered(counts, by, 0)
		group = c.gathered(c.inverted(by, c.steps(k, 0, 1)), group, 0)
	}
	return []*value{c.gathered(x, first, axis).as(x.elem), first, c.inverted(order, group), counts}
}

// arranged is the places of the elements of a vector in ascending order; those of equals stay in theirs.
func (c *call) arranged(x *value) *value {
	return c.all(op.IDTopk, with(op.TopkAxis, 0, op.TopkLargest, false), x)[1]
}

// inverted is values by their places.
func (c *call) inverted(places, values *value) *value {
	if values.Shape.Numel() == 0 {
		return values
	}
	return c.do(op.IDIndexPut, nil, values, values, places)
}

// sortedLines is the places of the lines of a matrix in ascending order, by the first column, then by the second, and so on;
// and whether a line differs from the one before it. The first does.
//
// Sorting keeps the order of equals. So the lines are sorted by each column, the last one first, which takes as many sorts as
// there are columns.
func (c *call) sortedLines(x *value) (order, differs *value) {
	n, columns := x.dims()[0], x.dims()[1]
	if columns > longestLoop {
		c.refuse("sorts slices of %d elements; want at most %d", columns, longestLoop)
	}
	order = c.steps(n, 0, 1)
	for i := columns - 1; i >= 0; i-- { // the last sort counts most
		order = c.gathered(order, c.arranged(c.gathered(c.pick(x, 1, i), order, 0)), 0)
	}
	yes := c.full(dtype.Bool, integer(1), min(n, 1))
	if n < 2 { // there is nothing to compare
		return order, yes
	}
	x = c.gathered(x, order, 0)
	a, b := c.slice(x, 0, 0, n-1), c.slice(x, 0, 1, n)
	apart := c.binary(op.IDNotEqual, a, b)
	if x.DType.IsFloat() {
		both := c.binary(op.IDLogicalAnd, c.unary(op.IDIsnan, a), c.unary(op.IDIsnan, b))
		apart = c.binary(op.IDLogicalAnd, apart, c.unary(op.IDLogicalNot, both))
	}
	return order, c.concat(0, yes, c.do(op.IDAny, with(op.AnyAxis, []int64{1}), apart))
}

// termCounts counts how often sequences of words occur in texts, in which further words may be between two that follow each
// other, always as many. Attribute pool_int64s or pool_strings has the sequences, first all of one word, from ngram_counts[1] on those of
// two, and so on; ngram_indexes has the place of each in the result.
func termCounts(c *call) []*value {
	x, pool, starts, to := c.x(0), c.list("pool_int64s"), c.list("ngram_counts"), c.list("ngram_indexes")
	if a := c.attr("pool_strings"); a != nil {
		pool = c.numbers("pool_strings", a.Texts...)
	}
	if (x.elem == elemString) != c.given("pool_strings") || x.elem != 0 && x.elem != elemString {
		c.wrong("the operand has elements of type %s; want strings and pool_strings, or integers and pool_int64s", x.elemText())
	}
	x = x.as(0)
	if x.rank() < 1 || x.rank() > 2 || len(to) == 0 || slices.Min(to) < 0 || slices.Max(to) > math.MaxInt32 {
		c.wrong("the operand has %d dimensions, and there are %d ngram_indexes; want 1 or 2, and 1 or more from 0 on", x.rank(), len(to))
	}
	dims, width := x.dims(), slices.Max(to)+1
	n := dims[len(dims)-1]
	rows := product(dims[:len(dims)-1]) // there are as many texts if they have no words
	x = c.reshape(c.cast(x, dtype.Int64), rows, n, 1)
	total := c.full(dtype.Float32, integer(0), rows, width)
	least, most, skips := c.int("min_gram_length", 1), c.int("max_gram_length", 1), min(c.int("max_skip_count", 0), n)
	for i, start := range starts {
		size, end := int64(i+1), int64(len(pool))
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if start < 0 || start > end || end > int64(len(pool)) || (end-start)%size != 0 || (end-start)/size > int64(len(to)) {
			c.wrong("ngram_counts is %v; want where the sequences of each length begin among %d", starts, len(pool))
		}
		grams := (end - start) / size
		places := to[:grams]
		to = to[grams:]
		if grams == 0 || size < least || size > most { // their places are used up nevertheless
			continue
		}
		if size == 1 { // there is no distance between words
			total = c.found(total, x, pool[start:end], places, 1, 1)
			continue
		}
		for step := int64(1); step <= skips+1 && (size-1)*step < n; step++ {
			total = c.found(total, x, pool[start:end], places, size, step)
		}
	}
	if mode := c.text("mode", "TF"); mode != "TF" { // IDF: whether it occurs; both other modes have weights
		if mode == "IDF" {
			total = c.cast(c.binary(op.IDGreaterThan, total, num(0)), dtype.Float32)
		}
		if a := c.attr("weights"); a != nil {
			if int64(len(a.Floats)) != width {
				c.wrong("there are %d weights; want %d", len(a.Floats), width)
			}
			list := make([]float64, width)
			for i, f := range a.Floats {
				list[i] = float64(f)
			}
			total = c.mul(total, c.reals(dtype.Float32, []int64{width}, list))
		}
	}
	return one(c.reshape(total, append(slices.Clone(dims[:len(dims)-1]), width)...))
}

// found adds to total how often sequences of a size occur in x [texts, words, 1], with a distance between their words.
func (c *call) found(total, x *value, pool, places []int64, size, step int64) *value {
	grams, windows := int64(len(places)), x.dims()[1]-(size-1)*step
	c.room(size, grams)
	var same *value // [texts, windows, sequences]
	for j := range size {
		words := make([]int64, grams)
		for g := range words {
			words[g] = pool[int64(g)*size+j]
		}
		hit := c.do(op.IDEqual, nil, c.slice(x, 1, j*step, j*step+windows), c.vector(words...))
		if same == nil {
			same = hit
		} else {
			same = c.binary(op.IDLogicalAnd, same, hit)
		}
	}
	// Two sequences may have one place in the result, which then has the sum of both.
	count := c.sum(c.cast(same, dtype.Float32), false, 1)
	return c.do(op.IDIndexReduce, with(op.IndexReduceReduce, "add"), total, count, c.steps(x.dims()[0], 0, 2), c.vector(places...))
}
