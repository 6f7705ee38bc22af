package main

import (
	"go/ast"
	"go/token"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGeneratedFileIsFresh fails if the committed file differs from what the declarations give.
func TestGeneratedFileIsFresh(t *testing.T) {
	want, err := generate("..")
	require.NoError(t, err)
	committed, err := os.ReadFile("../" + written)
	require.NoError(t, err)
	require.Truef(t, string(committed) == string(want), "objc/%s is stale; run `go generate ./objc`", written)
}

func TestConstantRefuses(t *testing.T) {
	since := map[string]string{"MTLX": "13.0"}
	spec := func(name string, value ast.Expr) *ast.ValueSpec {
		return &ast.ValueSpec{Names: []*ast.Ident{ast.NewIdent(name)}, Values: []ast.Expr{value}}
	}
	line, err := constant(spec("X", &ast.BasicLit{Kind: token.INT, Value: "0x10"}), "MTL", since)
	require.NoError(t, err)
	require.Equal(t, "{\"MTLX\", 16, \"13.0\"},\n", line)
	for name, bad := range map[string]*ast.ValueSpec{
		"no such constant": spec("Y", &ast.BasicLit{Value: "1"}),
		"no number":        spec("X", ast.NewIdent("iota")),
		"no integer":       spec("X", &ast.BasicLit{Value: "1.5"}),
	} {
		_, err := constant(bad, "MTL", since)
		require.Error(t, err, name)
	}
}
