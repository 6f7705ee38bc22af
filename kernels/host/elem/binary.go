package elem

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
)

// rows is a function of two elements over rows, and, where that is faster than a row of equal
// elements, over a row and a scalar.
type rows[D, C any] struct {
	vv func(dst []D, a, b []C)
	vs func(dst []D, a []C, b C) // nil: use vv
	sv func(dst []D, a C, b []C) // nil: use vv
}

// Binary is out[i] = f(x[i], y[i]). It computes n values at one address from those at two others, so that the kernel itself
// is compiled once and not for each pair of types.
type Binary struct {
	in, out engine.Coding
	Effort
	Vv, vs, Sv PairRows
	check      func(y unsafe.Pointer, n int64) error // nil: every divisor or exponent will do
}

// PairRows is a function of rows where types are not known: of n values at each address, but one of a scalar.
type PairRows func(dst, a, b unsafe.Pointer, n int64)

// newBinary makes a kernel of functions of rows. Inlined, it would be in each registration.
// SAFETY: see slice; part hands over rows of these types.
//
//go:noinline
func newBinary[D, C any](in, out engine.Coding, weight int64, r rows[D, C]) *Binary {
	k := &Binary{in: in, out: out, Effort: EffortOf(in, out, weight)}
	vv, vs, sv := r.vv, r.vs, r.sv // captured each by itself, as in reduce
	k.Vv = func(dst, a, b unsafe.Pointer, n int64) {
		vv(engine.Slice[D](dst, n), engine.Slice[C](a, n), engine.Slice[C](b, n))
	}
	if vs != nil {
		k.vs = func(dst, a, b unsafe.Pointer, n int64) { vs(engine.Slice[D](dst, n), engine.Slice[C](a, n), *(*C)(b)) }
	}
	if sv != nil {
		k.Sv = func(dst, a, b unsafe.Pointer, n int64) { sv(engine.Slice[D](dst, n), *(*C)(a), engine.Slice[C](b, n)) }
	}
	return k
}

// Run splits the elements over the threads.
func (k *Binary) Run(t *engine.Threads, c *device.Call) error { return k.Elements(k, t, c) }

// Part computes on the memory of the operands itself where they are contiguous values, or a contiguous row
// and a scalar, and needs no divisor looked at; else through tracks.
func (k *Binary) Part(c *device.Call, lo, hi int64) error {
	if out, x, y := &c.Out[0], &c.In[0], &c.In[1]; k.native && k.check == nil && out.IsContiguous() {
		switch flatX, flatY := x.IsContiguous(), y.IsContiguous(); {
		case flatX && flatY:
			k.Vv(engine.AddressOf(out, lo), engine.AddressOf(x, lo), engine.AddressOf(y, lo), hi-lo)
			return nil
		case flatX && k.vs != nil && engine.IsScalar(y):
			k.vs(engine.AddressOf(out, lo), engine.AddressOf(x, lo), y.Addr, hi-lo)
			return nil
		case flatY && k.Sv != nil && engine.IsScalar(x):
			k.Sv(engine.AddressOf(out, lo), x.Addr, engine.AddressOf(y, lo), hi-lo)
			return nil
		}
	}
	return k.blocks(c, lo, hi)
}

// blocks computes through tracks: any strides, any dtype, and divisors that must be looked at.
func (k *Binary) blocks(c *device.Call, lo, hi int64) error {
	var store [4]device.Operand
	out, in := engine.Arranged(c, store[:0])
	f := engine.NewFrame()
	defer f.Free()
	var to, left, right engine.Track
	to.Open(out, &k.out, f, lo)
	left.Open(&in[0], &k.in, f, lo)
	right.Open(&in[1], &k.in, f, lo)
	if k.check != nil {
		right.Own(f) // another thread of the program must not change what has been checked
	}
	left.Hold(min(engine.Block, hi-lo))
	right.Hold(min(engine.Block, hi-lo))
	for lo < hi {
		n := min(engine.Block, hi-lo)
		a, b := left.Next(n), right.Next(n)
		if k.check != nil {
			if err := k.check(b, n); err != nil {
				return err
			}
		}
		k.Vv(to.Space(), a, b, n)
		to.Keep(n)
		lo += n
	}
	return nil
}

