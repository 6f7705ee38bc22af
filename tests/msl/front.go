package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// front is a strict front end for Metal's language: the rules of tests/fakemetal/shader_check.h, which read the text,
// and clang in its mode of C++ for OpenCL, whose address spaces are Metal's under other names. include/metal_stdlib has
// the declarations, and syntax.go looks for what clang gives a meaning of its own.
type front struct {
	root, folder string // of the repository; of what is built and kept
	clang, tool  string
	headers      string // the declarations
	identity     string // of all that a result depends on besides the source
}

// complaint is why a source is refused.
type complaint struct{ Name, Words string }

// open finds clang and builds the tool.
func open(root string) (*front, error) {
	root, err := filepath.Abs(root) // the tool keeps names of files in it
	if err != nil {
		return nil, err
	}
	f := &front{root: root, folder: filepath.Join(root, "build", "msl")}
	for _, name := range []string{"clang-14", "clang-15", "clang-16", "clang"} {
		if path, err := exec.LookPath(name); err == nil && f.clang == "" {
			f.clang = path
		}
	}
	if f.clang == "" {
		return nil, errors.New("clang is missing: apt-get install clang-14")
	}
	if err := os.MkdirAll(f.folder, 0o755); err != nil {
		return nil, err
	}
	version, err := exec.Command(f.clang, "--version").Output()
	if err != nil {
		return nil, err
	}
	if err := f.build(); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f.identity = string(version)
	for i, path := range []string{f.include("metal_stdlib"), filepath.Join(f.fake(), "shader", "names.h"), filepath.Join(f.fake(), "shader", "traits.h"), self, f.tool} {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if i < 3 {
			f.headers += string(text)
		}
		f.identity += fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return f, nil
}

// fake is the folder of the mock of Metal, include a file of the declarations.
func (f *front) fake() string { return filepath.Join(f.root, "tests", "fakemetal") }

func (f *front) include(name string) string {
	return filepath.Join(f.root, "tests", "msl", "include", name)
}

// It is a program and no library, because a crash of the reader is then the error of one batch.
//
// build makes the tool: the mock's compiler as a program.
func (f *front) build() error {
	sources, err := filepath.Glob(filepath.Join(f.fake(), "shader*.[cS]"))
	if err != nil {
		return err
	}
	f.tool = filepath.Join(f.folder, "tool")
	args := []string{"-std=c11", "-D_GNU_SOURCE", "-O2", "-I" + f.fake(), "-DSHADER_FOLDER=\"" + filepath.Join(f.fake(), "shader") + "\"", "-rdynamic"}
	args = append(append(args, sources...), filepath.Join(f.fake(), "defect.c"), filepath.Join(f.fake(), "harsh.c"), filepath.Join(f.root, "tests", "msl", "text", "main.c"))
	made := fmt.Sprintf("%s.%d", f.tool, os.Getpid()) // another process may be running the one that is there
	out, err := exec.Command("cc", append(args, "-o", made, "-ldl", "-lm", "-lpthread")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return os.Rename(made, f.tool)
}

// mostBatch is how many sources are compiled as one, each in a namespace of its own. The parser is as fast as with one.
const mostBatch = 256

// check gives all sources to both parts, batch by batch.
func (f *front) check(all []source) (wrong []complaint, err error) {
	p := prefix(all)
	groups := f.batches(p, all)
	results, errs := make([][]complaint, len(groups)), make([]error, len(groups))
	f.each(len(groups), func(i int) { results[i], errs[i] = f.batch(p, groups[i]) })
	return slices.Concat(results...), errors.Join(errs...)
}

// each calls do for the numbers up to n, on two threads: most machines that run checks have two processors.
func (f *front) each(n int, do func(i int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range 2 {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

// batch checks sources with a common beginning, or answers what it did before: results are kept by the hash of the text and
// of everything that reads it, so that a check after a small change looks at the batches of what has changed.
func (f *front) batch(p string, all []source) (wrong []complaint, err error) {
	expanded, err := f.expanded(p, all)
	if err != nil {
		return nil, err
	}
	text := joined(p, expanded)
	kept := filepath.Join(f.folder, fmt.Sprintf("%x", sha256.Sum256([]byte(f.identity+text))))
	if before, err := os.ReadFile(kept + ".json"); err == nil {
		return wrong, json.Unmarshal(before, &wrong)
	}
	if wrong, err = f.compile(kept, text, labelOf(all)); err != nil {
		return nil, err
	}
	more, err := f.read(all, "check")
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, more...)
	result, err := json.Marshal(wrong)
	if err != nil {
		return nil, err
	}
	return wrong, os.WriteFile(kept+".json", result, 0o644)
}

// Constructors that a macro writes cannot be written otherwise where it is used. Macros of the library write none; those of
// programs that are compiled alone may.
//
// expanded has the macros of such a program expanded.
func (f *front) expanded(p string, all []source) ([]source, error) {
	if p != "" || len(all) != 1 || !strings.Contains(all[0].text, "#define") {
		return all, nil
	}
	c := exec.Command(f.clang, "-E", "-x", "c++", "-D__METAL__", "-D__METAL_VERSION__=300", "-")
	c.Stdin = strings.NewReader(include.ReplaceAllString(all[0].text, ""))
	var words bytes.Buffer
	c.Stderr = &words
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, words.String())
	}
	return []source{{name: all[0].name, text: string(text)}}, nil
}

// include is a line that includes a header of Metal, whose declarations stand before each source.
var include = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include\b.*`)

// Each source of the library begins with the same text. It is parsed once a batch, which makes the check some thirty times
// faster than a process a source.
//
// prefix is what all sources begin with, up to the end of a declaration.
func prefix(all []source) string {
	common := all[0].text
	for i := range all {
		n := 0
		for n < len(common) && n < len(all[i].text) && common[n] == all[i].text[n] {
			n++
		}
		common = common[:n]
	}
	depth, end := 0, 0
	for i, c := range common {
		switch c {
		case '{', '(':
			depth++
		case '}', ')':
			depth--
		case '\n':
			if depth == 0 && i > 0 && (common[i-1] == ';' || common[i-1] == '}') {
				end = i + 1
			}
		}
	}
	return common[:end]
}

// A kernel's name is its symbol, in whatever namespace it is; and macros have no namespace.
var (
	kernelName = regexp.MustCompile(`\bkernel\s+void\s+`)
	macro      = regexp.MustCompile(`(?m)^#define\s+(\w+)`)
)

// labelOf is what errors in the common beginning of a batch are filed under.
func labelOf(all []source) string {
	if len(all) == 1 {
		return all[0].name
	}
	return "prelude"
}

// joined is a batch as one text. The namespace of a source is named after it; one that is alone needs none, and then
// its names meet those of the headers.
func joined(p string, all []source) string {
	var s strings.Builder
	fmt.Fprintf(&s, "#include <metal_stdlib>\n#line 1 \"%s\"\n%s", labelOf(all), translate(p))
	for i := range all {
		rest := all[i].text[len(p):]
		if len(all) == 1 {
			fmt.Fprintf(&s, "\n#line %d \"%s\"\n%s\n", strings.Count(p, "\n")+1, all[i].name, translate(rest))
			break
		}
		text := kernelName.ReplaceAllString(translate(rest), "kernel void "+all[i].name+"_")
		fmt.Fprintf(&s, "\nnamespace %s {\n#line %d \"%[1]s\"\n%[3]s\n}\n", all[i].name, strings.Count(p, "\n")+1, text)
		for _, name := range macro.FindAllStringSubmatch(rest, -1) {
			fmt.Fprintf(&s, "#undef %s\n", name[1])
		}
	}
	return s.String()
}

// defined is a function or type that a line begins with, brought a name that a using-declaration introduces.
var (
	defined = regexp.MustCompile(`(?m)^(?:template <[^>]*> )?(?:(?:kernel|inline|constexpr)[\w\s<>*&]*?\b(\w+)\(|(?:struct|class|union) (\w+))`)
	brought = regexp.MustCompile(`(?m)^using metal::(\w+);`)
	word    = regexp.MustCompile(`\w+`)
	comment = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
)

// names are those that a text defines.
func names(text string) (all []string) {
	for _, m := range defined.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1]+m[2])
	}
	return all
}

