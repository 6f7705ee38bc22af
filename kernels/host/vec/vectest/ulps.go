package vectest

import (
	"math"
	"testing"
)

// TrueUlps is the distance from want in units of the last place of float32 there.
func TrueUlps(got float32, want float64) float64 {
	w := float32(want)
	if got == w || got != got && w != w {
		return 0
	}
	if math.IsInf(float64(got), 0) || math.IsInf(want, 0) || got != got || w != w {
		return float64(Ulps(got, want))
	}
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

// ordinal numbers the float32 values in order, both zeros alike.
func ordinal(x float32) int64 {
	b := int64(math.Float32bits(x))
	if b >= 1<<31 {
		return 1<<31 - b
	}
	return b
}

// Ulps is the distance from the correctly rounded want, -1 for a wrong NaN or
// a wrong sign of zero.
func Ulps(got float32, want float64) int64 {
	w := float32(want)
	switch {
	case w != w || got != got:
		if w != w && got != got {
			return 0
		}
		return -1
	case w == 0 && got == 0 && math.Signbit(float64(w)) != math.Signbit(float64(got)):
		return -1
	}
	return max(ordinal(got)-ordinal(w), ordinal(w)-ordinal(got))
}

// Stride is a prime, so that the sweep meets every exponent and low bits of
// every kind: about a million patterns, 65 thousand with -short.
func Stride() uint64 {
	if testing.Short() {
		return 65537
	}
	return 4099
}

// BlockLength leaves a tail for every width of vector.
const BlockLength = 4099

// Sweep calls f with blocks that together hold the edges and a strided sweep
// of all bit patterns.
func Sweep(f func(src []float32)) {
	f(Edges32())
	block := make([]float32, 0, BlockLength)
	for b := uint64(0); b < 1<<32; b += Stride() {
		block = append(block, math.Float32frombits(uint32(b)))
		if len(block) == cap(block) {
			f(block)
			block = block[:0]
		}
	}
	f(block)
}
