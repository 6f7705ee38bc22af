package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers says what a package may import of ours; the first row that matches counts. core/status,
// core/jsontext and place are open to everyone and not repeated. A package that no row matches fails: a new
// folder gets its row here.
var layers = []struct {
	packages, may []string
}{
	{[]string{"place", "core/status", "core/slot", "core/jsontext", "core/mapped", "core/profile", "core/text"}, nil},
	{[]string{"core/dtype", "core/shape"}, []string{"core/dtype"}},
	{[]string{"core/op"}, []string{"core/dtype", "core/shape"}},
	{[]string{"core/op/rows", "core/op/describe"}, []string{"core/dtype", "core/shape", "core/op"}},
	{[]string{"core/op/formula"}, []string{"core/dtype", "core/shape", "core/op", "core/op/rows"}},
	{[]string{"core/op/table"}, []string{"core/op", "core/op/rows", "core/op/formula"}},
	{[]string{"core/device"}, []string{"core/dtype", "core/shape", "core/op", "core/op/table"}},
	{[]string{"core/graph"}, []string{"core/dtype", "core/shape", "core/op", "core/device", "core/text"}},
	{[]string{"core/graph/graphtest"}, []string{"core/dtype", "core/shape", "core/op", "core/graph"}},
	{[]string{"onnx/file"}, []string{"core/dtype", "core/shape", "core/op", "core/mapped"}},
	{[]string{"onnx/build"}, []string{"core/dtype", "core/shape", "core/op", "core/graph", "core/mapped", "core/text", "onnx/file"}},
	{[]string{"onnx/ops"}, []string{"core/dtype", "core/shape", "core/op", "core/graph", "core/text", "onnx/build", "onnx/file"}},
	{[]string{"onnx"}, []string{"onnx/build", "onnx/file", "onnx/ops"}},
	{[]string{"alloc", "core/program"}, []string{"core/device"}},
	{[]string{"core/runtime"}, runtimeBase},
	{[]string{"core/eager", "core/native", "core/snapshot"}, append([]string{"core/runtime"}, runtimeBase...)},
	{[]string{"core/tape", "core/execute"}, append([]string{"core/runtime", "core/eager"}, runtimeBase...)},
	{[]string{"core/trace"}, append([]string{"core/runtime", "core/eager", "core/tape", "core/execute"}, runtimeBase...)},
	{[]string{"core/holdings"}, append([]string{"core/runtime", "core/execute", "core/trace"}, runtimeBase...)},
	{[]string{"objc", "objc/gen"}, nil},
	{[]string{"objc/mtl", "objc/mpsgraph"}, []string{"objc", "objc/mtl"}},
	{[]string{"kernels/metal/msl"}, []string{"core/dtype", "core/op", "core/op/table"}},
	{[]string{"kernels/metal/store"}, []string{"core/device"}},
	{[]string{"kernels/metal/gpu"}, []string{
		"core/dtype", "core/shape", "core/op", "core/device", "kernels", "kernels/metal/store", "objc/...",
	}},
	{[]string{"kernels/metal/graphs"}, []string{
		"core/dtype", "core/shape", "core/op", "core/device", "kernels", "kernels/metal/gpu", "objc", "objc/mpsgraph", "objc/mtl",
	}},
	{[]string{"kernels/metal/shaders"}, []string{
		"core/dtype", "core/shape", "core/op", "core/device", "kernels", "kernels/metal/gpu", "kernels/metal/msl", "objc", "objc/mtl",
	}},
	{[]string{"kernels/metal/metaltest"}, []string{
		"core/dtype", "core/shape", "core/op", "core/op/describe", "core/device", "kernels/host", "kernels/metal/gpu", "internal/fakemetal",
	}},
	{[]string{"kernels/metal"}, []string{
		"core/dtype", "core/shape", "core/op", "core/device", "core/profile", "kernels", "kernels/metal/...", "objc/...",
	}},
	{[]string{"kernels/host/vec", "kernels/host/vec/narrow", "kernels/host/vec/neon"}, nil},
	{[]string{"kernels/host/vec/vectest"}, []string{"kernels/host/vec"}},
	{[]string{"kernels/host/vec/arith", "kernels/host/vec/gemm", "kernels/host/vec/maths", "kernels/host/vec/random", "kernels/host/vec/rearrange", "kernels/host/vec/sorting"}, vecBase},
	{[]string{"kernels/host/vec/float16"}, append([]string{"core/dtype"}, vecBase...)},
	{[]string{"kernels/host/vec/nontemporal", "kernels/host/vec/reduction"}, append([]string{"kernels/host/vec/arith"}, vecBase...)},
	{[]string{"kernels/host/vec/rownorm"}, append([]string{"kernels/host/vec/maths", "kernels/host/vec/reduction"}, vecBase...)},
	{[]string{"kernels/host/vec/stencil", "kernels/host/vec/winograd"}, append([]string{"kernels/host/vec/gemm"}, vecBase...)},
	{[]string{"kernels/host/vec/lowprec"}, append([]string{"kernels/host/vec/float16", "kernels/host/vec/gemm"}, vecBase...)},
	{[]string{"kernels/host/vec/dots"}, append([]string{"kernels/host/vec/gemm", "kernels/host/vec/rearrange"}, vecBase...)},
	{[]string{"kernels/host/engine"}, append([]string{"core/dtype", "core/shape", "core/op", "core/device", "kernels"}, vecRooms...)},
	{[]string{"kernels/host/elem", "kernels/host/attention", "kernels/host/index", "kernels/host/order"}, append([]string{"kernels/host/engine"}, hostBase...)},
	{[]string{"kernels/host/create"}, append([]string{"kernels/host/engine", "kernels/host/elem"}, hostBase...)},
	{[]string{"kernels/host/reduce", "kernels/host/sort"}, append([]string{"kernels/host/engine", "kernels/host/elem", "kernels/host/order"}, hostBase...)},
	{[]string{"kernels/host/window"}, append([]string{"kernels/host/engine"}, hostBase...)},
	{[]string{"kernels/host/scan"}, append([]string{"kernels/host/engine", "kernels/host/elem", "kernels/host/reduce"}, hostBase...)},
	{[]string{"kernels/host/fusion"}, append([]string{"kernels/host/engine", "kernels/host/elem", "kernels/host/reduce"}, hostBase...)},
	{[]string{"kernels/host/product"}, append([]string{"kernels/host/engine", "kernels/host/elem", "kernels/host/fusion", "kernels/host/blas"}, hostBase...)},
	{[]string{"kernels/host/rnn"}, append([]string{"kernels/host/engine", "kernels/host/elem", "kernels/host/product"}, hostBase...)},
	{[]string{"kernels/host/pool"}, append([]string{"kernels/host/engine", "kernels/host/elem", "kernels/host/window"}, hostBase...)},
	{[]string{"kernels/host/conv"}, append([]string{"kernels/host/engine", "kernels/host/elem", "kernels/host/fusion", "kernels/host/product", "kernels/host/window"}, hostBase...)},
	{[]string{"kernels", "kernels/host", "kernels/host/blas"}, []string{
		"alloc", "core/dtype", "core/shape", "core/op", "core/device", "core/profile", "kernels/...",
	}},
	{[]string{"tritonlang/layout", "tritonlang/ttir", "tritonlang/report"}, nil},
	{[]string{"tritonlang/clean", "tritonlang/tree"}, []string{"tritonlang/ttir"}},
	{[]string{"tritonlang/plan"}, []string{"tritonlang/layout", "tritonlang/ttir"}},
	{[]string{"tritonlang/emit"}, []string{"tritonlang/layout", "tritonlang/plan", "tritonlang/report", "tritonlang/tree", "tritonlang/ttir"}},
	{[]string{"tritonlang", "tritonlang/..."}, []string{"tritonlang/..."}},
	{[]string{"serve/modelconfig", "serve/batching", "serve/statistics"}, nil},
	{[]string{"serve/tensors"}, []string{"core/dtype"}},
	{[]string{"serve/inference"}, []string{"serve/tensors"}},
	{[]string{"serve"}, []string{
		"core/dtype", "core/shape", "core/op", "core/graph", "core/runtime", "core/execute", "onnx", "serve/...",
	}},
	{[]string{"serve/backend"}, []string{"core/...", "onnx", "serve/tensors"}},
	{[]string{"capi/convert"}, []string{"core/dtype", "core/shape", "core/slot", "core/op", "core/graph", "core/runtime", "core/native"}},
	{[]string{"capi"}, []string{"capi/convert", "core/...", "kernels/...", "alloc", "onnx", "serve/backend", "tritonlang", "tritonlang/report", "internal/..."}},
	{[]string{"python/paddle_mps/memory_viz"}, nil},
	{[]string{"cmd/paddle-mps/internal/kserve"}, []string{"serve/modelconfig"}},
	{[]string{"cmd/paddle-mps/internal/..."}, []string{"core/runtime", "internal/environment", "serve/...", "cmd/paddle-mps/internal/..."}},
	{[]string{"cmd/..."}, []string{
		"core/...", "kernels/...", "alloc", "internal/...", "python/paddle_mps/memory_viz", // the page
		"cmd/paddle-mps/internal/service", "tritonlang", "tritonlang/...",
	}},
	{[]string{"internal/environment"}, []string{"core/...", "kernels/...", "alloc"}},
	{[]string{"internal/fakemetal"}, []string{"objc", "internal/checkout"}},
	{[]string{"internal/fakeaccelerate"}, []string{"internal/checkout"}},
	{[]string{"core/op/gen", "core/op/internal/...", "internal/..."}, []string{"core/..."}},
	{[]string{"bench/alloc"}, []string{"alloc", "core/device"}},
	{[]string{"bench/cache"}, []string{"core/program", "core/device", "core/dtype", "core/op"}},
	{[]string{"bench/code"}, []string{"internal/codestat"}},
	{[]string{"bench/pair"}, nil},
	{[]string{"bench/metal"}, []string{"core/...", "kernels/...", "place", "internal/..."}},
	{[]string{"tests/msl"}, []string{"tritonlang", "core/dtype", "core/shape", "core/op", "core/device", "kernels", "kernels/metal/..."}},
	{[]string{"examples/smalldevice"}, []string{"core/dtype", "core/op", "core/device"}},
	{[]string{"examples/...", "tests/..."}, nil},
}