// taken are the names that a source finds defined after the common beginning: what that defines and brings and, if it
// uses all of namespace metal, what the headers have.
func (f *front) taken(p string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names(p) {
		all[name] = true
	}
	for _, m := range brought.FindAllStringSubmatch(p, -1) {
		all[m[1]] = true
	}
	if strings.Contains(p, "using namespace metal;") {
		for _, name := range word.FindAllString(comment.ReplaceAllString(f.headers, ""), -1) {
			all[name] = true
		}
	}
	return all
}

// batches are the sources in groups that are compiled as one. A source that defines a name which it finds defined is
// alone: in a namespace its own would hide the other one, and without one the two may be ambiguous.
func (f *front) batches(p string, all []source) (groups [][]source) {
	taken := f.taken(p)
	var together []source
	for i := range all {
		if slices.ContainsFunc(names(all[i].text[len(p):]), func(name string) bool { return taken[name] }) {
			groups = append(groups, all[i:i+1])
		} else {
			together = append(together, all[i])
		}
	}
	return slices.AppendSeq(groups, slices.Chunk(together, mostBatch))
}

// compile runs clang on a text, and looks at the tree of one without errors. The triple is that of a GPU with address spaces
// and 64-bit pointers; all extensions are those that metal_stdlib asks for. Warnings are not of interest: the code is not
// run. -w keeps those that are errors by default, which -Wno-everything would drop.
func (f *front) compile(kept, text, label string) ([]complaint, error) {
	file := kept + ".cl"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, err
	}
	defer os.Remove(file)
	c := exec.Command(f.clang, "-cc1", "-x", "clcpp", "-cl-std=clc++", "-cl-single-precision-constant", "-triple", "spir64-unknown-unknown", "-D__METAL__", "-D__METAL_VERSION__=300",
		"-I", f.include("."), "-I", filepath.Join(f.fake(), "shader"), "-I", filepath.Join(f.fake(), "shader", "include"), "-w", "-ferror-limit", "0", "-fno-recovery-ast", "-ast-dump", file)
	var words bytes.Buffer
	c.Stderr = &words
	tree, err := c.Output()
	if wrong := errorsOf(words.String()); len(wrong) > 0 {
		return wrong, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, words.String())
	}
	return readTree(tree, label), nil
}

