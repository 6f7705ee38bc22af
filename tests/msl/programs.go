package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed testdata/programs.metal
var programText string

// program is one of the table of programs that the language refuses or accepts. That Apple's compiler refuses the invalid
// ones is read from the specification, from reports about it and from its public headers; none was tried on a Mac.
type program struct {
	source
	category, words string // words is a part of the error; "" where there is none
}

// programs reads the table. The names of programs are words, and each is another one, because they are names of files and
// of namespaces too. The includes that all programs begin with are not in the table.
func programs() (all []program) {
	for i, text := range strings.Split(programText, "\n//! ")[1:] {
		head, text, _ := strings.Cut(text, "\n")
		verb, head, _ := strings.Cut(head, " ")
		category, words, _ := strings.Cut(head, ": ")
		p := program{category: category, words: words}
		p.name = fmt.Sprintf("%s_%d_%s", verb, i, strings.NewReplacer(" ", "_", "'", "").Replace(category))
		p.text = "#include <metal_stdlib>\nusing namespace metal;\n" + text + "\n"
		all = append(all, p)
	}
	return all
}

// The verdict is in the name, so that files of programs need no list beside them.
//
// refused reports whether the program is invalid.
func (p *program) refused() bool { return strings.HasPrefix(p.name, "refuse") }
