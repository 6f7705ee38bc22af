package tritonlang

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefusedTypesHaveALine: a type that Metal lacks is refused with the line of the program, wherever a kernel has it: as an
// argument, behind a pointer, in a constant, a cast or a loop, of a scalar and of a tensor.
func TestRefusedTypesHaveALine(t *testing.T) {
	types := []string{"f64", "tf32", "f8E4M3B11FNUZ", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2", "i128", "i24", "i2", "i65", "i127", "f16", "bf16", "f32", "i1", "i8", "i16", "i32", "i64"}
	at := func(line int) string { return fmt.Sprintf(" loc(\"/a/kernel.py\":%d:3)\n", line) }
	forms := map[string]func(kind string) string{
		"argument":            func(kind string) string { return "%a: " + kind + at(2) + ") {\n" },
		"pointer":             func(kind string) string { return "%a: !tt.ptr<" + kind + ">" + at(2) + ") {\n" },
		"pointer of pointers": func(kind string) string { return "%a: !tt.ptr<!tt.ptr<" + kind + ">>" + at(2) + ") {\n" },
		"load": func(kind string) string {
			return "%a: !tt.ptr<" + kind + ">" + at(2) + ") {\n%v = tt.load %a : !tt.ptr<" + kind + ">" + at(3)
		},
		"load of a tensor": func(kind string) string {
			return "%a: !tt.ptr<" + kind + ">" + at(2) + ") {\n%s = tt.splat %a : !tt.ptr<" + kind + "> -> tensor<32x!tt.ptr<" + kind + ">>" + at(3) +
				"%v = tt.load %s : tensor<32x!tt.ptr<" + kind + ">>" + at(4) + "tt.store %s, %v : tensor<32x!tt.ptr<" + kind + ">>" + at(5)
		},
		"bitcast": func(kind string) string {
			return "%a: !tt.ptr<i8>" + at(2) + ") {\n%s = tt.bitcast %a : !tt.ptr<i8> -> !tt.ptr<" + kind + ">" + at(3) + "%v = tt.load %s : !tt.ptr<" + kind + ">" + at(4) + "tt.store %s, %v : !tt.ptr<" + kind + ">" + at(5)
		},
	}
	for _, kind := range types {
		word := "arith.extsi %n : i32 to " + kind
		if !strings.HasPrefix(kind, "i") {
			word = "arith.sitofp %n : i32 to " + kind
		}
		forms["cast to "+kind] = func(k string) string {
			if k != kind {
				return "%a: i32" + at(2) + ") {\n"
			}
			return "%n: i32" + at(2) + ", %p: !tt.ptr<i32>" + at(2) + ") {\n%v = " + word + at(3) + "%w = arith.cmpi eq, %n, %n : i32" + at(4)
		}
	}
	place := regexp.MustCompile(` at kernel\.py:[2-5]: `)
	refusals := 0
	for name, form := range forms {
		for _, kind := range types {
			text := "module {\ntt.func public @k(" + form(kind) + "tt.return" + at(6) + "}" + at(1) + "}\n"
			_, err := Compile(text, "k.ttir", Options{})
			var unsupported *Unsupported
			if !errors.As(err, &unsupported) {
				continue // it compiles, or is no Triton IR, which the error says with the line of the text
			}
			refusals++
			require.Regexp(t, place, err.Error(), "%s of %s:\n%s", name, kind, text)
		}
	}
	require.Greater(t, refusals, 40)
	// Types of dialects are refused before the line of the program is read: that of the text is named.
	for _, kind := range []string{"!ttg.memdesc<2xf32>", "!llvm.struct<(i32)>"} {
		_, err := Compile("module {\ntt.func public @k(%a: "+kind+") {\ntt.return\n}\n}\n", "k.ttir", Options{})
		require.ErrorContains(t, err, " at k.ttir:2: values of this type are not supported")
	}
}