// runtimeBase is what the packages of the runtime may import beside those below them.
var runtimeBase = []string{
	"alloc", "core/dtype", "core/shape", "core/slot", "core/mapped", "core/profile", "core/text", "core/op", "core/device", "core/graph", "core/program",
}

// hostBase is what the packages of kernels of the host device may import beside those below them.
var hostBase = append([]string{"core/dtype", "core/shape", "core/op", "core/device", "kernels"}, vecRooms...)

// vecBase is what each room of loops may import beside the rooms below it, and vecRooms are the rooms, of which kernels use any.
var (
	vecBase  = []string{"kernels/host/vec", "kernels/host/vec/neon"}
	vecRooms = []string{
		"kernels/host/vec", "kernels/host/vec/arith", "kernels/host/vec/dots", "kernels/host/vec/float16", "kernels/host/vec/gemm",
		"kernels/host/vec/lowprec", "kernels/host/vec/maths", "kernels/host/vec/nontemporal", "kernels/host/vec/random", "kernels/host/vec/rearrange",
		"kernels/host/vec/reduction", "kernels/host/vec/rownorm", "kernels/host/vec/sorting", "kernels/host/vec/stencil", "kernels/host/vec/winograd",
	}
)

// thirdParty says which packages may import a module that is not ours; nil: only tests.
var thirdParty = map[string][]string{
	"github.com/ebitengine/purego": {"objc", "kernels/host/blas", "cmd/paddle-mps/internal/sharedmemory"},
	"github.com/stretchr/testify":  {"kernels/metal/metaltest", "kernels/host/vec/vectest"},
	"google.golang.org/protobuf": {
		"onnx/file", "serve", "serve/modelconfig", "cmd/paddle-mps/internal/kserve", "cmd/paddle-mps/internal/grpcapi", "internal/protogen", "internal/onnxtest",
	},
	"google.golang.org/grpc":              {"cmd/paddle-mps/internal/kserve", "cmd/paddle-mps/internal/load", "cmd/paddle-mps/internal/grpcapi", "cmd/paddle-mps/internal/service"},
	"github.com/bufbuild/protocompile":    {"internal/protogen"},
	"github.com/prometheus/client_golang": {"cmd/paddle-mps/internal/metrics"},
	"go.opentelemetry.io":                 {"cmd/paddle-mps/internal/traces"},
	"golang.org/x/net":                    nil,
	"k8s.io/api":                          nil,
	"sigs.k8s.io/yaml":                    nil,
}

