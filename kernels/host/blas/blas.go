//go:build cgo

package blas

// #include "blas.h"
// #cgo noescape blas_multiply
// #cgo nocallback blas_multiply
import "C"

import (
	"math"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// Accelerate is where macOS has it: in the shared cache of the dynamic loader, with no file on disk.
const Accelerate = "/System/Library/Frameworks/Accelerate.framework/Accelerate"

// Library is a BLAS library in this process. It is immutable; any number of threads may use it at once.
type Library struct {
	gemm         [2]uintptr // of float32 and of float64
	getThreading uintptr    // BLASGetThreading and BLASSetThreading, which macOS has from 15 on; else 0
	setThreading uintptr
}

// names are those of the two products, from the newest on: macOS 13.3 has the first, all versions the second, which is
// deprecated. Both have sizes of 32 bits. There is a third form with 64 bits, cblas_sgemm$NEWLAPACK$ILP64, which is no
// older than the first and would need calls of its own.
var names = [2][2]string{
	{"cblas_sgemm$NEWLAPACK", "cblas_sgemm"},
	{"cblas_dgemm$NEWLAPACK", "cblas_dgemm"},
}

// Open loads the library at a path, for the rest of the process. It returns status.Unavailable where the library or one of
// its products is missing.
func Open(path string) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, status.Errorf(status.Unavailable, "[blas] %s does not load: %v", path, err)
	}
	l := new(Library)
	for i, forms := range names {
		if l.gemm[i] = symbol(handle, forms[:]...); l.gemm[i] == 0 {
			return nil, status.Errorf(status.Unavailable, "[blas] %s has no function %s", path, forms[len(forms)-1])
		}
	}
	l.getThreading, l.setThreading = symbol(handle, "BLASGetThreading"), symbol(handle, "BLASSetThreading")
	if l.getThreading == 0 {
		l.setThreading = 0 // what cannot be restored is not changed
	}
	return l, nil
}

// symbol is the first of a library's functions that is there; 0 if none is.
func symbol(handle uintptr, names ...string) uintptr {
	for _, name := range names {
		if at, err := purego.Dlsym(handle, name); err == nil {
			return at
		}
	}
	return 0
}

// Float32 sets C (m x n) to A (m x k) times B (k x n), on the calling thread; from macOS 15 on, the library starts no others. Rows
// of C, and of an operand that is not transposed, are contiguous and begin ld elements apart; of a transposed operand the columns
// are and do. It reports false, and leaves C alone, for sizes that BLAS does not allow, for products without elements and for
// sizes beyond an int of C. C must not overlap A or B; its former elements have no effect.
// SAFETY: the caller owns the three matrices during the call, and the library keeps no address. They hold no Go pointers.
func (l *Library) Float32(c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64, transposed [2]bool) bool {
	return l.multiply(l.gemm[0], 4, c, a, b, m, n, k, lda, ldb, ldc, transposed)
}

// Float64 is Float32 for elements of float64.
// SAFETY: as there.
func (l *Library) Float64(c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64, transposed [2]bool) bool {
	return l.multiply(l.gemm[1], 8, c, a, b, m, n, k, lda, ldb, ldc, transposed)
}

// multiply calls a function for elements of so many bytes.
func (l *Library) multiply(function uintptr, size int, c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64, transposed [2]bool) bool {
	if !fits(m, n, k, lda, ldb, ldc, transposed) {
		return false
	}
	p := C.blas_product{
		function: C.uintptr_t(function), get_threading: C.uintptr_t(l.getThreading), set_threading: C.uintptr_t(l.setThreading),
		size: C.int32_t(size), m: C.int32_t(m), n: C.int32_t(n), k: C.int32_t(k),
		lda: C.int32_t(lda), ldb: C.int32_t(ldb), ldc: C.int32_t(ldc),
	}
	for i, t := range transposed {
		if t {
			p.transposed[i] = 1
		}
	}
	C.blas_multiply(&p, a, b, c)
	return true
}

// fits reports whether BLAS allows sizes that Go has: a leading dimension is at least what it leads, and none is beyond an int
// of C.
func fits(m, n, k, lda, ldb, ldc int64, transposed [2]bool) bool {
	leastA, leastB := k, n
	if transposed[0] {
		leastA = m
	}
	if transposed[1] {
		leastB = k
	}
	return min(m, n, k) >= 1 && lda >= leastA && ldb >= leastB && ldc >= n && max(m, n, k, lda, ldb, ldc) <= math.MaxInt32
}
