package lint

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// machinePath finds absolute paths that exist on one machine only.
var machinePath = regexp.MustCompile(`(^|[\s"'` + "`" + `(=:])/(work|root|tmp|home|Users|opt)/[\w.]`)

// TestNoMachinePaths fails on a path of a developer's machine in a text file of the tree.
func TestNoMachinePaths(t *testing.T) {
	for _, p := range files(t) {
		data, err := os.ReadFile(filepath.Join(root, p))
		require.NoError(t, err)
		if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
			continue // not text
		}
		for n, line := range bytes.Split(data, []byte("\n")) {
			if found := machinePath.Find(line); found != nil {
				t.Errorf("%s:%d: %q is a path of one machine", p, n+1, found)
			}
		}
	}
}

// TestMachinePathRuleCanFail shows what counts as a path of one machine.
func TestMachinePathRuleCanFail(t *testing.T) {
	require.True(t, machinePath.MatchString(`open("`+`/tmp`+`/x")`))
	require.True(t, machinePath.MatchString(`cd `+`/home`+`/me`))
	require.False(t, machinePath.MatchString("https://example.org/home/x and a/tmp/b"))
}

// TestExportedNamesAreDocumented fails on an exported identifier without a doc comment. In a group
// of constants, variables or types the comment of the group counts; the values of an enumeration
// may leave it to their type.
func TestExportedNamesAreDocumented(t *testing.T) {
	set, all := sources(t)
	for _, file := range all {
		if file.test() || file.protobuf() {
			continue
		}
		for _, name := range undocumented(file.File) {
			t.Errorf("%s: exported %s has no doc comment", set.Position(name.Pos()), name.Name)
		}
	}
}

func undocumented(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !obvious(d) {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			if d.Doc == nil && !enumeration(d) {
				names = append(names, undocumentedSpecs(d)...)
			}
		}
	}
	return names
}

// exportedReceiver reports whether a function is no method, or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	kind := d.Recv.List[0].Type
	for {
		switch k := kind.(type) {
		case *ast.StarExpr:
			kind = k.X
		case *ast.IndexExpr:
			kind = k.X
		case *ast.IndexListExpr:
			kind = k.X
		case *ast.Ident:
			return k.IsExported()
		default:
			return false
		}
	}
}

// obvious are methods whose interface documents them.
func obvious(d *ast.FuncDecl) bool {
	switch d.Name.Name {
	case "Error", "String", "Unwrap":
		return d.Recv != nil
	}
	return false
}

// enumeration reports whether a declaration is a group of constants of one named type.
func enumeration(d *ast.GenDecl) bool {
	if d.Tok != token.CONST || !d.Lparen.IsValid() || len(d.Specs) == 0 {
		return false
	}
	first, ok := d.Specs[0].(*ast.ValueSpec)
	return ok && first.Type != nil
}

func undocumentedSpecs(d *ast.GenDecl) []*ast.Ident {
	var names []*ast.Ident
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
				names = append(names, s.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if s.Doc == nil && s.Comment == nil && name.IsExported() {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// TestDocRuleCanFail shows what counts as documented.
func TestDocRuleCanFail(t *testing.T) {
	file := parse(t, "package p\nfunc Bare() {}\n// Said is said.\nfunc Said() {}\ntype T struct{}\n"+
		"func (T) M() {}\nfunc (t T) Error() string { return \"\" }\n// A group.\nconst ( A = 1; B = 2 )\nvar C, D = 1, 2 // both\nfunc (u) N() {}\n")
	var names []string
	for _, name := range undocumented(file.File) {
		names = append(names, name.Name)
	}
	require.Equal(t, []string{"Bare", "T", "M"}, names)
}

func parse(t *testing.T, text string) *source {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.ParseComments)
	require.NoError(t, err)
	return &source{File: file, Path: "p.go", Package: "p"}
}
