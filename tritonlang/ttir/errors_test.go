package ttir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestErrorsHavePlaces: what is wrong with a text is said with line and column.
func TestErrorsHavePlaces(t *testing.T) {
	inside := func(body string) string {
		return "module {\n  tt.func public @f(%p: !tt.ptr<f32>, %n: i32) {\n" + body + "\n    tt.return\n  }\n}\n"
	}
	for text, want := range map[string]string{
		"":         "x.ttir:1:1: want \"module\", got \"\"",
		"module {": "x.ttir:1:9: want tt.func, got \"\"",
		inside("    %0 = arith.addi %n, %m : i32"):                     "x.ttir:3:25: value %m is not defined",
		inside("    %0 = arith.addi %n, %p : i32"):                     "x.ttir:3:30: arith.addi: operand %p is !tt.ptr<f32>, but the text says i32",
		inside("    %n = arith.constant 1 : i32"):                      "x.ttir:3:5: value %n is defined twice",
		inside("    %0 = arith.constant 1.5 : i32"):                    "x.ttir:3:31: \"1.5\" is no constant of type i32",
		inside("    %0 = arith.constant dense<0> : tensor<3xi32>"):     "x.ttir:3:36: dimensions of tensors are powers of two",
		inside("    %0 = tt.load %n : i32"):                            "x.ttir:3:23: want pointers, got i32",
		inside("    cf.br ^bb1"):                                       "x.ttir:4:5: an operation follows the end of its block",
		inside("    %0 = arith.constant dense<0> : tensor<4xi32, #a>"): "x.ttir:3:48: tensors with an encoding are Triton GPU IR; want Triton IR, which the stage ttir gives",
		inside("    ;"):                       "x.ttir:3:5: no token begins here",
		inside("    tt.call @g() : () -> ()"): "x.ttir:3:5: function g is not defined",
		inside("    %0 = tt.make_range {end = 4 : i32} : tensor<8xi32>"): "x.ttir:3:5: tt.make_range: the shape is not the range's",
	} {
		m, err := Parse(text, "x.ttir")
		if err == nil {
			err = Verify(m)
		}
		assert.EqualError(t, err, want, text)
	}
}

// TestNestingIsBounded: text that nests without end is an error.
func TestNestingIsBounded(t *testing.T) {
	deep := strings.Repeat("!tt.ptr<", 100_000)
	_, err := Parse("module { tt.func public @f(%p: "+deep, "x.ttir")
	require.ErrorContains(t, err, "nested too deeply")
}

// FuzzParse: no text makes the parser or verifier panic, and what is printed parses to what prints the same.
func FuzzParse(f *testing.F) {
	f.Add("module { tt.func public @f(%p: !tt.ptr<f32>) { tt.return } }")
	for _, nothing := range []string{`"a"("":0:3)`, `""("x.py":1:2)`, `"a"("")`, `"a"(fused["", "":0:0])`} { // locations that say less than they seem
		f.Add("module { tt.func public @f() { tt.return loc(" + nothing + ") } }")
	}
	files, err := filepath.Glob("../testdata/*.ttir")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text, "x.ttir")
		if err != nil || Verify(m) != nil {
			return
		}
		once := Print(m)
		again, err := Parse(once, "printed")
		require.NoError(t, err, once)
		require.Equal(t, once, Print(again))
	})
}
