package tritonlang

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// modules are the Triton IR among the test data, by name. It was captured from kernels of our own: see testdata/kernels.py.txt.
func modules(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.ttir")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all[strings.TrimSuffix(filepath.Base(file), ".ttir")] = string(text)
	}
	return all
}

// TestGoldens compares the text of some kernels with what it was.
func TestGoldens(t *testing.T) {
	all := modules(t)
	for _, name := range []string{"add", "softmax", "layer_norm", "matmul", "reduce_i64_1", "scan_1_0", "atomics", "early", "casts", "shapes"} {
		k, err := Compile(all[name], name+".ttir", Options{})
		require.NoError(t, err, name)
		golden := filepath.Join("testdata", name+".metal")
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(k.Source), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), k.Source, "go test ./tritonlang -update writes what is new")
	}
}

// TestSameBytes: the same input gives the same text, though tables are maps.
func TestSameBytes(t *testing.T) {
	for name, text := range modules(t) {
		first, err := Compile(text, name, Options{})
		for range 3 {
			again, err2 := Compile(text, name, Options{})
			if err != nil {
				require.EqualError(t, err2, err.Error())
				continue
			}
			require.NoError(t, err2)
			require.Equal(t, first.Source, again.Source, name)
		}
	}
}

// TestCounts: what the text of kernels costs, in barriers and threadgroup memory.
func TestCounts(t *testing.T) {
	all := modules(t)
	for _, c := range []struct {
		name              string
		barriers, shared  int
		exchanges, access int // at most; access is the widest in bytes
	}{
		{"add", 0, 0, 0, 16},
		{"add_f16", 0, 0, 0, 16},
		{"softmax", 2, 32, 0, 4},
		{"sort1024", 21, 16384, 50, 16}, // and flip, gather, join, split, topk and histogram
	} {
		k, err := Compile(all[c.name], c.name, Options{})
		require.NoError(t, err)
		require.LessOrEqual(t, k.Stats.Barriers, c.barriers, c.name)
		require.LessOrEqual(t, k.Stats.Shared, c.shared, c.name)
		require.LessOrEqual(t, k.Stats.Exchanges, c.exchanges, c.name)
		t.Logf("%s: %d barriers, %d bytes of threadgroup memory, %d exchanges", c.name, k.Stats.Barriers, k.Stats.Shared, k.Stats.Exchanges)
	}
}

// TestSortCounts: a sort of 1,024 exchanges within threads by registers, within SIMD groups by shuffles, and only between SIMD
// groups through threadgroup memory.
func TestSortCounts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "tests", "triton", "ttir", "3.9.0", "sort_fp32_1024.ttir"))
	require.NoError(t, err)
	for warps, barriers := range map[int]int{1: 0, 2: 1, 4: 5, 8: 11} {
		k, err := Compile(string(text), "sort.ttir", Options{Warps: warps})
		require.NoError(t, err)
		require.LessOrEqual(t, k.Stats.Barriers, barriers, "%d SIMD groups", warps)
		t.Logf("a sort of 1,024 by %d SIMD groups: %d barriers", warps, k.Stats.Barriers)
	}
}

// TestRefusals: what is not supported is an error that names operation, type and line.
func TestRefusals(t *testing.T) {
	all := modules(t)
	_, err := Compile(strings.Replace(all["add"], "arith.addf", "arith.frob", 1), "x.ttir", Options{})
	require.EqualError(t, err, "[triton] arith.frob at kernels.py:9: this operation is not supported")
	var unsupported *Unsupported
	require.ErrorAs(t, err, &unsupported)
	_, err = Compile(all["add"], "add.ttir", Options{Warps: 64})
	var resources *OutOfResources
	require.ErrorAs(t, err, &resources)
	require.Equal(t, OutOfResources{Name: "threads", Required: 2048, Limit: 1024}, *resources)
	wide := strings.ReplaceAll(all["add"], "f32", "f64")
	_, err = Compile(wide, "wide.ttir", Options{})
	require.EqualError(t, err, "[triton] argument x_ptr of f64 at kernels.py:4: Metal has no such type")
	_, err = Compile(wide, "wide.ttir", Options{F64AsF32: true})
	require.NoError(t, err)
	dense := func(elements string) string {
		return "module { tt.func public @f(%p: !tt.ptr<i32>) {\n %x = arith.constant dense<" + elements + "> : tensor<2xi32>\n" +
			" %a = tt.splat %p : !tt.ptr<i32> -> tensor<2x!tt.ptr<i32>>\n tt.store %a, %x : tensor<2x!tt.ptr<i32>>\n tt.return } }"
	}
	_, err = Compile(dense("[1, 1]"), "x.ttir", Options{})
	require.NoError(t, err)
	_, err = Compile(dense("[1, 2]"), "x.ttir", Options{})
	require.ErrorContains(t, err, "its elements differ; want one for all")
}

