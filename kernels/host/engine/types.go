package engine

// Abs wraps around: that of the smallest integer is itself.
func Abs[T signed | float32 | float64](x T) T {
	if x < 0 {
		return -x
	}
	return x
}

// signed are the integer types that can be negative.
type signed interface {
	int8 | int16 | int32 | int64
}

// Integer are the types of all integer dtypes; bools are stored as uint8 too.
type Integer interface{ signed | uint8 }

// Number are all types that kernels compare and combine.
type Number interface{ Integer | float32 | float64 }

// Bit is a bool as tensors store it.
func Bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
