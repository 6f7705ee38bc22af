package msl

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// wrapped is a product of integers, which wraps around.
const wrapped = `
typedef W A;
inline A zero() { return 1; }
inline A join(A a, A b) { return a * b; }
inline A fold(A a, C x, uint) { return a * W(x); }
inline C result(A a, uint) { return C(a); }
`

// exponentials is the logarithm of a sum of exponentials: the largest exponent, and the sum without it, which is at least 1
// and never too large. Beside infinity everything is nothing. The language does not say that exp(0) is 1, so it is not asked.
const exponentials = `
struct A {
    float largest, sum;
};
inline A zero() { return A{-INFINITY, 0}; }
inline A join(A a, A b) {
    if (isnan(a.largest) || isnan(b.largest)) return A{NAN, 1};
    const float m = max(a.largest, b.largest);
    if (isinf(m)) return A{m, 1};
    if (b.largest < m) return A{m, a.sum + b.sum * exp(b.largest - m)};
    return A{m, a.largest < m ? a.sum * exp(a.largest - m) + b.sum : a.sum + b.sum};
}
inline A fold(A a, C x, uint) { return join(a, A{x, 1}); }
inline C result(A a, uint) { return isinf(a.largest) ? a.largest : a.largest + log(a.sum); }
`

// extremes is the element with the largest rank and where the last of those is. It keeps the element itself, because a rank
// does not tell zeros and nan apart, and the memory that it came from may be overwritten in place.
const extremes = `
struct A {
    K rank;
    uint at;
    E value;
};
inline A zero() { return A{0, 0, 0}; }
inline A join(A a, A b) {
    if (b.rank >= a.rank) return b;
    return a;
}
inline A take(A a, E e, uint i) { return join(a, A{RANK(key(e)), i, e}); }
inline E give(A a) { return a.value; }
`

// folded is take and give for accumulators of numbers.
const folded = `
inline A take(A a, E e, uint i) { return fold(a, load(e), i); }
inline E give(A a) { return store(result(a, 1)); }
#define PLACES
#define KEPT
#define KEEP(i, a)
#define INDEX(line, i, n)
`

// Accumulates reports whether there is an accumulator for an operator along one axis.
func Accumulates(id op.ID) bool {
	return id == op.IDCumprod || id == op.IDLogcumsumexp || id == op.IDCummax || id == op.IDCummin
}

// Accumulation is the source of one of those over lines of a dtype, with indices of another one if it has any: kernel "run"
// of accumulate.metal.
func Accumulation(id op.ID, d, index dtype.DType, wide bool) string {
	// Accumulators of fold.go have functions of lanes, which are not used here.
	text := types(d, wide) + vectors(d) + loading(d) + storing(d) + file("lanes")
	switch {
	case id == op.IDCummax || id == op.IDCummin:
		// nan is the smallest, too.
		rank := "(k)"
		if id == op.IDCummin {
			if rank = "(~(k))"; d.IsFloat() {
				rank = "((k) == ~K(0) ? (k) : ~(k))"
			}
		}
		text += keys(d) + "#define RANK(k) " + rank + extremes + fmt.Sprintf(`
#define PLACES device %s *places [[buffer(6)]], constant Walk<I> &there [[buffer(7)]],
#define KEPT threadgroup uint kept[256 * EACH];
#define KEEP(i, a) kept[i] = a.at
#define INDEX(line, i, n) places[seek(there, line) + I(i) * steps[2]] = kept[n]
`, storage[index])
	case id == op.IDLogcumsumexp:
		text += exponentials + folded
	case d.IsFloat():
		text += scaled + folded
	default:
		text += wrapped + folded
	}
	return source(text, "accumulate")
}
