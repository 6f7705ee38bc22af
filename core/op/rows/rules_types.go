package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The rules that give the dtypes of a call. Each is Paddle's, measured; promotion itself is in dtype.

// term is an argument as promotion sees it.
func term(a *op.Arg) dtype.Term {
	return dtype.Term{DType: a.DType, Scalar: a.Scalar, ZeroD: a.Shape.Rank == 0}
}

// Same is the rule of operators that keep x's dtype, to which any other input is cast.
func Same(c *op.Inference) error { return c.Settle(c.In[0].DType) }

// promoted is the rule of arithmetic: both operands meet in the dtype of Paddle's promotion, which is the result's.
func promoted(c *op.Inference) error {
	d, err := dtype.Promote(c.Row.Name, term(&c.In[0]), term(&c.In[1]))
	if err != nil {
		return err
	}
	return c.Settle(d)
}

// bytesToInt32 is the rule of products of 8-bit integers: each operand has its own dtype, and zero that of x.
func bytesToInt32(c *op.Inference) error {
	for i := range 2 {
		if d := c.In[i].DType; !c.Row.Accepts.Has(d) {
			return status.Errorf(status.Unsupported, "[%s] %s is %s; want one of %v", c.Row.Name, c.Row.In[i].Name, d, c.Row.Accepts.Members())
		}
		c.Cast[i] = c.In[i].DType
	}
	if zero := &c.In[2]; !zero.Absent && (zero.Scalar || zero.DType != c.In[0].DType || zero.Shape.Rank != 0) {
		return status.Errorf(status.Invalid, "[%s] zero is %s of shape %s; want a tensor of %s without dimensions, as x has it", c.Row.Name, zero.DType, &zero.Shape, c.In[0].DType)
	}
	c.Cast[2], c.Out[0].DType = c.In[0].DType, dtype.Int32
	return nil
}

// Identical is the rule of the bitwise operators: one dtype, not even two floats.
func Identical(c *op.Inference) error {
	if x, y := c.In[0].DType, c.In[1].DType; x != y {
		return status.Errorf(status.Invalid, "[%s] got tensors of %s and %s; want one dtype", c.Row.Name, x, y)
	}
	return c.Settle(c.In[0].DType)
}

// Paddle promotes the arguments of its functions in C++ or in Python, and not all in one way: which functions take a
// 0-d tensor for a number was found by calling each of them. The rules that follow are those ways.

// strictly is the rule of maximum and minimum: a 0-d tensor counts like any other.
func strictly(c *op.Inference) error {
	if c.In[0].Scalar || c.In[1].Scalar {
		return promoted(c)
	}
	d, err := dtype.Strict(c.Row.Name, c.In[0].DType, c.In[1].DType)
	if err != nil {
		return err
	}
	return c.Settle(d)
}

// meeting is the rule of floor_divide: beside a 0-d tensor both meet in the smallest dtype that
// holds them; everything else is promoted.
func meeting(c *op.Inference) error {
	x, y := term(&c.In[0]), term(&c.In[1])
	if (x.ZeroD || y.ZeroD) && !x.Scalar && !y.Scalar {
		return c.Settle(dtype.Join(x.DType, y.DType))
	}
	return promoted(c)
}

// promotedFloat is the rule of divide: integers are divided as float32, bool stays bool.
func promotedFloat(c *op.Inference) error {
	d, err := dtype.Promote(c.Row.Name, term(&c.In[0]), term(&c.In[1]))
	if err != nil {
		return err
	}
	if d == dtype.Bool {
		return c.Settle(d)
	}
	return c.Settle(floating(d))
}

// strictlyWide is the rule of atan2: a 0-d tensor counts like any other, and integers are computed in float64.
//
// A device without float64 therefore refuses integers; a caller casts them to float32 first.
func strictlyWide(c *op.Inference) error {
	d, err := dtype.Strict(c.Row.Name, c.In[0].DType, c.In[1].DType)
	if err != nil {
		return err
	}
	if d.IsInt() {
		d = dtype.Float64
	}
	return c.Settle(d)
}

// floating is what functions with fractional results compute an integer in. Complex types are refused by the rows.
func floating(d dtype.DType) dtype.DType {
	if d.IsFloat() || d.IsComplex() {
		return d
	}
	return dtype.Float32
}

// toFloat is the rule of functions with fractional results. bool is not cast: no such row accepts it, so that it is
// refused by its own name and not as float32.
func toFloat(c *op.Inference) error {
	if c.In[0].DType == dtype.Bool {
		return c.Settle(dtype.Bool)
	}
	return c.Settle(floating(c.In[0].DType))
}

// FloatOnly is the rule of what has no answer for integers, even cast ones: those whose rows accept floats alone.
func FloatOnly(c *op.Inference) error {
	return c.Settle(c.In[0].DType)
}

// compared is the rule of comparisons: operands as for arithmetic, and a result of bool.
func compared(c *op.Inference) error {
	if err := promoted(c); err != nil {
		return err
	}
	c.Out[0].DType = dtype.Bool
	return nil
}

// comparedStrictly is the rule of the logical operators: a 0-d tensor counts like any other.
func comparedStrictly(c *op.Inference) error {
	if err := strictly(c); err != nil {
		return err
	}
	c.Out[0].DType = dtype.Bool
	return nil
}

// toBool is the rule of questions about one operand.
func toBool(c *op.Inference) error {
	if err := c.Settle(c.In[0].DType); err != nil {
		return err
	}
	c.Out[0].DType = dtype.Bool
	return nil
}

// toInt64 is the rule of positions, which are int64 whatever dtype is looked at.
func toInt64(c *op.Inference) error {
	if err := c.Settle(c.In[0].DType); err != nil {
		return err
	}
	c.Out[0].DType = dtype.Int64
	return nil
}

