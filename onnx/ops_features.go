package onnx

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Operators of ai.onnx.ml.
//
// Most of them are dictionaries: attributes list keys and values, and the result has the value of the key that an element is equal to.
// Such a list is a constant, so that finding a key is arithmetic on indices, for strings as for numbers:
//
//   - The strings of a file have the numbers 0, -1, -2 and so on. A constant table has the place of each among the keys, and one place
//     more for the strings that are not in the file, whose numbers are positive. It takes one gather.
//   - Numbers are searched in the sorted keys, by halving the range in which a key may be. It takes a gather and a comparison for each
//     bit of the number of keys, for all elements at once.
//
// Both are results of rows, so that these operators run on every device, and no stage of a model ends at them.

var features = []entry{
	// Binarizer: 1 above a threshold.
	{"ai.onnx.ml:Binarizer", 1, 0, func(c *call) []*value {
		x := c.x(0)
		return one(c.cast(c.binary(op.IDGreaterThan, x, num(c.float("threshold", 0))), x.DType))
	}},
	// ArrayFeatureExtractor: x, indices of the last axis.
	{"ai.onnx.ml:ArrayFeatureExtractor", 1, 0, featuresOf},
	// LabelEncoder: strings as their places in attribute classes_strings, or places as strings.
	{"ai.onnx.ml:LabelEncoder", 1, 0, func(c *call) []*value { return one(c.categories("classes_strings", "")) }},
	// LabelEncoder: for each element the value of the key that it is equal to; attributes keys_* and values_*.
	{"ai.onnx.ml:LabelEncoder", 2, 0, labelEncoder},
	// CategoryMapper: strings as integers of the same places in attributes, or integers as strings.
	{"ai.onnx.ml:CategoryMapper", 1, 0, func(c *call) []*value { return one(c.categories("cats_strings", "cats_int64s")) }},
}

// featuresOf is indices of the last axis. Of a vector the result is a matrix of one row.
func featuresOf(c *call) []*value {
	x, at := c.x(0), c.x(1)
	if x.rank() == 0 {
		c.wrong("the operand is a number; want 1 dimension or more")
	}
	if x.rank() == 1 {
		x = c.unsqueeze(x, 0)
	}
	last := x.rank() - 1
	return one(c.gathered(x, c.fromStart(c.reshape(at, at.Shape.Numel()), x.dims()[last]), last))
}

// negativeZero is what attribute default_float is if it is not given.
var negativeZero = math.Copysign(0, -1)

// unused is what attribute default_string is if it is not given.
const unused = "_Unused"

// categories is a string for each integer or an integer for each string, by attributes that list both. Without a list of integers
// these are the places of the strings. Which of the two it is follows from the operand: both attributes are always there.
func (c *call) categories(strings, ints string) *value {
	list := c.labels(strings, "", "", "")
	n := list.dims()[0]
	numbers := c.vector(count(int(n))...)
	if ints != "" {
		numbers = c.labels("", ints, "", "")
	}
	if numbers.dims()[0] != n {
		c.wrong("attributes %s and %s have %d and %d elements; want as many", strings, ints, n, numbers.dims()[0])
	}
	if c.x(0).elem == elemString {
		return c.encodedLabels(list, numbers)
	}
	return c.encodedLabels(numbers, list)
}

// labelEncoder has keys and values in attributes of any type.
func labelEncoder(c *call) []*value {
	keys := c.labels("keys_strings", "keys_int64s", "keys_floats", "keys_tensor")
	values := c.labels("values_strings", "values_int64s", "values_floats", "values_tensor")
	if keys.dims()[0] != values.dims()[0] {
		c.wrong("there are %d keys and %d values; want as many", keys.dims()[0], values.dims()[0])
	}
	return one(c.encodedLabels(keys, values))
}

// labels is a vector of the one attribute of these that is given, of each type of elements one. An empty name stands for a type that
// the operator does not have. Where a file gives several of them, which ONNX forbids, the first one counts. Labels in a tensor may have
// any type that tensors have, and any shape; they count in row-major order.
func (c *call) labels(strings, ints, floats, tensor string) *value {
	if a := c.attr(strings); strings != "" && a != nil {
		return c.vector(c.numbers(strings, a.Texts...)...).as(elemString)
	}
	if ints != "" && c.given(ints) {
		c.room(int64(len(c.list(ints))))
		return c.vector(c.list(ints)...)
	}
	if a := c.attr(floats); floats != "" && a != nil {
		c.room(int64(len(a.Floats)))
		list := make([]float64, len(a.Floats))
		for i, f := range a.Floats {
			list[i] = float64(f)
		}
		return c.reals(dtype.Float32, []int64{int64(len(list))}, list)
	}
	if a := c.attr(tensor); tensor != "" && a != nil && a.T != nil {
		k, err := c.model.constant(a.T)
		c.must(err)
		if e := a.T.Elem.lacking(); e != 0 && e != elemString || k.DType.IsComplex() {
			c.refuse("elements of type %s are not supported", a.T.Elem)
		}
		v := &value{Type: k.Type, data: k}
		return c.reshape(v, v.Shape.Numel()).as(a.T.Elem.lacking())
	}
	c.wrong("has no attribute with its labels; want one of %v", slices.DeleteFunc([]string{strings, ints, floats, tensor}, func(s string) bool { return s == "" }))
	return nil
}

