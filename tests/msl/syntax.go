package main

import (
	"bytes"
	"regexp"
	"strings"
)

// Clang gives a pointer without an address space one that fits all, makes a pointer to device memory one to constants, and
// has nothing against functions that are defined nowhere, or that call themselves. All that is seen in its syntax tree,
// of which each line is a node, deeper ones indented further.

// A node that names a type, and what it declares.
var generic = regexp.MustCompile(`(\w+) 0x[0-9a-f]+ .*?<[^>]*>(?: (?:col|line|[\w./]+):[\d:]+)?(?: used| referenced| invalid)*(?: (\w+))? '([^']*__generic[^']*)'`)

// Nodes whose types are written in the source.
var written = map[string]bool{
	"ParmVarDecl": true, "VarDecl": true, "FieldDecl": true, "FunctionDecl": true, "TypedefDecl": true, "TypeAliasDecl": true,
	"CStyleCastExpr": true, "CXXStaticCastExpr": true, "CXXReinterpretCastExpr": true,
}

// node is the beginning of a node with an address, callee a reference to a function.
var (
	node   = regexp.MustCompile(`^([ |` + "`" + `-]*)(\w+) (0x[0-9a-f]+)(?: prev (0x[0-9a-f]+))?`)
	callee = regexp.MustCompile(`(?:Function|CXXMethod) (0x[0-9a-f]+) '(\w+)'`)
)

// Lines name a file only where it is another one than in the line before, so that the file of a declaration is known from
// the last line that had one.
//
// tree is what is collected from a syntax tree.
type tree struct {
	wrong   []complaint
	header  bool   // the declaration is one of metal_stdlib
	source  string // that the declaration is in
	inside  []enclosing
	first   map[string]string   // a function's first declaration
	names   map[string]string   // of functions
	sources map[string]string   // that functions are in
	calls   map[string][]string // of functions
	defined map[string]bool     // functions with a body
}

// ownRule begins a complaint of what the language allows and the library does without.
const ownRule = "rule of the library: "

// enclosing is a function that the line is in, and how deep it is.
type enclosing struct {
	function string
	depth    int
}

// readTree complains of what it finds in a syntax tree. label is the source of what is in no namespace of a source.
func readTree(text []byte, label string) []complaint {
	t := tree{source: label, first: map[string]string{}, names: map[string]string{}, sources: map[string]string{}, calls: map[string][]string{}, defined: map[string]bool{}}
	for line := range bytes.Lines(text) {
		t.line(string(line))
	}
	t.undefined()
	t.recursion()
	return t.wrong
}

// line reads a line of the tree: its place first, then what it is. Expressions are looked at for calls, declarations and
// casts for their types.
func (t *tree) line(line string) {
	m := node.FindStringSubmatch(line)
	if m == nil {
		return
	}
	depth := len(m[1])
	if depth == 2 {
		t.top(line)
	}
	if t.header {
		return
	}
	if strings.Contains(line, "__generic") && !strings.Contains(line, " implicit") {
		t.generic(line)
	}
	if strings.Contains(line, "<AddressSpaceConversion>") {
		t.conversion(line)
	}
	if m[2] == "CompoundStmt" && len(t.inside) > 0 && depth == t.inside[len(t.inside)-1].depth+2 {
		t.defined[t.known(t.inside[len(t.inside)-1].function)] = true
	}
	if m[2] == "FunctionDecl" || m[2] == "CXXMethodDecl" {
		t.function(line, m[3], m[4], depth)
	} else if c := callee.FindStringSubmatch(line); c != nil && len(t.inside) > 0 && depth > t.inside[len(t.inside)-1].depth {
		from := t.inside[len(t.inside)-1].function
		t.calls[from] = append(t.calls[from], c[1])
		t.names[c[1]] = c[2]
	}
}

// named is the name of a namespace, which is that of a source.
var named = regexp.MustCompile(`NamespaceDecl 0x[0-9a-f]+.*> (?:line|col|[\w./]+):[\d:]+ (\w+)\n`)

