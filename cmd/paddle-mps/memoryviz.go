package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	memoryviz "github.com/paddle-mps/paddle-mps/python/paddle_mps/memory_viz"
)

// snapshot is the part of a snapshot that the page uses; docs/memory_snapshot.md describes all fields. The page gets
// the whole text; these fields are for checking it.
type snapshot struct {
	Version  int    `json:"version"`
	Device   string `json:"device"`
	Place    string `json:"place"`
	Segments []struct {
		ID     uint64 `json:"id"`
		Total  int64  `json:"total_size"`
		Blocks []struct {
			Size  int64  `json:"size"`
			State string `json:"state"`
			Stack uint64 `json:"stack"`
		} `json:"blocks"`
	} `json:"segments"`
	Trace []struct {
		Action string `json:"action"`
		Size   int64  `json:"size"`
		Stack  uint64 `json:"stack"`
	} `json:"trace"`
	// Stacks is nil in a snapshot of a C program, whose numbers of stacks mean what the program says.
	Stacks [][]struct {
		Name string `json:"name"`
	} `json:"stacks"`
}

// snapshotVersion is the version that this command reads. It changes only when fields change their meaning; fields
// that are added later are ignored.
const snapshotVersion = 1

// memoryViz is the command memory-viz: it writes the page of one snapshot and prints the name of the page.
func memoryViz(args []string, out, complain io.Writer) error {
	flags := flag.NewFlagSet("memory-viz", flag.ContinueOnError)
	flags.SetOutput(complain)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: paddle-mps memory-viz SNAPSHOT.json [-o PAGE.html]\n\nWrites a snapshot of memory as a page for a browser.")
		flags.PrintDefaults()
	}
	if wantsHelp(args) {
		flags.SetOutput(out)
	}
	page := flags.String("o", "", "the page to write; default: the snapshot's name with .html; - for standard output")
	var names []string
	for rest := args; ; rest = flags.Args()[1:] { // options may come after the name too
		if err := flags.Parse(rest); err != nil {
			return flagError(err)
		}
		if flags.NArg() == 0 {
			break
		}
		names = append(names, flags.Arg(0))
	}
	if len(names) != 1 {
		fmt.Fprintf(complain, "paddle-mps memory-viz: got %d snapshots; want 1\n", len(names))
		flags.Usage()
		return errUsage
	}
	return writePage(names[0], *page, out)
}

// flagError makes errUsage of an error for which package flag has printed the usage.
func flagError(err error) error {
	if err == flag.ErrHelp {
		return err
	}
	return errUsage
}

// writePage writes the page of the snapshot in file name; see the flag -o for page.
func writePage(name, page string, out io.Writer) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := render(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if page == "-" {
		_, err := out.Write(text)
		return err
	}
	if page == "" {
		page = strings.TrimSuffix(name, filepath.Ext(name)) + ".html"
	}
	if same(name, page) {
		return fmt.Errorf("%s is the snapshot itself; want another name for the page (-o PAGE.html)", page)
	}
	if err := os.WriteFile(page, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(out, page)
	return nil
}

// same reports whether two names are of one file that exists.
func same(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// render makes the page of a snapshot: one HTML file without references to others. Names in the snapshot come from a
// user's program, so the JSON is escaped for use within a script element. What stands for a name is not looked at
// again, so that nothing in a snapshot is taken for one.
func render(data []byte) ([]byte, error) {
	s, err := parse(data)
	if err != nil {
		return nil, err
	}
	var safe bytes.Buffer
	json.HTMLEscape(&safe, data)
	values := []string{
		"{{title}}", html.EscapeString(fmt.Sprintf("Memory of %s (%s)", s.Place, s.Device)),
		"{{data}}", safe.String(),
	}
	parts, err := fs.Glob(memoryviz.Files, "*")
	if err != nil {
		return nil, err
	}
	for _, name := range parts {
		part, err := memoryviz.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		values = append(values, "{{"+name+"}}", string(part))
	}
	page, err := memoryviz.Files.ReadFile("page.html")
	return []byte(strings.NewReplacer(values...).Replace(string(page))), err
}

// parse reads a snapshot and checks what the script of the page relies on: sizes are positive, blocks cover their
// segment, and numbers of stacks are within the list.
func parse(data []byte) (*snapshot, error) {
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("got a file that is not a snapshot: %w; want a file of paddle.mps.dump_snapshot", err)
	}
	if s.Version != snapshotVersion {
		return nil, fmt.Errorf("the snapshot has version %d; want %d", s.Version, snapshotVersion)
	}
	// The script draws blocks in proportion to their segment, so a gap would move all blocks behind it.
	for _, g := range s.Segments {
		covered := int64(0)
		for _, b := range g.Blocks {
			if b.Size <= 0 || !s.knows(b.Stack) {
				return nil, fmt.Errorf("segment %d has a block of %d bytes with stack %d; want more than 0 bytes and a stack of 0 to %d", g.ID, b.Size, b.Stack, len(s.Stacks))
			}
			covered += b.Size
		}
		if covered != g.Total || g.Total <= 0 {
			return nil, fmt.Errorf("segment %d has %d bytes and its blocks have %d; want the same number", g.ID, g.Total, covered)
		}
	}
	for i, e := range s.Trace {
		if e.Size < 0 || !s.knows(e.Stack) {
			return nil, fmt.Errorf("event %d has %d bytes and stack %d; want no negative size and a stack of 0 to %d", i, e.Size, e.Stack, len(s.Stacks))
		}
	}
	return &s, nil
}

// knows reports whether a stack is in the list, where there is one; 0 stands for none.
func (s *snapshot) knows(stack uint64) bool { return s.Stacks == nil || stack <= uint64(len(s.Stacks)) }
