package main

import (
	"embed"
	"fmt"
	"strings"
)

// The rules one by one in programs.metal, and programs as users write them in user.metal.
//
//go:embed testdata/*.metal
var tables embed.FS

// program is one of the tables of programs that the language refuses or accepts. That Apple's compiler does so is read from
// the specification, from reports about it and from its public headers; none was tried on a Mac. What these sources do not
// say is not refused.
type program struct {
	source
	category, words string // words is a part of the error; "" where there is none
}

// programs reads the tables.
func programs() (all []program) {
	files, err := tables.ReadDir("testdata")
	for _, file := range files {
		text, failed := tables.ReadFile("testdata/" + file.Name())
		if failed != nil {
			err = failed
		}
		all = append(all, parsePrograms(string(text), len(all))...)
	}
	if err != nil {
		panic(err) // the files are part of this program
	}
	return all
}

// parsePrograms reads the text of a table, and numbers its programs. Their names are words, and each is another one, because
// they are names of files and of namespaces too. The includes that all programs begin with are not in the table.
func parsePrograms(text string, first int) (all []program) {
	for i, text := range strings.Split("\n"+text, "\n//! ")[1:] {
		head, text, _ := strings.Cut(text, "\n")
		verb, head, _ := strings.Cut(head, " ")
		category, words, _ := strings.Cut(head, ": ")
		p := program{category: strings.TrimSuffix(category, ":"), words: words}
		p.name = fmt.Sprintf("%s_%d_%s", verb, first+i, strings.NewReplacer(" ", "_", "'", "", ":", "", "+", "p").Replace(p.category))
		p.text = "#include <metal_stdlib>\nusing namespace metal;\n" + text + "\n"
		all = append(all, p)
	}
	return all
}

// The verdict is in the name, so that files of programs need no list beside them.
//
// refused reports whether the program is invalid.
func (p *program) refused() bool { return strings.HasPrefix(p.name, "refuse") }
