package objc_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// floor is the oldest macOS that the library runs on; a method that is newer says since when.
const floor = 13.0

// entry is a row of testdata/selectors.tsv.
type entry struct {
	kind, result string
	args         []string
	since        string
	encoding     string
	family       string // new, init, copy: the caller owns the result
}

// methods is the table of Apple's methods by class and selector.
func methods(t *testing.T) map[[2]string]entry {
	all := map[[2]string]entry{}
	for _, c := range table(t, "testdata/selectors.tsv") {
		e := entry{kind: c[1], result: c[3], since: c[5], encoding: c[8], family: c[9]}
		if c[4] != "" {
			e.args = strings.Split(c[4], ";")
		}
		all[[2]string{c[0], c[2]}] = e
	}
	return all
}

func table(t *testing.T, path string) (rows [][]string) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	require.NotEmpty(t, rows)
	return rows
}

// namedClasses says what Apple calls the Go types whose names do not follow from their package.
var namedClasses = map[reflect.Type]string{
	reflect.TypeFor[objc.ID]():                    "id",
	reflect.TypeFor[objc.Bool]():                  "BOOL",
	reflect.TypeFor[objc.Sel]():                   "SEL",
	reflect.TypeFor[objc.Size]():                  "MTLSize",
	reflect.TypeFor[objc.BarrierScope]():          "MTLBarrierScope",
	reflect.TypeFor[objc.Data]():                  "NSData",
	reflect.TypeFor[objc.String]():                "NSString",
	reflect.TypeFor[mpsgraph.Graph]():             "MPSGraph",
	reflect.TypeFor[mpsgraph.CommandBuffer]():     "MPSCommandBuffer",
	reflect.TypeFor[mpsgraph.NDArray]():           "MPSNDArray",
	reflect.TypeFor[mpsgraph.NDArrayDescriptor](): "MPSNDArrayDescriptor",
	reflect.TypeFor[mpsgraph.DataType]():          "MPSDataType",
	reflect.TypeFor[mtl.SharedEvent]():            "MTLSharedEvent",
	reflect.TypeFor[uint64]():                     "NSUInteger",
	reflect.TypeFor[int64]():                      "NSInteger",
	reflect.TypeFor[uint32]():                     "uint32_t",
	reflect.TypeFor[float64]():                    "double",
	reflect.TypeFor[float32]():                    "float",
}

// apple is what Apple calls a Go type.
func apple(t reflect.Type) string {
	if t == nil || t == reflect.TypeFor[objc.Void]() {
		return "void"
	}
	if name, ok := namedClasses[t]; ok {
		return name
	}
	switch path := t.PkgPath(); {
	case strings.HasSuffix(path, "/mtl"):
		return "MTL" + t.Name()
	case strings.HasSuffix(path, "/mpsgraph"):
		return "MPSGraph" + t.Name()
	case strings.HasSuffix(path, "/objc"):
		return "NS" + t.Name()
	}
	return t.String()
}

// synonyms are Apple's other names for what one Go type stands for.
var synonyms = map[string]string{
	"MPSShape": "NSArray", "NSErrorDomain": "NSString", "uint64_t": "NSUInteger", "long long": "NSInteger",
	"unsigned long long": "NSUInteger", "CFTimeInterval": "double", "NSOperatingSystemVersion": "struct { Major int64; Minor int64; Patch int64 }",
	"MPSGraphTensorShapedTypeDictionary": "NSDictionary", "MTLEvent": "MTLSharedEvent",
	"MTLArgumentAccess": "MTLBindingAccess", "MTLAutoreleasedComputePipelineReflection": "NSPointer",
}

var (
	generic  = regexp.MustCompile(`^(\w+)<.*> \*$`)                        // NSArray<MPSGraphTensor *> *
	protocol = regexp.MustCompile(`^id<(\w+)>$`)                           // id<MTLBuffer>
	memory   = regexp.MustCompile(`\[\]$|\*\*$|^(const )?(void|char) \*$`) // addresses
)

// plain is a type of the table without what Go types do not say.
func plain(text, class string) string {
	switch {
	case memory.MatchString(text):
		return "NSPointer"
	case text == "instancetype":
		return class
	}
	if m := protocol.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if m := generic.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	text = strings.TrimSuffix(text, " *")
	if s, ok := synonyms[text]; ok {
		return s
	}
	return text
}

// same reports whether a Go type stands for a type of the table; an ID stands for every object, and an
// `id` of the table is whatever the Go type says.
func same(goType reflect.Type, text, class string) bool {
	if goType == reflect.TypeFor[objc.NoBlock]() {
		return strings.Contains(text, "(^)")
	}
	got, want := apple(goType), plain(text, class)
	isObject := strings.HasPrefix(text, "id") || strings.HasSuffix(text, "*") || text == "instancetype" || text == "NSErrorDomain"
	return got == want || got == "id" && isObject && want != "NSPointer" || want == "id" && goType.Kind() == reflect.Uintptr
}

