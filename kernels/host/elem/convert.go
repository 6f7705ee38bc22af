package elem

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/float16"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/nontemporal"
)

// Casts holds the kernel for each pair of dtypes, from and to. The diagonal copies.
var Casts = newCasts()

// castTable is indexed by the dtype of the input, then by that of the output.
type castTable [dtype.Last + 1][dtype.Last + 1]engine.Kernel

// convert is out[i] = x[i] in the output's dtype. The pair of dtypes is only known with the call.
type convert struct{}

// castOf is the kernel for the dtypes of a call.
func castOf(c *device.Call) engine.Kernel { return Casts[c.In[0].DType][c.Out[0].DType] }

// What a cast costs, needs and does depends on both dtypes of the call.
func (convert) Cost(c *device.Call) int64                   { return castOf(c).Cost(c) }
func (convert) Workspace(*device.Call) int64                { return 0 }
func (convert) Run(t *engine.Threads, c *device.Call) error { return castOf(c).Run(t, c) }

// cast and assign differ in what inference makes of them; a device does the same for both.
func init() {
	engine.RegisterSet(op.IDCast, dtype.Movable, convert{})
	engine.RegisterSet(op.IDAssign, dtype.Movable, convert{})
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
	castFloats(t, engine.HalfCodec(dtype.Float16), dtype.Float16, float16.F32ToF16Row, float16.F32ToBF16Row)
	castFloats(t, engine.HalfCodec(dtype.BFloat16), dtype.BFloat16, float16.F32ToF16Row, float16.F32ToBF16Row)
	castFloats(t, new(engine.Codec[float32]), dtype.Float32, float16.F32ToF16Row, float16.F32ToBF16Row)
	castFloats(t, new(engine.Codec[float64]), dtype.Float64, float16.F64ToF16Row, float16.F64ToBF16Row)
	t.addComplex()
	for _, d := range dtype.Movable.Members() {
		t[d][d] = copier(d.Size())
	}
	return t
}

// castIntegers adds the casts of one integer type, or of bool. To integers they wrap around, to floats they
// round once.
func castIntegers[T engine.Integer](t *castTable, from dtype.DType) {
	row, size := &t[from], int64(unsafe.Sizeof(*new(T)))
	row[dtype.Bool] = newRows(engine.Plain, engine.Plain, 1, notZero[T])
	row[dtype.Uint8] = casting(engine.Plain, wrapping[uint8, T])
	row[dtype.Int8] = row[dtype.Uint8] // the same bits
	row[dtype.Int16] = casting(engine.Plain, wrapping[int16, T])
	row[dtype.Int32] = casting(engine.Plain, wrapping[int32, T])
	row[dtype.Int64] = casting(engine.Plain, wrapping[int64, T])
	row[dtype.Float16] = casting(engine.Plain, throughInt64(wrapping[int64, T], size, dtype.F64ToF16))
	row[dtype.BFloat16] = casting(engine.Plain, throughInt64(wrapping[int64, T], size, dtype.F64ToBF16))
	row[dtype.Float32] = casting(engine.Plain, wrapping[float32, T])
	row[dtype.Float64] = casting(engine.Plain, wrapping[float64, T])
}

// castFloats adds the casts of one float type, which computes with T. To integers they drop the fraction and
// saturate; to floats they round once.
func castFloats[T float32 | float64](t *castTable, in *engine.Codec[T], from dtype.DType, f16, bf16 func([]uint16, []T)) {
	row := &t[from]
	row[dtype.Bool] = newRows(in.Coding, engine.Plain, 1, notZero[T])
	row[dtype.Uint8] = casting(in.Coding, saturating[uint8, T](dtype.Uint8))
	row[dtype.Int8] = casting(in.Coding, saturating[int8, T](dtype.Int8))
	row[dtype.Int16] = casting(in.Coding, saturating[int16, T](dtype.Int16))
	row[dtype.Int32] = casting(in.Coding, saturating[int32, T](dtype.Int32))
	if in, ok := any(in).(*engine.Codec[float32]); ok { // of halves too: their values are float32
		integers := newRows(in.Coding, engine.Plain, 1, arith.ToInt32)
		if from == dtype.Float32 && nontemporal.Available() {
			integers.stream(nontemporal.ToInt32)
		}
		row[dtype.Int32] = integers
		row[dtype.Uint8] = casting(in.Coding, saturatingBytes(dtype.Uint8))
		row[dtype.Int8] = casting(in.Coding, saturatingBytes(dtype.Int8))
	}
	row[dtype.Int64] = casting(in.Coding, saturating[int64, T](dtype.Int64))
	row[dtype.Float16] = newRows(in.Coding, engine.Plain, 1, f16)
	row[dtype.BFloat16] = newRows(in.Coding, engine.Plain, 1, bf16)
	row[dtype.Float32] = casting(in.Coding, wrapping[float32, T])
	if in, ok := any(in).(*engine.Codec[float64]); ok {
		row[dtype.Float32] = newRows(in.Coding, engine.Plain, 1, arith.ToFloat32)
	}
	row[dtype.Float64] = casting(in.Coding, wrapping[float64, T])
}