// notInLibrary are packages that the shared library must not link: servers belong to cmd.
var notInLibrary = []string{
	"net/http", "google.golang.org/grpc", "github.com/prometheus", "go.opentelemetry.io", module + "/cmd",
}

// TestLibraryLinksNoServer fails where the shared library links a protocol, metrics or anything else of a server.
func TestLibraryLinksNoServer(t *testing.T) {
	linked := dependencies(t, "./capi", "{{.ImportPath}}")
	require.NotEmpty(t, linked)
	for _, path := range linked {
		for _, refused := range notInLibrary {
			require.Falsef(t, path == refused || strings.HasPrefix(path, refused+"/"), "the shared library links %s", path)
		}
	}
	require.Contains(t, dependencies(t, "./cmd/paddle-mps", "{{.ImportPath}}"), "net/http", "the test can fail")
}

// TestTableIsFilled fails for a package that uses core/op and would find the table of operators empty, because it does not depend on
// core/op/table, which fills it. The packages of rows themselves are below that, and onnx/file has types and constants alone.
func TestTableIsFilled(t *testing.T) {
	const op = module + "/core/op"
	without := []string{op, op + "/rows", op + "/formula", op + "/describe", module + "/onnx/file"}
	list := exec.Command("go", "list", "-test", "-f", `{{.ImportPath}},{{join .Deps ","}}`, "./...")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	checked := 0
	for line := range strings.Lines(string(out)) {
		deps := strings.Split(strings.TrimSpace(line), ",")
		path, _, _ := strings.Cut(deps[0], " ") // a package built for a test has that behind its path
		if slices.Contains(without, strings.TrimSuffix(strings.TrimSuffix(path, ".test"), "_test")) || !slices.Contains(deps[1:], op) {
			continue
		}
		require.Truef(t, slices.Contains(deps, op+"/table"), "%s uses core/op; want an import of core/op/table, or of a package that has it", deps[0])
		checked++
	}
	require.Greater(t, checked, 40, "the test can fail")
}

