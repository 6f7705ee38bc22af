package ops

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Operators that find elements again: those that are equal, and sequences of them.
//
// Nothing here looks up elements one by one. Equals are neighbours once they are sorted, and a sequence is compared with all
// places at once. The memory for that is a bool for each sequence at each place.

var texts = []entry{
	{"Unique", 11, 0, unique},             // x. Results: the elements or slices, where each is first, which of them each element is, how often each occurs.
	{"TfIdfVectorizer", 9, 0, termCounts}, // words as integers or strings, [words] or [texts, words]
}

// unique sorts the elements, or the slices of an axis, and counts where one differs from that before it. What follows from
// that count runs as a stage of its own. All NaNs are one element.
func unique(c *build.Call) []*build.Value {
	x, axis := c.X(0), 0
	if x.Elem != 0 && x.Elem != file.ElemString {
		c.Refuse("elements of type %s are not supported", x.Elem)
	}
	if c.Given("axis") {
		axis = c.Axis(c.Int("axis", 0), x.Rank())
	} else {
		x = c.Reshape(x, x.Shape.Numel()).As(x.Elem)
	}
	n := x.Dims()[axis]
	front := slices.Insert(slices.Delete(build.Count(x.Rank()), axis, axis+1), 0, int64(axis))
	keys := x
	if x.Elem == file.ElemString {
		keys = ranks(c, x)
	}
	lines := c.Reshape(c.Transpose(keys, front...), n, x.Shape.Numel()/max(n, 1))
	order, differs := sortedLines(c, lines)
	starts := c.Squeeze(c.Counted(op.IDNonzero, nil, differs), 1)
	k := starts.Dims()[0]
	// By slices in order: to which group each belongs. Sorting keeps the order of equals, so that the first of a group is the
	// first of x.
	group := c.Sub(c.Do(op.IDCumsum, build.With(op.CumsumAxis, 0), c.Cast(differs, dtype.Int64)), build.Whole(1))
	first := gathered(c, order, starts, 0)
	// A group ends where the next one starts, and the last one behind the last slice.
	ends := c.Concat(0, c.Slice(starts, 0, min(1, k), k), c.Vector(n)) // of as many groups as there are; of none it has one
	counts := c.Sub(c.Slice(ends, 0, 0, k), starts)
	if !c.Yes("sorted", 1) { // by the place of the first slice of each group
		by := arranged(c, first)
		first, counts = gathered(c, first, by, 0), gathered(c, counts, by, 0)
		group = gathered(c, inverted(c, by, c.Steps(k, 0, 1)), group, 0)
	}
	return []*build.Value{gathered(c, x, first, axis).As(x.Elem), first, inverted(c, order, group), counts}
}

// arranged is the places of the elements of a vector in ascending order; those of equals stay in theirs.
func arranged(c *build.Call, x *build.Value) *build.Value {
	return c.All(op.IDTopk, build.With(op.TopkAxis, 0, op.TopkLargest, false), x)[1]
}

// inverted is values by their places.
func inverted(c *build.Call, places, values *build.Value) *build.Value {
	if values.Shape.Numel() == 0 {
		return values
	}
	return c.Do(op.IDIndexPut, nil, values, values, places)
}

// sortedLines is the places of the lines of a matrix in ascending order, by the first column, then by the second, and so on;
// and whether a line differs from the one before it. The first does.
//
// Sorting keeps the order of equals. So the lines are sorted by each column, the last one first, which takes as many sorts as
// there are columns.
func sortedLines(c *build.Call, x *build.Value) (order, differs *build.Value) {
	n, columns := x.Dims()[0], x.Dims()[1]
	if columns > longestLoop {
		c.Refuse("sorts slices of %d elements; want at most %d", columns, longestLoop)
	}
	order = c.Steps(n, 0, 1)
	for i := columns - 1; i >= 0; i-- { // the last sort counts most
		order = gathered(c, order, arranged(c, gathered(c, c.Pick(x, 1, i), order, 0)), 0)
	}
	yes := c.Full(dtype.Bool, build.Integer(1), min(n, 1))
	if n < 2 { // there is nothing to compare
		return order, yes
	}
	x = gathered(c, x, order, 0)
	a, b := c.Slice(x, 0, 0, n-1), c.Slice(x, 0, 1, n)
	apart := c.Binary(op.IDNotEqual, a, b)
	if x.DType.IsFloat() {
		both := c.Binary(op.IDLogicalAnd, c.Unary(op.IDIsnan, a), c.Unary(op.IDIsnan, b))
		apart = c.Binary(op.IDLogicalAnd, apart, c.Unary(op.IDLogicalNot, both))
	}
	return order, c.Concat(0, yes, c.Do(op.IDAny, build.With(op.AnyAxis, []int64{1}), apart))
}

