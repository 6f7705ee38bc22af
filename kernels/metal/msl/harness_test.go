package msl

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/checkout"
)

// The compiler of the mock of Metal, tests/fakemetal/shader*.c, called without the rest of it.

// binding is shader_binding.
type binding struct {
	base           unsafe.Pointer
	length, offset uintptr
	constant       bool // of the encoder
}

// counts is shader_counts.
type counts [16]int64

// dispatch is shader_dispatch.
type dispatch struct {
	buffers [31]binding
	_       unsafe.Pointer // what kernels may follow addresses into
	_       int32          // how many there are
	_       [31]uintptr    // threadgroup
	groups  [3]uint64
	group   [3]uint64
	threads [3]uint64
}

// options is shader_options.
type options struct {
	language uint32
	_        bool           // fast math
	_        bool           // fast functions
	_        unsafe.Pointer // function constants
}

var compiler struct {
	compile func(source *byte, o *options, words **byte) uintptr
	free    func(library uintptr)
	find    func(library uintptr, name *byte) uintptr
	run     func(function uintptr, d *dispatch, c *counts) *byte
	setenv  func(name, value *byte, overwrite int32) int32
}

// build makes the library of the compiler in the folder build/ and opens it.
var build = sync.OnceValue(func() error {
	root := checkout.Root()
	fake, out := filepath.Join(root, "tests", "fakemetal"), filepath.Join(root, "build", "libshader.so")
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	cc := exec.Command("cc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-fPIC", "-shared", "-DSHADER_FOLDER=\""+fake+"/shader\"", "-o", out,
		"shader_token.c", "shader_check.c", "shader_check_kernel.c", "shader_check_body.c",
		"shader_source.c", "shader_build.c", "shader_run.c", "shader_race.c", "shader_count.c", "shader_arithmetic.c", "defect.c", "harsh.c",
		"shader_switch_amd64.S", "shader_switch_arm64.S", "-ldl", "-lm", "-lpthread")
	cc.Dir = fake
	if words, err := cc.CombinedOutput(); err != nil {
		return &exec.Error{Name: "cc: " + string(words), Err: err}
	}
	h, err := purego.Dlopen(out, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return err
	}
	for name, f := range map[string]any{
		"shader_compile": &compiler.compile, "shader_library_free": &compiler.free, "shader_find": &compiler.find,
		"shader_run": &compiler.run, "setenv": &compiler.setenv,
	} {
		purego.RegisterLibFunc(f, h, name)
	}
	return nil
})

func needCompiler(t testing.TB) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("shaders are compiled by a C++ compiler: %v", err)
	}
	require.NoError(t, build())
}

func text(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

func zero(s string) *byte {
	b := append([]byte(s), 0)
	return &b[0]
}

// kernel is a compiled form.
type kernel struct {
	library, function uintptr
}

func compile(t testing.TB, source string) *kernel {
	var words *byte
	l := compiler.compile(zero(source), &options{language: 3 << 16}, &words)
	require.NotZero(t, l, "%s\n%s", text(words), source)
	t.Cleanup(func() { compiler.free(l) })
	f := compiler.find(l, zero(Name))
	require.NotZero(t, f)
	return &kernel{l, f}
}

// run runs a kernel over threads in groups of 32 by up to 8, with memory as its arguments, each checked to its last byte.
func (k *kernel) run(t testing.TB, threads [3]int64, arguments ...[]byte) {
	d := &dispatch{group: [3]uint64{32, uint64(min(threads[1], 8)), 1}}
	for i, n := range threads {
		d.threads[i], d.groups[i] = uint64(n), (uint64(n)+d.group[i]-1)/d.group[i]
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	for i, a := range arguments {
		pin.Pin(unsafe.SliceData(a))
		d.buffers[i] = binding{unsafe.Pointer(unsafe.SliceData(a)), uintptr(len(a)), 0, false}
	}
	require.Empty(t, text(compiler.run(k.function, d, &counts{})))
}

// inLine are n threads one behind the other.
func inLine(n int64) [3]int64 { return [3]int64{n, 1, 1} }

// worst has arithmetic as inexact as the specification allows until the test ends.
func worst(t testing.TB) {
	compiler.setenv(zero("FAKEMETAL_WORST"), zero("1"), 1)
	t.Cleanup(func() { compiler.setenv(zero("FAKEMETAL_WORST"), zero("0"), 1) })
}
