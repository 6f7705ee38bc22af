//go:build cgo

package blas_test

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakeaccelerate"
	"github.com/paddle-mps/paddle-mps/kernels/host/blas"
)

// library is Accelerate, or the mock with flags. Where Accelerate is, flags are ignored.
func library(t *testing.T, flags ...string) (*blas.Library, string) {
	path := blas.Accelerate
	if runtime.GOOS != "darwin" {
		path = mock(t, flags...)
	}
	l, err := blas.Open(path)
	require.NoError(t, err)
	return l, path
}

// mock is the path of the mock with flags.
func mock(t *testing.T, flags ...string) string {
	if !fakeaccelerate.CanBuild() {
		t.Skip("no C compiler makes libraries for this process")
	}
	path, err := fakeaccelerate.Build(t.TempDir(), flags...)
	require.NoError(t, err)
	return path
}

// ask calls a function of the mock; 0 where the library is Accelerate.
func ask(t *testing.T, path, function string) int64 {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW)
	require.NoError(t, err)
	at, err := purego.Dlsym(handle, "fakeaccelerate_"+function)
	if err != nil {
		return 0
	}
	n, _, _ := purego.SyscallN(at)
	return int64(n)
}

// matrix is rows x cols small integers in memory with a leading dimension, row by row or column by column. What lies between
// is NaN.
func matrix[T float32 | float64](rows, cols, ld int, transposed bool, number int) []T {
	if transposed {
		rows, cols = cols, rows
	}
	all := make([]T, rows*ld)
	for i := range all {
		all[i] = T(math.NaN())
	}
	for i := range rows {
		for j := range cols {
			all[i*ld+j] = T((i*7+j*3+number)%5 - 2)
		}
	}
	return all
}

// products multiplies in each layout and compares with the definition.
func products[T float32 | float64](t *testing.T, multiply func(c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64, transposed [2]bool) bool) {
	for _, s := range [][3]int{{1, 1, 1}, {1, 9, 4}, {5, 1, 3}, {16, 16, 16}, {17, 33, 40}, {64, 31, 100}} {
		for _, transposed := range [][2]bool{{}, {true, false}, {false, true}, {true, true}} {
			for _, gap := range []int{0, 3} {
				m, n, k := s[0], s[1], s[2]
				at := func(x []T, i, j, ld int, transposed bool) T {
					if transposed {
						i, j = j, i
					}
					return x[i*ld+j]
				}
				lda, ldb, ldc := k+gap, n+gap, n+gap
				if transposed[0] {
					lda = m + gap
				}
				if transposed[1] {
					ldb = k + gap
				}
				a, b := matrix[T](m, k, lda, transposed[0], 1), matrix[T](k, n, ldb, transposed[1], 2)
				c := make([]T, m*ldc)
				for i := range c {
					c[i] = T(math.NaN()) // which must not come through
				}
				require.True(t, multiply(unsafe.Pointer(&c[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]),
					int64(m), int64(n), int64(k), int64(lda), int64(ldb), int64(ldc), transposed))
				for i := range m {
					for j := range ldc {
						if j >= n {
							require.True(t, math.IsNaN(float64(c[i*ldc+j])), "it wrote behind row %d", i)
							continue
						}
						want := T(0)
						for l := range k {
							want += at(a, i, l, lda, transposed[0]) * at(b, l, j, ldb, transposed[1])
						}
						require.Equal(t, want, c[i*ldc+j], "%v %v %d: element %d, %d", s, transposed, gap, i, j)
					}
				}
			}
		}
	}
}

// TestProducts multiplies with each version of the library: old and new names, with and without control of its threads.
func TestProducts(t *testing.T) {
	for _, flags := range [][]string{nil, {"-DFAKEACCELERATE_LACKS_NEW_NAMES", "-DFAKEACCELERATE_LACKS_THREADING"}, {"-DFAKEACCELERATE_LACKS_THREADING"}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			l, _ := library(t, flags...)
			products[float32](t, l.Float32)
			products[float64](t, l.Float64)
		})
	}
}

