package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"
)

//go:embed viz
var viz embed.FS

// snapshot is what the page needs of a snapshot; docs/memory_snapshot.md has the whole of it.
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
			Stack int    `json:"stack"`
		} `json:"blocks"`
	} `json:"segments"`
	Trace []struct {
		Action string `json:"action"`
		Size   int64  `json:"size"`
		Stack  int    `json:"stack"`
	} `json:"trace"`
	Stacks [][]struct {
		Name string `json:"name"`
	} `json:"stacks"`
}

// snapshotVersion is the version that this command reads.
const snapshotVersion = 1

// memoryViz is the command.
func memoryViz(args []string, out, complain io.Writer) error {
	flags := flag.NewFlagSet("memory-viz", flag.ContinueOnError)
	flags.SetOutput(complain)
	page := flags.String("o", "", "the page to write; default: the snapshot's name with .html; - for standard output")
	var names []string
	for rest := args; ; rest = flags.Args()[1:] { // options may stand behind the name too
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

func flagError(err error) error {
	if err == flag.ErrHelp {
		return err
	}
	return errUsage
}

func writePage(name, page string, out io.Writer) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	html, err := render(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if page == "-" {
		_, err := out.Write(html)
		return err
	}
	if page == "" {
		page = strings.TrimSuffix(name, filepath.Ext(name)) + ".html"
	}
	if err := os.WriteFile(page, html, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(out, page)
	return nil
}

// render makes the page of a snapshot.
func render(data []byte) ([]byte, error) {
	s, err := parse(data)
	if err != nil {
		return nil, err
	}
	var safe bytes.Buffer
	json.HTMLEscape(&safe, data)
	style, _ := viz.ReadFile("viz/page.css") // embedded files are there
	script, _ := viz.ReadFile("viz/page.js")
	t, err := template.ParseFS(viz, "viz/page.html")
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = t.Execute(&page, map[string]any{
		"Title": fmt.Sprintf("Memory of %s (%s)", s.Place, s.Device),
		"Style": template.CSS(style), "Script": template.JS(script), "Data": template.JS(safe.String()),
	})
	return page.Bytes(), err
}

// parse reads a snapshot and checks what the page relies on.
func parse(data []byte) (*snapshot, error) {
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("this is no snapshot: %w", err)
	}
	if s.Version != snapshotVersion {
		return nil, fmt.Errorf("the snapshot has version %d; want %d", s.Version, snapshotVersion)
	}
	for _, g := range s.Segments {
		covered := int64(0)
		for _, b := range g.Blocks {
			if b.Size <= 0 || b.Stack < 0 || b.Stack > len(s.Stacks) {
				return nil, fmt.Errorf("segment %d has a block of %d bytes with stack %d of %d", g.ID, b.Size, b.Stack, len(s.Stacks))
			}
			covered += b.Size
		}
		if covered != g.Total || g.Total <= 0 {
			return nil, fmt.Errorf("segment %d has %d bytes and blocks of %d; want as many", g.ID, g.Total, covered)
		}
	}
	for i, e := range s.Trace {
		if e.Size < 0 || e.Stack < 0 || e.Stack > len(s.Stacks) {
			return nil, fmt.Errorf("event %d has %d bytes and stack %d of %d", i, e.Size, e.Stack, len(s.Stacks))
		}
	}
	return &s, nil
}
