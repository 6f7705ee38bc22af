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

// TestAttributesKeepTheirTokens: what follows a value or block in an attribute is not printed as its end. Fuzzing found this.
func TestAttributesKeepTheirTokens(t *testing.T) {
	for _, value := range []string{"^bb1 16 : i32", "%0 0 : i32", "@f 1", "#a b"} {
		m, err := Parse("module { tt.func public @f(%p: i32 {tt.x = "+value+"}) { tt.return } }", "x.ttir")
		require.NoError(t, err)
		once := Print(m)
		require.Contains(t, once, value)
		again, err := Parse(once, "printed")
		require.NoError(t, err, once)
		require.Equal(t, once, Print(again))
	}
}
