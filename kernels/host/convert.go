package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// casts holds the kernel for each pair of dtypes, from and to. The diagonal copies.
var casts = newCasts()

// castTable is indexed by the dtype of the input, then by that of the output.
type castTable [dtype.Last + 1][dtype.Last + 1]kernel

// convert is out[i] = x[i] in the output's dtype. The pair of dtypes is only known with the call.
type convert struct{}

// castOf is the kernel for the dtypes of a call.
func castOf(c *device.Call) kernel { return casts[c.In[0].DType][c.Out[0].DType] }

// What a cast costs, needs and does depends on both dtypes of the call.
func (convert) cost(c *device.Call) int64            { return castOf(c).cost(c) }
func (convert) workspace(*device.Call) int64         { return 0 }
func (convert) run(t *threads, c *device.Call) error { return castOf(c).run(t, c) }

// cast and assign differ in what inference makes of them; a device does the same for both.
func init() {
	registerSet(op.IDCast, dtype.Movable, convert{})
	registerSet(op.IDAssign, dtype.Movable, convert{})
}

// newCasts fills the table. A half as the source is widened to float32 first, which is exact.
func newCasts() *castTable {
	t := new(castTable)
	castIntegers[uint8](t, dtype.Bool)
	castIntegers[uint8](t, dtype.Uint8)
	castIntegers[int8](t, dtype.Int8)
	castIntegers[int16](t, dtype.Int16)
	castIntegers[int32](t, dtype.Int32)
	castIntegers[int64](t, dtype.Int64)
	castFloats(t, halfCodec(dtype.Float16), dtype.Float16, vec.F32ToF16Row, vec.F32ToBF16Row)
	castFloats(t, halfCodec(dtype.BFloat16), dtype.BFloat16, vec.F32ToF16Row, vec.F32ToBF16Row)
	castFloats(t, new(codec[float32]), dtype.Float32, vec.F32ToF16Row, vec.F32ToBF16Row)
	castFloats(t, new(codec[float64]), dtype.Float64, vec.F64ToF16Row, vec.F64ToBF16Row)
	t.addComplex()
	for _, d := range dtype.Movable.Members() {
		t[d][d] = copier(d.Size())
	}
	return t
}

// castIntegers adds the casts of one integer type, or of bool. To integers they wrap around, to floats they
// round once.
func castIntegers[T integer](t *castTable, from dtype.DType) {
	row, size := &t[from], int64(unsafe.Sizeof(*new(T)))
	row[dtype.Bool] = newRows(plain, plain, 1, notZero[T])
	row[dtype.Uint8] = casting(plain, wrapping[uint8, T])
	row[dtype.Int8] = row[dtype.Uint8] // the same bits
	row[dtype.Int16] = casting(plain, wrapping[int16, T])
	row[dtype.Int32] = casting(plain, wrapping[int32, T])
	row[dtype.Int64] = casting(plain, wrapping[int64, T])
	row[dtype.Float16] = casting(plain, throughInt64(wrapping[int64, T], size, dtype.F64ToF16))
	row[dtype.BFloat16] = casting(plain, throughInt64(wrapping[int64, T], size, dtype.F64ToBF16))
	row[dtype.Float32] = casting(plain, wrapping[float32, T])
	row[dtype.Float64] = casting(plain, wrapping[float64, T])
}

// castFloats adds the casts of one float type, which computes with T. To integers they drop the fraction and
// saturate; to floats they round once.
func castFloats[T float32 | float64](t *castTable, in *codec[T], from dtype.DType, f16, bf16 func([]uint16, []T)) {
	row := &t[from]
	row[dtype.Bool] = newRows(in.coding, plain, 1, notZero[T])
	row[dtype.Uint8] = casting(in.coding, saturating[uint8, T](dtype.Uint8))
	row[dtype.Int8] = casting(in.coding, saturating[int8, T](dtype.Int8))
	row[dtype.Int16] = casting(in.coding, saturating[int16, T](dtype.Int16))
	row[dtype.Int32] = casting(in.coding, saturating[int32, T](dtype.Int32))
	if in, ok := any(in).(*codec[float32]); ok { // of halves too: their values are float32
		integers := newRows(in.coding, plain, 1, vec.ToInt32)
		if from == dtype.Float32 && vec.HasStreams() {
			integers.stream(vec.StreamToInt32)
		}
		row[dtype.Int32] = integers
		row[dtype.Uint8] = casting(in.coding, saturatingBytes(dtype.Uint8))
		row[dtype.Int8] = casting(in.coding, saturatingBytes(dtype.Int8))
	}
	row[dtype.Int64] = casting(in.coding, saturating[int64, T](dtype.Int64))
	row[dtype.Float16] = newRows(in.coding, plain, 1, f16)
	row[dtype.BFloat16] = newRows(in.coding, plain, 1, bf16)
	row[dtype.Float32] = casting(in.coding, wrapping[float32, T])
	if in, ok := any(in).(*codec[float64]); ok {
		row[dtype.Float32] = newRows(in.coding, plain, 1, vec.ToFloat32)
	}
	row[dtype.Float64] = casting(in.coding, wrapping[float64, T])
}