// TestMethodsAreApples compares every declaration with Apple's interface.
func TestMethodsAreApples(t *testing.T) {
	all := methods(t)
	require.Greater(t, len(objc.Declared()), 150)
	for _, m := range objc.Declared() {
		e, found := all[[2]string{m.Class, m.Selector}]
		if !found {
			t.Errorf("%s has no %s", m.Class, m.Selector)
			continue
		}
		for _, wrong := range compare(m, e) {
			t.Errorf("%s[%s %s] %s", e.kind, m.Class, m.Selector, wrong)
		}
	}
}

// compare lists what a declaration says otherwise than the table.
func compare(m *objc.Method, e entry) (wrong []string) {
	add := func(text ...string) { wrong = append(wrong, strings.Join(text, " ")) }
	if (m.Receiver == reflect.TypeFor[objc.Class]()) != (e.kind == "+") {
		add("receiver is", m.Receiver.String())
	} else if e.kind == "-" && apple(m.Receiver) != m.Class && apple(m.Receiver) != "id" {
		add("receiver is", m.Receiver.String())
	}
	if len(m.Args) != len(e.args) || strings.Count(m.Selector, ":") != len(m.Args) {
		add("has", strconv.Itoa(len(m.Args)), "arguments; want", strings.Join(e.args, "; "))
		return wrong
	}
	for i, a := range m.Args {
		if !same(a, e.args[i], m.Class) {
			add("argument", strconv.Itoa(i), "is", a.String(), "; want", e.args[i])
		}
	}
	if !same(m.Result, e.result, m.Class) {
		add("answers", apple(m.Result), "; want", e.result)
	}
	if got := encoding(m); got != memoryIsMemory(e.encoding) {
		add("is encoded", got, "; want", memoryIsMemory(e.encoding))
	}
	if v, err := strconv.ParseFloat(strings.TrimPrefix(e.since, "<="), 64); err != nil || v > floor {
		if m.Since != e.since {
			add("says since", strconv.Quote(m.Since), "; want", e.since)
		}
	} else if m.Since != "" {
		add("says since", m.Since, "; every system that counts has it")
	}
	blocks := strings.Contains(e.encoding, "@?") || strings.Contains(strings.Join(e.args, ";"), "^")
	if blocks && !slices.Contains(m.Args, reflect.TypeFor[objc.NoBlock]()) {
		add("takes a block")
	}
	return wrong
}

var letters = map[reflect.Kind]string{
	reflect.Uint64: "Q", reflect.Int64: "q", reflect.Uint32: "I", reflect.Float64: "d", reflect.Float32: "f",
}

// encoding is the type encoding of a declaration, with one letter for all kinds of memory.
func encoding(m *objc.Method) string {
	letter := func(t reflect.Type) string {
		switch {
		case t == nil || t == reflect.TypeFor[objc.Void]():
			return "v"
		case t == reflect.TypeFor[objc.Bool]():
			return "B"
		case t == reflect.TypeFor[objc.Sel]():
			return ":"
		case t == reflect.TypeFor[objc.Pointer]():
			return "^"
		case t == reflect.TypeFor[objc.NoBlock]():
			return "@?"
		case t.Kind() == reflect.Uintptr:
			return "@"
		case t.Kind() == reflect.Struct:
			inner := ""
			for i := range t.NumField() {
				inner += letters[t.Field(i).Type.Kind()]
			}
			return "{?=" + inner + "}"
		}
		return letters[t.Kind()]
	}
	text := letter(m.Result) + "@:"
	for _, a := range m.Args {
		text += letter(a)
	}
	return text
}

// memoryIsMemory writes every address in an encoding as "^": `r^v`, `^@`, `r*`.
func memoryIsMemory(encoding string) string {
	return regexp.MustCompile(`r?\^[@vQq]|r?\*`).ReplaceAllString(encoding, "^")
}

// TestComparisonCanFail shows that each kind of mistake is seen.
func TestComparisonCanFail(t *testing.T) {
	all := methods(t)
	e := all[[2]string{"MTLHeap", "newBufferWithLength:options:offset:"}]
	word, options := reflect.TypeFor[uint64](), reflect.TypeFor[mtl.ResourceOptions]()
	right := objc.Method{
		Class: "MTLHeap", Selector: "newBufferWithLength:options:offset:", Receiver: reflect.TypeFor[mtl.Heap](),
		Args: []reflect.Type{word, options, word}, Result: reflect.TypeFor[mtl.Buffer](),
	}
	require.Empty(t, compare(&right, e))
	for name, spoil := range map[string]func(m *objc.Method){
		"receiver":      func(m *objc.Method) { m.Receiver = reflect.TypeFor[mtl.Device]() },
		"class method":  func(m *objc.Method) { m.Receiver = reflect.TypeFor[objc.Class]() },
		"missing":       func(m *objc.Method) { m.Args = m.Args[:2] },
		"argument":      func(m *objc.Method) { m.Args = []reflect.Type{word, word, word} },
		"signed":        func(m *objc.Method) { m.Args = []reflect.Type{word, options, reflect.TypeFor[int64]()} },
		"result":        func(m *objc.Method) { m.Result = reflect.TypeFor[mtl.Heap]() },
		"no result":     func(m *objc.Method) { m.Result = nil },
		"since nothing": func(m *objc.Method) { m.Since = "14.0" },
	} {
		m := right
		spoil(&m)
		require.NotEmptyf(t, compare(&m, e), name)
	}
	e.since = "14.0"
	require.NotEmpty(t, compare(&right, e), "too new")
}

