package host

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Floats add up in float64. Integers add up in their own dtype, which the rules make int64 unless the caller asks for
// another one.
func init() {
	registerScanFloats(op.IDCumsum, 1, accumulate[float64])
	registerScan(op.IDCumsum, dtype.Uint8, 1, accumulate[uint8])
	registerScan(op.IDCumsum, dtype.Int8, 1, accumulate[int8])
	registerScan(op.IDCumsum, dtype.Int16, 1, accumulate[int16])
	registerScan(op.IDCumsum, dtype.Int32, 1, accumulate[int32])
	registerScan(op.IDCumsum, dtype.Int64, 1, accumulate[int64])
}

// accumulate replaces each element of a line by the sum of those up to it. Integers wrap around.
func accumulate[T integer | float64](line []T) {
	for i := 1; i < len(line); i++ {
		line[i] += line[i-1]
	}
}
