package ops

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
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
	{"ai.onnx.ml:Binarizer", 1, 0, binarizer},              // 1 above a threshold
	{"ai.onnx.ml:ArrayFeatureExtractor", 1, 0, featuresOf}, // x, indices of the last axis
	// LabelEncoder: strings as their places in attribute classes_strings, or places as strings.
	{"ai.onnx.ml:LabelEncoder", 1, 0, func(c *build.Call) []*build.Value { return build.One(categories(c, "classes_strings", "")) }},
	{"ai.onnx.ml:LabelEncoder", 2, 0, labelEncoder}, // for each element the value of the key that it is equal to; attributes keys_* and values_*
	// CategoryMapper: strings as integers of the same places in attributes, or integers as strings.
	{"ai.onnx.ml:CategoryMapper", 1, 0, func(c *build.Call) []*build.Value { return build.One(categories(c, "cats_strings", "cats_int64s")) }},
}

// binarizer is 1 above attribute threshold and 0 elsewhere.
func binarizer(c *build.Call) []*build.Value {
	return build.One(c.Cast(c.Binary(op.IDGreaterThan, c.X(0), build.Num(c.Float("threshold", 0))), c.X(0).DType))
}

// featuresOf is indices of the last axis. Of a vector the result is a matrix of one row.
func featuresOf(c *build.Call) []*build.Value {
	x, at := c.X(0), c.X(1)
	if x.Rank() == 0 {
		c.Wrong("the operand is a number; want 1 dimension or more")
	}
	if x.Rank() == 1 {
		x = c.Unsqueeze(x, 0)
	}
	last := x.Rank() - 1
	return build.One(gathered(c, x, fromStart(c, c.Reshape(at, at.Shape.Numel()), x.Dims()[last]), last))
}

// categories is a string for each integer or an integer for each string, by attributes that list both. Without a list of integers
// these are the places of the strings. Which of the two it is follows from the operand: both attributes are always there.
func categories(c *build.Call, strings, ints string) *build.Value {
	list := labels(c, strings, "", "", "")
	n := list.Dims()[0]
	numbers := c.Vector(build.Count(int(n))...)
	if ints != "" {
		numbers = labels(c, "", ints, "", "")
	}
	if numbers.Dims()[0] != n {
		c.Wrong("attributes %s and %s have %d and %d elements; want as many", strings, ints, n, numbers.Dims()[0])
	}
	if c.X(0).Elem == file.ElemString {
		return encodedLabels(c, list, numbers)
	}
	return encodedLabels(c, numbers, list)
}

// labelEncoder has keys and values in attributes of any type.
func labelEncoder(c *build.Call) []*build.Value {
	keys := labels(c, "keys_strings", "keys_int64s", "keys_floats", "keys_tensor")
	values := labels(c, "values_strings", "values_int64s", "values_floats", "values_tensor")
	if keys.Dims()[0] != values.Dims()[0] {
		c.Wrong("there are %d keys and %d values; want as many", keys.Dims()[0], values.Dims()[0])
	}
	return build.One(encodedLabels(c, keys, values))
}

// labels is a vector of the one attribute of these that is given, of each type of elements one; see vectorOf. Labels in a tensor may have
// any type that tensors have, and any shape; they count in row-major order.
func labels(c *build.Call, strings, ints, floats, tensor string) *build.Value {
	if v := vectorOf(c, strings, ints, floats); v != nil {
		return v
	}
	v := c.TensorOf(tensor)
	if v == nil {
		c.Wrong("has no attribute with its labels; want one of %v", slices.DeleteFunc([]string{strings, ints, floats, tensor}, func(s string) bool { return s == "" }))
	}
	if v.Elem != 0 && v.Elem != file.ElemString || v.DType.IsComplex() {
		c.Refuse("elements of type %s are not supported", v.ElemText())
	}
	return c.Reshape(v, v.Shape.Numel()).As(v.Elem)
}