// TestConstantsAreApples compares the constants of both packages with Apple's.
func TestConstantsAreApples(t *testing.T) {
	values := map[string]string{}
	for _, c := range table(t, "testdata/enums.tsv") {
		values[c[0]+" "+c[1]] = c[2]
	}
	seen := 0
	for folder, prefix := range map[string]string{"mtl": "MTL", "mpsgraph": "MPSGraph"} {
		for _, c := range constants(t, folder) {
			kind, name := prefix+c.kind, prefix+c.name
			if c.kind == "DataType" {
				kind, name = "MPSDataType", "MPSDataType"+c.name
			}
			if c.kind == "" {
				kind = "MTLCommandBufferError"
			}
			require.Equalf(t, values[kind+" "+name], c.value, "%s %s", kind, name)
			seen++
		}
	}
	require.Greater(t, seen, 30)
}

type literal struct{ kind, name, value string }

// constants are those of a folder's files, as they are written.
func constants(t *testing.T, folder string) (all []literal) {
	eachFile(t, folder, func(file *ast.File) {
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				all = append(all, written(t, spec.(*ast.ValueSpec)))
			}
		}
	})
	return all
}

func written(t *testing.T, spec *ast.ValueSpec) literal {
	number, ok := spec.Values[0].(*ast.BasicLit)
	require.Truef(t, ok, "%s is not a number", spec.Names[0])
	value := constant.MakeFromLiteral(number.Value, token.INT, 0).ExactString()
	kind := ""
	if spec.Type != nil {
		kind = spec.Type.(*ast.Ident).Name
	}
	return literal{kind, spec.Names[0].Name, value}
}

// TestSelectorsStayBelowObjc fails on a selector or a class of Apple's in kernels.
func TestSelectorsStayBelowObjc(t *testing.T) {
	selector := regexp.MustCompile(`"([[:alnum:]]+:)+"|"(NS|MTL|MPS)[A-Z]\w+"|objc\.(Declare|Named)`)
	require.Regexp(t, selector, `send("setBuffer:offset:atIndex:")`)
	seen := 0
	require.NoError(t, filepath.WalkDir("../kernels/metal", func(path string, _ fs.DirEntry, err error) error {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		require.NotRegexp(t, selector, string(data), path)
		seen++
		return err
	}))
	require.Positive(t, seen)
}

// TestWrappersSayWhoOwns fails on a wrapper that answers an object and does not say, as the family of the
// method that it cites decides, whether it is +0 or +1.
func TestWrappersSayWhoOwns(t *testing.T) {
	all, cited := methods(t), regexp.MustCompile(`[-+]\[(\w+)\s+([\w:]+)\]`)
	seen := 0
	for _, folder := range []string{"mtl", "mpsgraph"} {
		eachFile(t, folder, func(file *ast.File) {
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() || !answersObject(f) {
					continue
				}
				text, want := f.Doc.Text(), `\+[01]`
				if m := cited.FindStringSubmatch(text); m != nil {
					want = ownership[all[[2]string{m[1], m[2]}].family]
				}
				require.Regexp(t, want, text, "%s.%s", folder, f.Name)
				seen++
			}
		})
	}
	require.Greater(t, seen, 30)
}

// ownership is what Apple's families of methods mean for their results.
var ownership = map[string]string{"none": `\+0`, "new": `\+1`, "init": `\+1`, "alloc": `\+1`, "copy": `\+1`, "": "no such method"}

// plainResults are types of results that are no objects.
var plainResults = map[string]bool{
	"bool": true, "string": true, "uint64": true, "int64": true, "float64": true, "error": true,
	"CommandBufferStatus": true, "SizeAndAlign": true, "objc.Pointer": true,
}

func answersObject(f *ast.FuncDecl) bool {
	if f.Type.Results == nil {
		return false
	}
	for _, r := range f.Type.Results.List {
		if !plainResults[types.ExprString(r.Type)] {
			return ast.IsExported(strings.TrimPrefix(types.ExprString(r.Type), "objc."))
		}
	}
	return false
}

// eachFile parses the files of a folder.
func eachFile(t *testing.T, folder string, f func(*ast.File)) {
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, file.Name()), nil, parser.ParseComments)
		require.NoError(t, err)
		f(parsed)
	}
}