// dependencies are what a package is linked with, each by a template of go list.
func dependencies(t *testing.T, pkg, template string) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", template, pkg)
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// TestImportsGoOneWay fails on an import that the layering forbids. Tests may look anywhere but
// into capi, which no package imports.
func TestImportsGoOneWay(t *testing.T) {
	_, all := sources(t)
	for _, file := range all {
		may, known := allowed(file.Package)
		require.Truef(t, known, "%s: package has no row in the table of layers", file.Path)
		for _, imported := range file.imports() {
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			switch {
			case !isOurs:
				require.NoError(t, foreign(file, imported))
			case file.test():
				require.NotEqualf(t, "capi", ours, "%s imports capi; want no import of it", file.Path)
			default:
				require.Truef(t, within(ours, may), "%s imports %s; want one of %v", file.Path, ours, may)
			}
		}
	}
}

func allowed(pkg string) (may []string, known bool) {
	for _, layer := range layers {
		if within(pkg, layer.packages) {
			return append([]string{"core/status", "core/jsontext", "place"}, layer.may...), true
		}
	}
	return nil, false
}

// foreign refuses what is neither standard library nor in the table of third parties.
func foreign(file *source, imported string) error {
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return nil
	}
	for name, packages := range thirdParty {
		if imported != name && !strings.HasPrefix(imported, name+"/") {
			continue
		}
		if file.test() || within(file.Package, packages) {
			return nil
		}
	}
	return &importError{file.Path, imported}
}

