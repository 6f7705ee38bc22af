package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// partType is the dtype of the parts of a complex one, and any other dtype itself.
func partType(d dtype.DType) dtype.DType {
	switch d {
	case dtype.Complex64:
		return dtype.Float32
	case dtype.Complex128:
		return dtype.Float64
	}
	return d
}

// putParts writes an element with two parts; a real one has the first.
func putParts(at []byte, d dtype.DType, real, imag float64) {
	part := partType(d)
	put(at[:part.Size()], part, real)
	if d.IsComplex() {
		put(at[part.Size():], part, imag)
	}
}

// partsOf reads an element; the imaginary part of a real one is 0.
func partsOf(at []byte, d dtype.DType) (real, imag float64) {
	part := partType(d)
	if d.IsComplex() {
		imag = get(at[part.Size():], part)
	}
	return get(at[:part.Size()], part), imag
}

// TestComplexCasts casts between all pairs with a complex dtype on a side, from every layout to every layout.
func TestComplexCasts(t *testing.T) {
	if sample.UnderRace {
		sample.Skip(t, 5, t.Name(), 0)
	}
	r := newRig(t, Config{Threads: 2})
	values := [][2]float64{{0, 0}, {1, 2}, {0, 3}, {2, 0}, {100, 7}}
	for _, from := range dtype.Movable.Members() {
		for _, to := range dtype.Movable.Members() {
			if !from.IsComplex() && !to.IsComplex() {
				continue
			}
			for where, l := range layouts(33, 35) {
				for _, target := range layouts(33, 35) {
					x, out := place(from, l, 0), place(to, target, 0)
					for i := range x.Numel() {
						v := values[int(i)%len(values)]
						if from == dtype.Bool {
							v[0] = min(v[0], 1)
						}
						putParts(x.at(i), from, v[0], v[1])
					}
					require.NoError(t, r.call("cast", &device.Call{In: operands(x), Out: operands(out)}))
					for i := range x.Numel() {
						real, imag := partsOf(x.at(i), from)
						if to == dtype.Bool {
							real = float64(engine.Bit(real != 0 || imag != 0))
						}
						if !to.IsComplex() {
							imag = 0
						}
						gotReal, gotImag := partsOf(out.at(i), to)
						require.Equal(t, [2]float64{real, imag}, [2]float64{gotReal, gotImag}, "%s to %s, %v, element %d", from, to, where, i)
					}
				}
			}
		}
	}
}