// Floats compute in their own type, halves in float32. Bools add as or and multiply as and.
func init() {
	for id, f := range map[op.ID]arith.Binary{
		op.IDAdd: arith.Add, op.IDSubtract: arith.Sub, op.IDMultiply: arith.Mul, op.IDDivide: arith.Div, op.IDMaximum: arith.Max, op.IDMinimum: arith.Min,
	} {
		registerBinaryFloats(id, 1, fromVec(arith.RowsOf[float32](f)), fromVec(arith.RowsOf[float64](f)))
	}
	registerBinaryFloats(op.IDFloorDivide, engine.Heavy, rows[float32, float32]{vv: floorDivides[float32]}, rows[float64, float64]{vv: floorDivides[float64]})
	registerBinaryFloats(op.IDRemainder, engine.Heavy, rows[float32, float32]{vv: remainders[float32]}, rows[float64, float64]{vv: remainders[float64]})
	registerBinaryFloats(op.IDLogaddexp, 2*engine.Heavy, rows[float32, float32]{vv: logAddExps}, eachPair(logAddExp))
	registerBinaryFloats(op.IDPow, 2*engine.Heavy, rows[float32, float32]{vv: maths.Pow, vs: powersBy, sv: powersOf}, eachPair(power))

	registerSums[uint8](dtype.Uint8)
	registerSums[uint8](dtype.Int8)
	registerSums[int16](dtype.Int16)
	registerSums[int32](dtype.Int32)
	registerSums[int64](dtype.Int64)
	registerBinaryIntegers[uint8](dtype.Uint8)
	registerBinaryIntegers[int8](dtype.Int8)
	registerBinaryIntegers[int16](dtype.Int16)
	registerBinaryIntegers[int32](dtype.Int32)
	registerBinaryIntegers[int64](dtype.Int64)

	or := func(x, y uint8) uint8 { return engine.Bit(x|y != 0) }
	and := func(x, y uint8) uint8 { return engine.Bit(x != 0 && y != 0) }
	for id, f := range map[op.ID]func(x, y uint8) uint8{
		op.IDAdd: or, op.IDMaximum: or, op.IDMultiply: and, op.IDMinimum: and, op.IDDivide: and,
	} {
		registerStreamed(id, dtype.Bool, newBinary(engine.Plain, engine.Plain, 1, eachPair(f)))
	}
}

// fromVec is a function of vec.
func fromVec[T vec.Number](r arith.Rows[T]) rows[T, T] { return rows[T, T]{r.VV, r.VS, r.SV} }

// eachPair makes rows of a function of two elements.
func eachPair[D, C any](f func(x, y C) D) rows[D, C] {
	return rows[D, C]{vv: func(dst []D, a, b []C) {
		b = b[:len(a)]
		for i, x := range a {
			dst[i] = f(x, b[i])
		}
	}}
}

// registerBinaryFloats adds a function of floats; the halves compute in float32. A new operator of two floats is
// a line in init, with eachPair of a function of two elements.
func registerBinaryFloats(id op.ID, weight int64, f32 rows[float32, float32], f64 rows[float64, float64]) {
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16} {
		h := engine.HalfCodec(d).Coding
		registerStreamed(id, d, newBinary(h, h, weight+3, f32))
	}
	registerStreamed(id, dtype.Float32, newBinary(engine.Plain, engine.Plain, weight, f32))
	registerStreamed(id, dtype.Float64, newBinary(engine.Plain, engine.Plain, weight, f64))
}

// registerSums adds sums, differences and products of integers with as many bits as T, which wrap around; with a sign or without, they
// have the same bits.
func registerSums[T engine.Integer](d dtype.DType) {
	for id, f := range map[op.ID]arith.Binary{op.IDAdd: arith.Add, op.IDSubtract: arith.Sub, op.IDMultiply: arith.Mul} {
		registerStreamed(id, d, newBinary(engine.Plain, engine.Plain, 1, fromVec(arith.IntegerRows[T](f))))
	}
	registerStreamed(op.IDNeg, d, newRows(engine.Plain, engine.Plain, 1, negatives[T]))
	registerStreamed(op.IDSquare, d, newRows(engine.Plain, engine.Plain, 1, squares[T]))
}

// registerBinaryIntegers adds the rest of the arithmetic of one integer type, which wraps around. divide is not among it:
// its row casts integers to floats.
func registerBinaryIntegers[T engine.Integer](d dtype.DType) {
	add := func(id op.ID, r rows[T, T]) { registerStreamed(id, d, newBinary(engine.Plain, engine.Plain, 1, r)) }
	add(op.IDMaximum, rows[T, T]{vv: largerOnes[T], sv: raised[T]})
	add(op.IDMinimum, rows[T, T]{vv: smallerOnes[T], sv: lowered[T]})
	divide := func(id op.ID, r rows[T, T]) {
		k := newBinary(engine.Plain, engine.Plain, engine.Heavy, r)
		k.check = nonZero[T](id)
		registerStreamed(id, d, k)
	}
	divide(op.IDFloorDivide, eachPair(floorDivideInteger[T]))
	divide(op.IDRemainder, eachPair(remainderInteger[T]))
	registerStreamed(op.IDPow, d, newBinary(engine.Plain, engine.Plain, engine.Heavy, eachPair(powerInteger[T])))
}

