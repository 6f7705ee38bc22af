package formula

import (
	"math"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Sums of products by Einstein's convention.
//
// An equation is read into labels, a byte for each axis. Those of an ellipsis are digits, of which 9 stands for the last axis. Two
// operands at a time become one by a product of matrices, the pair with the smallest result first. Labels that nothing after them
// needs are summed.

// ellipsisAxes are the labels of an ellipsis.
const ellipsisAxes = "0123456789"

// labelled is an operand, and the labels of its axes.
type labelled struct {
	v      op.Var
	labels string
}

// labelsOf are those of a term with digits in place of its ellipsis, which stands for so many axes.
func labelsOf(term string, wide int) string {
	before, behind, has := strings.Cut(term, "...")
	if !has {
		return term
	}
	return before + ellipsisAxes[len(ellipsisAxes)-min(max(wide, 0), len(ellipsisAxes)):] + behind
}

// readEquation is the labels of operands with so many axes, and of the result.
func readEquation(name, equation string, ranks []int) (terms []string, out string, err error) {
	wrong := func(format string, args ...any) error {
		return status.Errorf(status.Invalid, "[%s] "+format, append([]any{name}, args...)...)
	}
	left, right, explicit := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	if terms = strings.Split(left, ","); len(terms) != len(ranks) {
		return nil, "", wrong("the equation %q has %d operands; want %d", equation, len(terms), len(ranks))
	}
	most := 0 // axes of the longest ellipsis
	for i, t := range append(slices.Clone(terms), right) {
		letters := strings.Replace(t, "...", "", 1)
		if other := strings.TrimLeft(letters, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"); other != "" {
			return nil, "", wrong("got %q in %q; want letters, and '...' once", other[:1], t)
		}
		if i < len(terms) {
			wide := ranks[i] - len(letters)
			if wide < 0 || wide > 0 && !strings.Contains(t, "...") || wide > len(ellipsisAxes) {
				return nil, "", wrong("the labels %q of operand %d are for %d axes; want %d", t, i, len(letters), ranks[i])
			}
			most, terms[i] = max(most, wide), labelsOf(t, wide)
		}
	}
	if !explicit {
		return terms, impliedLabels(strings.Join(terms, "")), nil
	}
	if most > 0 && !strings.Contains(right, "...") {
		return nil, "", wrong("the result of %q lacks the ellipsis; want it, as in an operand", equation)
	}
	out = labelsOf(right, most)
	for i := range out {
		if label := out[i : i+1]; !strings.Contains(strings.Join(terms, ""), label) || strings.Count(out, label) > 1 {
			return nil, "", wrong("the result of %q has the label %q; want labels of operands, once", equation, label)
		}
	}
	return terms, out, nil
}

// impliedLabels are those of the result of an equation that has none: the ellipsis, and the labels that are there once, in order.
func impliedLabels(all string) string {
	var list []byte
	for i := range all {
		if label := all[i]; !slices.Contains(list, label) && (label <= '9' || strings.Count(all, all[i:i+1]) == 1) {
			list = append(list, label)
		}
	}
	slices.Sort(list)
	return string(list)
}

// summedAxes is the rule of einsum.
func summedAxes(c *op.Inference) error {
	for i := range c.In {
		if c.In[i].DType != c.In[0].DType {
			return status.Errorf(status.Invalid, "[%s] operand 0 is %s and operand %d is %s; want one dtype", c.Row.Name, c.In[0].DType, i, c.In[i].DType)
		}
	}
	if err := c.Settle(c.In[0].DType); err != nil {
		return err
	}
	ranks := make([]int, len(c.In))
	for i := range c.In {
		ranks[i] = c.In[i].Shape.Rank
	}
	terms, out, err := readEquation(c.Row.Name, c.Attr("equation").Str(), ranks)
	if err != nil {
		return err
	}
	if len(out) > shape.MaxRank {
		return status.Errorf(status.Unsupported, "[%s] the result has %d axes; want at most %d", c.Row.Name, len(out), shape.MaxRank)
	}
	lengths := map[byte]int64{}
	for i, labels := range terms {
		for axis, d := range c.In[i].Shape.Slice() {
			label := labels[axis]
			first := strings.IndexByte(labels, label)
			known, seen := lengths[label]
			if d0 := c.In[i].Shape.Dims[first]; op.Differ(d0, d) || seen && known != 1 && d != 1 && op.Differ(known, d) {
				if op.Differ(d0, d) {
					known = d0
				}
				return status.Errorf(status.Invalid, "[%s] axes of the label %q have lengths %d and %d; want them equal", c.Row.Name, label, known, d)
			}
			if !seen || known == 1 || shape.IsSymbol(known) && d != 1 {
				lengths[label] = d
			}
		}
	}
	s := shape.Shape{}
	for i := range out {
		s.Append(lengths[out[i]])
	}
	c.Out[0].Shape = s
	return nil
}

// einsum computes einsum.
func einsum(e *evaluation, args []*quantity) *quantity {
	in, ranks := args[0].results, make([]int, len(args[0].results))
	for i, v := range in {
		ranks[i] = e.Shape(v).Rank
	}
	labels, out, err := readEquation(e.of.name, args[1].value.Str(), ranks)
	if err != nil {
		e.Err = err
		return &quantity{known: true}
	}
	terms := make([]labelled, len(in))
	for i, v := range in {
		terms[i] = e.withoutTwice(labelled{v, labels[i]})
	}
	for len(terms) > 1 && e.Err == nil {
		i, j := e.bestPair(terms, out)
		x, y := terms[i], terms[j]
		terms = slices.Delete(slices.Delete(terms, j, j+1), i, i+1)
		terms = append(terms, e.contracted(x, y, needed(terms)+out))
	}
	last := e.withoutUnneeded(terms[0], out)
	if len(in) == 1 {
		last.v = e.Do(op.IDAssign, nil, last.v)
	}
	return &quantity{v: e.inOrder(last, out)}
}

// needed are all labels of terms.
func needed(terms []labelled) string {
	var b strings.Builder
	for _, t := range terms {
		b.WriteString(t.labels)
	}
	return b.String()
}

// inOrder is a term with its axes in another order.
func (e *evaluation) inOrder(t labelled, labels string) op.Var {
	if t.labels == labels {
		return t.v
	}
	order := make([]int64, len(labels))
	for i := range labels {
		order[i] = int64(strings.IndexByte(t.labels, labels[i]))
	}
	return permute(e.Calls, t.v, order)
}

// withoutTwice is a term with one axis for a label that occurs several times: the diagonal, which is in front.
func (e *evaluation) withoutTwice(t labelled) labelled {
	for i := 0; i < len(t.labels); i++ {
		label := t.labels[i : i+1]
		first, second := i, i+1+strings.Index(t.labels[i+1:], label)
		if second == i {
			continue
		}
		s := e.Shape(t.v)
		n, flat, order := s.Dims[first], shape.Shape{Rank: 1}, []int64{int64(first), int64(second)}
		flat.Dims[0] = n * n
		for a := range s.Rank {
			if a != first && a != second {
				flat.Append(s.Dims[a])
				order = append(order, int64(a))
			}
		}
		t.v = e.Reshape(permute(e.Calls, t.v, order), &flat)
		if n > 1 {
			one := func(n int64) op.Value { return op.Value{Kind: op.Ints, Ints: []int64{n}} }
			t.v = e.Do(op.IDSlice, op.Attrs{one(0), one(0), one(n * n), one(n + 1)}, t.v)
		}
		t.labels = label + t.labels[:first] + t.labels[first+1:second] + t.labels[second+1:]
		i = -1
	}
	return t
}

// bestPair are the two terms whose product has the fewest elements.
func (e *evaluation) bestPair(terms []labelled, out string) (first, second int) {
	least, second := math.Inf(1), 1
	for j := range terms {
		for i := range j {
			if len(terms) == 2 {
				return 0, 1
			}
			keep := out
			for k, t := range terms {
				if k != i && k != j {
					keep += t.labels
				}
			}
			lengths, size := e.lengths(terms[i], terms[j]), 1.0
			for label, n := range lengths {
				if strings.IndexByte(keep, label) >= 0 {
					size *= float64(n)
				}
			}
			if size < least {
				least, first, second = size, i, j
			}
		}
	}
	return first, second
}

// lengths are those of the axes of terms, by their labels; those that broadcast do not count.
func (e *evaluation) lengths(terms ...labelled) map[byte]int64 {
	lengths := map[byte]int64{}
	for _, t := range terms {
		s := e.Shape(t.v)
		for a, d := range s.Slice() {
			if known, seen := lengths[t.labels[a]]; !seen || known == 1 {
				lengths[t.labels[a]] = d
			}
		}
	}
	return lengths
}

// withoutUnneeded is a term summed over the labels that are not kept.
func (e *evaluation) withoutUnneeded(t labelled, keep string) labelled {
	var axes []int64
	labels := ""
	for a := range t.labels {
		if strings.IndexByte(keep, t.labels[a]) < 0 {
			axes = append(axes, int64(a))
		} else {
			labels += t.labels[a : a+1]
		}
	}
	if len(axes) == 0 {
		return t
	}
	return labelled{e.sumOf(t.v, axes), labels}
}

// sumOf is a sum in the dtype of its terms.
func (e *evaluation) sumOf(v op.Var, axes []int64) op.Var {
	return e.Do(op.IDSum, op.Attrs{op.SumAxis: {Kind: op.Ints, Ints: axes}, op.SumDtype: {Kind: op.DType, I: int64(e.dtypeOf(v))}}, v)
}

// withoutBroadcast is a term without axes of one element that broadcast along another one.
func (e *evaluation) withoutBroadcast(t, along labelled) labelled {
	lengths, s := e.lengths(along), e.Shape(t.v)
	var axes []int64
	labels := ""
	for a, d := range s.Slice() {
		if other, seen := lengths[t.labels[a]]; d == 1 && seen && other != 1 {
			axes = append(axes, int64(a))
		} else {
			labels += t.labels[a : a+1]
		}
	}
	if len(axes) == 0 {
		return t
	}
	return labelled{e.Do(op.IDSqueeze, op.Attrs{{Kind: op.Ints, Ints: axes}}, t.v), labels}
}

// contracted is the product of two terms, summed over the labels that are not kept.
func (e *evaluation) contracted(x, y labelled, keep string) labelled {
	x, y = e.withoutBroadcast(x, y), e.withoutBroadcast(y, x)
	x = e.withoutUnneeded(x, keep+y.labels)
	y = e.withoutUnneeded(y, keep+x.labels)
	var batch, terms, lines, columns string
	for i := range x.labels {
		switch label := x.labels[i : i+1]; {
		case !strings.Contains(y.labels, label):
			lines += label
		case strings.Contains(keep, label):
			batch += label
		default:
			terms += label
		}
	}
	for i := range y.labels {
		if label := y.labels[i : i+1]; !strings.Contains(x.labels, label) {
			columns += label
		}
	}
	lengths, result := e.lengths(x, y), batch+lines+columns
	if e.Err == nil && len(result) > shape.MaxRank {
		e.refuse("a product of two operands has %d axes; want at most %d", len(result), shape.MaxRank)
	}
	if e.Err != nil {
		return x
	}
	// arranged has an axis for each label of batches, and then one for each group.
	arranged := func(t labelled, groups ...string) op.Var {
		s := shape.Shape{}
		for i := range batch {
			s.Append(lengths[batch[i]])
		}
		for _, group := range groups {
			n := int64(1)
			for i := range group {
				n *= lengths[group[i]]
			}
			s.Append(n)
		}
		return e.Reshape(e.inOrder(t, batch+strings.Join(groups, "")), &s)
	}
	var found op.Var
	if lines == "" && columns == "" { // no matrices: a sum of products is faster, and added in pairs
		if found = e.Multiply(arranged(x, terms), arranged(y, terms)); terms != "" {
			found = e.sumOf(found, []int64{-1})
		}
	} else {
		found = rows.Product(e.Calls, arranged(x, lines, terms), arranged(y, terms, columns), false, false)
	}
	s := shape.Shape{}
	for i := range result {
		s.Append(lengths[result[i]])
	}
	return labelled{e.Reshape(found, &s), result}
}
