package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// event is one line of a trace: "+bytes" allocates a block, whose number is that of the allocations before it;
// "-n" frees block n.
type event struct {
	size  int64 // bytes; 0 for a free
	block int
}

// trace is a program's allocations and frees in order. live has the blocks that have not been freed so far.
type trace struct {
	events []event
	blocks int
	live   map[int]bool
}

// newTrace is an empty trace.
func newTrace() *trace { return &trace{live: map[int]bool{}} }

// alloc adds an allocation and returns the number of the block. Sizes below 1 become 1, because 0 marks a free.
func (t *trace) alloc(bytes int64) int {
	t.events = append(t.events, event{size: max(bytes, 1), block: t.blocks})
	t.live[t.blocks] = true
	t.blocks++
	return t.blocks - 1
}

// free adds the frees of blocks, which are live.
func (t *trace) free(blocks ...int) {
	for _, b := range blocks {
		t.events = append(t.events, event{block: b})
		delete(t.live, b)
	}
}

// finish frees the remaining blocks, in the order of allocation.
func (t *trace) finish() *trace {
	rest := make([]int, 0, len(t.live))
	for b := range t.live {
		rest = append(rest, b)
	}
	slices.Sort(rest)
	t.free(rest...)
	return t
}

// write writes the lines, compressed. Equal traces give equal bytes.
func (t *trace) write(to io.Writer) error {
	// The header of gzip has no name and no time, so that the test can compare files.
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(z)
	for _, e := range t.events {
		if e.size > 0 {
			fmt.Fprintf(w, "+%d\n", e.size)
		} else {
			fmt.Fprintf(w, "-%d\n", e.block)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return z.Close()
}

// read reads what write wrote. It refuses traces that free a block which is not live: a replay would fail later.
func read(from io.Reader) (*trace, error) {
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	t := newTrace()
	lines := bufio.NewScanner(z)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if text == "" {
			return nil, fmt.Errorf("line %d is empty", n)
		}
		v, err := strconv.ParseInt(text[1:], 10, 64)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d is %q; want +bytes or -block", n, text)
		case text[0] == '+' && v > 0:
			t.alloc(v)
		case text[0] == '-' && t.live[int(v)]:
			t.free(int(v))
		default:
			return nil, fmt.Errorf("line %d is %q; want +bytes, or -block of a live block", n, text)
		}
	}
	return t, lines.Err()
}

// load reads the trace of a program from its file.
func load(folder, name string) (*trace, error) {
	f, err := os.Open(filepath.Join(folder, name+".txt.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}
