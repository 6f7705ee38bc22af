package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// python writes an interpreter that has the package or has not, prints what it is asked for and ends.
func python(t *testing.T, has, status string) string {
	name := filepath.Join(t.TempDir(), "python")
	text := "#!/bin/sh\n[ \"$1\" != -c ] || exit " + has + "\necho \"$*\"\necho progress >&2\nexit " + status + "\n"
	require.NoError(t, os.WriteFile(name, []byte(text), 0o700))
	return name
}

func TestSelftestIsPythons(t *testing.T) {
	t.Setenv(pythonVariable, python(t, "0", "0"))
	_, out, _ := command(t, "collect-env")
	require.Equal(t, "-m paddle_mps.collect_env\n", out)
	for _, c := range []struct {
		has, status string
		code        int
		says        string
	}{
		{"0", "0", 0, "progress\n"},
		{"0", "1", 1, "progress\n"},
		{"0", "2", 2, "progress\n"},
		{"1", "0", 1, "want it installed (pip install), or the path of its interpreter in PADDLE_MPS_PYTHON"},
	} {
		t.Setenv(pythonVariable, python(t, c.has, c.status))
		code, out, complaint := command(t, "selftest", "--quick", "--section", "probes")
		require.Equal(t, c.code, code)
		require.Contains(t, complaint, c.says)
		if c.has == "0" {
			require.Equal(t, "-m paddle_mps.selftest --quick --section probes\n", out)
			require.Equal(t, "progress\n", complaint, "nothing is added")
		}
	}
}
