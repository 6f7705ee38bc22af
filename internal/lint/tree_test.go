package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/paddle-mps/paddle-mps"
	root   = "../.." // tests run in the folder of their package
)

// source is one parsed Go file; Path and Package are slash-separated and relative to the module.
type source struct {
	*ast.File
	Path, Package string
}

func (s *source) test() bool { return strings.HasSuffix(s.Path, "_test.go") }

// imports lists the import paths of the file.
func (s *source) imports() []string {
	var paths []string
	for _, spec := range s.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// skipped are folders that hold nothing of the project's own: environments, build outputs.
func skipped(name string) bool {
	switch name {
	case ".ci", ".github", ".":
		return false
	case "build", "dist", "out", "__pycache__":
		return true
	}
	return strings.HasPrefix(name, ".")
}

// files lists the paths of the tree that a commit would hold.
func files(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(d.Name()):
			return fs.SkipDir
		case p == ".git": // a file in a working tree made by `git worktree`
		case d.Type().IsRegular():
			paths = append(paths, p)
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

// sources parses every Go file of the module, whatever its build tags.
func sources(t *testing.T) (*token.FileSet, []*source) {
	t.Helper()
	set := token.NewFileSet()
	var all []*source
	for _, p := range files(t) {
		if path.Ext(p) != ".go" {
			continue
		}
		file, err := parser.ParseFile(set, filepath.Join(root, p), nil, parser.ParseComments)
		require.NoError(t, err)
		all = append(all, &source{File: file, Path: p, Package: path.Dir(p)})
	}
	return set, all
}

// within reports whether a package is one of the folders, or below one that ends in "/...".
func within(pkg string, folders []string) bool {
	for _, folder := range folders {
		base, tree := strings.CutSuffix(folder, "/...")
		if pkg == base || tree && strings.HasPrefix(pkg, base+"/") {
			return true
		}
	}
	return false
}
