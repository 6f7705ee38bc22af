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

// TestPackagesAreSmall fails for a package with more files than [mostFiles].
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
		require.LessOrEqualf(t, count, mostFiles, "%s has %d files; want at most %d, or two packages", folder, count, mostFiles)
	}
}
