package host

import "github.com/paddle-mps/paddle-mps/core/dtype"

func init() {
	registerBitwise[uint8](dtype.Uint8)
	registerBitwise[int8](dtype.Int8)
	registerBitwise[int16](dtype.Int16)
	registerBitwise[int32](dtype.Int32)
	registerBitwise[int64](dtype.Int64)

	registerMasks[uint8](dtype.Bool)
	not := func(x uint8) uint8 { return bit(x == 0) }
	register("bitwise_not", dtype.Bool, &unary[uint8, uint8]{plain[uint8, uint8](1), eachOf(not)})
}

func registerBitwise[T integer](d dtype.DType) {
	registerMasks[T](d)
	register("bitwise_left_shift", d, &binary[T, T]{mapped: plain[T, T](1), rows: eachPair(shiftLeft[T])})
	register("bitwise_right_shift", d, &binary[T, T]{mapped: plain[T, T](1), rows: eachPair(shiftRight[T])})
	register("bitwise_not", d, &unary[T, T]{plain[T, T](1), eachOf(func(x T) T { return ^x })})
}

// registerMasks adds the operators that never leave the two values of a bool either.
func registerMasks[T integer](d dtype.DType) {
	for name, f := range map[string]func(x, y T) T{
		"bitwise_and": func(x, y T) T { return x & y },
		"bitwise_or":  func(x, y T) T { return x | y },
		"bitwise_xor": func(x, y T) T { return x ^ y },
	} {
		register(name, d, &binary[T, T]{mapped: plain[T, T](1), rows: eachPair(f)})
	}
}

// shiftLeft and shiftRight take a negative distance, which Go refuses, for one that is too large.
func shiftLeft[T integer](x, y T) T {
	if y < 0 {
		return 0
	}
	return x << y
}

func shiftRight[T integer](x, y T) T {
	if y < 0 {
		y = 127
	}
	return x >> y
}
