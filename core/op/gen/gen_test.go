package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// TestGeneratedFilesAreFresh fails if a committed file differs from what the table gives.
func TestGeneratedFilesAreFresh(t *testing.T) {
	for name, text := range outputs {
		committed, err := os.ReadFile(filepath.Join("../../..", name))
		require.NoError(t, err)
		require.Truef(t, string(committed) == text(op.Table), "%s is stale; run `go generate ./core/op`", name)
	}
}

// TestNumbersNeverChange fails if a number of the committed list means something else now.
func TestNumbersNeverChange(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join("../../..", locked))
	require.NoError(t, err)
	require.NoError(t, keepsNumbers(string(committed), op.Table))
}

// TestLockRefusesChanges shows that renaming, renumbering and removing are refused.
func TestLockRefusesChanges(t *testing.T) {
	rows := []op.Row{{ID: 1, Name: "add"}, {ID: 2, Name: "subtract"}}
	require.NoError(t, keepsNumbers("1 add\n2 subtract\n", rows))
	require.NoError(t, keepsNumbers("1 add\n", rows), "rows may be appended")
	for _, list := range []string{"1 plus\n", "2 add\n", "3 multiply\n", "add 1\n"} {
		require.Error(t, keepsNumbers(list, rows), list)
	}
}

// TestEveryOperatorIsListed looks for each row in the headers, the manual and, if it is public and
// not written by hand, among the wrappers and the stubs.
func TestEveryOperatorIsListed(t *testing.T) {
	head, cxx, python, types, manual := header(op.Table), functions(op.Table), wrappers(op.Table), stubs(op.Table), manual(op.Table)
	for i := range op.Table {
		row := &op.Table[i]
		require.Contains(t, head, "#define PMPS_OP_"+strings.ToUpper(row.Name)+" ")
		require.Contains(t, cxx, " "+row.Name+"(")
		require.Contains(t, manual, fmt.Sprintf("\n| %d | ", row.ID))
		if generated(row) {
			require.Contains(t, python, "\ndef "+row.Name+"(")
			require.Contains(t, types, "\ndef "+row.Name+"(")
			require.NotEmptyf(t, shapes[row.Kind], "[%s] documentation of the result", row.Name)
		}
	}
}