// encodedLabels is for each element of x the value at the place of the key that it is equal to, and a default where there is none.
// The default is one value more behind the others, so that an element without a key has a place as well.
func encodedLabels(c *build.Call, keys, values *build.Value) *build.Value {
	x := c.X(0)
	if x.Elem != keys.Elem || x.DType != keys.DType {
		c.Wrong("the operand has elements of type %s, and the keys %s; want one type", x.ElemText(), keys.ElemText())
	}
	all := c.Concat(0, values.As(0), c.Cast(otherwise(c, values), values.DType)) // the last one is the default
	place := placesOf
	if x.Elem == file.ElemString {
		place = placesOfStrings
	}
	return gathered(c, all, place(c, x.As(0), keys.As(0)), 0).As(values.Elem)
}

// otherwise is the value of elements that are no key, a vector of one element. Each type of values has an attribute for it, with a
// default of its own; values in a tensor of integers or floats may use them too.
func otherwise(c *build.Call, values *build.Value) *build.Value {
	if v := c.TensorOf("default_tensor"); v != nil {
		if v.Shape.Numel() != 1 || v.Elem != values.Elem {
			c.Wrong("default_tensor is %s%s; want one element of type %s", v.ElemText(), &v.Shape, values.ElemText())
		}
		return c.Reshape(v, 1)
	}
	switch {
	case values.Elem == file.ElemString:
		return c.Vector(c.Numbers("default_string", []byte(c.Text("default_string", build.Unused)))...)
	case values.DType.IsFloat():
		return c.Reals(dtype.Float32, []int64{1}, []float64{c.Float("default_float", math.Copysign(0, -1))})
	}
	return c.Vector(c.Int("default_int64", -1))
}

// placesOfStrings is where each string is among the keys, the last one of equals; the number of keys where it is none. The strings
// of a file have the numbers from 0 down, so that a table tells.
func placesOfStrings(c *build.Call, x, keys *build.Value) *build.Value {
	ids, _ := keys.Data.Ints()
	n, others := int64(len(ids)), c.Model.Strings().Len()+1
	c.Room(others + 1)
	table := slices.Repeat([]int64{n}, int(others+1))
	for i, id := range ids {
		table[-id] = int64(i)
	}
	at := c.Where(c.Binary(op.IDGreaterThan, x, build.Whole(0)), build.Whole(others), c.Neg(x))
	return gathered(c, c.Vector(table...), at, 0)
}

// placesOf is placesOfStrings for numbers, by a binary search in the keys, which are sorted here. A NaN is equal to a NaN.
//
// low is the place of a key that is not larger than the element, or the first place if all are larger. A step to the right is taken if
// the key there is not larger either; steps are the powers of 2 below the number of keys, the largest one first. Of equal keys the
// search ends at the last one, which is the last of the file too, because the sort is stable.
func placesOf(c *build.Call, x, keys *build.Value) *build.Value {
	list := build.FloatsOf(keys.Data)
	ints, whole64 := keys.Data.Ints()
	n, order, nan := int64(len(list)), []int64{}, int64(len(list))
	c.Room(n)
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
	missing := c.Full(dtype.Int64, build.Integer(n), x.Dims()...)
	at := missing
	if len(order) > 0 {
		sorted := c.Take(keys, 0, order)
		low := c.Full(dtype.Int64, build.Integer(0), x.Dims()...)
		for step := int64(1) << bits.Len64(uint64(len(order)-1)) >> 1; step > 0; step >>= 1 {
			probe := c.Add(low, build.Whole(step))
			inside := c.Binary(op.IDMinimum, probe, build.Whole(int64(len(order)-1)))
			right := c.Binary(op.IDLogicalAnd, c.Binary(op.IDEqual, probe, inside), c.Binary(op.IDLessEqual, gathered(c, sorted, inside, 0), x))
			low = c.Where(right, probe, low)
		}
		at = c.Where(c.Binary(op.IDEqual, gathered(c, sorted, low, 0), x), gathered(c, c.Vector(order...), low, 0), missing)
	}
	if nan < n {
		at = c.Where(c.Unary(op.IDIsnan, x), build.Whole(nan), at)
	}
	return at
}
