package op

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The rules that give the dtypes of a call. Each is Paddle's, measured; promotion itself is in dtype.

// term is an argument as promotion sees it.
func term(a *Arg) dtype.Term {
	return dtype.Term{DType: a.DType, Scalar: a.Scalar, ZeroD: a.Shape.Rank == 0}
}

// settle makes all inputs and the output one dtype, if the row has kernels for it.
func settle(row *Row, d dtype.DType, r *Result) error {
	if !row.Accepts.Has(d) {
		return status.Errorf(status.Unsupported, "[%s] has no kernel for %s; want one of %v", row.Name, d, row.Accepts.Members())
	}
	r.In = [3]dtype.DType{d, d, d}
	r.Out = d
	return nil
}

// same is the rule of operators that keep x's dtype, to which any other input is cast.
func same(row *Row, args []Arg, _ Attrs, r *Result) error { return settle(row, args[0].DType, r) }

func promoted(row *Row, args []Arg, _ Attrs, r *Result) error {
	d, err := dtype.Promote(row.Name, term(&args[0]), term(&args[1]))
	if err != nil {
		return err
	}
	return settle(row, d, r)
}

// identical is the rule of the bitwise operators: one dtype, not even two floats.
func identical(row *Row, args []Arg, _ Attrs, r *Result) error {
	if x, y := args[0].DType, args[1].DType; x != y {
		return status.Errorf(status.Invalid, "[%s] got a %s and a %s tensor; want one dtype", row.Name, x, y)
	}
	return settle(row, args[0].DType, r)
}

// strictly is the rule of maximum and minimum: a 0-d tensor counts like any other.
func strictly(row *Row, args []Arg, at Attrs, r *Result) error {
	if args[0].Scalar || args[1].Scalar {
		return promoted(row, args, at, r)
	}
	d, err := dtype.Strict(row.Name, args[0].DType, args[1].DType)
	if err != nil {
		return err
	}
	return settle(row, d, r)
}

// meeting is the rule of floor_divide: beside a 0-d tensor both meet in the smallest dtype that
// holds them; everything else is promoted.
func meeting(row *Row, args []Arg, at Attrs, r *Result) error {
	x, y := term(&args[0]), term(&args[1])
	if (x.ZeroD || y.ZeroD) && !x.Scalar && !y.Scalar {
		return settle(row, dtype.Join(x.DType, y.DType), r)
	}
	return promoted(row, args, at, r)
}

// promotedFloat is the rule of divide: integers are divided as float32, bool stays bool.
func promotedFloat(row *Row, args []Arg, _ Attrs, r *Result) error {
	d, err := dtype.Promote(row.Name, term(&args[0]), term(&args[1]))
	if err != nil {
		return err
	}
	if d == dtype.Bool {
		return settle(row, d, r)
	}
	return settle(row, floating(d), r)
}

// floating is what functions with fractional results compute an integer in.
func floating(d dtype.DType) dtype.DType {
	if d.IsFloat() {
		return d
	}
	return dtype.Float32
}

func toFloat(row *Row, args []Arg, _ Attrs, r *Result) error {
	if args[0].DType == dtype.Bool {
		return settle(row, dtype.Bool, r)
	}
	return settle(row, floating(args[0].DType), r)
}

func floatOnly(row *Row, args []Arg, _ Attrs, r *Result) error {
	return settle(row, args[0].DType, r)
}

func compared(row *Row, args []Arg, at Attrs, r *Result) error {
	if err := promoted(row, args, at, r); err != nil {
		return err
	}
	r.Out = dtype.Bool
	return nil
}

// comparedStrictly is the rule of the logical operators: a 0-d tensor counts like any other.
func comparedStrictly(row *Row, args []Arg, at Attrs, r *Result) error {
	if err := strictly(row, args, at, r); err != nil {
		return err
	}
	r.Out = dtype.Bool
	return nil
}

func toBool(row *Row, args []Arg, _ Attrs, r *Result) error {
	if err := settle(row, args[0].DType, r); err != nil {
		return err
	}
	r.Out = dtype.Bool
	return nil
}