// encodedLabels is for each element of x the value at the place of the key that it is equal to, and a default where there is none.
// The default is one value more behind the others, so that an element without a key has a place as well.
func (c *call) encodedLabels(keys, values *value) *value {
	x := c.x(0)
	if x.elem != keys.elem || x.DType != keys.DType {
		c.wrong("the operand has elements of type %s, and the keys %s; want one type", x.elemText(), keys.elemText())
	}
	all := c.concat(0, values.as(0), c.cast(c.otherwise(values), values.DType)) // the last one is the default
	place := c.placesOf
	if x.elem == elemString {
		place = c.placesOfStrings
	}
	return c.gathered(all, place(x.as(0), keys.as(0)), 0).as(values.elem)
}

// otherwise is the value of elements that are no key, a vector of one element. Each type of values has an attribute for it, with a
// default of its own; values in a tensor of integers or floats may use them too.
func (c *call) otherwise(values *value) *value {
	if a := c.attr("default_tensor"); a != nil && a.T != nil {
		k, err := c.model.constant(a.T)
		c.must(err)
		if k.Shape.Numel() != 1 || a.T.Elem.lacking() != values.elem {
			c.wrong("default_tensor is %s%s; want one element of type %s", a.T.Elem, &k.Shape, values.elemText())
		}
		return c.reshape(&value{Type: k.Type, data: k}, 1)
	}
	switch {
	case values.elem == elemString:
		text := []byte(unused)
		if a := c.attr("default_string"); a != nil {
			text = a.S
		}
		return c.vector(c.numbers("default_string", text)...)
	case values.DType.IsFloat():
		return c.reals(dtype.Float32, []int64{1}, []float64{c.float("default_float", negativeZero)})
	}
	return c.vector(c.int("default_int64", -1))
}

// placesOfStrings is where each string is among the keys, the last one of equals; the number of keys where it is none. The strings
// of a file have the numbers from 0 down, so that a table tells.
func (c *call) placesOfStrings(x, keys *value) *value {
	ids, _ := keys.data.Ints()
	n, others := int64(len(ids)), c.model.strings.Len()+1
	c.room(others + 1)
	table := slices.Repeat([]int64{n}, int(others+1))
	for i, id := range ids {
		table[-id] = int64(i)
	}
	at := c.where(c.binary(op.IDGreaterThan, x, whole(0)), whole(others), c.neg(x))
	return c.gathered(c.vector(table...), at, 0)
}

// placesOf is placesOfStrings for numbers, by a binary search in the keys, which are sorted here. A NaN is equal to a NaN.
//
// low is the place of a key that is not larger than the element, or the first place if all are larger. A step to the right is taken if
// the key there is not larger either; steps are the powers of 2 below the number of keys, the largest one first. Of equal keys the
// search ends at the last one, which is the last of the file too, because the sort is stable.
func (c *call) placesOf(x, keys *value) *value {
	list := floatsOf(keys.data)
	ints, whole64 := keys.data.Ints()
	n, order, nan := int64(len(list)), []int64{}, int64(len(list))
	c.room(n)
	for i, f := range list {
		if f != f {
			nan = int64(i)
			continue
		}
		order = append(order, int64(i))
	}
	slices.SortStableFunc(order, func(a, b int64) int {
		if whole64 {
			return cmp.Compare(ints[a], ints[b])
		}
		return cmp.Compare(list[a], list[b])
	})
	missing := c.full(dtype.Int64, integer(n), x.dims()...)
	at := missing
	if len(order) > 0 {
		sorted := c.take(keys, 0, order)
		low := c.full(dtype.Int64, integer(0), x.dims()...)
		for step := int64(1) << bits.Len64(uint64(len(order)-1)) >> 1; step > 0; step >>= 1 {
			probe := c.add(low, whole(step))
			inside := c.smaller(probe, whole(int64(len(order)-1)))
			right := c.binary(op.IDLogicalAnd, c.binary(op.IDEqual, probe, inside), c.binary(op.IDLessEqual, c.gathered(sorted, inside, 0), x))
			low = c.where(right, probe, low)
		}
		at = c.where(c.binary(op.IDEqual, c.gathered(sorted, low, 0), x), c.gathered(c.vector(order...), low, 0), missing)
	}
	if nan < n {
		at = c.where(c.unary(op.IDIsnan, x), whole(nan), at)
	}
	return at
}
