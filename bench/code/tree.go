package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
)

// wanted are the files that are read: all Go, and the modules of the Python package. Tests, examples and
// tools in Python import each other by folder, which is not what a user imports.
func wanted(name string) bool {
	return strings.HasSuffix(name, ".go") ||
		strings.HasPrefix(name, "python/paddle_mps/") && strings.HasSuffix(name, ".py")
}

// revision measures a commit. It reads an archive in memory, so that nothing is checked out and nothing
// is left behind.
func revision(rev string) (*code, error) {
	archive, err := command("git", "archive", "--format=tar", rev)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return measure(files)
		}
		if err != nil {
			return nil, err
		}
		if wanted(header.Name) {
			if files[header.Name], err = io.ReadAll(r); err != nil {
				return nil, err
			}
		}
	}
}

// workingTree measures what git would commit: the files that it knows or does not ignore. A file that is
// deleted and not yet staged is left out.
func workingTree() (*code, error) {
	list, err := command("git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range strings.Fields(string(list)) {
		if !wanted(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return measure(files)
}
