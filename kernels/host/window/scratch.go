package window

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/winograd"
)

// Scratch is the memory of one thread: a strip of an image or a block of the column matrix, and a block of the result.
type Scratch[T any] struct {
	Columns, Sums []T
	Tiles         winograd.Tiles
	Again         []int64 // rows that are not finite in tiles, or uneven
	Alone         []bool  // of rows of a weight: whether they are uneven
}

var (
	scratch32 = sync.Pool{New: func() any { return new(Scratch[float32]) }}
	scratch64 = sync.Pool{New: func() any { return new(Scratch[float64]) }}
)

// ScratchPool is the pool of a type.
func ScratchPool[T float32 | float64]() *sync.Pool {
	if unsafe.Sizeof(*new(T)) == 4 {
		return &scratch32
	}
	return &scratch64
}

// Grown is a slice of n elements with undefined contents, in the same memory where that is enough.
func Grown[T any](s []T, n int64) []T {
	if int64(cap(s)) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Misfit is the error of a product whose operands do not lie in their memory.
func Misfit() error {
	return status.Errorf(status.Internal, "[conv] got a block that does not fit its memory")
}
