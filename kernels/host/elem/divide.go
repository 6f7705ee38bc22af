package elem

import "math"

// floor_divide and remainder of floats are exact, as in Python: 1 // 0.1 is 9, because 0.1 is a little more than a tenth, and
// 1 % 0.1 is what is then left. math.Mod, which computes bit by bit, takes ten times as long as a division, so that it serves
// only quotients that are large or not finite.

// smallQuotient is where the float64 begin that have no fraction.
const smallQuotient = 1 << 52

// floored is q = floor(a/b) and a - q b, for finite operands and a quotient below smallQuotient.
//
// The quotient is rounded, which is monotonic: where a/b is not below an integer, neither is the rounded one. So its floor is
// right, or too large by 1 because a/b has been rounded up to an integer. Then what is left, which the fused operation gives
// without an error, has not the sign of b.
func floored(a, b float64) (q, rest float64) {
	q = math.Floor(a / b)
	rest = math.FMA(-q, b, a)
	if rest != 0 && (rest < 0) != (b < 0) {
		q, rest = q-1, rest+b
	}
	return q, rest
}

// floorDivides is floor(x/y), elements of each row.
func floorDivides[T float32 | float64](dst, x, y []T) {
	y, dst = y[:len(x)], dst[:len(x)]
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		q, rest := floored(a, b)
		if !(math.Abs(q) < smallQuotient) || rest != rest {
			q = floorDivide(a, b)
		}
		dst[i] = T(q)
	}
}

// remainders is x - floor(x/y) y, elements of each row. A remainder of zero has the sign of x, as that of math.Mod.
func remainders[T float32 | float64](dst, x, y []T) {
	y, dst = y[:len(x)], dst[:len(x)]
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		q, rest := floored(a, b)
		switch {
		case !(math.Abs(q) < smallQuotient) || rest != rest:
			rest = remainder(a, b)
		case rest == 0:
			rest = math.Copysign(0, a)
		}
		dst[i] = T(rest)
	}
}

// floorDivide is the quotient that belongs to remainder, for any operands.
func floorDivide(a, b float64) float64 {
	if b == 0 {
		return a / b
	}
	rest := math.Mod(a, b)
	q := (a - rest) / b
	if rest != 0 && (rest < 0) != (b < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, a/b)
	}
	return math.Round(q) // q is an integer but for its own rounding error
}

// remainder has the sign of the divisor: -1 % inf is inf.
func remainder(a, b float64) float64 {
	rest := math.Mod(a, b)
	if rest != 0 && (rest < 0) != (b < 0) {
		rest += b
	}
	return rest
}
