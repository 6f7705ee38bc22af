// Package codestat measures source code: lines, comments and functions of Go files, and cycles among
// packages or modules that import each other.
//
// It reads texts and never a folder: the caller decides which files belong to a revision. Only hand-written code
// that is shipped counts; Measured decides which files those are.
package codestat

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// File is one measured Go file.
type File struct {
	Path      string   // slash-separated, from the top of the module
	Imports   []string // paths, whether ours or not
	Lines     int      // as an editor counts them
	Code      int      // lines with at least one token that is no comment
	Comment   int      // lines that hold a comment and nothing else
	Functions []int    // lines of each function, from `func` to its last brace
}

// Package is the path of the file's package within the module.
func (f *File) Package() string { return path.Dir(f.Path) }

// generated is the line that Go's tools agree on: https://go.dev/s/generatedcode
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// Measured reports whether a file counts: Go, written by hand, and no test.
func Measured(name string, text []byte) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") &&
		!strings.HasPrefix(base, "z") && !generated.Match(text)
}

// Measure parses a file. Methods count as functions; function literals belong to what encloses them.
// The error is the parser's.
func Measure(name string, text []byte) (*File, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &File{Path: name, Lines: strings.Count(string(text), "\n")}
	f.Code, f.Comment = kinds(name, text)
	for _, spec := range tree.Imports {
		f.Imports = append(f.Imports, strings.Trim(spec.Path.Value, `"`))
	}
	for _, d := range tree.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			f.Functions = append(f.Functions, set.Position(d.End()).Line-set.Position(d.Pos()).Line+1)
		}
	}
	return f, nil
}

// kinds counts lines with code and lines with nothing but a comment. A blank line is neither, also
// within a comment; a comment behind code adds nothing.
func kinds(name string, text []byte) (code, comment int) {
	set := token.NewFileSet()
	file := set.AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	isCode, isComment := map[int]bool{}, map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && literal == "\n" { // the scanner's own, at the end of a line
			continue
		}
		// A raw string and a comment hold several lines, of which blank ones do not count.
		lines := isCode
		if tok == token.COMMENT {
			lines = isComment
		}
		for i, line := range strings.Split(literal, "\n") {
			lines[file.Line(pos)+i] = lines[file.Line(pos)+i] || i == 0 || strings.TrimSpace(line) != ""
		}
	}
	return held(isCode, nil), held(isComment, isCode)
}

// held counts the lines of one kind that are not of the other; a line may have been looked at and be
// of neither, hence the values.
func held(lines, other map[int]bool) (n int) {
	for line, is := range lines {
		if is && !other[line] {
			n++
		}
	}
	return n
}

// Share is the percentage of comment lines among the lines that are not blank; 0 without files.
func Share(files []*File) float64 {
	code, comment := 0, 0
	for _, f := range files {
		code += f.Code
		comment += f.Comment
	}
	return 100 * float64(comment) / float64(max(code+comment, 1))
}

// ByPackage sorts files into their packages.
func ByPackage(files []*File) map[string][]*File {
	packages := map[string][]*File{}
	for _, f := range files {
		packages[f.Package()] = append(packages[f.Package()], f)
	}
	return packages
}
