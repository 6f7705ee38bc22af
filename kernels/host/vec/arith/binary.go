package arith

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// Binary names a function of two elements.
//
// Max and Min give NaN when either operand is NaN, and the second operand when
// both are equal, which only zeros of different sign can show.
type Binary uint8

const (
	Add Binary = iota
	Sub
	Mul
	Div
	Max
	Min

	BinaryCount = iota
)

// String gives the name in lower case, "add".
func (b Binary) String() string {
	return [BinaryCount]string{"add", "sub", "mul", "div", "max", "min"}[b]
}

// Rows is one Binary in the three shapes that broadcasting leaves over
// contiguous memory: (row, row), (row, scalar) and (scalar, row).
type Rows[T vec.Number] struct {
	VV func(dst, a, b []T)
	VS func(dst, a []T, b T)
	SV func(dst []T, a T, b []T)
}

// RowsOf gives the fastest loops of op for T. Look it up once and keep it: the
// answer never changes.
func RowsOf[T vec.Real](op Binary) Rows[T] {
	if r, ok := any(active.binary32[op]).(Rows[T]); ok {
		return r.checked()
	}
	return any(active.binary64[op]).(Rows[T]).checked()
}

// IntegerRows gives the loops of op, which is Add, Sub or Mul, for integers:
// these wrap around.
//
//go:noinline
func IntegerRows[T vec.Integer](op Binary) Rows[T] {
	switch op {
	case Add:
		return Rows[T]{
			VV: func(dst, a, b []T) { eachVV(dst, a, b, sum2[T]) },
			VS: func(dst, a []T, b T) { eachVS(dst, a, b, sum2[T]) },
			SV: func(dst []T, a T, b []T) { eachSV(dst, a, b, sum2[T]) },
		}
	case Sub:
		return Rows[T]{
			VV: func(dst, a, b []T) { eachVV(dst, a, b, difference[T]) },
			VS: func(dst, a []T, b T) { eachVS(dst, a, b, difference[T]) },
			SV: func(dst []T, a T, b []T) { eachSV(dst, a, b, difference[T]) },
		}
	case Mul:
		return Rows[T]{
			VV: func(dst, a, b []T) { eachVV(dst, a, b, product[T]) },
			VS: func(dst, a []T, b T) { eachVS(dst, a, b, product[T]) },
			SV: func(dst []T, a T, b []T) { eachSV(dst, a, b, product[T]) },
		}
	}
	panic("vec: integers have no rows of " + op.String())
}

// checked cuts the slices to one length, which the loops rely on.
func (r Rows[T]) checked() Rows[T] {
	return Rows[T]{
		VV: func(dst, a, b []T) {
			n := min(len(dst), len(a), len(b))
			r.VV(dst[:n], a[:n], b[:n])
		},
		VS: func(dst, a []T, b T) {
			n := min(len(dst), len(a))
			r.VS(dst[:n], a[:n], b)
		},
		SV: func(dst []T, a T, b []T) {
			n := min(len(dst), len(b))
			r.SV(dst[:n], a, b[:n])
		},
	}
}

func portableRows[T vec.Real]() [BinaryCount]Rows[T] {
	return [BinaryCount]Rows[T]{
		Add: {
			VV: func(dst, a, b []T) { eachVV(dst, a, b, sum2[T]) },
			VS: func(dst, a []T, b T) { eachVS(dst, a, b, sum2[T]) },
			SV: func(dst []T, a T, b []T) { eachSV(dst, a, b, sum2[T]) },
		},
		Sub: {
			VV: func(dst, a, b []T) { eachVV(dst, a, b, difference[T]) },
			VS: func(dst, a []T, b T) { eachVS(dst, a, b, difference[T]) },
			SV: func(dst []T, a T, b []T) { eachSV(dst, a, b, difference[T]) },
		},
		Mul: {
			VV: func(dst, a, b []T) { eachVV(dst, a, b, product[T]) },
			VS: func(dst, a []T, b T) { eachVS(dst, a, b, product[T]) },
			SV: func(dst []T, a T, b []T) { eachSV(dst, a, b, product[T]) },
		},
		Div: {
			VV: func(dst, a, b []T) { eachVV(dst, a, b, quotient[T]) },
			VS: func(dst, a []T, b T) { eachVS(dst, a, b, quotient[T]) },
			SV: func(dst []T, a T, b []T) { eachSV(dst, a, b, quotient[T]) },
		},
		Max: {
			VV: func(dst, a, b []T) { eachVV(dst, a, b, vec.Larger[T]) },
			VS: func(dst, a []T, b T) { eachVS(dst, a, b, vec.Larger[T]) },
			SV: func(dst []T, a T, b []T) { eachSV(dst, a, b, vec.Larger[T]) },
		},
		Min: {
			VV: func(dst, a, b []T) { eachVV(dst, a, b, vec.Smaller[T]) },
			VS: func(dst, a []T, b T) { eachVS(dst, a, b, vec.Smaller[T]) },
			SV: func(dst []T, a T, b []T) { eachSV(dst, a, b, vec.Smaller[T]) },
		},
	}
}

// The three drivers are inlined into each function above, and f into them.

func eachVV[T vec.Number](dst, a, b []T, f func(x, y T) T) {
	for i := range min(len(dst), len(a), len(b)) {
		dst[i] = f(a[i], b[i])
	}
}

func eachVS[T vec.Number](dst, a []T, b T, f func(x, y T) T) {
	for i := range min(len(dst), len(a)) {
		dst[i] = f(a[i], b)
	}
}

func eachSV[T vec.Number](dst []T, a T, b []T, f func(x, y T) T) {
	for i := range min(len(dst), len(b)) {
		dst[i] = f(a, b[i])
	}
}

func sum2[T vec.Number](x, y T) T { return x + y }

func difference[T vec.Number](x, y T) T { return x - y }

func product[T vec.Number](x, y T) T { return x * y }

func quotient[T vec.Real](x, y T) T { return x / y }
