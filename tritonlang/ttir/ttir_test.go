package ttir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrintIsIdentity: what Print writes parses, and prints as the same bytes.
func TestPrintIsIdentity(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.ttir")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		m, err := Parse(string(text), file)
		require.NoError(t, err)
		once := Print(m)
		again, err := Parse(once, "printed")
		require.NoError(t, err, once)
		require.Equal(t, once, Print(again))
	}
}
