//go:build linux || darwin

package vectest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Fences is memory for the operands of one call. Each lies between two pages that may be neither read nor written, directly behind the
// first or directly in front of the second.
type Fences struct {
	regions [][]byte
	Used    int
	High    bool // operands end where the second page begins
}

// Fenced is the bytes of a region.
const Fenced = 1 << 19

// NewFences maps the regions, until the end of the test.
func NewFences(t *testing.T) *Fences {
	f := &Fences{}
	page := os.Getpagesize()
	for range 5 {
		whole, err := syscall.Mmap(-1, 0, Fenced+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, syscall.Munmap(whole)) })
		require.NoError(t, syscall.Mprotect(whole[:page], syscall.PROT_NONE))
		require.NoError(t, syscall.Mprotect(whole[page+Fenced:], syscall.PROT_NONE))
		f.regions = append(f.regions, whole[page:page+Fenced])
	}
	return f
}

// Operand is the next operand of a call.
// SAFETY: it lies in its region, which is mapped until the end of the test.
func Operand[T any](f *Fences, n int) []T {
	region := f.regions[f.Used]
	f.Used++
	if n == 0 {
		return nil
	}
	size, at := n*int(unsafe.Sizeof(*new(T))), 0
	if f.High {
		at = Fenced - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&region[at])), n)
}

// Try calls f and reports a read or write outside of its operands.
func (f *Fences) Try(t *testing.T, call func(), what string, at ...any) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s, operands at the end %v: %v", fmt.Sprintf(what, at...), f.High, r)
		}
	}()
	f.Used = 0
	call()
}

// Floats fills every region with numbers as float32.
// SAFETY: a region is as long as that.
func (f *Fences) Floats() {
	r := rand.New(rand.NewPCG(17, 18))
	for _, region := range f.regions {
		x := unsafe.Slice((*float32)(unsafe.Pointer(&region[0])), Fenced/4)
		copy(x, Specials32(r, len(x)))
	}
}

// The loops in C are called here for rows of any length, also those that tables leave to portable loops, on operands that end
// in front of a page that may not be touched, or begin behind one. Portable loops tell what is right, to the bit.

// EachFenced calls f for each length and both places of operands.
func EachFenced(t *testing.T, f func(fenced *Fences, r *rand.Rand, n int)) {
	fenced := NewFences(t)
	for n := range MaxLength + 1 {
		for _, high := range []bool{false, true} {
			fenced.High, fenced.Used = high, 0
			f(fenced, rand.New(rand.NewPCG(uint64(n), 2)), n)
		}
	}
}

// Filled is an operand with special numbers among others.
func Filled(f *Fences, r *rand.Rand, n int) []float32 {
	x := Operand[float32](f, n)
	copy(x, Specials32(r, n))
	return x
}

// RequireBits fails unless rows have the same bits, any NaN being as good as another.
func RequireBits(t *testing.T, want, got []float32, what string, at ...any) {
	t.Helper()
	for i := range want {
		require.True(t, SameBits(float64(want[i]), float64(got[i])), append([]any{what + ", element %d: %g; want %g"}, append(at, i, got[i], want[i])...)...)
	}
}