type importError struct{ path, imported string }

func (e *importError) Error() string {
	return e.path + " imports " + e.imported + "; want a module that the table of third parties allows there"
}

// TestRulesCanFail shows that the table refuses what it should.
func TestRulesCanFail(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"core/runtime", "alloc", true},
		{"core/runtime", "core/status", true},
		{"core/runtime", "core/eager", false},
		{"core/eager", "core/trace", false},
		{"core/execute", "core/tape", false},
		{"core/trace", "core/tape", true},
		{"core/runtime", "kernels/host", false},
		{"core/op", "core/device", false},
		{"core/op", "core/op/rows", false},
		{"core/op/rows", "core/op/formula", false},
		{"core/device", "core/op/describe", false},
		{"kernels/host", "core/runtime", false},
		{"alloc", "core/runtime", false},
		{"capi", "kernels/host", true},
		{"capi", "objc", false},
		{"kernels/metal", "objc/mtl", true},
		{"kernels/metal/gpu", "kernels/metal/shaders", false},
		{"kernels/metal/graphs", "kernels/metal/shaders", false},
		{"kernels/metal/shaders", "objc/mpsgraph", false},
		{"kernels/host", "objc", false},
		{"kernels/host/conv", "kernels/host/product", true},
		{"kernels/host/product", "kernels/host/conv", false},
		{"kernels/host/engine", "kernels/host/elem", false},
		{"kernels/host/elem", "kernels/host", false},
		{"kernels/host/elem", "kernels/host/vec/maths", true},
		{"kernels/host/elem", "kernels/host/vec/vectest", false},
		{"kernels/host/vec", "kernels/host/vec/maths", false},
		{"kernels/host/vec/rownorm", "kernels/host/vec/maths", true},
		{"kernels/host/vec/maths", "kernels/host/vec/rownorm", false},
		{"kernels/host/vec/gemm", "kernels/host/vec/lowprec", false},
		{"core/dtype", "core/shape", false},
		{"onnx/build", "onnx/ops", false},
		{"onnx/file", "onnx/build", false},
		{"tritonlang/plan", "tritonlang/emit", false},
		{"tritonlang/plan", "tritonlang/tree", false},
	} {
		may, known := allowed(c.from)
		require.True(t, known)
		require.Equalf(t, c.ok, within(c.to, may), "%s -> %s", c.from, c.to)
	}
	_, known := allowed("util")
	require.False(t, known)
	require.Error(t, foreign(&source{Path: "alloc/x.go", Package: "alloc"}, "github.com/stretchr/testify/require"))
}

// TestLicencesAreShipped fails if a module that is linked into the library is not named in the
// file of third-party licences, which goes into the wheel.
func TestLicencesAreShipped(t *testing.T) {
	licences, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY_LICENSES.md"))
	require.NoError(t, err)
	for _, linked := range dependencies(t, "./capi", "{{with .Module}}{{.Path}}{{end}}") {
		if linked != module {
			require.Contains(t, string(licences), linked)
		}
	}
}