// nonZero refuses a divisor of zero.
// SAFETY: see slice; the divisors are of type T.
func nonZero[T engine.Integer](id op.ID) func(unsafe.Pointer, int64) error {
	return func(divisors unsafe.Pointer, n int64) error {
		for _, y := range engine.Slice[T](divisors, n) {
			if y == 0 {
				return status.Errorf(status.Math, "[%s] an integer is divided by zero; want a divisor other than 0", op.ByID(id).Name)
			}
		}
		return nil
	}
}

// floorDivideInteger rounds down where Go rounds towards zero.
func floorDivideInteger[T engine.Integer](x, y T) T {
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

// remainderInteger has the sign of the divisor where Go's has that of the dividend.
func remainderInteger[T engine.Integer](x, y T) T {
	r := x % y
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// powerInteger squares repeatedly and wraps around. A negative power is a fraction, which truncates
// to 0 unless x is 1 or -1; that of 0, which is infinite, is 0 as well.
func powerInteger[T engine.Integer](x, y T) T {
	if y < 0 {
		switch {
		case x == 1, x+1 == 0 && y&1 == 0:
			return 1
		case x+1 == 0:
			return x
		}
		return 0
	}
	result := T(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			result *= x
		}
		x *= x
	}
	return result
}

// powersOf is the powers of one number, with the bits of maths.Pow.
func powersOf(dst []float32, x float32, y []float32) {
	if x == 2 {
		maths.Exp2(dst, y)
		return
	}
	f := engine.NewFrame()
	defer f.Free()
	bases := repeated(f, x)
	for len(dst) > 0 {
		n := min(len(dst), engine.Block)
		maths.Pow(dst[:n], bases, y)
		dst, y = dst[n:], y[n:]
	}
}

// powersBy is the powers by one number, with the bits of maths.Pow, of which a square is the product.
func powersBy(dst, x []float32, y float32) {
	if y == 2 {
		products32.VV(dst, x, x)
		return
	}
	f := engine.NewFrame()
	defer f.Free()
	exponents := repeated(f, y)
	for len(dst) > 0 {
		n := min(len(dst), engine.Block)
		maths.Pow(dst[:n], x, exponents)
		dst, x = dst[n:], x[n:]
	}
}

// repeated is a block of one number.
func repeated(f *engine.Frame, x float32) []float32 {
	row := engine.Slice[float32](f.Room(), engine.Block)
	for i := range row {
		row[i] = x
	}
	return row
}

// power is x to the y as math.Pow defines it: 1 for a power of 0, even of nan; a square is the product. It serves float64;
// float32 and the halves have maths.Pow, which means the same and computes several elements at once.
func power(x, y float64) float64 {
	if y == 2 {
		return x * x
	}
	return maths.Power(x, y)
}

// logAddExp is log(exp(x) + exp(y)) without overflow.
func logAddExp(x, y float64) float64 {
	if x == y { // infinities have no difference
		return x + math.Ln2
	}
	return max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y)))
}

// logAddExps is logAddExp of rows of float32. What rounding x-y drops is multiplied by exp(-|x-y|) and so below half a unit in
// the last place of 1, of which the result is the sum with a number that is not smaller.
func logAddExps(dst, x, y []float32) {
	f := engine.NewFrame()
	defer f.Free()
	rest := engine.Slice[float32](f.Room(), engine.Block) // dst may be x or y
	for len(dst) > 0 {
		n := min(len(dst), engine.Block)
		part := rest[:n]
		differences.VV(part, x, y)
		maths.Abs.Row(part, part)
		maths.Neg.Row(part, part)
		for i, v := range part {
			if v != v { // of equal infinities; beside nan, the larger one is nan
				part[i] = 0
			}
		}
		maths.Softplus(part, part, 1, 1) // log(1 + exp): nothing is above the threshold
		larger32.VV(dst[:n], x, y)
		sums.VV(dst[:n], dst, part)
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

var (
	differences = arith.RowsOf[float32](arith.Sub)
	larger32    = arith.RowsOf[float32](arith.Max)
	products32  = arith.RowsOf[float32](arith.Mul)
	sums        = arith.RowsOf[float32](arith.Add)
)

// PerElement is false where some operands are refused: see engine.Elementwise.
func (k *Binary) PerElement() bool { return k.check == nil }