func toInt64(row *Row, args []Arg, _ Attrs, r *Result) error {
	if err := settle(row, args[0].DType, r); err != nil {
		return err
	}
	r.Out = dtype.Int64
	return nil
}

// attrDType is the value of the attribute dtype, Invalid when it is absent.
func attrDType(row *Row, at Attrs) dtype.DType {
	for i := range row.Attrs {
		if row.Attrs[i].Type == DTypeAttr && at[i].Set() {
			return dtype.DType(at[i].I)
		}
	}
	return dtype.Invalid
}

func toAttr(row *Row, args []Arg, at Attrs, r *Result) error {
	d := attrDType(row, at)
	if err := settle(row, d, r); err != nil {
		return err
	}
	if len(args) > 0 {
		r.In[0] = args[0].DType
	}
	return nil
}

// toIndex is the rule of argmax: the dtype attribute names the index type.
func toIndex(row *Row, args []Arg, at Attrs, r *Result) error {
	if err := settle(row, args[0].DType, r); err != nil {
		return err
	}
	r.Out = attrDType(row, at)
	if r.Out != dtype.Int64 && r.Out != dtype.Int32 {
		return status.Errorf(status.Invalid, "[%s] dtype is %s; want int32 or int64", row.Name, r.Out)
	}
	return nil
}

// summed is the rule of sum: bool and int32 add up in int64, the small integers in their own type.
func summed(row *Row, args []Arg, at Attrs, r *Result) error {
	d := args[0].DType
	if given := attrDType(row, at); given != dtype.Invalid {
		d = given
	} else if d == dtype.Bool || d == dtype.Int32 {
		d = dtype.Int64
	}
	return settle(row, d, r)
}

func multiplied(row *Row, args []Arg, at Attrs, r *Result) error {
	d := args[0].DType
	if given := attrDType(row, at); given != dtype.Invalid {
		d = given
	} else if d == dtype.Bool {
		d = dtype.Int64
	}
	return settle(row, d, r)
}

// selected is the rule of where: a bool condition and two values under the strict rule.
func selected(row *Row, args []Arg, _ Attrs, r *Result) error {
	if args[0].DType != dtype.Bool {
		return status.Errorf(status.Invalid, "[%s] condition is %s; want bool", row.Name, args[0].DType)
	}
	d, err := dtype.Strict(row.Name, args[1].DType, args[2].DType)
	if err != nil {
		return err
	}
	if err := settle(row, d, r); err != nil {
		return err
	}
	r.In[0] = dtype.Bool
	return nil
}

// clipped is the rule of clip: a float bound turns integers into float32; a tensor bound is cast.
func clipped(row *Row, args []Arg, _ Attrs, r *Result) error {
	d := args[0].DType
	for i := 1; i < len(args); i++ {
		if !args[i].Absent && args[i].DType.IsFloat() {
			d = floating(d)
		}
	}
	return settle(row, d, r)
}

// joined is the rule of concat and stack: one dtype for all.
func joined(row *Row, args []Arg, _ Attrs, r *Result) error {
	for i := range args {
		if args[i].DType != args[0].DType {
			return status.Errorf(status.Invalid, "[%s] tensor 0 is %s and tensor %d is %s; want one dtype", row.Name, args[0].DType, i, args[i].DType)
		}
	}
	return settle(row, args[0].DType, r)
}

// gathered is the rule of reading through index tensors: they are int32 or int64 and become int64.
func gathered(row *Row, args []Arg, _ Attrs, r *Result) error {
	for i := 1; i < len(args); i++ {
		if d := args[i].DType; d != dtype.Int64 && d != dtype.Int32 {
			return status.Errorf(status.Invalid, "[%s] index is %s; want int32 or int64", row.Name, d)
		}
	}
	if err := settle(row, args[0].DType, r); err != nil {
		return err
	}
	r.In[1], r.In[2] = dtype.Int64, dtype.Int64
	return nil
}
