package metaltest

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/describe"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Bound is how far each element of a result may be from the host's.
type Bound struct {
	ULPs  float64   // units in the last place
	Slack []float64 // what is added where terms may cancel, as an absolute error; nil: nothing
}

// BoundOf is what the row of a call allows the device, beside the host, which has as much.
func BoundOf(t testing.TB, row *op.Row, c *device.Call) Bound {
	return Bound{Tolerance(row, c.Out[0].DType), Slack(t, row, c)}
}

// Agree wants the two devices to have the same to the last bit, or floats within so many units in the last
// place.
func Agree(t testing.TB, d dtype.DType, want, got Outcome, ulps float64) {
	t.Helper()
	AgreeWithin(t, d, want, got, Bound{ULPs: ulps})
}

// AgreeWithin is Agree for elements that each have their bound.
func AgreeWithin(t testing.TB, d dtype.DType, want, got Outcome, bound Bound) {
	t.Helper()
	require.NoError(t, want.Err)
	require.NoError(t, got.Err)
	require.Equal(t, want.Count, got.Count)
	require.Equal(t, want.Indices, got.Indices)
	if bytes.Equal(want.Bytes, got.Bytes) {
		return
	}
	size := int(d.Size())
	require.True(t, d.IsFloat(), "want %v\ngot  %v", want.Bytes, got.Bytes)
	for i := 0; i < len(want.Bytes); i += size {
		w, wb := FloatAt(d, want.Bytes[i:])
		g, gb := FloatAt(d, got.Bytes[i:])
		if wb == gb || w != w && g != g || w == g {
			continue
		}
		if bound.Slack != nil && math.Abs(w-g) <= bound.Slack[i/size]+bound.ULPs*unit(d, w) {
			continue
		}
		require.LessOrEqual(t, math.Abs(float64(wb-gb)), bound.ULPs, "element %d is %v; want %v", i/size, g, w)
	}
}

// FloatAt is an element as a number, and its place among the floats of its dtype, so that the difference of two
// places is a distance in units in the last place.
// SAFETY: b is at least as long as an element.
func FloatAt(d dtype.DType, b []byte) (v float64, order int64) {
	if d == dtype.Float32 {
		u := *(*uint32)(unsafe.Pointer(&b[0]))
		return float64(math.Float32frombits(u)), ordered(int64(u), 31)
	}
	u := *(*uint16)(unsafe.Pointer(&b[0]))
	if d == dtype.Float16 {
		return float64(dtype.F16ToF32(u)), ordered(int64(u), 15)
	}
	return float64(dtype.BF16ToF32(u)), ordered(int64(u), 15)
}

// ordered turns the bits of a float, whose sign is a bit of its own, into a number that grows with it.
func ordered(u int64, sign uint) int64 {
	if u>>sign != 0 {
		return -(u &^ (1 << sign))
	}
	return u
}

// unit is the distance of neighbouring numbers of a dtype at v.
func unit(d dtype.DType, v float64) float64 {
	bits, least := 24, -126
	switch d {
	case dtype.Float16:
		bits, least = 11, -14
	case dtype.BFloat16:
		bits = 8
	}
	_, exponent := math.Frexp(v)
	return math.Ldexp(1, max(exponent-1, least)-bits+1)
}

// Tolerance is what a row allows the device in units in the last place, beside the host, which has its own.
func Tolerance(row *op.Row, d dtype.DType) float64 {
	said := describe.ToleranceOf(row)
	return said.ULPs(d, false) + metalUnits(d)*said.ULPs(d, true)
}

// metalUnits is how many units of the host's result one of the device's is: below a power of two a unit of
// float32 is half of one above. Narrower dtypes are rounded to from float32.
func metalUnits(d dtype.DType) float64 {
	if d == dtype.Float32 {
		return 2
	}
	return 1
}

// Slack is what the roundings of intermediate values may add to each element of the result of a call, on both
// devices together: describe.Roundings evaluated with the host's result for the magnitudes of the operands. nil where the
// row has none.
func Slack(t testing.TB, row *op.Row, c *device.Call) []float64 {
	t.Helper()
	r, d := describe.ToleranceOf(row).Roundings, c.Out[0].DType
	if r == (describe.Roundings{}) || !d.IsFloat() {
		return nil
	}
	n := row.Terms(c.Axes, &c.In[0].Shape)
	eps := 0x1p-24 * (r.Count(n, false) + r.Count(n, true))
	sizes, size := ByHost(t, row, magnitudes(c)), int(d.Size())
	require.NoError(t, sizes.Err)
	slack := make([]float64, len(sizes.Bytes)/size)
	for i := range slack {
		slack[i], _ = FloatAt(d, sizes.Bytes[i*size:])
		slack[i] *= eps
		if math.IsNaN(slack[i]) || math.IsInf(slack[i], 0) {
			slack[i] = 0 // the result is exactly NaN or infinite, too, or does not depend on what is
		}
	}
	return slack
}

// magnitudes is a call with copies of its operands without their signs.
//
// SAFETY: each copy is a slice of its own, one byte longer than the operand, so that the address of an empty one is
// valid too; the operand's address keeps it alive.
func magnitudes(c *device.Call) device.Call {
	positive := *c
	positive.In = make([]device.Operand, len(c.In))
	for i, o := range c.In {
		bytes, size := append(Contents(&o), 0), int(o.DType.Size())
		for at := size - 1; o.DType.IsFloat() && at < len(bytes); at += size {
			bytes[at] &= 0x7f // little endian
		}
		o.Addr, o.Heap, o.Layout = unsafe.Pointer(&bytes[0]), nil, shape.Contiguous(o.Shape)
		positive.In[i] = o
	}
	return positive
}
