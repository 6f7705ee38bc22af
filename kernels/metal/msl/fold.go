package msl

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// An accumulator is a type A with zero, fold (an element, which has a number), join (of two, the first of
// which has the lower elements or some among them), shift (that of another lane of the SIMD group) and result (of so
// many elements).

// twice is a sum in two floats: what rounding drops is kept (Knuth's two-sum).
const twice = `
struct A {
    float sum, dropped;
};
inline A zero() { return A{0, 0}; }
inline A join(A a, A b) {
    float s = a.sum + b.sum, back = s - a.sum;
    return A{s, a.dropped + b.dropped + ((a.sum - (s - back)) + (b.sum - back))};
}
inline A fold(A a, C x, uint) { return join(a, A{x, 0}); }
inline A shift(A a, ushort mask) { return A{from_lane(a.sum, mask), from_lane(a.dropped, mask)}; }
inline float value(A a) {
    float v = a.sum + a.dropped;
    return isfinite(a.sum) ? v : a.sum;
}
`

// scaled is a product in two floats and a power of two, so that it neither rounds nor overflows before the
// end. A product of 0, inf or nan has no second part.
const scaled = `
struct A {
    float product, rest;
    int exponent;
};
inline A zero() { return A{1, 0, 0}; }
inline A join(A a, A b) {
    float p = a.product * b.product;
    if (p == 0 || !isfinite(p)) return A{p, 0, 0};
    float rest = fma(a.product, b.product, -p) + (a.product * b.rest + a.rest * b.product);
    int e;
    float scaled = frexp(p, e);
    return A{scaled, ldexp(rest, -e), a.exponent + b.exponent + e};
}
inline A fold(A a, C x, uint) {
    if (x == 0 || !isfinite(x)) return join(a, A{x, 0, 0});
    int e;
    float m = frexp(x, e);
    return join(a, A{m, 0, e});
}
inline A shift(A a, ushort mask) { return A{from_lane(a.product, mask), from_lane(a.rest, mask), from_lane(a.exponent, mask)}; }
inline C result(A a, uint) { return ldexp(a.product + a.rest, clamp(a.exponent, -400, 400)); }
`

// wide is a sum in 128 bits: the mean of large integers does not overflow. Its quotient is rounded towards
// zero; 0 for nothing.
const wide = `
struct A {
    ulong low;
    long high;
};
inline A zero() { return A{0, 0}; }
inline A join(A a, A b) {
    ulong low = a.low + b.low;
    return A{low, a.high + b.high + (low < a.low ? 1 : 0)};
}
inline A fold(A a, C x, uint) { return join(a, A{ulong(long(x)), x < 0 ? -1l : 0l}); }
inline A shift(A a, ushort mask) { return A{from_lane(a.low, mask), from_lane(a.high, mask)}; }
inline C result(A a, uint count) {
    if (count == 0) return 0;
    bool negative = a.high < 0;
    if (negative) a = A{0 - a.low, ~a.high + (a.low == 0 ? 1 : 0)};
    ulong n = count, rest = ulong(a.high) % n;
    ulong upper = (rest << 32 | a.low >> 32), q = upper / n << 32;
    q |= ((upper % n) << 32 | (a.low & 0xffffffff)) / n;
    return C(negative ? 0 - q : q);
}
`

// searching keeps the first of the elements that no other is better than; nan is worse than any.
const searching = `
struct A {
    C best;
    uint at, some;
};
inline A zero() { return A{C(0), 0, 0}; }
inline bool number(C x) { return x == x; }
inline A join(A a, A b) {
    if (b.some == 0 || a.some == 0) return a.some == 0 ? b : a;
    if (number(a.best) != number(b.best)) return number(a.best) ? a : b;
    if (number(a.best) && a.best != b.best) return (a.best %s b.best) ? a : b;
    return a.at < b.at ? a : b;
}
inline A fold(A a, C x, uint at) { return join(a, A{x, at, 1}); }
inline A shift(A a, ushort mask) { return A{from_lane(a.best, mask), from_lane(a.at, mask), from_lane(a.some, mask)}; }
inline long result(A a, uint) { return a.at; }
`

// counting counts the elements that are not 0; nan is not.
const counting = `
struct A {
    ulong value;
};
inline A zero() { return A{0}; }
inline A join(A a, A b) { return A{a.value + b.value}; }
inline A fold(A a, C x, uint) { return A{a.value + (x != C(0) ? 1 : 0)}; }
inline A shift(A a, ushort mask) { return A{from_lane(a.value, mask)}; }
inline long result(A a, uint) { return a.value; }
`

// plainly folds by an expression where the order of elements makes no difference: extremes, and sums and products that
// wrap around. kind is the type of the accumulator, start the value that changes nothing, result the type of the result.
// The expression is one of x and y, which have that type.
func plainly(kind, start, expression, result string) string {
	return fmt.Sprintf(`
struct A {
    %[1]s value;
};
inline A zero() { return A{%[2]s}; }
inline %[1]s both(%[1]s x, %[1]s y) { return %[3]s; }
inline A join(A a, A b) { return A{both(a.value, b.value)}; }
inline A fold(A a, C x, uint) { return A{both(a.value, %[1]s(x))}; }
inline A shift(A a, ushort mask) { return A{from_lane(a.value, mask)}; }
inline %[4]s result(A a, uint) { return a.value; }
`, kind, start, expression, result)
}

// accumulator is that of a reduction over elements of a dtype; "" where there is none.
func accumulator(operator op.ID, d dtype.DType) string {
	switch {
	case operator == op.IDWholeSum && !d.IsFloat():
		return plainly("ulong", "0", "x + y", "long")
	case operator == op.IDWholeProd && !d.IsFloat():
		return plainly("ulong", "1", "x * y", "long")
	case operator == op.IDCountNonzero:
		return counting
	}
	if d == dtype.Bool {
		switch operator {
		case op.IDAny, op.IDMax, op.IDSum, op.IDMean:
			return plainly("uint", "0", "x | y", "bool")
		case op.IDAll, op.IDMin, op.IDProd:
			return plainly("uint", "1", "x & y", "bool")
		}
		return ""
	}
	switch operator {
	case op.IDAny:
		return plainly("bool", "false", "x || y", "bool")
	case op.IDAll:
		return plainly("bool", "true", "x && y", "bool")
	case op.IDArgmax:
		return fmt.Sprintf(searching, ">")
	case op.IDArgmin:
		return fmt.Sprintf(searching, "<")
	}
	if d.IsFloat() {
		return floatAccumulator(operator)
	}
	switch operator {
	case op.IDSum:
		return plainly("W", "0", "x + y", "C")
	case op.IDProd:
		return plainly("W", "1", "x * y", "C")
	case op.IDMean:
		return wide
	case op.IDMax:
		return plainly("C", "numeric_limits<C>::min()", "max(x, y)", "C")
	case op.IDMin:
		return plainly("C", "numeric_limits<C>::max()", "min(x, y)", "C")
	}
	return ""
}

// floatAccumulator is that of floats, whose sums and products are rounded once, at the end.
func floatAccumulator(operator op.ID) string {
	switch operator {
	case op.IDSum:
		return twice + "inline C result(A a, uint) { return value(a); }\n"
	case op.IDMean:
		return twice + "inline C result(A a, uint count) { return value(a) / float(count); }\n"
	case op.IDProd:
		return scaled
	case op.IDMax:
		return plainly("float", "-INFINITY", "largest(x, y)", "C")
	case op.IDMin:
		return plainly("float", "INFINITY", "least(x, y)", "C")
	}
	return ""
}