// casting is a kernel that reads through a coding and writes elements.
//
//go:noinline
func casting(in engine.Coding, f Rows) engine.Kernel {
	return &Unary{in, engine.Plain, EffortOf(in, engine.Plain, 1), f}
}

// wrapping is Go's conversion: integers wrap around, and floats round once. It is a loop of its own, because the call of a
// function for each element would cost more than the conversion.
// SAFETY: see newUnary.
func wrapping[D, C engine.Number](_ *device.Call, to, from unsafe.Pointer, n int64) {
	dst, src := engine.Slice[D](to, n), engine.Slice[C](from, n)
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = D(x)
	}
}

// saturating drops the fraction; what is too large becomes the nearest integer of the dtype, and nan 0.
// SAFETY: see newUnary.
func saturating[D engine.Integer, C float32 | float64](to dtype.DType) Rows {
	low, high := to.Range()
	least, most := C(low), C(high) // most is rounded up to a power of two where C cannot hold it
	return func(_ *device.Call, to, from unsafe.Pointer, n int64) {
		dst := engine.Slice[D](to, n)
		for i, x := range engine.Slice[C](from, n) {
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
func saturatingBytes(to dtype.DType) Rows {
	low, high := to.Range()
	return func(_ *device.Call, to, from unsafe.Pointer, n int64) {
		f := engine.NewFrame()
		defer f.Free()
		wide := engine.Slice[int32](f.Room(), engine.Block)
		dst, src := engine.Slice[uint8](to, n), engine.Slice[float32](from, n)
		for len(src) > 0 {
			part := wide[:min(len(wide), len(src))]
			arith.ToInt32(part, src)
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
func throughInt64(widen Rows, size int64, narrow func(float64) uint16) Rows {
	halves := eachOf(func(x int64) uint16 { return narrow(sticky(x)) })
	return func(c *device.Call, to, from unsafe.Pointer, n int64) {
		f := engine.NewFrame()
		defer f.Free()
		wide, dst := f.Room(), engine.Slice[uint16](to, n)
		for lo := int64(0); lo < n; lo += engine.Block {
			m := min(engine.Block, n-lo)
			widen(c, wide, unsafe.Add(from, lo*size), m)
			halves(c, dst[lo:], engine.Slice[int64](wide, m))
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

// Reading is a codec that reads elements of dtype from as values of type C, which the elements of another dtype are.
// SAFETY: see storing.
func Reading[C any](from, to dtype.DType) *engine.Codec[C] {
	c := new(engine.Codec[C])
	if k, ok := Casts[from][to].(*Unary); ok {
		c.Read = func(dst, src unsafe.Pointer, n int64) { k.F(nil, dst, src, n) }
	}
	return c
}

// Storing is a codec that writes values of type C, which the elements of dtype from are, as
// elements of another dtype.
// SAFETY: see slice; the kernel reads values of type C, which those of dtype from are.
func Storing[C any](from, to dtype.DType) *engine.Codec[C] {
	if k, ok := Casts[from][to].(*Unary); ok {
		return engine.NewCodec(nil, func(dst unsafe.Pointer, src []C) {
			k.F(nil, dst, unsafe.Pointer(unsafe.SliceData(src)), int64(len(src)))
		})
	}
	return new(engine.Codec[C]) // from is to
}

// KernelOf is the kernel of a step as a group runs it; nil for one that cannot be part of a group.
func KernelOf(k engine.Kernel, c *device.Call) engine.Elementwise {
	if _, ok := k.(convert); ok {
		k = castOf(c)
	}
	if e, ok := k.(engine.Elementwise); ok && e.PerElement() {
		return e
	}
	return nil
}

// Float64Codec computes on float32 in float64, rounded once on the way out.
func Float64Codec() *engine.Codec[float64] {
	return engine.NewCodec(engine.LoadWith(func(dst []float64, src []float32) {
		for i, x := range src {
			dst[i] = float64(x)
		}
	}), Storing[float64](dtype.Float64, dtype.Float32).Store)
}
