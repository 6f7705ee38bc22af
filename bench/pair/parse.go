package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// line is one number of a table. Costs are the rule, in whatever unit; only ratios are ever taken.
type line struct {
	key   string // the same in every run
	value float64
	rate  bool // more is better
}

// Columns that mean something else than a cost. A new one that is not named here is taken for a cost, and
// its ratio is then the wrong way round: name it.
var (
	sizes = map[string]bool{"MiB": true}  // tell rows apart
	bars  = map[string]bool{"bar": true}  // say what was wanted
	rates = map[string]bool{"GB/s": true} // more is better
)

var (
	// The cells of a header, and numbers as %g and %f print them.
	gaps    = regexp.MustCompile(`\s{2,}`)
	numeric = regexp.MustCompile(`-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$`)
	number  = regexp.MustCompile(`^-?\d[\d.e+-]*(?:%| [A-Za-zµ]+)?$`)
	unit    = regexp.MustCompile(`^ ([A-Za-zµ]+)`)
	// What may follow the edge of a number:
	within  = regexp.MustCompile(`^[\d.]`)
	verdict = regexp.MustCompile(`^\d+(?:\.\d+)? (?:ok|MISSED)`) // may touch the number before it
)

// column is one of a table: where its numbers end, and its name.
type column struct {
	edge int // in bytes
	name string
}

// parse reads the tables of a text, without knowing which benchmark has printed it.
//
// A header is a line of several cells, two blanks or more apart, none of which is a number; numbers of
// the rows below belong to the column whose right edge they share. A row that is indented belongs to the
// last one that is not. What shares no edge is a remark. A second header begins a table of its own.
func parse(text string) (found []line) {
	var columns []column
	parent, seen := "", map[string]int{}
	for row := range strings.Lines(text) {
		row = strings.TrimRight(row, " \n")
		if header := headerOf(row); header != nil {
			columns = header
			continue
		}
		label, at := labelOf(row)
		if !strings.HasPrefix(row, " ") {
			parent = label
		} else {
			label = parent + " / " + label
		}
		for _, l := range cells(row, at, label, columns) {
			seen[l.key]++
			if n := seen[l.key]; n > 1 {
				l.key += fmt.Sprintf(" (%d)", n)
			}
			found = append(found, l)
		}
	}
	return found
}

// headerOf is the columns that a row announces; nil if it is no header. Gaps of two blanks part them,
// because names have single ones: "given, ms".
func headerOf(row string) (columns []column) {
	from := 0
	for _, gap := range append(gaps.FindAllStringIndex(row, -1), []int{len(row), len(row)}) {
		if cell := row[from:gap[0]]; cell != "" {
			if number.MatchString(cell) {
				return nil
			}
			columns = append(columns, column{gap[0], cell})
		}
		from = gap[1]
	}
	if len(columns) < 2 {
		return nil
	}
	return columns
}

// labelOf is what a row is about, and where it ends: at the first gap behind it. It may hold numbers of
// its own, "8000 calls", which is why no cell is looked for before that.
func labelOf(row string) (label string, end int) {
	begin := len(row) - len(strings.TrimLeft(row, " "))
	end = len(row)
	if gap := gaps.FindStringIndex(row[begin:]); gap != nil {
		end = begin + gap[0]
	}
	return row[begin:end], end
}

// cells are the numbers of a row behind its label, each with a key that tells it from all others: the
// label, the size, and the unit or, where a row has several numbers, the column.
func cells(row string, from int, label string, columns []column) (found []line) {
	for _, c := range columns {
		text := numberAt(row, from, c.edge)
		if text == "" || bars[c.name] {
			continue
		}
		if sizes[c.name] {
			label += ", " + text + " " + c.name
			continue
		}
		value, _ := strconv.ParseFloat(text, 64) // it takes all that is numeric
		l := line{key: c.name, value: value, rate: rates[c.name]}
		if word := unit.FindStringSubmatch(row[c.edge:]); word != nil {
			l.key = word[1]
		}
		found = append(found, l)
	}
	for i := range found {
		if l := &found[i]; len(found) == 1 && l.key == lone(columns) {
			l.key = label
		} else {
			l.key = label + ": " + l.key
		}
	}
	return found
}

// lone is the name of the column of values if there is but one, which tells no rows apart and is left out
// of their keys.
func lone(columns []column) (name string) {
	for _, c := range columns {
		if !bars[c.name] && !sizes[c.name] {
			name = c.name
		}
	}
	return name
}

// numberAt is the number that ends at an edge; empty if none does. A digit behind the edge means that the
// number ends elsewhere and only happens to cross it, unless a verdict begins there.
func numberAt(row string, from, edge int) string {
	if edge <= from || edge > len(row) || within.MatchString(row[edge:]) && !verdict.MatchString(row[edge:]) {
		return ""
	}
	return numeric.FindString(row[from:edge])
}
