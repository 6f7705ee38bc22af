package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Metal differs from clang's mode of C++ for OpenCL in what that lacks: constructors of vectors, values of function
// constants, templates of kernels, threadgroup variables in any block, bounds of threadgroup memory and of constants, and
// an address space of a device's memory for *this. translate writes these otherwise, each in its line.
func translate(text string) string {
	text = functionConstant.ReplaceAllString(text, "$1 = {}$2")
	text = kernelAttribute.ReplaceAllStringFunc(text, keepLength("kernel"))
	text = templateKernel.ReplaceAllString(text, "$1$2")
	text = hostName.ReplaceAllString(text, "template $1")
	text = boolVector.ReplaceAllString(text, "bool$1")
	text = deviceMethod.ReplaceAllString(text, "$1 volatile __global$2")
	return vectors(bounded(initialised(text))) + constants(text)
}

var (
	// functionConstant is a constant that gets its value when a pipeline is made.
	functionConstant = regexp.MustCompile(`(\[\[\s*function_constant\s*\([^)]*\)\s*\]\])(\s*;)`)
	// kernelAttribute is another way to write kernel.
	kernelAttribute = regexp.MustCompile(`\[\[\s*kernel\s*\]\]`)
	// templateKernel is a kernel that is a template, a function like others for clang, and hostName an instance of one.
	templateKernel = regexp.MustCompile(`(\btemplate\s*<[^;{}]*>\s*)((?:\[\[[^\]]*\]\]\s*)*)kernel\b`)
	hostName       = regexp.MustCompile(`\btemplate\s+(?:\[\[[^\]]*\]\]\s*)*kernel\b(?:\s+\[\[[^\]]*\]\])*\s*((?:void|decltype)\b)`)
	boolVector     = regexp.MustCompile(`\b(?:metal::)?vec\s*<\s*bool\s*,\s*([234])\s*>`)
	// deviceMethod is where a member function says that its object lies in address space device, which is no keyword in
	// clang. Objects of __global are those of constant too; volatile tells the two apart, also for syntax.go.
	deviceMethod = regexp.MustCompile(`(\)\s*(?:const\s+)?)\bdevice\b((?:\s+const)?\s*[{;:])`)
)

// keepLength makes a replacement as long as what it replaces, so that columns in errors stay.
func keepLength(text string) func(string) string {
	return func(old string) string { return text + strings.Repeat(" ", len(old)-len(text)) }
}

// scalars are the types of a vector's components, as Metal names them.
const scalars = `(?:u?(?:char|short|int|long)|half|float|bool)`

var (
	// constructor is the type whose constructor is called, up to its parenthesis: a vector by its own name, one that is
	// written as a template, or any other name.
	constructor = regexp.MustCompile(`(?:\bmetal::)?\b(?:(u?(?:char|short|int|long)[234]|(?:half|float)[234])|vec\s*<([^<>;{}()]*)>|([A-Za-z_]\w*))\($`)
	// plainVector are template arguments of a vector that depend on no template's.
	plainVector = regexp.MustCompile(`^\s*` + scalars + `\s*,\s*[234]\s*$`)
	// alias is a name that a program gives to a vector, and typeParameter a type that a template gets.
	alias         = regexp.MustCompile(`\busing\s+(\w+)\s*=\s*([^;*&]*);|\btypedef\s+([^;*&]*?)\s*\b(\w+)\s*;`)
	vectorType    = regexp.MustCompile(`^\s*(?:metal::)?(?:(?:u?(?:char|short|int|long)|half|float)[234]|vec\s*<(.*)>)\s*$`)
	typeParameter = regexp.MustCompile(`\b(?:typename|class)\s+([A-Za-z_]\w*)`)
)

// What a name is decides how its constructor is written: a class has none that clang would not know.
//
// typeNames are the names of a program that may be vectors, and whether they are known to be.
func typeNames(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range typeParameter.FindAllStringSubmatch(text, -1) {
		all[m[1]] = false
	}
	for _, m := range alias.FindAllStringSubmatch(text, -1) {
		if is := vectorType.FindStringSubmatch(m[2] + m[3]); strings.HasPrefix(m[2]+m[3], "typename ") {
			all[m[1]+m[4]] = false
		} else if is != nil {
			all[m[1]+m[4]] = is[1] == "" || plainVector.MatchString(is[1])
		}
	}
	return all
}

