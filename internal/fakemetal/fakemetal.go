// Package fakemetal gives tests the library that stands in for Apple's, and what it counts.
//
// The library is tests/fakemetal, built on first use; with PADDLE_MPS_METAL_LIBRARY it is the one named
// there. A process has one, so tests share what it counts and must not run beside each other.
package fakemetal

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/objc"
)

// built makes the library and answers its path, or why there is none.
var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("PADDLE_MPS_METAL_LIBRARY"); path != "" {
		return path, nil
	}
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..")
	unlock, err := lock(filepath.Join(root, "build"))
	if err != nil {
		return "", err
	}
	defer unlock()
	build := exec.Command("sh", "tests/fakemetal/build.sh")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		return string(text), err
	}
	return filepath.Join(root, "build", "libfakemetal.so"), nil
})

// lock keeps tests of other packages, which run at the same time, from building too.
func lock(folder string) (unlock func(), err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(folder, "fakemetal.lock"))
	if err != nil {
		return nil, err
	}
	return func() { _ = file.Close() }, syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
}

// Library is the path of the library; the test is skipped where there is no compiler to build it.
func Library(t testing.TB) string {
	t.Helper()
	_, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc"))
	if err != nil && os.Getenv("PADDLE_MPS_METAL_LIBRARY") == "" {
		t.Skipf("the stand-in for Metal needs a C compiler: %v", err)
	}
	path, err := built()
	if err != nil {
		t.Fatalf("the stand-in for Metal does not build: %v\n%s", err, path)
	}
	return path
}

// Path is that of the library, or why there is none.
func Path() (string, error) { return built() }

// Counted is how often something has happened since the counts were set to 0: "sends", "commits",
// "dispatches", "compiles", "buffers", "heaps", "copied_bytes", "fallible", "failed"; or how much there is:
// "live_objects". The library has been loaded.
func Counted(what string) (n int64, err error) {
	err = named("fakemetal_count", what, func(f, text uintptr) { n = int64(objc.Call(f, text)) })
	return n, err
}

// Refuse makes the n-th from now fail: "heap", "buffer", "library", "function", "pipeline",
// "command_buffer", "executable", "queue", "event" or "any". The command buffer ends with an error of
// that code; what would have been made is nil.
func Refuse(what string, n int64, code int) error {
	return named("fakemetal_fail", what, func(f, text uintptr) { objc.Call(f, text, uintptr(n), uintptr(code)) })
}

// Anew sets the counts to 0 and forgets what is to fail.
func Anew() error {
	f, err := objc.Symbol("fakemetal_reset")
	if err == nil {
		objc.Call(f)
	}
	return err
}

// Count is Counted for tests.
func Count(t testing.TB, what string) int64 {
	t.Helper()
	n, err := Counted(what)
	must(t, err)
	return n
}

// Fail is Refuse for tests.
func Fail(t testing.TB, what string, n int64, code int) {
	t.Helper()
	must(t, Refuse(what, n, code))
}

// Reset is Anew for tests.
func Reset(t testing.TB) {
	t.Helper()
	must(t, Anew())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// named calls a function of the library with a C string.
func named(function, what string, call func(f, text uintptr)) error {
	f, err := objc.Symbol(function)
	if err != nil {
		return err
	}
	text := append([]byte(what), 0)
	var pin runtime.Pinner
	pin.Pin(&text[0])
	defer pin.Unpin()
	// SAFETY: the bytes are pinned for the time of the call, and the library copies them.
	call(f, uintptr(unsafe.Pointer(&text[0])))
	return nil
}