// top reads where a declaration of the program is from.
func (t *tree) top(line string) {
	t.inside = t.inside[:0]
	_, place, _ := strings.Cut(line, "<")
	place, _, _ = strings.Cut(place, ">")
	if !strings.HasPrefix(place, "line:") && !strings.HasPrefix(place, "col:") && !strings.HasPrefix(place, "<scratch space") {
		t.header = strings.Contains(place, "metal_stdlib:") || strings.Contains(place, "names.h:") || strings.Contains(place, "traits.h:") || strings.HasPrefix(place, "<invalid")
	}
	if m := named.FindStringSubmatch(line); m != nil && !t.header {
		t.source = m[1]
	}
}

// What clang writes itself, such as constructors that copy, has such types too: it is marked as implicit or has no name.
//
// generic complains of a type without an address space that stands in the source.
func (t *tree) generic(line string) {
	m := generic.FindStringSubmatch(line)
	if m == nil || !written[m[1]] || m[1] == "ParmVarDecl" && m[2] == "" || !strings.ContainsAny(m[3], "*&") {
		return
	}
	// A function has no address space.
	if !strings.Contains(strings.ReplaceAll(m[3], "(__generic *", ""), "__generic") {
		return
	}
	if result, _, function := strings.Cut(m[3], "("); m[1] == "FunctionDecl" && function && !strings.Contains(result, "__generic") {
		return
	}
	t.wrong = append(t.wrong, complaint{t.source, strings.TrimSpace("error: no address space: " + m[1] + " " + m[2] + " '" + m[3] + "'")})
}

// converted is the type that a pointer or reference gets with another address space.
var converted = regexp.MustCompile(`'([^']*)'(?::'[^']*')? (?:lvalue )?<AddressSpaceConversion>`)

// conversion complains of one between device and constant. What is volatile is *this of a member function; see translate.
func (t *tree) conversion(line string) {
	m := converted.FindStringSubmatch(line)
	if m != nil && !strings.Contains(m[1], "__generic") && !strings.Contains(m[1], "volatile __global ") {
		t.wrong = append(t.wrong, complaint{t.source, "error: conversion of address space to '" + m[1] + "'"})
	}
}

// undefined complains of functions of the source that are called and have no body anywhere.
func (t *tree) undefined() {
	for from, to := range t.calls {
		for _, c := range to {
			if _, ours := t.sources[c]; ours && !t.defined[t.known(c)] {
				t.wrong = append(t.wrong, complaint{t.sources[from], "error: function '" + t.names[c] + "' is called but defined nowhere"})
			}
		}
	}
}

// A function ends where a node is no deeper. Those of the headers are not looked at: they call nothing of the source.
//
// function begins a function, or declares it again.
func (t *tree) function(line, address, previous string, depth int) {
	for len(t.inside) > 0 && t.inside[len(t.inside)-1].depth >= depth {
		t.inside = t.inside[:len(t.inside)-1]
	}
	t.inside = append(t.inside, enclosing{address, depth})
	t.sources[address] = t.source
	if previous != "" {
		t.first[address] = previous
	}
}

// known is the first declaration of a function, which stands for all.
func (t *tree) known(f string) string {
	for t.first[f] != "" {
		f = t.first[f]
	}
	return f
}

// Overloads are told apart by their addresses in clang, which a reader of the text cannot do.
//
// recursion complains of functions that call themselves, directly or not. The language has had that in kernels since version
// 2.4, but the library's pipelines ask for no call stack (maxCallStackDepth), so that this is a rule of its own.
func (t *tree) recursion() {
	all := map[string][]string{}
	for from, to := range t.calls {
		for _, c := range to {
			all[t.known(from)] = append(all[t.known(from)], t.known(c))
		}
	}
	for from := range all {
		seen := map[string]bool{}
		var reach func(f string) bool
		reach = func(f string) bool {
			for _, c := range all[f] {
				if c == from {
					return true
				}
				if !seen[c] {
					seen[c] = true
					if reach(c) {
						return true
					}
				}
			}
			return false
		}
		if reach(from) {
			t.wrong = append(t.wrong, complaint{t.sources[from], ownRule + "recursion: '" + t.names[from] + "' calls itself"})
		}
	}
}