// arguments counts those between a parenthesis and the one that closes it.
func arguments(text string, open int) (n int) {
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				if strings.TrimSpace(text[open+1:i]) == "" {
					return 0
				}
				return n + 1
			}
		case ',':
			if depth == 1 {
				n++
			}
		}
	}
	return 0
}

// vectors turns uint4(a, b) into a call of _many, and uint4(a) into one of _one. Outside of functions, where a constant is
// wanted, the first is ((uint4)(a, b)), a literal of OpenCL, whose parentheses keep a swizzle behind it on the whole.
func vectors(text string) string {
	var out []byte
	var closes []string // for each open parenthesis, what goes before the one that closes it
	names, depths := typeNames(text), depths(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(':
			before, after, length := constructed(text, i, names, depths[i] > 0)
			closes = append(closes, after)
			if length > 0 {
				out = append(out[:len(out)-length], before...)
				continue
			}
		case c == ')' && len(closes) > 0:
			out = append(out, closes[len(closes)-1]...)
			closes = closes[:len(closes)-1]
		}
		out = append(out, text[i])
	}
	return string(out)
}

// A single value may be a vector of another type, which no literal takes; of several values each is a part of the vector.
//
// constructed is what to write for the constructor whose arguments begin at a parenthesis and for their end, and the
// length of the type's name; 0 if it is none.
func constructed(text string, open int, names map[string]bool, inside bool) (before, after string, length int) {
	m := constructor.FindStringSubmatch(text[max(open-60, 0) : open+1])
	if m == nil {
		return "", "", 0
	}
	name, n := m[0][:len(m[0])-1], arguments(text, open)
	known := m[1] != "" || plainVector.MatchString(m[2])
	maybe := m[2] != ""
	if m[3] != "" {
		known, maybe = names[m[3]]
	}
	switch {
	case n == 0 || !known && !maybe || n == 1 && m[3] != "" && !known:
		return "", "", 0
	case n == 1:
		return "_one<" + name + ">(", "", len(name)
	case known && !inside:
		return "((" + name + ")(", ")", len(name)
	}
	return "_many<" + name + ">(", "", len(name)
}

var (
	// programConstant is a constant of the program up to what it is initialised with, and called a function or type there.
	programConstant = regexp.MustCompile(`(?:^|[;}{])((?:\s|\[\[[^\]]*\]\]|(?:static|const|constexpr|inline)\b)*\bconstant\b[^;{}()=]*?)(\s*=\s*)([^;]*);`)
	called          = regexp.MustCompile(`([A-Za-z_][\w:]*(?:<[^<>()]*>)?)\s*\(`)
	conversion      = regexp.MustCompile(`^(?:metal::)?(?:` + scalars + `[234]?|vec<.*>|[su]?int\d+_t|size_t|sizeof|as_type<.*>|.*numeric_limits<.*>.*|is_function_constant_defined)$`)
)

// A function of Metal's library is no constant expression, and clang would otherwise compute the constant when the program
// starts, as C++ does.
//
// initialised has clang check that the initialiser of a constant is constant where it calls functions. Without a call it
// is made of literals and other constants, floats included, which clang takes for constants only with constexpr.
func initialised(text string) string {
	deep := depths(text)
	for _, at := range slices.Backward(programConstant.FindAllStringSubmatchIndex(text, -1)) {
		value := text[at[6]:at[7]]
		calls := slices.ContainsFunc(called.FindAllStringSubmatch(value, -1), func(m []string) bool { return !conversion.MatchString(m[1]) })
		if calls && deep[at[2]] == 0 {
			text = text[:at[4]] + " __attribute__((require_constant_initialization))" + text[at[4]:]
		}
	}
	return text
}

