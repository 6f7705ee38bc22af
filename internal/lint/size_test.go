package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/codestat"
)

// mostFiles is how many hand-written files a package has, without tests. One that has more holds two ideas: divide it by these, with
// arrows in one direction, and describe both in docs/tour.md.
const mostFiles = 25

// larger are packages that have more, with how many.
var larger = map[string]int{
	"capi": 33, // what cgo exports has to be in package main
}

// TestPackagesAreSmall fails for a package with more files than [mostFiles], and for an exception that is no longer one.
func TestPackagesAreSmall(t *testing.T) {
	counts := map[string]int{}
	for _, p := range files(t) {
		if filepath.Ext(p) != ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, p))
		require.NoError(t, err)
		if codestat.Measured(p, text) {
			counts[filepath.ToSlash(filepath.Dir(p))]++
		}
	}
	require.Greater(t, len(counts), 50)
	for folder, count := range counts {
		most := max(mostFiles, larger[folder])
		require.LessOrEqualf(t, count, most, "%s has %d files; want at most %d, or two packages", folder, count, most)
	}
	for folder, count := range larger {
		require.Equalf(t, count, counts[folder], "%s has another number of files; want it in the table of exceptions, or none where it has at most %d", folder, mostFiles)
	}
}
