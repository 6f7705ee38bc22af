package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	_ "github.com/paddle-mps/paddle-mps/core/op/table" // the rows
)

// An operator is its row and its kernels: what runs operators, and what tests them all, knows kinds of
// operators and data of rows, and none by its name.

// nameless are the packages and files that hold no operator's name as a string. Kernels have its number.
var nameless = []string{
	"core/graph", "core/runtime", "core/eager", "core/native", "core/tape", "core/execute", "core/trace", "core/device", "core/program", "capi", "capi/convert",
	"kernels", "kernels/host", "kernels/host/attention", "kernels/host/conv", "kernels/host/create", "kernels/host/elem", "kernels/host/engine",
	"kernels/host/fusion", "kernels/host/index", "kernels/host/order", "kernels/host/pool", "kernels/host/product", "kernels/host/rnn",
	"kernels/host/reduce", "kernels/host/scan", "kernels/host/sort", "kernels/host/window", "kernels/metal", "kernels/metal/gpu", "kernels/metal/graphs", "kernels/metal/msl", "kernels/metal/shaders",
	"python/paddle_mps/selftest/accuracy.py", "python/paddle_mps/selftest/aliases.py",
	"python/paddle_mps/selftest/conformance.py", "python/paddle_mps/selftest/domains.py",
	"python/paddle_mps/selftest/oracle.py", "python/paddle_mps/selftest/suite.py",
	"python/paddle_mps/selftest/tolerance.py", "tests/conformance/test_conformance.py",
}

// homonyms are words in them that are operators' names and mean something else there.
var homonyms = map[string]string{
	"capi/convert/args.go index":                    "an argument of a C function",
	"capi/fast.go index":                            "a C function",
	"kernels/metal/msl/array.go index":              "a file of shaders",
	"kernels/metal/msl/array.go nonzero":            "a file of shaders",
	"kernels/metal/msl/array.go randint":            "a file of shaders",
	"kernels/metal/msl/array.go uniform":            "a file of shaders",
	"kernels/metal/shaders/random.go normal":        "a function of a shader",
	"kernels/metal/shaders/random.go randint":       "a function of a shader",
	"python/paddle_mps/selftest/suite.py index":     "the kind of operators",
	"python/paddle_mps/selftest/aliases.py index":   "likewise",
	"capi/trace.go trace":                           "a function that becomes a program",
	"core/trace/histories.go trace":                 "likewise",
	"core/execute/constants.go fold":                "constants that are computed before a program runs",
	"core/trace/trace.go trace":                     "likewise",
	"python/paddle_mps/selftest/tolerance.py scale": "what roundings are relative to",
}

// TestNoCodeMatchesOperatorsByName fails on an operator's name in a file that has no business with it, and on a
// comparison of a Name with one anywhere in Go.
func TestNoCodeMatchesOperatorsByName(t *testing.T) {
	unused := map[string]bool{}
	for key := range homonyms {
		unused[key] = true
	}
	for _, p := range files(t) {
		if !within(filepath.Dir(p), nameless) && !within(p, nameless) || strings.HasSuffix(p, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, p))
		require.NoError(t, err)
		for _, name := range operatorsIn(string(text)) {
			key := p + " " + name
			delete(unused, key)
			if homonyms[key] == "" {
				t.Errorf("%s: has the name of the operator %q; want what is meant as data of its row", p, name)
			}
		}
	}
	require.Empty(t, unused, "the table of homonyms has rows for what is not there")
	set, all := sources(t)
	for _, file := range all {
		for _, at := range comparisons(file.File) {
			t.Errorf("%s: an operator is compared by name; want data of its row, or its ID", set.Position(at))
		}
	}
}

// TestOperatorsAreDecidedByTheirRows fails where what runs operators compares the number of one: what it wants to know is
// data of the row, or a rule that the row names.
func TestOperatorsAreDecidedByTheirRows(t *testing.T) {
	_, all := sources(t)
	for _, file := range all {
		folder := file.Package
		if strings.HasSuffix(file.Path, "_test.go") || !slices.Contains([]string{"core/graph", "core/runtime", "core/eager", "core/native", "core/tape", "core/execute", "core/trace", "core/program", "core/device", "capi"}, folder) {
			continue
		}
		require.Empty(t, numbersCompared(file.File), "%s compares numbers of operators", file.Path)
	}
}

// numbersCompared are the constants of package op, in order, with which something is compared, or that are listed for it.
func numbersCompared(file *ast.File) (names []string) {
	number := func(e ast.Expr) {
		if s, ok := e.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "ID") {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "op" {
				names = append(names, s.Sel.Name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				number(n.X)
				number(n.Y)
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				number(e)
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					e = pair.Key
				}
				number(e)
			}
		}
		return true
	})
	slices.Sort(names)
	return names
}

// literal finds strings of one word, in Go and in Python.
var literal = regexp.MustCompile(`["']([a-z_0-9]+)["']`)

// operatorsIn are the names of operators among the strings of a source.
func operatorsIn(text string) (names []string) {
	for line := range strings.Lines(text) {
		for _, found := range literal.FindAllStringSubmatch(line, -1) {
			if _, err := op.ByName(found[1]); err == nil {
				names = append(names, found[1])
			}
		}
	}
	return names
}

// comparisons are the places where something called Name is compared with the name of an operator.
func comparisons(file *ast.File) (at []token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (isName(n.X) && isOperator(n.Y) || isName(n.Y) && isOperator(n.X)) {
				at = append(at, n.Pos())
			}
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				for _, value := range c.(*ast.CaseClause).List {
					if isName(n.Tag) && isOperator(value) {
						at = append(at, value.Pos())
					}
				}
			}
		}
		return true
	})
	return at
}

func isName(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Name"
}

func isOperator(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return false
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return false
	}
	_, err = op.ByName(text)
	return err == nil
}

// TestOperatorRuleCanFail shows what is refused.
func TestOperatorRuleCanFail(t *testing.T) {
	require.Equal(t, []string{"sum", "softmax"}, operatorsIn(`if name in ("sum", 'softmax', "unary"):`))
	for text, want := range map[string]int{
		`if row.Name == "prod" {}`:                        1,
		`if "prod" != call.Row.Name {}`:                   1,
		`switch row.Name { case "any", "all": default: }`: 2,
		`if row.Name == name || test.name == "prod" {}`:   0,
		`if place.Name == "mps" {}`:                       0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc f() { "+text+" }", 0)
		require.NoError(t, err)
		require.Len(t, comparisons(file), want, text)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc f() { if x == op.IDSum {}; switch x { case op.IDMax: }; g(op.IDMin); _ = l{op.IDAll}; _ = m{op.IDAny: 1, 1: op.IDMin} }", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"IDAll", "IDAny", "IDMax", "IDSum"}, numbersCompared(file))
}