// TestAddresses: pointers made from integers have a table and a place that is reported, and do not mix with arguments.
func TestAddresses(t *testing.T) {
	text := modules(t)["ptrs"]
	k, err := Compile(text, "ptrs.ttir", Options{})
	require.NoError(t, err)
	require.Contains(t, k.Source, "device const ulong *addresses [[buffer(2)]],\n    device uint *records [[buffer(3)]]")
	require.Contains(t, k.Metadata, `"reports":[{"kind":"address","where":"kernels.py:297"}]`)
	require.Equal(t, 1, strings.Count(k.Source, "triton_find(addresses, records, 0u, program, (ulong)("), "only the load by an address")
	_, err = Compile(strings.Replace(text, "tt.load %p_0 : !tt.ptr<i64>", "tt.ptr_to_int %t_ptr : !tt.ptr<i64> -> i64", 1), "x.ttir", Options{})
	require.EqualError(t, err, "[triton] tt.ptr_to_int of i64 at kernels.py:295: the address of an argument as an integer is not supported: a GPU's addresses are not the CPU's")
	// A pointer that is not followed needs nothing.
	k, err = Compile(strings.Replace(text, "tt.splat %p_2 : !tt.ptr<f32>", "tt.splat %o_ptr : !tt.ptr<f32>", 1), "x.ttir", Options{})
	require.NoError(t, err)
	require.NotContains(t, k.Source, "records")
	require.NotContains(t, k.Metadata, "reports")
}

// TestArgumentNames: IR that was printed without names has those of the program in its locations.
func TestArgumentNames(t *testing.T) {
	text := modules(t)["add"]
	named, err := Compile(text, "add.ttir", Options{})
	require.NoError(t, err)
	for i, name := range []string{"x_ptr", "y_ptr", "out_ptr", "n"} {
		text = regexp.MustCompile("%"+name+`\b`).ReplaceAllString(text, "%arg"+strconv.Itoa(i))
	}
	require.Contains(t, text, "%arg3")
	k, err := Compile(text, "add.ttir", Options{})
	require.NoError(t, err)
	require.Equal(t, named.Metadata, k.Metadata)
}

// TestWaits: a loop that polls memory is refused; a lock, a counter, and a loop over what it computes itself, are not.
func TestWaits(t *testing.T) {
	loop := func(read string) string {
		return `module { tt.func public @f(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %all = arith.constant -1 : i32
  %true = arith.constant true
  scf.while : () -> () {
    ` + read + `
    %again = arith.cmpi eq, %old, %c0 : i32
    scf.condition(%again)
  } do {
    scf.yield
  }
  tt.return } }`
	}
	for _, poll := range []string{
		"%old = tt.load %p {isVolatile = true} : !tt.ptr<i32>",
		"%old = tt.atomic_rmw add, acquire, gpu, %p, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32",
		"%old = tt.atomic_rmw or, acquire, gpu, %p, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32",
		"%old = tt.atomic_rmw and, acquire, gpu, %p, %all, %true : (!tt.ptr<i32>, i32, i1) -> i32",
		"%old = tt.atomic_rmw max, acquire, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32",
	} {
		_, err := Compile(loop(poll), "x.ttir", Options{})
		require.ErrorContains(t, err, "waits", poll)
	}
	for _, lock := range []string{
		"%old = tt.atomic_cas acq_rel, gpu, %p, %c0, %c0 : (!tt.ptr<i32>, i32, i32) -> i32",
		"%old = tt.atomic_rmw exch, acquire, gpu, %p, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32",
		"%old = tt.atomic_rmw add, acq_rel, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32",
		"%old = tt.atomic_rmw or, acq_rel, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32",
		"%old = tt.load %p : !tt.ptr<i32>\n tt.store %p, %old : !tt.ptr<i32>",
	} {
		_, err := Compile(loop(lock), "x.ttir", Options{})
		require.NoError(t, err, lock)
	}
	carried := func(next string) string {
		return `module { tt.func public @f(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %r = scf.while (%x = %c0) : (i32) -> i32 {
    %old = tt.load %p : !tt.ptr<i32>
    %again = arith.cmpi slt, %x, %old : i32
    scf.condition(%again) %x : i32
  } do {
  ^bb0(%y: i32):
    %one = arith.constant 1 : i32
    ` + next + `
    scf.yield %z : i32
  }
  tt.store %p, %r : !tt.ptr<i32>
  tt.return } }`
	}
	// A counter ends the loop; what is only read again does not.
	_, err := Compile(carried("%z = arith.addi %y, %one : i32"), "x.ttir", Options{})
	require.NoError(t, err)
	_, err = Compile(carried("%z = tt.load %p : !tt.ptr<i32>"), "x.ttir", Options{})
	require.ErrorContains(t, err, "waits")
	for _, name := range []string{"lock", "early"} {
		_, err := Compile(modules(t)[name], name, Options{})
		require.NoError(t, err)
	}
}

