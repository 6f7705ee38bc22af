package dtype

import "github.com/paddle-mps/paddle-mps/core/status"

// Term is an operand as promotion sees it.
type Term struct {
	DType  DType // of a scalar: Bool, Int64 or Float32 by its Python type
	Scalar bool  // a Python scalar
	ZeroD  bool  // a tensor without axes
}

// weak reports whether a term gives way to a tensor with axes.
func (t Term) weak() bool { return t.Scalar || t.ZeroD }

// Promote is the dtype that x op y computes in, by PaddlePaddle 3.3.1's rule, which is not NumPy's:
//
//   - two tensors with axes must agree, or both be floats; then the wider one wins, and
//     float16 with bfloat16 is float32;
//   - a scalar or a 0-d tensor takes the dtype of the tensor beside it, unless its category
//     (bool < int < float) is higher: then its own;
//   - two 0-d tensors meet in the smallest dtype that holds both.
//
// What cannot meet is status.Type, naming op and both dtypes.
func Promote(op string, x, y Term) (DType, error) {
	switch {
	case x.DType == y.DType:
		return x.DType, nil
	case y.Scalar || y.ZeroD && !x.weak():
		return yield(x.DType, y.DType), nil
	case x.Scalar || x.ZeroD && !y.weak():
		return yield(y.DType, x.DType), nil
	case x.ZeroD && y.ZeroD:
		return Join(x.DType, y.DType), nil
	}
	return Strict(op, x.DType, y.DType)
}

// Strict is the dtype of two tensors with axes: equal, or the wider of two floats.
func Strict(op string, x, y DType) (DType, error) {
	if x == y {
		return x, nil
	}
	if x.IsFloat() && y.IsFloat() {
		return Join(x, y), nil
	}
	return Invalid, status.Errorf(status.Type, "[%s] got a %s and a %s tensor; want one dtype, or two floating-point ones (cast one of them)", op, x, y)
}

// yield is the dtype of a tensor beside something weak.
func yield(tensor, weak DType) DType {
	if weak.Category() > tensor.Category() {
		return weak
	}
	return tensor
}

// Join is the smallest dtype that holds the values of both: uint8 and int8 meet in int16, an
// integer and a float in the float, float16 and bfloat16 in float32.
func Join(x, y DType) DType {
	if x > y {
		x, y = y, x
	}
	switch {
	case x == y:
		return x
	case x == Uint8 && y == Int8:
		return Int16
	case x == Float16 && y == BFloat16:
		return Float32
	}
	return y // the order of the constants is that of the widths within and across categories
}
