package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/internal/codestat"
)

// long is the length of a function from which on it deserves a second look.
const long = 60

// report prints one table with a column for each revision: totals, then the packages of both, by name.
// Totals of core and kernels stand beside those of all Go, because the front doors grow on their own.
func report(w io.Writer, rev string, then, now *code) error {
	p := printer{w: w}
	p.row("", rev, "now")
	p.group("core and kernels", engine(then.goFiles), engine(now.goFiles))
	p.group("all Go", then.goFiles, now.goFiles)
	p.cycles("import cycles, Go", then.goCycles, now.goCycles)
	p.cycles("import cycles, Python", then.pythonCycles, now.pythonCycles)
	p.cycles("  with imports for type checkers", then.typedCycles, now.typedCycles)
	p.row("modules, Python", fmt.Sprint(then.pythonModules), fmt.Sprint(now.pythonModules))
	old, current := codestat.ByPackage(then.goFiles), codestat.ByPackage(now.goFiles)
	p.row("packages, Go", fmt.Sprint(len(old)), fmt.Sprint(len(current)))
	p.row("  each: files, lines, comments", "", "")
	// A package that moved shows as one that is gone and one that is new: nothing guesses which.
	names := maps.Clone(old)
	maps.Copy(names, current)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		p.row("  "+name, size(old[name]), size(current[name]))
	}
	return p.err
}

// engine picks the files of core and kernels: what is true on every device, and what computes. A folder
// of theirs that is moved elsewhere in a later revision falls out of the totals.
func engine(files []*codestat.File) (found []*codestat.File) {
	for _, f := range files {
		if strings.HasPrefix(f.Path, "core/") || strings.HasPrefix(f.Path, "kernels/") {
			found = append(found, f)
		}
	}
	return found
}

// size is how many files and lines there are and the share of comments, for one package or several;
// a dash where there is none, because 0 % of comments would read as a fault.
func size(files []*codestat.File) string {
	if len(files) == 0 {
		return "-"
	}
	lines := 0
	for _, f := range files {
		lines += f.Lines
	}
	return fmt.Sprintf("%3d %6d %5.1f %%", len(files), lines, codestat.Share(files))
}

// printer writes rows and keeps the first error, after which it writes no more: one check at the end
// is enough.
type printer struct {
	w   io.Writer
	err error
}

// row is one line: what it is about, and what either revision has of it.
func (p *printer) row(what, then, now string) {
	p.line("%-46s%22s%22s\n", what, then, now)
}

// line is one line in any format.
func (p *printer) line(format string, values ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, values...)
	}
}

// group prints what is said of a part of the code. Medians hide what readers complain of, so the 90th
// percentile and the largest stand beside them.
func (p *printer) group(name string, then, now []*codestat.File) {
	p.row(name+": files, lines, comments", size(then), size(now))
	p.row("  functions: median/p90/max", functions(then).String(), functions(now).String())
	p.row(fmt.Sprintf("  functions of more than %d lines", long), functions(then).above(long), functions(now).above(long))
	p.row("  files: median/p90/max", lengths(then).String(), lengths(now).String())
}

// cycles prints how many there are and how large the first is: one cycle may hold everything, and then
// a count alone looks harmless.
func (p *printer) cycles(what string, then, now [][]string) {
	shown := func(found [][]string) string {
		if len(found) == 0 {
			return "0"
		}
		return fmt.Sprintf("%d (largest: %d)", len(found), len(found[0]))
	}
	p.row(what, shown(then), shown(now))
}

// spread is a sorted list of lengths, of functions or of files, in lines.
type spread []int

// functions are the lengths of all functions and methods.
func functions(files []*codestat.File) (s spread) {
	for _, f := range files {
		s = append(s, f.Functions...)
	}
	slices.Sort(s)
	return s
}

// lengths are those of whole files, comments and blank lines included.
func lengths(files []*codestat.File) (s spread) {
	for _, f := range files {
		s = append(s, f.Lines)
	}
	slices.Sort(s)
	return s
}

// at is the value below which a share of the list lies, the upper one of two; 0 of an empty list.
func (s spread) at(share float64) int {
	if len(s) == 0 {
		return 0
	}
	return s[min(int(share*float64(len(s))), len(s)-1)]
}

func (s spread) String() string { return fmt.Sprintf("%d/%d/%d", s.at(0.5), s.at(0.9), s.at(1)) }

// above says how many are longer than a limit.
func (s spread) above(limit int) string {
	at, _ := slices.BinarySearch(s, limit+1)
	return fmt.Sprintf("%d of %d", len(s)-at, len(s))
}
