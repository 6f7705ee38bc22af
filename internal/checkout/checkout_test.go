package checkout

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// From any folder inside, the root is that of this file's package.
func TestRoot(t *testing.T) {
	want, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.Equal(t, want, Root())
	t.Chdir("../lint")
	require.Equal(t, want, Root())
	t.Chdir(t.TempDir())
	require.Panics(t, func() { Root() })
}
