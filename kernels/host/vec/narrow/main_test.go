package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// glob finds files of package vec and of its rooms.
func glob(t *testing.T, pattern string) (paths []string) {
	for _, dir := range []string{"..", "../*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	return paths
}

// TestGeneratedFilesAreFresh fails when a source changed without go generate,
// or when a generated file has lost its source, or its package the command.
func TestGeneratedFilesAreFresh(t *testing.T) {
	sources := glob(t, "*512.go")
	require.NotEmpty(t, sources)
	expected := map[string]bool{}
	for _, path := range sources {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		dir, name := filepath.Split(path)
		out := filepath.Join(dir, target(name))
		expected[out] = true
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Equal(t, narrow(name, string(source)), string(got), "%s is stale: run go generate", out)
		doc, err := os.ReadFile(filepath.Join(dir, "doc.go"))
		require.NoError(t, err)
		require.Regexp(t, `(?m)^//go:generate go run \.?\./narrow$`, string(doc), dir)
	}
	for _, path := range glob(t, "z*256.go") {
		require.True(t, expected[path], "%s has no source", path)
	}
}

func TestNarrowHalvesEachWidthOnce(t *testing.T) {
	const source = "f512(Float32x16, Float32x8, Float64x8).FloorScaled(0)"
	require.Contains(t, narrow("a512.go", source), "f256(Float32x8, Float32x4, Float64x4).Floor()")
}
