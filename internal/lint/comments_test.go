package lint

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/codestat"
)

// enough is the share of comment lines, in percent of the lines that are not blank, that every
// package has at least. A contract before each name and a reason where one is needed come to that.
const enough = 15

// TestPackagesAreCommented fails on a package with too few comments.
func TestPackagesAreCommented(t *testing.T) {
	packages := codestat.ByPackage(measured(t))
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if wrong := commented(name, codestat.Share(packages[name])); wrong != "" {
			t.Error(wrong)
		}
	}
}

// commented says what is wrong with the share of a package; empty if nothing is.
func commented(name string, share float64) string {
	if share < enough {
		return fmt.Sprintf("%s: %.2f %% of its lines are comments; want %d %% or more", name, share, enough)
	}
	return ""
}

// TestCommentRuleCanFail shows what is refused.
func TestCommentRuleCanFail(t *testing.T) {
	require.Contains(t, commented("new", 14.9), "new: 14.90 %")
	require.Empty(t, commented("new", 15))
}

// measured are the hand-written files of the tree that are no tests.
func measured(t *testing.T) (all []*codestat.File) {
	t.Helper()
	for _, p := range files(t) {
		text, err := os.ReadFile(filepath.Join(root, p))
		require.NoError(t, err)
		if !codestat.Measured(p, text) {
			continue
		}
		file, err := codestat.Measure(p, text)
		require.NoError(t, err)
		all = append(all, file)
	}
	return all
}