// attrDType is the value of the attribute dtype, Invalid when it is absent.
func attrDType(c *op.Inference) dtype.DType {
	for i := range c.Row.Attrs {
		if c.Row.Attrs[i].Type == op.DTypeAttr && c.Attrs[i].Set() {
			return dtype.DType(c.Attrs[i].I)
		}
	}
	return dtype.Invalid
}

// toAttr is the rule of casts and of creation: the attribute names the dtype. A cast converts by itself, so that its
// operand stays as it is.
func toAttr(c *op.Inference) error {
	d := attrDType(c)
	if err := c.Settle(d); err != nil {
		return err
	}
	if len(c.In) > 0 {
		c.Cast[0] = c.In[0].DType
	}
	return nil
}

// asWide is the rule of bitcast: elements of the result take as many bytes as those of x.
func asWide(c *op.Inference) error {
	if from, to := c.In[0].DType, c.Out[0].DType; from.Size() != to.Size() {
		return status.Errorf(status.Invalid, "[%s] dtype is %s, whose elements have %d bytes; want a dtype of %d, as %s", c.Row.Name, to, to.Size(), from.Size(), from)
	}
	return nil
}

// toIndex is the rule of argmax: the dtype attribute names the index type.
func toIndex(c *op.Inference) error {
	if err := c.Settle(c.In[0].DType); err != nil {
		return err
	}
	c.Out[0].DType = attrDType(c)
	if c.Out[0].DType != dtype.Int64 && c.Out[0].DType != dtype.Int32 {
		return status.Errorf(status.Invalid, "[%s] dtype is %s; want int32 or int64", c.Row.Name, c.Out[0].DType)
	}
	return nil
}

// summed is the rule of sum: bool and int32 add up in int64, the small integers in their own type.
//
// An attribute dtype that is given decides, and the operand is cast before it is added up, not the sum afterwards.
func summed(c *op.Inference) error {
	d := c.In[0].DType
	if given := attrDType(c); given != dtype.Invalid {
		d = given
	} else if d == dtype.Bool || d == dtype.Int32 {
		d = dtype.Int64
	}
	return c.Settle(d)
}

// accumulated is the rule of cumsum: all integers and bool add up in int64.
func accumulated(c *op.Inference) error {
	d := c.In[0].DType
	if given := attrDType(c); given != dtype.Invalid {
		d = given
	} else if d.IsInt() || d == dtype.Bool {
		d = dtype.Int64
	}
	return c.Settle(d)
}

// multiplied is the rule of prod, which differs from that of sum for int32.
func multiplied(c *op.Inference) error {
	d := c.In[0].DType
	if given := attrDType(c); given != dtype.Invalid {
		d = given
	} else if d == dtype.Bool {
		d = dtype.Int64
	}
	return c.Settle(d)
}

// selected is the rule of where: a bool condition and two values under the strict rule.
func selected(c *op.Inference) error {
	if c.In[0].DType != dtype.Bool {
		return status.Errorf(status.Invalid, "[%s] condition is %s; want bool", c.Row.Name, c.In[0].DType)
	}
	d, err := dtype.Strict(c.Row.Name, c.In[1].DType, c.In[2].DType)
	if err != nil {
		return err
	}
	if err := c.Settle(d); err != nil {
		return err
	}
	c.Cast[0] = dtype.Bool
	return nil
}

// clipped is the rule of clip: a float bound turns integers into float32; a tensor bound is cast.
func clipped(c *op.Inference) error {
	d := c.In[0].DType
	for i := 1; i < len(c.In); i++ {
		if !c.In[i].Absent && c.In[i].DType.IsFloat() {
			d = floating(d)
		}
	}
	return c.Settle(d)
}

// joined is the rule of concat and stack: one dtype for all.
func joined(c *op.Inference) error {
	for i := range c.In {
		if c.In[i].DType != c.In[0].DType {
			return status.Errorf(status.Invalid, "[%s] tensor 0 is %s and tensor %d is %s; want one dtype", c.Row.Name, c.In[0].DType, i, c.In[i].DType)
		}
	}
	return c.Settle(c.In[0].DType)
}

// gathered is the rule of reading through index tensors: they are int32 or int64 and become int64.
func gathered(c *op.Inference) error {
	for i := 1; i < len(c.In); i++ {
		if d := c.In[i].DType; d != dtype.Int64 && d != dtype.Int32 {
			return status.Errorf(status.Invalid, "[%s] index is %s; want int32 or int64", c.Row.Name, d)
		}
	}
	if err := c.Settle(c.In[0].DType); err != nil {
		return err
	}
	for i := 1; i < len(c.Cast); i++ {
		c.Cast[i] = dtype.Int64
	}
	return nil
}

// writtenAlong is scattered with one index tensor in front of the value.
func writtenAlong(c *op.Inference) error {
	if d := c.In[1].DType; d != dtype.Int64 && d != dtype.Int32 {
		return status.Errorf(status.Invalid, "[%s] index is %s; want int32 or int64", c.Row.Name, d)
	}
	if err := c.Settle(c.In[0].DType); err != nil {
		return err
	}
	c.Cast[1] = dtype.Int64
	return nil
}

// scattered is the rule of writing through index tensors: the value takes the dtype of x.
func scattered(c *op.Inference) error {
	for i := 2; i < len(c.In); i++ {
		if d := c.In[i].DType; d != dtype.Int64 && d != dtype.Int32 {
			return status.Errorf(status.Invalid, "[%s] index is %s; want int32 or int64", c.Row.Name, d)
		}
	}
	if err := c.Settle(c.In[0].DType); err != nil {
		return err
	}
	for i := 2; i < len(c.Cast); i++ {
		c.Cast[i] = dtype.Int64
	}
	return nil
}
