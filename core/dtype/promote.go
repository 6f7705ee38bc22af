package dtype

import "github.com/paddle-mps/paddle-mps/core/status"

// Term is what promotion needs to know of an operand.
type Term struct {
	DType  DType // of a scalar: Bool, Int64 or Float32 by its Python type
	Scalar bool  // a Python scalar
	ZeroD  bool  // a tensor without axes
}

// weak reports whether a term takes the dtype of a tensor with axes beside it.
func (t Term) weak() bool { return t.Scalar || t.ZeroD }

// Promote is the dtype that x op y computes in, by PaddlePaddle 3.3.1's rule, which is not NumPy's:
//
//   - two tensors with axes must agree, or both be floats; then the wider one wins, and
//     float16 with bfloat16 is float32;
//   - a scalar or a 0-d tensor takes the dtype of the tensor beside it, unless its category
//     (bool < int < float < complex) is higher: then its own;
//   - two 0-d tensors meet in the smallest dtype that holds both;
//   - a complex tensor meets any other tensor in the smallest complex dtype that holds both.
//
// Other pairs are status.Type; the message names op and both dtypes.
func Promote(op string, x, y Term) (DType, error) {
	switch {
	case x.DType == y.DType:
		return x.DType, nil
	case (x.DType.IsComplex() || y.DType.IsComplex()) && !x.Scalar && !y.Scalar:
		return Join(x.DType, y.DType), nil
	case y.Scalar || y.ZeroD && !x.weak():
		return keepUnlessHigher(x.DType, y.DType), nil
	case x.Scalar || x.ZeroD && !y.weak():
		return keepUnlessHigher(y.DType, x.DType), nil
	case x.ZeroD && y.ZeroD:
		return Join(x.DType, y.DType), nil
	}
	return Strict(op, x.DType, y.DType)
}

// Strict is the dtype of two tensors with axes: equal, or the wider of two floats or of a complex type and any other.
func Strict(op string, x, y DType) (DType, error) {
	if x == y {
		return x, nil
	}
	if x.IsFloat() && y.IsFloat() || x.Valid() && y.Valid() && (x.IsComplex() || y.IsComplex()) {
		return Join(x, y), nil
	}
	return Invalid, status.Errorf(status.Type, "[%s] got tensors of %s and %s; want one dtype, or two floating-point ones (cast one of them)", op, x, y)
}

// keepUnlessHigher is the dtype of a tensor beside a weak term: its own, unless the category of the weak one is
// higher.
func keepUnlessHigher(tensor, weak DType) DType {
	if weak.Category() > tensor.Category() {
		return weak
	}
	return tensor
}

// Join is the smallest dtype that holds the values of both: uint8 and int8 meet in int16, an
// integer and a float in the float, float16 and bfloat16 in float32, float64 and complex64 in complex128.
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
	case x == Float64 && y == Complex64:
		return Complex128
	}
	return y // the order of the constants is that of the widths within and across categories
}
