package onnx

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/onnx/build"
)

var update = flag.Bool("update", false, "write the list of operators in docs/onnx.md anew")

// Every entry of package ops is in the table: a family that is declared and not joined in ops.All would be missing without an error.
func TestTableHasAllFamilies(t *testing.T) {
	paths, err := filepath.Glob("ops/*.go")
	require.NoError(t, err)
	declared := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			list, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if kind, ok := list.Type.(*ast.ArrayType); ok && kind.Len == nil {
				if elem, ok := kind.Elt.(*ast.Ident); ok && elem.Name == "entry" {
					declared += len(list.Elts)
				}
			}
			return true
		})
	}
	joined := 0
	for _, entries := range build.Table {
		joined += len(entries)
	}
	require.Greater(t, declared, 200)
	require.Equal(t, declared, joined)
}

// The opsets of an operator ascend: of those that a model's reaches, the last holds.
func TestEntriesAscend(t *testing.T) {
	for name, entries := range build.Table {
		for i := 1; i < len(entries); i++ {
			require.Less(t, entries[i-1].Since, entries[i].Since, name)
		}
	}
}

// The list of operators in docs/onnx.md is that of the table; go test ./onnx -run TestListOfOperators -update writes it.
func TestListOfOperators(t *testing.T) {
	const path, from, to = "../docs/onnx.md", "## What is supported\n\n", "\nModel-local functions are expanded.\n"
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), from)
	require.True(t, ok)
	was, after, ok := strings.Cut(rest, to)
	require.True(t, ok)
	if made := supported(); *update {
		require.NoError(t, os.WriteFile(path, []byte(before+from+made+to+after), 0o644))
	} else {
		require.Equal(t, made, was, "want it as -update writes it")
	}
}

// supported is the list of operators, by domain.
func supported() string {
	domains := map[string][]string{}
	for name := range build.Table {
		domain, operator, ok := strings.Cut(name, ":")
		if !ok {
			domain, operator = "", name
		}
		domains[domain] = append(domains[domain], operator)
	}
	var b strings.Builder
	for _, domain := range slices.Sorted(maps.Keys(domains)) {
		operators := domains[domain]
		slices.Sort(operators)
		if domain == "" {
			fmt.Fprintf(&b, "Opsets up to %d of `ai.onnx`, with these %d operators:\n\n", build.Newest, len(operators))
		} else {
			fmt.Fprintf(&b, "\n%d of `%s`:\n\n", len(operators), domain)
		}
		wrap(&b, operators, 120)
	}
	return b.String()
}

// wrap writes words as code, with commas between them and a period at the end, in lines of at most so many characters.
func wrap(b *strings.Builder, words []string, width int) {
	used := 0
	for i, w := range words {
		if w = "`" + w + "`,"; i == len(words)-1 {
			w = w[:len(w)-1] + "."
		}
		switch {
		case used == 0:
		case used+1+len(w) > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(w)
		used += len(w)
	}
	b.WriteByte('\n')
}
