package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree has one test of each kind; those that belong to the operators say so in their names.
var tree = map[string]string{
	"kernels/a/a_test.go": `package a
func TestTableYes(t *testing.T) { for range op.Table {} }
func TestThroughHelperYes(t *testing.T) { rows(); again() }
func TestNamedYes(t *testing.T) { for _, r := range list { t.Run(r.Name+"/x", f) } }
func TestStringYes(t *testing.T) { t.Run(f.String(), f) }
func TestLiteralNo(t *testing.T) { t.Run("Name", f) }
func TestOtherTableNo(t *testing.T) { _ = ops.Table; t.Log(x.Name) }
func TestHelperNamesNo(t *testing.T) { everywhere(t) }
func again() { again() }
func everywhere(t *testing.T) { t.Run(place.String(), f) }
`,
	"kernels/a/rows_test.go":   "package a\nfunc rows() { _ = helper }\nvar helper2 = 1\nfunc helper() { _ = op.Table }\n",
	"kernels/b/b_test.go":      "package b\nfunc TestNo(t *testing.T) { rows() }\n",
	"kernels/b/b.go":           "package b\nfunc rows() { _ = op.Table }\n",
	"build/old/c/c_test.go":    "package c\nfunc TestTableNo(t *testing.T) { _ = op.Table }\n",
	".hidden/d/d_test.go":      "package d\nfunc TestTableNo(t *testing.T) { _ = op.Table }\n",
	"core/op/gen/gen_test.go":  "package main\nfunc TestGenYes(t *testing.T) { write(op.Table) }\n",
	"core/op/gen/no_go_at.txt": "func TestTextNo() { op.Table }",
}

func TestSearch(t *testing.T) {
	root := t.TempDir()
	for path, text := range tree {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	found, err := search(root)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{
		filepath.Join(root, "kernels/a"):   {"TestNamedYes", "TestStringYes", "TestTableYes", "TestThroughHelperYes"},
		filepath.Join(root, "core/op/gen"): {"TestGenYes"},
	}, found)
}

// The pattern picks whole names: of tests, and of the operator's subtests.
func TestPattern(t *testing.T) {
	test, subtest, _ := strings.Cut(pattern(map[string][]string{"x": {"TestB"}, "y": {"TestA", "TestB"}}, "exp"), "/")
	require.Equal(t, "^(TestA|TestB)$", test)
	for name, want := range map[string]bool{"exp": true, "expm1": false, "sexp": false} {
		require.Equal(t, want, regexp.MustCompile(subtest).MatchString(name), name)
	}
}

// The tests of the tree are found: without one of them, an operator could lack a kernel and nothing would say so.
func TestTree(t *testing.T) {
	found, err := search("../..")
	require.NoError(t, err)
	var all []string
	for _, tests := range found {
		all = append(all, tests...)
	}
	for _, want := range []string{"TestEveryRowHasKernels", "TestGeneratedFilesAreFresh", "TestUnaryWithinTwoUlp"} {
		require.Contains(t, all, want)
	}
}
