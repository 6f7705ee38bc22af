// Package fakemetal gives tests the mock of Apple's libraries, its counters, and control over its failures.
//
// The mock is tests/fakemetal, built on first use; with PADDLE_MPS_METAL_LIBRARY it is the library named there. A
// process has one mock, so that tests share its counters and must not run in parallel.
package fakemetal

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/internal/checkout"
	"github.com/paddle-mps/paddle-mps/objc"
)

// built builds the mock and returns its path; with an error, the output of the build instead.
var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("PADDLE_MPS_METAL_LIBRARY"); path != "" {
		return path, nil
	}
	root := checkout.Root()
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

// lock is held while the mock is built: tests of other packages run at the same time and build it too.
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

// Library is the path of the mock; the test is skipped where there is no compiler to build it.
func Library(t testing.TB) string {
	t.Helper()
	_, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc"))
	if err != nil && os.Getenv("PADDLE_MPS_METAL_LIBRARY") == "" {
		t.Skipf("the mock of Metal needs a C compiler: %v", err)
	}
	path, err := built()
	if err != nil {
		t.Fatalf("the mock of Metal does not build: %v\n%s", err, path)
	}
	return path
}

// Path is Library for programs: with an error, the path is the output of the build.
func Path() (string, error) { return built() }

// Counted is how often something has happened since ResetCounts ("sends", "commits", "dispatches", "compiles",
// "buffers", "heaps", "copied_bytes", "fallible", "failed"), or how much there is now ("live_objects"). The mock has
// been loaded.
func Counted(what string) (n int64, err error) {
	err = withText("fakemetal_count", what, func(f, text uintptr) { n = int64(objc.Call(f, text)) })
	return n, err
}

// InjectFailure makes the n-th request of a kind from now on fail: "heap", "buffer", "library", "function",
// "pipeline", "command_buffer", "executable", "queue", "event" or "any". A command buffer completes with an error
// of that code; of other kinds the result is nil.
func InjectFailure(what string, n int64, code int) error {
	return withText("fakemetal_fail", what, func(f, text uintptr) { objc.Call(f, text, uintptr(n), uintptr(code)) })
}

// ResetCounts sets the counters to 0 and removes injected failures.
func ResetCounts() error {
	f, err := objc.Symbol("fakemetal_reset")
	if err == nil {
		objc.Call(f)
	}
	return err
}

// Dispatch is what the threads of a dispatch did, by the model of tests/fakemetal/shader_count.c. Bytes are those that
// an instruction of a SIMD group touches, summed up over instructions; transactions are lines of 128 bytes, of which
// the ideal number is bytes over 128, rounded up for each instruction.
type Dispatch struct {
	Kernel                                                     string
	Threads, Groups, SIMDGroups                                int64
	Loads, Stores                                              int64 // instructions of SIMD groups
	LoadedBytes, StoredBytes                                   int64
	LoadTransactions, StoreTransactions, LoadIdeal, StoreIdeal int64
	ConstantBytes                                              int64 // read from what the encoder has set as bytes
	ThreadgroupAccesses                                        int64 // by threads
	Barriers                                                   int64 // of threadgroups
	Meetings                                                   int64 // of SIMD groups, at their functions
	Arithmetic                                                 int64 // instructions of threads; see shader_arithmetic.c
}

// Dispatches lists what has ended since ResetCounts, in a process that was started with FAKEMETAL_COUNT=1; in others
// there are none.
func Dispatches() (all []Dispatch, err error) {
	number := func(what string, nth int) (n int64) {
		if err == nil {
			err = withText("fakemetal_dispatch", what, func(f, text uintptr) { n = int64(objc.Call(f, text, uintptr(nth))) })
		}
		return n
	}
	name, e := objc.Symbol("fakemetal_dispatch_name")
	if e != nil {
		return nil, e
	}
	for i := range int(number("dispatches", 0)) {
		d := Dispatch{
			Threads: number("threads", i), Groups: number("groups", i), SIMDGroups: number("simdgroups", i),
			Loads: number("loads", i), Stores: number("stores", i),
			LoadedBytes: number("loaded_bytes", i), StoredBytes: number("stored_bytes", i),
			LoadTransactions: number("load_transactions", i), StoreTransactions: number("store_transactions", i),
			LoadIdeal: number("load_ideal", i), StoreIdeal: number("store_ideal", i),
			ConstantBytes: number("constant_bytes", i), ThreadgroupAccesses: number("threadgroup_accesses", i),
			Barriers: number("barriers", i), Meetings: number("meetings", i), Arithmetic: number("arithmetic", i),
		}
		var room [64]byte
		var pin runtime.Pinner
		pin.Pin(&room[0])
		// SAFETY: the bytes are pinned until the call has returned.
		objc.Call(name, uintptr(i), uintptr(unsafe.Pointer(&room[0])), uintptr(len(room)))
		pin.Unpin()
		d.Kernel, _, _ = strings.Cut(string(room[:]), "\x00")
		all = append(all, d)
	}
	return all, err
}

// Count is Counted for tests.
func Count(t testing.TB, what string) int64 {
	t.Helper()
	n, err := Counted(what)
	must(t, err)
	return n
}

// Settled is the number of live objects once it has not changed for 10 ms: threads of the mock release their
// objects some time after a command buffer has completed.
func Settled(t testing.TB) (n int64) {
	t.Helper()
	n = Count(t, "live_objects")
	for same := 0; same < 10; same++ {
		time.Sleep(time.Millisecond)
		if now := Count(t, "live_objects"); now != n {
			n, same = now, 0
		}
	}
	return n
}

// Fail is InjectFailure for tests.
func Fail(t testing.TB, what string, n int64, code int) {
	t.Helper()
	must(t, InjectFailure(what, n, code))
}

// Hold has committed command buffers wait before they begin, until letGo is called or the test ends.
func Hold(t testing.TB) (letGo func()) {
	t.Helper()
	f, err := objc.Symbol("fakemetal_hold")
	must(t, err)
	objc.Call(f, 1)
	letGo = func() { objc.Call(f, 0) }
	t.Cleanup(letGo)
	return letGo
}

// Refuse has the compilers refuse what matches patterns (tests/fakemetal/control.h), until the end of the test.
func Refuse(t testing.TB, patterns string) {
	t.Helper()
	refuse := func(patterns string) {
		must(t, withText("fakemetal_refuse", patterns, func(f, text uintptr) { objc.Call(f, text) }))
	}
	refuse(patterns)
	t.Cleanup(func() { refuse("") })
}

// Reset is ResetCounts for tests.
func Reset(t testing.TB) {
	t.Helper()
	must(t, ResetCounts())
}

// must ends the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// withText calls a function of the mock with its address and a C string.
func withText(function, what string, call func(f, text uintptr)) error {
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
