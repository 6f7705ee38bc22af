package nontemporal

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
)

// Loop names a loop whose stores are non-temporal: they write past the caches. An ordinary store first reads the line of memory
// that it changes. That is wasted where the whole line is written, and where the result is larger than the caches, so that the line
// is evicted before anything reads it.
type Loop uint8

// The loops. In front of them are those of Binary, of float32 and then of float64.
const (
	Relu Loop = 2*arith.BinaryCount + iota // the second operand is a line of zeros
	Less                                   // the comparisons are of float32
	LessEqual
	Equal
	NotEqual
	Greater
	GreaterEqual
	ToInt32 // there is no second operand, nor here:
	Copy    // of bytes

	LoopCount = iota + 2*arith.BinaryCount
)

// Of64 is the loop of a function of float64. That of float32 has the number of the function.
func Of64(op arith.Binary) Loop { return Loop(op) + arith.BinaryCount }

// LineBytes is the bytes that the loops write together.
const LineBytes = 64

// Available reports whether the loops exist here.
func Available() bool { return available && (vec.Active() == vec.AVX2 || vec.Active() == vec.AVX512) }

// HasChoose reports whether Choose exists here, for [LeastChosen] elements or more.
func HasChoose() bool { return Available() || chooses && vec.Active() == vec.NEON }

// Sizes are the bytes of an element of the result and of the operands.
func (f Loop) Sizes() (to, from int64) {
	switch {
	case f >= Less && f <= GreaterEqual:
		return 1, 4
	case f >= arith.BinaryCount && f < Relu:
		return 8, 8
	case f == Copy:
		return 1, 1
	}
	return 4, 4
}

// Lines writes n bytes at dst, with the bits of the ordinary loop. Both are multiples of LineBytes, and n is not 0. An operand has as
// many elements; one that is fixed is a line of elements, which serves for each line of the result, and is not for comparisons.
// Other threads may read the result after Fence.
// SAFETY: all memory belongs to the caller.
func (f Loop) Lines(dst, a, b unsafe.Pointer, n int64, fixedA, fixedB bool) {
	streamLoop(int(f), dst, a, b, int(n), stepOf(fixedA), stepOf(fixedB))
}

// stepOf is how far an operand moves on with a line of the result.
func stepOf(fixed bool) int {
	if fixed {
		return 0
	}
	return LineBytes
}

// Choose writes n bytes of elements of 1, 2, 4 or 8 bytes at dst: those of a where the byte of the condition is not 0, else those of b.
// n is a multiple of LineBytes and not 0; if the stores are to go past the caches, dst is a multiple too, and Fence follows. Where there are
// no such stores, past makes no difference.
// SAFETY: see Lines.
func Choose(size int64, past bool, dst, condition, a, b unsafe.Pointer, n int64) {
	chooseLoop(int(size), past, dst, condition, a, b, int(n))
}

// Fence makes what this thread has written past the caches visible to others before what it writes afterwards. The processor does not
// keep the order of such stores by itself.
func Fence() {
	if available {
		storeFence()
	}
}