// casting is a kernel that reads through a coding and writes elements.
//
//go:noinline
func casting(in coding, f rowsAt) kernel { return &unary{in, plain, effortOf(in, plain, 1), f} }

// wrapping is Go's conversion: integers wrap around, and floats round once. It is a loop of its own, because the call of a
// function for each element would cost more than the conversion.
// SAFETY: see newUnary.
func wrapping[D, C number](_ *device.Call, to, from unsafe.Pointer, n int64) {
	dst, src := slice[D](to, n), slice[C](from, n)
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = D(x)
	}
}

// saturating drops the fraction; what is too large becomes the nearest integer of the dtype, and nan 0.
// SAFETY: see newUnary.
func saturating[D integer, C float32 | float64](to dtype.DType) rowsAt {
	low, high := to.Range()
	least, most := C(low), C(high) // most is rounded up to a power of two where C cannot hold it
	return func(_ *device.Call, to, from unsafe.Pointer, n int64) {
		dst := slice[D](to, n)
		for i, x := range slice[C](from, n) {
			if least < x && x < most {
				dst[i] = D(x)
			} else {
				dst[i] = D(min(max(dtype.Saturate(float64(x)), low), high))
			}
		}
	}
}

// saturatingBytes is saturating from float32 to 8 bits, through int32, which saturates as well.
// SAFETY: see newUnary.
//
//go:noinline
func saturatingBytes(to dtype.DType) rowsAt {
	low, high := to.Range()
	return func(_ *device.Call, to, from unsafe.Pointer, n int64) {
		f := newFrame()
		defer f.free()
		wide := slice[int32](f.room(), block)
		dst, src := slice[uint8](to, n), slice[float32](from, n)
		for len(src) > 0 {
			part := wide[:min(len(wide), len(src))]
			vec.ToInt32(part, src)
			for i, v := range part {
				dst[i] = uint8(min(max(v, int32(low)), int32(high)))
			}
			dst, src = dst[len(part):], src[len(part):]
		}
	}
}

// throughInt64 makes halves of integers of so many bytes, which widen reads, some at a time. It is compiled once for all of their types.
// SAFETY: see newUnary.
//
//go:noinline
func throughInt64(widen rowsAt, size int64, narrow func(float64) uint16) rowsAt {
	halves := eachOf(func(x int64) uint16 { return narrow(sticky(x)) })
	return func(c *device.Call, to, from unsafe.Pointer, n int64) {
		f := newFrame()
		defer f.free()
		wide, dst := f.room(), slice[uint16](to, n)
		for lo := int64(0); lo < n; lo += block {
			m := min(block, n-lo)
			widen(c, wide, unsafe.Add(from, lo*size), m)
			halves(c, dst[lo:], slice[int64](wide, m))
		}
	}
}

// sticky is x as a float64 that rounds to a half as x itself would: bits that do not fit are
// replaced by a single one, so that they still break a tie.
func sticky(x int64) float64 {
	const low = 1<<11 - 1
	if x&low != 0 && x>>53 != 0 && x>>53 != -1 {
		x = x&^low | 1<<10
	}
	return float64(x)
}

// reading is a codec that reads elements of dtype from as values of type C, which the elements of another dtype are.
// SAFETY: see storing.
func reading[C any](from, to dtype.DType) *codec[C] {
	c := new(codec[C])
	if k, ok := casts[from][to].(*unary); ok {
		c.read = func(dst, src unsafe.Pointer, n int64) { k.f(nil, dst, src, n) }
	}
	return c
}

// storing is a codec that writes values of type C, which the elements of dtype from are, as
// elements of another dtype.
// SAFETY: see slice; the kernel reads values of type C, which those of dtype from are.
func storing[C any](from, to dtype.DType) *codec[C] {
	if k, ok := casts[from][to].(*unary); ok {
		return codecOf(nil, func(dst unsafe.Pointer, src []C) {
			k.f(nil, dst, unsafe.Pointer(unsafe.SliceData(src)), int64(len(src)))
		})
	}
	return new(codec[C]) // from is to
}
