package main

import (
	"fmt"
	"regexp"
	"strings"
)

// The two languages differ in what clang's mode of C++ for OpenCL lacks: constructors of vectors, values of function
// constants, and bounds of threadgroup memory and of constants. translate writes these otherwise, each in its line.
func translate(text string) string {
	text = functionConstant.ReplaceAllString(text, "$1 = {}$2")
	return vectors(bounded(text)) + constants(text)
}

// functionConstant is a constant that gets its value when a pipeline is made.
var functionConstant = regexp.MustCompile(`(\[\[\s*function_constant\s*\([^)]*\)\s*\]\])(\s*;)`)

// vector is the constructor of a vector, up to its parenthesis.
var vector = regexp.MustCompile(`\b(?:(?:u?(?:char|short|int|long))|half|float)[234]\($`)

// vectors turns uint4(a, b) into ((uint4)(a, b)), a literal of OpenCL, whose parentheses keep a swizzle behind it on the
// whole. A parameter whose type is a vector has no parenthesis behind its type, so that it is left alone.
func vectors(text string) string {
	var out []byte
	var closes []bool // for each open parenthesis: it is that of a constructor
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(':
			name := vector.FindString(text[max(i-8, 0) : i+1])
			closes = append(closes, name != "" && text[min(i+1, len(text)-1)] != ')')
			if closes[len(closes)-1] {
				out = append(out[:len(out)-len(name)+1], "(("+name[:len(name)-1]+")("...)
				continue
			}
		case c == ')' && len(closes) > 0:
			if closes[len(closes)-1] {
				out = append(out, ')')
			}
			closes = closes[:len(closes)-1]
		}
		out = append(out, text[i])
	}
	return string(out)
}

// What a kernel may use, in bytes: threadgroup memory on every GPU that the library runs on (Metal feature set tables,
// family Apple7 and later), and a constant that goes into the command itself (setBytes:length:atIndex:).
const (
	mostThreadgroup = 32 << 10
	mostConstant    = 4 << 10
)

// shared is a declaration of threadgroup memory that stands alone in its statement, and names in it are declared.
var (
	shared   = regexp.MustCompile(`[;{}]\s*threadgroup\s+[^;*&=()]*;`)
	brackets = regexp.MustCompile(`\[[^\]]*\]`)
	declared = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?:\[|,|;)`)
)

// bounded states after each declaration of threadgroup memory that it fits, with those before it in the outermost block
// of the function.
func bounded(text string) string {
	var out strings.Builder
	before, sum := 0, ""
	for _, at := range shared.FindAllStringIndex(text, -1) {
		between := text[before:at[1]]
		out.WriteString(between)
		if strings.Contains(between, "\n}") {
			sum = ""
		}
		sizes := ""
		for _, name := range declared.FindAllStringSubmatch(brackets.ReplaceAllString(text[at[0]+1:at[1]], "[]"), -1) {
			sizes += " + sizeof(" + name[1] + ")"
		}
		fmt.Fprintf(&out, " static_assert(0%s%s <= %d, \"threadgroup memory exceeds %[3]d bytes\");", sum, sizes, mostThreadgroup)
		if depth := strings.Count(text[:at[1]], "{") - strings.Count(text[:at[1]], "}"); depth == 1 {
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
	for _, name := range constant.FindAllStringSubmatch(text, -1) {
		fmt.Fprintf(&out, "static_assert(sizeof(%s) <= %d, \"a constant exceeds %[2]d bytes\");", name[1], mostConstant)
	}
	return out.String()
}
