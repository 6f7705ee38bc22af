package maths

import (
	"math"
	"math/bits"
)

// The remainder of a large number by pi/2, after M. Payne and R. Hanek, Radian reduction for trigonometric functions (1983): of
// x * 2/pi only the bits that are not multiples of 4 are computed, and enough behind them that what cancels is there.

// twoOverPi are the bits of 2/pi behind the point, after a word of zeros: those before it.
var twoOverPi = [...]uint64{
	0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
	0xa9e391615ee61b08,
}

// windowWords are the words of 2/pi that are multiplied. The nearest that a float64 comes to a multiple of pi/2 is 2**-62 of it, so
// that 256 bits less 53 of the product and 62 that cancel leave more than two float64.
const windowWords = 4

// farQuadrant is quadrant for finite |x| of 2**20 and more.
func farQuadrant(x float64) (r float64, k int) {
	mantissa, exponent := math.Frexp(math.Abs(x))
	m := uint64(mantissa * 0x1p53)
	product := timesWindow(m, exponent-53-2)
	k = int(product[0] >> 62)
	negative := product[0]>>61&1 == 1 // a fraction of 1/2 and more: the next quadrant, and what is missing to it
	if negative {
		k++
		negate(&product)
	}
	product[0] &= 1<<62 - 1
	high, low := 0.0, 0.0
	for i, w := range product {
		for j, half := range [...]uint64{w >> 32, w & (1<<32 - 1)} {
			part := math.Ldexp(float64(half), -30-64*i-32*j)
			sum := high + part
			low += part - (sum - high)
			high = sum
		}
	}
	p := twoProduct(high, halfPi)
	r = p.high + (p.low + high*halfPiLow + low*halfPi)
	if negative != (x < 0) {
		r = -r
	}
	if x < 0 {
		k = -k
	}
	return r, k & 3
}

// timesWindow is m times the bits of 2/pi from bit first on, without what is a multiple of 4: the two highest bits are whole.
func timesWindow(m uint64, first int) (product [windowWords]uint64) {
	at, shift := (first+64)/64, uint(first+64)%64
	carry := uint64(0)
	for i := windowWords - 1; i >= 0; i-- {
		w := twoOverPi[at+i] << shift
		if shift > 0 {
			w |= twoOverPi[at+i+1] >> (64 - shift)
		}
		high, low := bits.Mul64(m, w)
		sum, c := bits.Add64(low, carry, 0)
		product[i], carry = sum, high+c
	}
	return product
}

// negate is the two's complement.
func negate(product *[windowWords]uint64) {
	carry := uint64(1)
	for i := windowWords - 1; i >= 0; i-- {
		product[i], carry = bits.Add64(^product[i], 0, carry)
	}
}