// TestSizesAreChecked: the library ends the process for arguments that BLAS does not allow, so it must not get them.
func TestSizesAreChecked(t *testing.T) {
	l, _ := library(t)
	c := []float32{7}
	at := unsafe.Pointer(&c[0])
	const beyond = math.MaxInt32 + 1
	for _, s := range []struct {
		sizes      [6]int64 // m, n, k, lda, ldb, ldc
		transposed [2]bool
	}{
		{[6]int64{0, 1, 1, 1, 1, 1}, [2]bool{}},
		{[6]int64{1, 0, 1, 1, 1, 1}, [2]bool{}},
		{[6]int64{1, 1, 0, 1, 1, 1}, [2]bool{}},
		{[6]int64{-1, 1, 1, 1, 1, 1}, [2]bool{}},
		{[6]int64{1, 1, 2, 1, 1, 1}, [2]bool{}},
		{[6]int64{1, 2, 1, 1, 1, 2}, [2]bool{}},
		{[6]int64{1, 2, 1, 1, 2, 1}, [2]bool{}},
		{[6]int64{2, 1, 1, 1, 1, 1}, [2]bool{true, false}},
		{[6]int64{1, 1, 2, 2, 1, 1}, [2]bool{false, true}},
		{[6]int64{beyond, 1, 1, 1, 1, 1}, [2]bool{}},
		{[6]int64{1, 1, 1, beyond, 1, 1}, [2]bool{}},
		{[6]int64{1, 1, 1, 1, beyond, 1}, [2]bool{}},
		{[6]int64{1, 1, 1, 1, 1, beyond}, [2]bool{}},
		{[6]int64{1, 1, beyond, beyond, 1, 1}, [2]bool{}},
	} {
		x := s.sizes
		require.False(t, l.Float32(at, at, at, x[0], x[1], x[2], x[3], x[4], x[5], s.transposed), "%v", s)
		require.Equal(t, []float32{7}, c)
	}
}

// TestThreadsOfTheLibrary: the library computes on the calling thread, whose mode is the former one afterwards.
func TestThreadsOfTheLibrary(t *testing.T) {
	l, path := library(t)
	runtime.LockOSThread() // the mode belongs to a thread
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(path, purego.RTLD_NOW)
	require.NoError(t, err)
	get, err := purego.Dlsym(handle, "BLASGetThreading")
	if err != nil {
		t.Skip("this version of Accelerate has no control of its threads")
	}
	set, err := purego.Dlsym(handle, "BLASSetThreading")
	require.NoError(t, err)
	calls, threaded := ask(t, path, "calls"), ask(t, path, "threaded")
	for _, mode := range []uintptr{0, 1} {
		purego.SyscallN(set, mode)
		var c, a, b float64
		a, b = 3, 4
		require.True(t, l.Float64(unsafe.Pointer(&c), unsafe.Pointer(&a), unsafe.Pointer(&b), 1, 1, 1, 1, 1, 1, [2]bool{}))
		require.Equal(t, 12.0, c)
		now, _, _ := purego.SyscallN(get)
		require.Equal(t, uint32(mode), uint32(now))
	}
	purego.SyscallN(set, 0)
	require.Equal(t, threaded, ask(t, path, "threaded"))
	if runtime.GOOS != "darwin" {
		require.Equal(t, calls+2, ask(t, path, "calls"))
	}
}

// TestExceptionsAreNotRaised: a product leaves the floating-point exceptions of its thread as they were, though SME raises all.
func TestExceptionsAreNotRaised(t *testing.T) {
	if runtime.GOARCH != "arm64" {
		t.Skip("exceptions are preserved on arm64, where SME raises them")
	}
	l, path := library(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := ask(t, path, "exceptions")
	var c, a, b float32
	require.True(t, l.Float32(unsafe.Pointer(&c), unsafe.Pointer(&a), unsafe.Pointer(&b), 1, 1, 1, 1, 1, 1, [2]bool{}))
	require.Equal(t, before, ask(t, path, "exceptions"))
}

// TestOpenSaysWhatIsMissing: without the library, or one of its products, Open fails.
func TestOpenSaysWhatIsMissing(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "Accelerate")
	_, err := blas.Open(nowhere)
	require.Equal(t, status.Unavailable, status.CodeOf(err))
	require.Contains(t, err.Error(), "[blas] "+nowhere+" does not load: ")
	for _, flags := range [][]string{{"-DFAKEACCELERATE_LACKS_DGEMM"}, {"-DFAKEACCELERATE_LACKS_DGEMM", "-DFAKEACCELERATE_LACKS_NEW_NAMES"}} {
		path := mock(t, flags...)
		_, err = blas.Open(path)
		require.Equal(t, status.Unavailable, status.CodeOf(err))
		require.Equal(t, "[blas] "+path+" has no function cblas_dgemm", err.Error())
	}
}