// BenchmarkCompile is the time from text to text.
func BenchmarkCompile(b *testing.B) {
	all := modules(b)
	for _, name := range []string{"add", "softmax", "matmul", "attention", "sort1024"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := Compile(all[name], name, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzCompile: no text makes the compiler panic.
func FuzzCompile(f *testing.F) {
	for _, text := range modules(f) {
		f.Add(text, 4)
	}
	f.Fuzz(func(t *testing.T, text string, warps int) {
		_, _ = Compile(text, "x.ttir", Options{Warps: warps & 15})
	})
}

// TestRaw: kernels whose IR Python has built without Triton's passes become what those of the wheel become, in barriers,
// threadgroup memory, exchanges and accesses.
func TestRaw(t *testing.T) {
	files, err := filepath.Glob("testdata/raw/*.ttir")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		wheel, err := os.ReadFile(filepath.Join("..", "tests", "triton", "ttir", "3.9.0", name))
		require.NoError(t, err)
		raw, err := Compile(string(text), name, Options{})
		require.NoError(t, err)
		passed, err := Compile(string(wheel), name, Options{})
		require.NoError(t, err)
		require.Equal(t, passed.Metadata, raw.Metadata, name)
		require.Equal(t, passed.Stats.Barriers, raw.Stats.Barriers, name)
		require.Equal(t, passed.Stats.Exchanges, raw.Stats.Exchanges, name)
		// Masks of descriptors are compared along each dimension, which shows that rows can be read 16 bytes at a time.
		if name != "tensor_descriptor.ttir" {
			require.Equal(t, passed.Stats.Accesses, raw.Stats.Accesses, name)
		}
	}
}

// TestCaptured: the IR that the oldest and the newest version of Triton makes of the kernels of the suite compiles if the
// kernel passes on the mock, and prints as text that parses to the same.
func TestCaptured(t *testing.T) {
	folder := filepath.Join("..", "tests", "triton")
	passing, err := os.ReadFile(filepath.Join(folder, "passing.txt"))
	require.NoError(t, err)
	for _, version := range []string{"3.6.0", "3.9.0"} {
		var options map[string]struct {
			Warps    int  `json:"num_warps"`
			F64AsF32 bool `json:"allow_f64_as_f32"`
		}
		text, err := os.ReadFile(filepath.Join(folder, "ttir", version, "options.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &options))
		for _, name := range strings.Fields(string(passing)) {
			text, err := os.ReadFile(filepath.Join(folder, "ttir", version, name+".ttir"))
			require.NoError(t, err)
			o := options[name]
			_, err = Compile(string(text), name, Options{Warps: o.Warps, F64AsF32: o.F64AsF32})
			require.NoError(t, err, "%s of %s", name, version)
			m, err := ttir.Parse(string(text), name)
			require.NoError(t, err)
			printed := ttir.Print(m)
			again, err := ttir.Parse(printed, name)
			require.NoError(t, err, printed)
			require.Equal(t, printed, ttir.Print(again))
		}
	}
}

// TestLeastThreads: the attribute of a kernel of one warp says two, because with one Metal has lost barriers.
func TestLeastThreads(t *testing.T) {
	text := modules(t)["reduce_i64_1"]
	for warps, want := range map[int]string{1: "(64)", 2: "(64)", 4: "(128)"} {
		k, err := Compile(text, "reduce.ttir", Options{Warps: warps})
		require.NoError(t, err)
		require.Contains(t, k.Source, "[[max_total_threads_per_threadgroup"+want+"]]", warps)
	}
}

// TestManyArguments: numbers share one buffer where there are more arguments than Metal binds, and pointers are in a table where these
// alone are more.
func TestManyArguments(t *testing.T) {
	text := func(pointers, numbers int) string {
		var params []string
		for i := range pointers {
			params = append(params, fmt.Sprintf("%%p%d: !tt.ptr<i32>", i))
		}
		for i := range numbers {
			params = append(params, fmt.Sprintf("%%n%d: i32", i))
		}
		return "module {\n  tt.func public @k(" + strings.Join(params, ", ") + ") {\n" +
			"    %v = arith.addi %n0, %n1 : i32\n    tt.store %p0, %v : !tt.ptr<i32>\n    tt.return\n  }\n}\n"
	}
	few, err := Compile(text(29, 2), "few.ttir", Options{})
	require.NoError(t, err)
	require.NotContains(t, few.Metadata, "packed")
	require.Contains(t, few.Source, "constant int &n1 [[buffer(30)]]")
	many, err := Compile(text(30, 5), "many.ttir", Options{})
	require.NoError(t, err)
	require.Contains(t, many.Metadata, `"packed":true`)
	require.Contains(t, many.Source, "constant ulong *numbers [[buffer(30)]]")
	require.Contains(t, many.Source, "const int n1 = int(numbers[1]);")
	require.NotContains(t, many.Metadata, "table")
	more, err := Compile(text(31, 2), "more.ttir", Options{})
	require.NoError(t, err)
	require.Contains(t, more.Metadata, `"packed":true,"table":true`)
	require.Contains(t, more.Source, "(\n    constant ulong *argument_table [[buffer(0)]],\n    constant ulong *numbers [[buffer(1)]],\n    uint3")
	require.Contains(t, more.Source, "device int *p0 = (device int *)(ulong)argument_table[0];")
	require.Contains(t, more.Source, "device const int *p30 = (device const int *)(ulong)argument_table[30];")
}
