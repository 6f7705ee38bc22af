package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGeneratedFilesAreFresh fails when a source changed without go generate,
// or when a generated file has lost its source.
func TestGeneratedFilesAreFresh(t *testing.T) {
	sources, err := filepath.Glob("../*512.go")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	expected := map[string]bool{}
	for _, path := range sources {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		name := filepath.Base(path)
		expected[target(name)] = true
		got, err := os.ReadFile(filepath.Join("..", target(name)))
		require.NoError(t, err)
		require.Equal(t, narrow(name, string(source)), string(got), "%s is stale: run go generate", target(name))
	}
	generated, err := filepath.Glob("../z*256.go")
	require.NoError(t, err)
	for _, path := range generated {
		require.True(t, expected[filepath.Base(path)], "%s has no source", path)
	}
}

func TestNarrowHalvesEachWidthOnce(t *testing.T) {
	const source = "f512(Float32x16, Float32x8, Float64x8).FloorScaled(0)"
	require.Contains(t, narrow("a512.go", source), "f256(Float32x8, Float32x4, Float64x4).Floor()")
}
