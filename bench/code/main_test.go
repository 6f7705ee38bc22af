package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Python's parser runs in the checkout's root, as under build.sh.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// small is a tree with a cycle among Python modules, one import of which only type checkers see.
var small = map[string][]byte{
	"core/a/a.go":          []byte("package a\n\nimport \"" + module + "core/b\"\n\n// F calls.\nfunc F() {\n\tb.F()\n}\n"),
	"core/a/zmade.go":      []byte("package a\n\nimport \"" + module + "core/never\"\n"),
	"core/b/b.go":          []byte("package b\n\nimport \"fmt\"\n\nfunc F() { fmt.Println() }\n"),
	"core/b/b_test.go":     []byte("package b\n\nimport \"" + module + "core/a\"\n"),
	"python/p/__init__.py": []byte("from . import one\nfrom .two import name\n"),
	"python/p/one.py":      []byte("import sys\ndef f():\n    from . import two\n"),
	"python/p/two.py":      []byte("from typing import TYPE_CHECKING\nfrom p.three import g\nif TYPE_CHECKING:\n    from .one import f\n"),
	"python/p/three.py":    []byte("import p.two\n"),
}

func TestMeasure(t *testing.T) {
	c, err := measure(small)
	require.NoError(t, err)
	require.Len(t, c.goFiles, 2)
	require.Equal(t, map[string][]string{"core/a": {"core/b"}}, goImports(c.goFiles))
	require.Empty(t, c.goCycles)
	require.Equal(t, 4, c.pythonModules)
	require.Equal(t, [][]string{{"p.three", "p.two"}}, c.pythonCycles)
	require.Equal(t, [][]string{{"p.one", "p.three", "p.two"}}, c.typedCycles)
}

// The rows of a small tree against nothing.
func TestReport(t *testing.T) {
	c, err := measure(small)
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, report(&text, "old", &code{}, c))
	for _, want := range []string{
		"core and kernels: files, lines, comments|-|2|13|11.1 %",
		"functions: median/p90/max|0/0/0|3/3/3",
		"files: median/p90/max|0/0/0|8/8/8",
		"import cycles, Python|0|1 (largest: 2)",
		"core/a|-|1|8|16.7 %",
	} {
		require.Contains(t, columns(text.String()), want)
	}
}

// columns turns the blanks between columns into one bar each.
func columns(table string) (rows []string) {
	for line := range strings.Lines(table) {
		var cells []string
		for _, cell := range strings.Split(line, "  ") {
			if cell = strings.TrimSpace(cell); cell != "" {
				cells = append(cells, cell)
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows
}

// Names of symbols and types as the linker has them.
func TestPackageOf(t *testing.T) {
	for name, want := range map[string]string{
		"pmps/core/op.(*Row).Name": "core/op", "pmps/kernels/host/elem.cast[go.shape.float32]": "kernels/host/elem",
		"type:.eq.pmps/core/op.Value": "core/op", "*[]pmps/onnx.value": "onnx", "map[string]int": "(no package)",
		"github.com/ebitengine/purego.Dlopen": "github.com/ebitengine/purego", "runtime.main": "runtime", "goInit": "(no package)",
	} {
		require.Equal(t, want, packageOf(name), name)
	}
}

func TestTableSize(t *testing.T) {
	require.Equal(t, 6, tableSize([]byte{2, 1, 0x80, 1, 5, 0, 9, 9}))
	require.Equal(t, 5, tableSize([]byte{0, 1, 4, 3, 0}), "the first value may be 0")
}

// The sizes of the descriptors of a pointer, of a struct with two fields and of an array.
func TestDescriptor(t *testing.T) {
	text := make([]byte, 128)
	text[23] = 22
	require.Equal(t, 56, descriptor(text))
	text[23], text[64] = 25, 2
	require.Equal(t, 80+2*24, descriptor(text))
	text[20], text[84] = 1, 3 // with three methods
	require.Equal(t, 80+16+2*24+3*16, descriptor(text))
	text[20], text[23] = 0, 17
	require.Equal(t, 72, descriptor(text))
}

func TestSpread(t *testing.T) {
	s := spread{1, 2, 3, 4, 5, 6, 7, 8, 9, 70}
	require.Equal(t, "6/70/70", s.String())
	require.Equal(t, "1 of 10", s.above(long))
	require.Equal(t, "0/0/0", spread(nil).String())
}
