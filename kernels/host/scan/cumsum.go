package scan

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
)

// Floats add up in float64. Integers add up in their own dtype, which the rules make int64 unless the caller asks for
// another one. SAFETY: the kernel vouches for addresses and numbers of elements.
func init() {
	floats := sumsBeside[float64]()
	floats.zero = math.Copysign(0, -1) // which changes no element: 0 would turn -0 into 0
	floats.direct = func(dst, src unsafe.Pointer, n int64) {
		reduction.RunningSum(engine.Slice[float32](dst, n), engine.Slice[float32](src, n))
	}
	floats.directBeside = func(as, dst, src unsafe.Pointer, n int64) {
		reduction.RunningSums(engine.Slice[float64](as, n), engine.Slice[float32](dst, n), engine.Slice[float32](src, n))
	}
	registerScanFloats(op.IDCumsum, 1, accumulate[float64], floats)
	registerScan(op.IDCumsum, dtype.Uint8, 1, accumulate[uint8], sumsBeside[uint8]())
	registerScan(op.IDCumsum, dtype.Int8, 1, accumulate[int8], sumsBeside[int8]())
	registerScan(op.IDCumsum, dtype.Int16, 1, accumulate[int16], sumsBeside[int16]())
	registerScan(op.IDCumsum, dtype.Int32, 1, accumulate[int32], sumsBeside[int32]())
	registerScan(op.IDCumsum, dtype.Int64, 1, accumulate[int64], sumsBeside[int64]())
}

// accumulate replaces each element of a line by the sum of those up to it. Integers wrap around.
func accumulate[T engine.Integer | float64](line []T) {
	for i := 1; i < len(line); i++ {
		line[i] += line[i-1]
	}
}

// sumsBeside adds up lines that lie beside each other.
func sumsBeside[T engine.Integer | float64]() running[T] {
	return running[T]{beside: func(as, row []T) {
		as = as[:len(row)]
		for i, x := range row {
			as[i] += x
			row[i] = as[i]
		}
	}}
}
