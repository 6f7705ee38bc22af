package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// unpack makes build/pair/COMMIT, a tree of that revision, and answers its absolute path. It is no
// working tree of git's, so that nothing needs to be unregistered; a whole one is used again. It has a
// go.mod of its own, so commands over ./... of the working tree do not see it.
func unpack(rev string) (string, error) {
	commit, err := output("git", "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return "", err
	}
	tree, err := filepath.Abs(filepath.Join("build", "pair", strings.TrimSpace(commit)[:12]))
	if err != nil {
		return "", err
	}
	// The rename below is what makes a tree whole; one that was interrupted has another name.
	if _, err := os.Stat(tree); err == nil {
		return tree, nil
	}
	part := tree + ".part"
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(part, 0o755)); err != nil {
		return "", err
	}
	archive := part + ".tar"
	defer os.Remove(archive)
	if _, err := output("git", "archive", "--format=tar", "--output="+archive, rev); err != nil {
		return "", err
	}
	if _, err := output("tar", "-xf", archive, "-C", part); err != nil {
		return "", err
	}
	return tree, os.Rename(part, tree)
}

// benchmark is a program that is ready to run, in the tree that it measures.
type benchmark struct {
	tree    string   // absolute; where it runs, since benchmarks name files from the top of the checkout
	command []string // with its arguments
	env     []string // all of it
}

// prepare builds the library of a tree and finds its benchmark. Python and its packages are those of
// the working tree, here: what is installed once serves both, and NumPy is the same for both.
func prepare(here, tree string, o *options) (*benchmark, error) {
	fmt.Fprintln(os.Stderr, "building", tree)
	if err := shell(tree, "sh", "build.sh", "lib"); err != nil {
		return nil, err
	}
	// That the working tree has it decides: a benchmark that moved to the other language has no pair.
	if _, err := os.Stat(filepath.Join(here, "bench", o.name, "main.go")); err == nil {
		return program(tree, o)
	}
	return script(here, tree, o)
}

// program is a benchmark in Go. It is built beforehand, so that no compiler runs beside what is measured;
// GOEXPERIMENT is that of the caller for either tree.
func program(tree string, o *options) (*benchmark, error) {
	if o.script {
		return nil, fmt.Errorf("%s is written in Go; -script is for Python", o.name)
	}
	binary := filepath.Join(tree, "build", "bench-"+o.name)
	if err := shell(tree, "go", "build", "-o", binary, "./bench/"+o.name); err != nil {
		return nil, err
	}
	return &benchmark{tree: tree, command: append([]string{binary}, o.args...), env: os.Environ()}, nil
}

// script is a benchmark in Python. The package's folder goes before what is installed, and the library is
// the one beside it; that the tree's own package is imported is checked, because comparing a library with
// itself would look very good.
func script(here, tree string, o *options) (*benchmark, error) {
	from := tree // whose script it is, as opposed to whose library
	if o.script {
		from = here
	}
	python := filepath.Join(here, ".venv-bench", "bin", "python")
	b := &benchmark{tree: tree, env: append(os.Environ(), "PYTHONPATH="+filepath.Join(tree, "python"), "PADDLE_MPS_LIBRARY=")}
	b.command = []string{python, "-c", "import paddle_mps; print(paddle_mps.__file__)"}
	found, err := b.run()
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(found, filepath.Join(tree, "python")+string(filepath.Separator)) {
		return nil, fmt.Errorf("paddle_mps of %s is imported from %s", tree, found)
	}
	b.command = append([]string{python, filepath.Join(from, "bench", o.name+".py")}, o.args...)
	return b, nil
}

// run is what the benchmark prints to its standard output; the rest is shown if it fails. Its status does not matter: a missed bar is one of its answers.
func (b *benchmark) run() (string, error) {
	cmd := exec.Command(b.command[0], b.command[1:]...)
	cmd.Dir, cmd.Env = b.tree, b.env
	var said strings.Builder
	cmd.Stderr = &said // apart from the table
	text, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && len(text) > 0 {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(b.command, " "), err, said.String())
	}
	return string(text), nil
}

// shell runs a command in a tree; what it says is shown only if it fails.
func shell(tree, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = tree
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s in %s: %w\n%s", name, strings.Join(args, " "), tree, err, text)
	}
	return nil
}

// output is what a command prints; the error of one that fails is what it says.
func output(name string, args ...string) (string, error) {
	text, err := exec.Command(name, args...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%s: %s", name, cmp.Or(strings.TrimSpace(string(failed.Stderr)), err.Error()))
	}
	return string(text), err
}
