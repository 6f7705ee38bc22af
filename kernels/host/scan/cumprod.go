package scan

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Floats are multiplied in float64, integers in their own dtype.
func init() {
	registerScanFloats(op.IDCumprod, 1, accumulateProduct[float64], productsBeside[float64]())
	registerScan(op.IDCumprod, dtype.Uint8, 1, accumulateProduct[uint8], productsBeside[uint8]())
	registerScan(op.IDCumprod, dtype.Int8, 1, accumulateProduct[int8], productsBeside[int8]())
	registerScan(op.IDCumprod, dtype.Int16, 1, accumulateProduct[int16], productsBeside[int16]())
	registerScan(op.IDCumprod, dtype.Int32, 1, accumulateProduct[int32], productsBeside[int32]())
	registerScan(op.IDCumprod, dtype.Int64, 1, accumulateProduct[int64], productsBeside[int64]())
}

// accumulateProduct replaces each element of a line by the product of those up to it. Integers wrap around.
func accumulateProduct[T engine.Integer | float64](line []T) {
	for i := 1; i < len(line); i++ {
		line[i] *= line[i-1]
	}
}

// productsBeside multiplies lines that lie beside each other.
func productsBeside[T engine.Integer | float64]() running[T] {
	return running[T]{zero: 1, beside: func(as, row []T) {
		as = as[:len(row)]
		for i, x := range row {
			as[i] *= x
			row[i] = as[i]
		}
	}}
}