// The names of sources are those of #line, and that of a batch is the prelude's.
//
// errorLine is an error of clang, and the source that it names.
var errorLine = regexp.MustCompile(`(?m)^(?:.*/)?(\w+)(?:\.cl)?:(\d+:\d+: (?:fatal )?error: .*)$`)

// errorsOf are the errors in clang's output.
func errorsOf(words string) (wrong []complaint) {
	for _, m := range errorLine.FindAllStringSubmatch(words, -1) {
		wrong = append(wrong, complaint{m[1], m[2]})
	}
	return wrong
}

// The tool gets all sources at once, because starting a process costs more than reading a source.
//
// read runs the tool over sources: "check" reads their text, "compile" compiles them as the mock does.
func (f *front) read(all []source, mode string) (wrong []complaint, err error) {
	var in bytes.Buffer
	for i := range all {
		fmt.Fprintf(&in, "%s %d\n%s", all[i].name, len(all[i].text), all[i].text)
	}
	c := exec.Command(f.tool, mode)
	c.Stdin, c.Stderr = &in, os.Stderr
	out, err := c.Output()
	for line := range strings.Lines(string(out)) {
		name, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		wrong = append(wrong, complaint{name, strings.TrimPrefix(words, "program_source:")})
	}
	return wrong, err
}
