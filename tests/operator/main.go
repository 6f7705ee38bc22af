// Command operator prints what makes `go test` run the tests of one operator: a pattern for -run, then the
// packages.
//
//	operator NAME   from the top of the checkout
//
// A test belongs to the operators if it reads the operator table, itself or through a function of its
// package's tests, or if it names subtests after what it goes over: t.Run(row.Name, ...) or
// t.Run(f.String(), ...), also as the beginning of a longer path. Where a test has subtests, those of the
// operator run. The convention is all there is: no test is listed by hand.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "operator: want the name of an operator")
		os.Exit(2)
	}
	found, err := search(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
	fmt.Println(pattern(found, os.Args[1]))
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		fmt.Println("./" + filepath.ToSlash(folder))
	}
}

// pattern is for all packages together, because go test takes but one: a test of that name in another
// package does no harm.
func pattern(found map[string][]string, operator string) string {
	var tests []string
	for _, names := range found {
		tests = append(tests, names...)
	}
	slices.Sort(tests)
	return fmt.Sprintf("^(%s)$/^%s$", strings.Join(slices.Compact(tests), "|"), regexp.QuoteMeta(operator))
}

// search lists the tests that belong to the operators, by folder. Hidden folders and build outputs hold
// none of ours.
func search(root string) (map[string][]string, error) {
	folders := map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "build"):
			return fs.SkipDir // build may hold trees of other revisions
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		folder := filepath.Dir(path)
		folders[folder] = append(folders[folder], file)
		return err
	})
	found := map[string][]string{}
	for folder, files := range folders {
		if tests := testsOf(files); len(tests) > 0 {
			found[folder] = tests
		}
	}
	return found, err
}

// testsOf picks the tests of one package that belong to the operators. A helper that names subtests does not
// make its callers go over operators: most name them after devices or widths.
func testsOf(files []*ast.File) (tests []string) {
	calls, reads, named := map[string][]string{}, map[string]bool{}, map[string]bool{}
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				name := f.Name.Name
				calls[name], reads[name], named[name] = mentions(f.Body)
			}
		}
	}
	for name := range calls {
		if strings.HasPrefix(name, "Test") && (named[name] || reaches(name, calls, reads, map[string]bool{})) {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests
}

// reaches reports whether a function, or one that it mentions, reads the table.
func reaches(name string, calls map[string][]string, reads, seen map[string]bool) bool {
	if reads[name] {
		return true
	}
	seen[name] = true
	return slices.ContainsFunc(calls[name], func(next string) bool {
		return !seen[next] && reaches(next, calls, reads, seen)
	})
}

// mentions lists the plain names in a body, and says whether it reads the table and whether it names
// subtests after something. Methods are left out: a name alone does not tell whose method it is.
func mentions(body *ast.BlockStmt) (names []string, reads, named bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			reads = reads || isTable(n)
		case *ast.CallExpr:
			named = named || isNamed(n)
		case *ast.Ident:
			names = append(names, n.Name)
		}
		return true
	})
	return names, reads, named
}

// isTable recognizes op.Table. The package has no other name anywhere, and files are read without types, so
// the name decides.
func isTable(s *ast.SelectorExpr) bool {
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "op" && s.Sel.Name == "Table"
}

// isNamed recognizes t.Run with a name that comes from a Name or a String of something. Of dtypes too: no
// operator is called like one, so none of those subtests runs.
func isNamed(call *ast.CallExpr) (named bool) {
	run, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || run.Sel.Name != "Run" || len(call.Args) != 2 {
		return false
	}
	ast.Inspect(call.Args[0], func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			named = named || s.Sel.Name == "Name" || s.Sel.Name == "String"
		}
		return true
	})
	return named
}
