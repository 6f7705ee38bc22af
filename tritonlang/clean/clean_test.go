package clean

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// cleaned is the text of a module behind the cleaning, without locations and the module around it.
func cleaned(t *testing.T, text string) string {
	t.Helper()
	return printed(t, raw(t, text))
}

// printed cleans a module, and is its text without locations.
func printed(t *testing.T, m *ttir.Module) string {
	t.Helper()
	require.NoError(t, Run(m))
	require.NoError(t, ttir.Verify(m))
	text := ttir.Print(m)
	// What is printed can be read, and stays as it is.
	again, err := ttir.Parse(text, "again.ttir")
	require.NoError(t, err, text)
	require.NoError(t, ttir.Verify(again), text)
	require.False(t, Needed(again))
	require.Equal(t, text, ttir.Print(again))
	return strings.ReplaceAll(text, " loc(unknown)", "")
}

// raw is a module that no pass has run on.
func raw(t *testing.T, text string) *ttir.Module {
	t.Helper()
	m, err := ttir.Parse("module attributes {paddle_mps.raw = \"3.9.0\"} {\n"+text+"\n}", "x.ttir")
	require.NoError(t, err)
	require.NoError(t, ttir.Verify(m))
	require.True(t, Needed(m))
	return m
}

// body is the text of the operations of a function with one pointer to i32, an integer and a tensor.
func body(t *testing.T, ops string) string {
	t.Helper()
	text := cleaned(t, "tt.func public @f(%p: !tt.ptr<i32>, %n: i32, %x: tensor<8xi32>, %pp: tensor<8x!tt.ptr<i32>>) {\n"+ops+"\ntt.return\n}")
	_, inner, _ := strings.Cut(text, "{\n  tt.func")
	inner, _, _ = strings.Cut(inner[strings.Index(inner, "{\n")+2:], "    tt.return")
	lines := strings.Split(strings.TrimSpace(inner), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// TestFolds: what is known before the kernel runs is computed.
func TestFolds(t *testing.T) {
	const store = "\ntt.store %pp, %r : tensor<8x!tt.ptr<i32>>"
	constant := func(value string) string {
		return "%0 = arith.constant dense<" + value + "> : tensor<8xi32>\ntt.store %pp, %0 : tensor<8x!tt.ptr<i32>>"
	}
	binary := func(op, x, y string) string {
		return "%a = arith.constant " + x + " : i32\n%b = arith.constant " + y + " : i32\n%c = " + op + " %a, %b : i32\n%r = tt.splat %c : i32 -> tensor<8xi32>" + store
	}
	for _, c := range []struct{ name, text, want string }{
		{"a sum wraps", binary("arith.addi", "2147483647", "1"), constant("-2147483648")},
		{"a product", binary("arith.muli", "-3", "5"), constant("-15")},
		{"a signed quotient", binary("arith.divsi", "-7", "2"), constant("-3")},
		{"a rest", binary("arith.remsi", "-7", "2"), constant("-1")},
		{"an unsigned quotient", binary("arith.divui", "-2", "2"), constant("2147483647")},
		{"an unsigned rest", binary("arith.remui", "-1", "10"), constant("5")},
		{"a shift", binary("arith.shrui", "-1", "28"), constant("15")},
		{"a signed shift", binary("arith.shrsi", "-256", "4"), constant("-16")},
		{"unsigned maximum", binary("arith.maxui", "-1", "1"), constant("-1")},
		{"signed minimum", binary("arith.minsi", "-1", "1"), constant("-1")},
		{
			"a comparison without signs", "%a = arith.constant -1 : i32\n%b = arith.constant 1 : i32\n%c = arith.cmpi ugt, %a, %b : i32\n" +
				"%d = arith.extui %c : i1 to i32\n%r = tt.splat %d : i32 -> tensor<8xi32>" + store, constant("1"),
		},
		{
			"a narrow number", "%a = arith.constant 300 : i32\n%c = arith.trunci %a : i32 to i8\n%d = arith.extsi %c : i8 to i32\n" +
				"%r = tt.splat %d : i32 -> tensor<8xi32>" + store, constant("44"),
		},
		{"nothing is added", "%z = arith.constant dense<0> : tensor<8xi32>\n%r = arith.addi %z, %x : tensor<8xi32>" + store, "tt.store %pp, %x : tensor<8x!tt.ptr<i32>>"},
		{"a product with 0", "%z = arith.constant dense<0> : tensor<8xi32>\n%r = arith.muli %x, %z : tensor<8xi32>" + store, constant("0")},
		{"a choice", "%z = arith.constant false\n%y = arith.constant dense<4> : tensor<8xi32>\n%r = arith.select %z, %x, %y : tensor<8xi32>" + store, constant("4")},
		{
			"equal operations", "%a = arith.addi %x, %x : tensor<8xi32>\n%b = arith.addi %x, %x : tensor<8xi32>\n%r = arith.muli %a, %b : tensor<8xi32>" + store,
			"%0 = arith.addi %x, %x : tensor<8xi32>\n%1 = arith.muli %0, %0 : tensor<8xi32>\ntt.store %pp, %1 : tensor<8x!tt.ptr<i32>>",
		},
		{
			"scalars before they are spread", "%a = tt.splat %n : i32 -> tensor<8xi32>\n%c = arith.constant dense<3> : tensor<8xi32>\n%r = arith.muli %a, %c : tensor<8xi32>" + store,
			"%0 = arith.constant 3 : i32\n%1 = arith.muli %n, %0 : i32\n%2 = tt.splat %1 : i32 -> tensor<8xi32>\ntt.store %pp, %2 : tensor<8x!tt.ptr<i32>>",
		},
		{"a mask that is true", "%m = arith.constant dense<true> : tensor<8xi1>\ntt.store %pp, %x, %m : tensor<8x!tt.ptr<i32>>", "tt.store %pp, %x : tensor<8x!tt.ptr<i32>>"},
		{"a mask that is false", "%m = arith.constant dense<false> : tensor<8xi1>\ntt.store %pp, %x, %m : tensor<8x!tt.ptr<i32>>", ""},
		{
			"a load that a mask forbids", "%m = arith.constant dense<false> : tensor<8xi1>\n%r = tt.load %pp, %m, %x : tensor<8x!tt.ptr<i32>>" + store,
			"tt.store %pp, %x : tensor<8x!tt.ptr<i32>>",
		},
	} {
		// Names that the program gave come with their values, so that only the text without them counts.
		require.Equal(t, nameless(c.want), nameless(body(t, c.text)), c.name)
	}
}

// nameless numbers the names of values in the order of their text, but for parameters.
func nameless(text string) string {
	names := map[string]string{"%pp": "%pp", "%x": "%x", "%n": "%n", "%p": "%p"}
	return regexp.MustCompile(`%\w+`).ReplaceAllStringFunc(text, func(name string) string {
		if names[name] == "" {
			names[name] = "%" + string(rune('a'+len(names)))
		}
		return names[name]
	})
}

// TestNothingUndefinedIsFolded: divisions by 0 and shifts by too much stay.
func TestNothingUndefinedIsFolded(t *testing.T) {
	for _, op := range []string{"arith.divsi", "arith.remui"} {
		require.Contains(t, body(t, "%a = arith.constant 5 : i32\n%z = arith.constant 0 : i32\n%c = "+op+" %a, %z : i32\ntt.store %p, %c : !tt.ptr<i32>"), op)
	}
	require.Contains(t, body(t, "%a = arith.constant 5 : i32\n%z = arith.constant 32 : i32\n%c = arith.shli %a, %z : i32\ntt.store %p, %c : !tt.ptr<i32>"), "arith.shli")
	require.Contains(t, body(t, "%a = arith.constant -2147483648 : i32\n%z = arith.constant -1 : i32\n%c = arith.divsi %a, %z : i32\ntt.store %p, %c : !tt.ptr<i32>"), "arith.divsi")
}

// TestEffectsStay: loads that are volatile, prints, barriers and atomic operations are not dropped, joined or moved.
func TestEffectsStay(t *testing.T) {
	text := body(t, `%z = arith.constant 0 : i32
		%one = arith.constant 1 : i32
		%true = arith.constant true
		%v = tt.load %p {isVolatile = true} : !tt.ptr<i32>
		%w = tt.load %p {isVolatile = true} : !tt.ptr<i32>
		%u = tt.load %p : !tt.ptr<i32>
		scf.for %i = %z to %n step %one : i32 {
			%a = tt.atomic_rmw add, acq_rel, gpu, %p, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
			%b = arith.muli %n, %n : i32
			%q = arith.divsi %one, %n : i32
			tt.store %p, %q : !tt.ptr<i32>
			ttg.barrier all
			tt.print "x" {hex = false, isSigned = array<i32: 1>} : %b : i32
		}`)
	require.Equal(t, 2, strings.Count(text, "tt.load"), text)
	require.Equal(t, 1, strings.Count(text, "tt.atomic_rmw"))
	before, inside, _ := strings.Cut(text, "scf.for")
	require.Contains(t, before, "arith.muli", "what a loop does not change is computed once")
	require.Contains(t, inside, "arith.divsi", "a loop that does not run does not divide by 0")
	require.Contains(t, inside, "tt.atomic_rmw")
	require.Contains(t, inside, "ttg.barrier")
	require.Contains(t, inside, "tt.print")
}

// TestLoops: a loop that does not run goes, one that runs once is its body, and what a turn leaves alone is not carried.
func TestLoops(t *testing.T) {
	loop := func(from, to string) string {
		return body(t, "%a = arith.constant "+from+" : i32\n%b = arith.constant "+to+" : i32\n%s = arith.constant 4 : i32\n"+
			"%r:2 = scf.for %i = %a to %b step %s iter_args(%u = %n, %v = %n) -> (i32, i32)  : i32 {\n%w = arith.addi %u, %i : i32\nscf.yield %w, %v : i32, i32\n}\n"+
			"tt.store %p, %r#0 : !tt.ptr<i32>\ntt.store %p, %r#1 : !tt.ptr<i32>")
	}
	require.Equal(t, "tt.store %p, %n : !tt.ptr<i32>\ntt.store %p, %n : !tt.ptr<i32>", loop("5", "5"))
	once := loop("5", "9")
	require.NotContains(t, once, "scf.for")
	require.Contains(t, once, "arith.constant 5 : i32")
	require.Contains(t, loop("-2147483648", "2147483647"), "scf.for")
	wide := body(t, "%a = arith.constant -9223372036854775808 : i64\n%b = arith.constant 9223372036854775807 : i64\n%s = arith.constant 4 : i64\n"+
		"scf.for %i = %a to %b step %s  : i64 {\n%w = arith.trunci %i : i64 to i32\ntt.store %p, %w : !tt.ptr<i32>\n}")
	require.Contains(t, wide, "scf.for", "the difference of bounds does not wrap")
	twice := loop("5", "10")
	require.Contains(t, twice, "-> (i32)")
	require.Contains(t, twice, "tt.store %p, %n : !tt.ptr<i32>")
}

const callee = `tt.func private @g(%a: i32) -> i32 attributes {noinline = false} {
	%z = arith.constant 0 : i32
	%c = arith.cmpi slt, %a, %z : i32
	cf.cond_br %c, ^bb1, ^bb2
^bb1:
	tt.return %z : i32
^bb2:
	%d = arith.muli %a, %a : i32
	tt.return %d : i32
}
`

// TestCalls: bodies take the places of calls; those that return early only where blocks may be split.
func TestCalls(t *testing.T) {
	text := cleaned(t, callee+"tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {\n%r = tt.call @g(%n) : (i32) -> i32\n%s = tt.call @g(%r) : (i32) -> i32\ntt.store %p, %s : !tt.ptr<i32>\ntt.return\n}")
	require.NotContains(t, text, "tt.call")
	require.NotContains(t, text, "@g")
	require.Equal(t, 2, strings.Count(text, "arith.muli"))
	inLoop := cleaned(t, callee+"tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {\n%z = arith.constant 0 : i32\n%o = arith.constant 1 : i32\n"+
		"scf.for %i = %z to %n step %o  : i32 {\n%r = tt.call @g(%i) : (i32) -> i32\ntt.store %p, %r : !tt.ptr<i32>\n}\ntt.return\n}")
	require.Contains(t, inLoop, "tt.call @g")
	require.Contains(t, inLoop, "tt.func private @g")
	apart := cleaned(t, "tt.func private @h(%a: i32) -> i32 attributes {noinline = true} {\ntt.return %a : i32\n}\n"+
		"tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {\n%r = tt.call @h(%n) : (i32) -> i32\ntt.store %p, %r : !tt.ptr<i32>\ntt.return\n}")
	require.Contains(t, apart, "tt.call @h")

	m := raw(t, "tt.func private @g(%a: i32) -> i32 {\n%r = tt.call @g(%a) : (i32) -> i32\ntt.return %r : i32\n}\n"+
		"tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {\n%r = tt.call @g(%n) : (i32) -> i32\ntt.store %p, %r : !tt.ptr<i32>\ntt.return\n}")
	require.EqualError(t, Run(m), "[triton] tt.call: functions that call themselves are not supported")
}

// TestCallsWithoutRecursion: a call graph in which each of 41 functions calls the next one is compiled. If each calls the next
// one twice, the last one would be copied 2^40 times: that is said, and not that a function calls itself.
func TestCallsWithoutRecursion(t *testing.T) {
	for _, attributes := range []string{"", " attributes {noinline = true}"} {
		for _, twice := range []bool{false, true} {
			var text strings.Builder
			for i := range 40 {
				second := "%s = arith.addi %r, %r : i32\n"
				if twice {
					second = fmt.Sprintf("%%t = tt.call @g%d(%%r) : (i32) -> i32\n%%s = arith.addi %%r, %%t : i32\n", i+1)
				}
				fmt.Fprintf(&text, "tt.func private @g%d(%%a: i32) -> i32%s {\n%%r = tt.call @g%d(%%a) : (i32) -> i32\n%stt.return %%s : i32\n}\n", i, attributes, i+1, second)
			}
			m := raw(t, text.String()+"tt.func private @g40(%a: i32) -> i32"+attributes+" {\n%b = arith.muli %a, %a : i32\ntt.return %b : i32\n}\n"+
				"tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {\n%r = tt.call @g0(%n) : (i32) -> i32\ntt.store %p, %r : !tt.ptr<i32>\ntt.return\n}")
			err := Run(m)
			if err == nil {
				err = ttir.Inline(m, m.Func("f"))
			}
			if twice {
				require.ErrorContains(t, err, "[triton] tt.call: copies of the functions that are called grow to more than ")
				continue
			}
			require.NoError(t, err)
		}
	}
}

// TestLocations: a line of a function that is called leads to the call.
func TestLocations(t *testing.T) {
	m := raw(t, "tt.func private @g(%a: i32) -> i32 {\n%b = arith.muli %a, %a : i32 loc(\"triton/language/standard.py\":7:1)\ntt.return %b : i32\n}\n"+
		"tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {\n%r = tt.call @g(%n) : (i32) -> i32 loc(\"kernel.py\":3:4)\ntt.store %p, %r : !tt.ptr<i32>\ntt.return\n}")
	require.NoError(t, Run(m))
	require.Equal(t, "kernel.py:3", m.Func("f").Body.Blocks[0].Ops[0].Where())
}

const blocks = `tt.func public @f(%p: !tt.ptr<f32>, %m: i32, %n: i32, %s: i64, %i: i32) {
	%one = arith.constant 1 : i64
	%zero = arith.constant 0 : i32
	%step = arith.constant 16 : i32
`

// TestDescriptors: an access to a block has a pointer for each element, and a mask of what lies inside.
func TestDescriptors(t *testing.T) {
	const made = blocks + "%d = tt.make_tensor_descriptor %p, %m, %n, %s, %one {padding = 1 : i32} : (!tt.ptr<f32>, i32, i32, i64, i64) -> !tt.tensordesc<8x16xf32>\n"
	text := cleaned(t, made+`%v = tt.descriptor_load %d, %i, %zero : (!tt.tensordesc<8x16xf32>, i32, i32) -> tensor<8x16xf32>
		tt.descriptor_store %d, %zero, %i, %v : (!tt.tensordesc<8x16xf32>, i32, i32, tensor<8x16xf32>) -> ()
		tt.descriptor_reduce %d, %i, %i, %v {kind = "add"} : (!tt.tensordesc<8x16xf32>, i32, i32, tensor<8x16xf32>) -> ()
		tt.return
	}`)
	require.NotContains(t, text, "descriptor")
	require.Regexp(t, `tt\.load %\w+, %\w+, %\w+ : tensor<8x16x!tt.ptr<f32>>`, text)
	require.Regexp(t, `tt\.store %\w+, %\w+, %\w+ : tensor<8x16x!tt.ptr<f32>>`, text)
	require.Contains(t, text, "tt.atomic_rmw fadd, relaxed, gpu")
	require.Contains(t, text, "arith.extsi %m : i32 to i64")
	require.Contains(t, text, "dense<0.000000e+00>")

	nan := cleaned(t, strings.Replace(made, "padding = 1", "padding = 2", 1)+`%v = tt.descriptor_load %d, %i, %zero : (!tt.tensordesc<8x16xf32>, i32, i32) -> tensor<8x16xf32>
		tt.descriptor_store %d, %zero, %i, %v : (!tt.tensordesc<8x16xf32>, i32, i32, tensor<8x16xf32>) -> ()
		tt.return
	}`)
	require.Contains(t, nan, "dense<0x7FC00000>")

	m := raw(t, made+"%v = arith.constant dense<0.0> : tensor<8x16xf32>\n"+
		"tt.descriptor_reduce %d, %i, %i, %v {kind = \"max\"} : (!tt.tensordesc<8x16xf32>, i32, i32, tensor<8x16xf32>) -> ()\ntt.return\n}")
	require.EqualError(t, Run(m), "[triton] tt.descriptor_reduce: reductions to memory by max are not supported for f32")
}

// TestUnsignedDescriptors: the least of unsigned numbers is another than that of signed ones.
func TestUnsignedDescriptors(t *testing.T) {
	for sign, want := range map[string]string{"s": " min,", "u": " umin,"} {
		d := "!tt.tensordesc<8x" + sign + "i32>"
		text := cleaned(t, "tt.func public @f(%p: !tt.ptr<i32>, %n: i32, %s: i64, %v: tensor<8xi32>) {\n%d = tt.make_tensor_descriptor %p, %n, %s : (!tt.ptr<i32>, i32, i64) -> "+d+
			"\ntt.descriptor_reduce %d, %n, %v {kind = \"min\"} : ("+d+", i32, tensor<8xi32>) -> ()\ntt.return\n}")
		require.Contains(t, text, "tt.atomic_rmw"+want)
	}
}

// TestHostDescriptors: a descriptor that is a parameter is one for each of its parts, and one flag less before 3.7.
func TestHostDescriptors(t *testing.T) {
	const f = "tt.func public @f(%d: !tt.tensordesc<8x16xf16>, %k: i32) {\n%v = tt.descriptor_load %d, %k, %k : (!tt.tensordesc<8x16xf16>, i32, i32) -> tensor<8x16xf16>\n" +
		"tt.descriptor_store %d, %k, %k, %v : (!tt.tensordesc<8x16xf16>, i32, i32, tensor<8x16xf16>) -> ()\ntt.return\n}"
	types := func(m *ttir.Module) (all []string) {
		require.NoError(t, Run(m))
		for _, v := range m.Funcs[0].Params() {
			all = append(all, v.Type.String())
		}
		return all
	}
	require.Equal(t, []string{"!tt.ptr<f16>", "i64", "i64", "i64", "i64", "i1", "i1", "i32"}, types(raw(t, f)))
	m := raw(t, f)
	m.Attrs[0].Value.Word = "3.6.0"
	require.Equal(t, []string{"!tt.ptr<f16>", "i64", "i64", "i64", "i64", "i1", "i32"}, types(m))
	require.Contains(t, ttir.Print(m), "dense<0x7E00>", "whether padding is NaN is known when the kernel runs")
}

// TestBlockPointers: a block pointer that a loop advances becomes the offsets that it carries.
func TestBlockPointers(t *testing.T) {
	const ptr = "!tt.ptr<tensor<8x16xf32>>"
	text := cleaned(t, blocks+`%x = tt.make_tensor_ptr %p, %s, %s, %s, %one, %i, %zero : (!tt.ptr<f32>, i64, i64, i64, i64, i32, i32) -> `+ptr+`
		%y = scf.for %k = %zero to %n step %step iter_args(%q = %x) -> (`+ptr+`)  : i32 {
			%v = tt.load %q {boundaryCheck = array<i32: 1>, padding = 1 : i32} : `+ptr+`
			tt.store %q, %v {boundaryCheck = array<i32>} : `+ptr+`
			%r = tt.advance %q, %zero, %step : (`+ptr+`, i32, i32) -> `+ptr+`
			scf.yield %r : `+ptr+`
		}
		tt.return
	}`)
	require.NotContains(t, text, ptr)
	require.Contains(t, text, "-> (i64)", "the second offset alone is carried")
	require.Regexp(t, `tt\.load %\w+, %\w+, %\w+ : tensor<8x16x!tt.ptr<f32>>`, text)
	require.Regexp(t, `tt\.store %\w+, %\w+ : tensor<8x16x!tt.ptr<f32>>`, text)
}

// TestProductsAreAddedTo: a sum with a product starts at what is added.
func TestProductsAreAddedTo(t *testing.T) {
	text := cleaned(t, `tt.func public @f(%pp: tensor<16x16x!tt.ptr<f32>>, %a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
		%z = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
		%d = tt.dot %a, %b, %z : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
		%e = arith.addf %c, %d : tensor<16x16xf32>
		tt.store %pp, %e : tensor<16x16x!tt.ptr<f32>>
		tt.return
	}`)
	require.Contains(t, text, "tt.dot %a, %b, %c :")
	require.NotContains(t, text, "arith.addf")
}

// TestKernels: what the Python package makes of the project's kernels is cleaned, and prints and parses.
func TestKernels(t *testing.T) {
	files, err := filepath.Glob("../testdata/raw/*.ttir")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 10)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		m, err := ttir.Parse(string(text), file)
		require.NoError(t, err)
		require.NoError(t, ttir.Verify(m))
		require.NotContains(t, printed(t, m), "tensordesc", file)
	}
}
