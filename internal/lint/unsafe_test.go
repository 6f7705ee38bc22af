package lint

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unsafeIn are the packages that handle memory which Go does not manage. core/device and
// the packages of the runtime only carry addresses from the heaps of alloc to the kernels. core/profile imports it for a linkname.
var unsafeIn = []string{
	"capi", "capi/convert", "objc/...", "alloc", "kernels/...", "core/device", "core/runtime", "core/profile",
	"core/execute", "core/native", "core/trace",
	"internal/fakemetal", "bench/metal", "examples/smalldevice",
}

// TestUnsafeStaysInItsPackages fails on an import of unsafe where addresses have no business.
func TestUnsafeStaysInItsPackages(t *testing.T) {
	_, all := sources(t)
	for _, file := range all {
		for _, imported := range file.imports() {
			if imported == "unsafe" && !file.test() && !file.protobuf() {
				require.Truef(t, within(file.Package, unsafeIn), "%s imports unsafe; want it only in %v", file.Path, unsafeIn)
			}
		}
	}
}

// TestUnsafeSaysWhyItIsSafe fails on a declaration that turns addresses into something else
// without a `SAFETY:` comment in it or on it.
func TestUnsafeSaysWhyItIsSafe(t *testing.T) {
	set, all := sources(t)
	for _, file := range all {
		if file.test() || file.protobuf() {
			continue
		}
		for _, decl := range file.Decls {
			if use := conversion(decl); use.IsValid() && !explained(file, decl) {
				t.Errorf("%s: use of unsafe without a SAFETY: comment in its declaration", set.Position(use))
			}
		}
	}
}

// conversion finds the first call of unsafe that reinterprets memory; Sizeof and its like are
// constants, and the type unsafe.Pointer alone does nothing.
func conversion(decl ast.Decl) (at token.Pos) {
	ast.Inspect(decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || at.IsValid() {
			return !at.IsValid()
		}
		if fun, ok := call.Fun.(*ast.SelectorExpr); ok {
			pkg, isName := fun.X.(*ast.Ident)
			if isName && pkg.Name == "unsafe" && !constant(fun.Sel.Name) {
				at = call.Pos()
			}
		}
		return true
	})
	return at
}

func constant(name string) bool { return name == "Sizeof" || name == "Alignof" || name == "Offsetof" }

// explained looks for SAFETY: from the declaration's doc comment to its end.
func explained(file *source, decl ast.Decl) bool {
	start := decl.Pos()
	if doc := docOf(decl); doc != nil {
		start = doc.Pos()
	}
	for _, group := range file.Comments {
		if group.Pos() >= start && group.End() <= decl.End() && strings.Contains(group.Text(), "SAFETY:") {
			return true
		}
	}
	return false
}

func docOf(decl ast.Decl) *ast.CommentGroup {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

// TestUnsafeRuleCanFail shows that the rule sees a bare conversion.
func TestUnsafeRuleCanFail(t *testing.T) {
	file := parse(t, "package p\nimport \"unsafe\"\nfunc f(p *int) *byte { return (*byte)(unsafe.Pointer(p)) }\n"+
		"// g is fine. SAFETY: p lives on.\nfunc g(p *int) *byte { return (*byte)(unsafe.Pointer(p)) }\n")
	require.True(t, conversion(file.Decls[1]).IsValid())
	require.False(t, explained(file, file.Decls[1]))
	require.True(t, explained(file, file.Decls[2]))
}