// opened is an opening brace behind the name of a namespace.
var opened = regexp.MustCompile(`\bnamespace\b[\w\s:]*\{`)

// depths is for each byte of a text how deep in braces it is, those of namespaces not counted.
func depths(text string) []int {
	all := make([]int, len(text)+1)
	spaces := map[int]bool{} // where the braces of namespaces open
	for _, at := range opened.FindAllStringIndex(text, -1) {
		spaces[at[1]-1] = true
	}
	var open []int // what each brace adds
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			add := 1
			if spaces[i] {
				add = 0
			}
			open = append(open, add)
			depth += add
		case '}':
			if len(open) > 0 {
				depth -= open[len(open)-1]
				open = open[:len(open)-1]
			}
		}
		all[i+1] = depth
	}
	return all
}

// What a kernel may use, in bytes: threadgroup memory on every GPU that the library runs on (Metal feature set tables,
// family Apple7 and later), and a constant that goes into the command itself (setBytes:length:atIndex:).
const (
	mostThreadgroup = 32 << 10
	mostConstant    = 4 << 10
)

// shared is a declaration of threadgroup memory that stands alone in its statement, and names in it are declared.
var (
	shared   = regexp.MustCompile(`[;{}]\s*threadgroup\s+(?:alignas\([^)]*\)\s*)?[^;*&=()]*;`)
	brackets = regexp.MustCompile(`\[[^\]]*\]`)
	declared = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?:\[|,|;)`)
	aligned  = regexp.MustCompile(`alignas\([^)]*\)`)
)

// bounded states after each declaration of threadgroup memory that it fits, with those before it in the outermost block
// of the function. Clang takes such declarations in the outermost block of a kernel alone, so that each becomes
// references of the variables' types. That only kernels have any is checked by text; see tests/fakemetal.
func bounded(text string) string {
	var out strings.Builder
	before, sum, deep := 0, "", depths(text)
	for _, at := range shared.FindAllStringIndex(text, -1) {
		between := text[before:at[0]]
		out.WriteString(between)
		depth := deep[at[0]+1]
		if strings.Contains(between, "\n}") {
			sum = ""
		}
		if depth < 1 {
			before = at[0]
			continue
		}
		declaration := text[at[0]+1 : at[1]]
		sizes, types, references := "", declaration, ""
		for _, m := range declared.FindAllStringSubmatch(brackets.ReplaceAllString(declaration, "[]"), -1) {
			name, kind := m[1], fmt.Sprintf("_type_of_%s_%d", m[1], at[0])
			sizes += " + sizeof(" + name + ")"
			types = regexp.MustCompile(`\b`+name+`(\s*[\[,;])`).ReplaceAllString(types, kind+"$1")
			references += fmt.Sprintf(" threadgroup %s &%s = *(threadgroup %[1]s *)0;", kind, name)
		}
		types = aligned.ReplaceAllString(strings.Replace(types, "threadgroup", "typedef", 1), "")
		fmt.Fprintf(&out, "%s%s%s static_assert(0%s%s <= %d, \"threadgroup memory exceeds %[6]d bytes\");", text[at[0]:at[0]+1], types, references, sum, sizes, mostThreadgroup)
		if depth == 1 {
			sum += sizes
		}
		before = at[1]
	}
	return out.String() + text[before:]
}

// A parameter that points to a list is left out, because its length is known at run time alone.
//
// constant is a parameter in address space constant that is an object, not a list.
var constant = regexp.MustCompile(`\bconstant\s+([A-Za-z_]\w*(?:<\w+>)?)\s*&\s*\w+\s*\[\[\s*buffer`)

// constants states that each of them fits a command: the library gives none in another way.
func constants(text string) string {
	var out strings.Builder
	names := typeNames(text)
	for _, name := range constant.FindAllStringSubmatch(text, -1) {
		if known, some := names[name[1]]; known || !some { // not the parameter of a template
			fmt.Fprintf(&out, "static_assert(sizeof(%s) <= %d, \"a constant exceeds %[2]d bytes\");", name[1], mostConstant)
		}
	}
	return out.String()
}
