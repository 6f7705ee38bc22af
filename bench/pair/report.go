package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
)

// results are the numbers of all rounds of one revision.
type results struct {
	keys   []string             // in the order of the table
	values map[string][]float64 // one a round, in order
	rate   map[string]bool      // more is better
}

func newResults() *results {
	return &results{values: map[string][]float64{}, rate: map[string]bool{}}
}

// add takes the lines of one run, and answers how many there are. A line that appears for the first time
// in a later run comes last.
func (r *results) add(lines []line) int {
	for _, l := range lines {
		if _, known := r.values[l.key]; !known {
			r.keys = append(r.keys, l.key)
		}
		r.values[l.key] = append(r.values[l.key], l.value)
		r.rate[l.key] = l.rate
	}
	return len(lines)
}

// control reports whether a line measures another library: it shows how much the machine itself varies,
// and is no reason to call us slower. A ratio to another library is ours.
func control(key string) bool {
	return !strings.Contains(key, "paddle_mps") && (strings.Contains(key, "numpy") || strings.Contains(key, "torch"))
}

// report prints the lines that both have, the median and the largest ratio of ours, and what only one of them has.
// Ratios are of medians; "paired" is the median of the ratios of single rounds, and "best" the ratio of
// the least costs, which a busy machine disturbs less.
func report(w io.Writer, rev string, then, now *results, only *regexp.Regexp) error {
	width := 0
	for _, key := range now.keys {
		width = max(width, len(key))
	}
	p := printer{w: w}
	p.printf("%-*s%14s%14s%9s%9s%9s\n", width, fmt.Sprintf("rounds: %d", rounds(now)), rev, "now", "ratio", "paired", "best")
	largest, where := 0.0, ""
	var all []float64 // ratios of ours
	for _, key := range now.keys {
		old, both := then.values[key]
		if !both || !only.MatchString(key) {
			continue
		}
		current := now.values[key]
		rate := now.rate[key]
		a, b := median(old), median(current)
		r := ratio(a, b, rate)
		// Four digits are more than any machine repeats.
		p.printf("%-*s%14.4g%14.4g%9.3f%9.3f%9.3f\n", width, key, a, b, r,
			paired(old, current, rate), ratio(best(old, rate), best(current, rate), rate))
		if !control(key) {
			all = append(all, r)
			if r >= largest {
				largest, where = r, key
			}
		}
	}
	if len(all) > 0 {
		p.printf("median ratio: %.3f of %d lines\n", median(all), len(all))
	}
	p.printf("largest ratio: %.3f (%s)\n", largest, where)
	p.missing(rev, then, now, only)
	p.missing("now", now, then, only)
	return p.err
}

// printer keeps the first error and writes nothing after it.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// missing names the lines that one revision has alone, so that a line which vanished does not pass for
// one that became no worse.
func (p *printer) missing(name string, has, lacks *results, only *regexp.Regexp) {
	for _, key := range has.keys {
		if _, both := lacks.values[key]; !both && only.MatchString(key) {
			p.printf("only %s: %s: %.4g\n", name, key, median(has.values[key]))
		}
	}
}

// rounds is how often the line that was there most often was there; a line may depend on the machine,
// such as one that is printed only while a bar is missed.
func rounds(r *results) (n int) {
	for _, values := range r.values {
		n = max(n, len(values))
	}
	return n
}

// median is the mean of the middle two of an even number of values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}

// best is the number of the round that was disturbed least: what a revision can do at all. It hides what
// is slow only at times.
func best(values []float64, rate bool) float64 {
	if rate {
		return slices.Max(values)
	}
	return slices.Min(values)
}

// ratio is above 1 if the new number is worse. Nothing that stays nothing is as good as before.
func ratio(old, current float64, rate bool) float64 {
	if rate {
		old, current = current, old
	}
	switch {
	case old == current:
		return 1
	case old == 0:
		return math.Inf(1)
	}
	return current / old
}

// paired is the median of the ratios of each round: what both did within a minute, when the machine was
// the same for both. A line that is not in every run has fewer.
func paired(old, current []float64, rate bool) float64 {
	var ratios []float64
	for i := range min(len(old), len(current)) {
		ratios = append(ratios, ratio(old[i], current[i], rate))
	}
	return median(ratios)
}