// termCounts counts how often sequences of words occur in texts, in which further words may be between two that follow each
// other, always as many. Attribute pool_int64s or pool_strings has the sequences, first all of one word, from ngram_counts[1] on those of
// two, and so on; ngram_indexes has the place of each in the result.
func termCounts(c *build.Call) []*build.Value {
	x, pool, starts, to := c.X(0), c.List("pool_int64s"), c.List("ngram_counts"), c.List("ngram_indexes")
	if a := c.Attr("pool_strings"); a != nil {
		pool = c.Numbers("pool_strings", a.Texts...)
	}
	if (x.Elem == file.ElemString) != c.Given("pool_strings") || x.Elem != 0 && x.Elem != file.ElemString {
		c.Wrong("the operand has elements of type %s; want strings and pool_strings, or integers and pool_int64s", x.ElemText())
	}
	x = x.As(0)
	if x.Rank() < 1 || x.Rank() > 2 || len(to) == 0 || slices.Min(to) < 0 || slices.Max(to) > math.MaxInt32 {
		c.Wrong("the operand has %d dimensions, and there are %d ngram_indexes; want 1 or 2, and 1 or more from 0 on", x.Rank(), len(to))
	}
	dims, width := x.Dims(), slices.Max(to)+1
	n := dims[len(dims)-1]
	rows := build.Product(dims[:len(dims)-1]) // there are as many texts if they have no words
	x = c.Reshape(c.Cast(x, dtype.Int64), rows, n, 1)
	total := c.Full(dtype.Float32, build.Integer(0), rows, width)
	least, most, skips := c.Int("min_gram_length", 1), c.Int("max_gram_length", 1), min(c.Int("max_skip_count", 0), n)
	for i, start := range starts {
		size, end := int64(i+1), int64(len(pool))
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if start < 0 || start > end || end > int64(len(pool)) || (end-start)%size != 0 || (end-start)/size > int64(len(to)) {
			c.Wrong("ngram_counts is %v; want where the sequences of each length begin among %d", starts, len(pool))
		}
		grams := (end - start) / size
		places := to[:grams]
		to = to[grams:]
		if grams == 0 || size < least || size > most { // their places are used up nevertheless
			continue
		}
		if size == 1 { // there is no distance between words
			total = found(c, total, x, pool[start:end], places, 1, 1)
			continue
		}
		for step := int64(1); step <= skips+1 && (size-1)*step < n; step++ {
			total = found(c, total, x, pool[start:end], places, size, step)
		}
	}
	if mode := c.Text("mode", "TF"); mode != "TF" { // IDF: whether it occurs; both other modes have weights
		if mode == "IDF" {
			total = c.Cast(c.Binary(op.IDGreaterThan, total, build.Num(0)), dtype.Float32)
		}
		if weights := c.Floats("weights"); weights != nil {
			if int64(len(weights)) != width {
				c.Wrong("there are %d weights; want %d", len(weights), width)
			}
			total = c.Mul(total, c.Reals(dtype.Float32, []int64{width}, weights))
		}
	}
	return build.One(c.Reshape(total, append(slices.Clone(dims[:len(dims)-1]), width)...))
}

// found adds to total how often sequences of a size occur in x [texts, words, 1], with a distance between their words.
func found(c *build.Call, total, x *build.Value, pool, places []int64, size, step int64) *build.Value {
	grams, windows := int64(len(places)), x.Dims()[1]-(size-1)*step
	c.Room(size, grams)
	var same *build.Value // [texts, windows, sequences]
	for j := range size {
		words := make([]int64, grams)
		for g := range words {
			words[g] = pool[int64(g)*size+j]
		}
		hit := c.Do(op.IDEqual, nil, c.Slice(x, 1, j*step, j*step+windows), c.Vector(words...))
		if same == nil {
			same = hit
		} else {
			same = c.Binary(op.IDLogicalAnd, same, hit)
		}
	}
	// Two sequences may have one place in the result, which then has the sum of both.
	count := c.Sum(c.Cast(same, dtype.Float32), false, 1)
	return c.Do(op.IDIndexReduce, build.With(op.IndexReduceReduce, "add"), total, count, c.Steps(x.Dims()[0], 0, 2), c.Vector(places...))
}
