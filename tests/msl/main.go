// Command msl checks every shader that the library can generate as Apple's compiler would, off the Mac.
//
// The list of sources is the library's own: kernels/metal/shaders makes them for calls of every operator, in every dtype
// and layout. Each is given to a strict front end; see front. A table of invalid programs, and of valid ones near them,
// shows that the front end refuses what it has to and no more.
//
// The invariant: what is refused here is refused on a Mac, so that a red check is a bug of the library. The other way
// round it is best effort; .github/workflows/macos.yml gives the same sources to Apple's compiler.
//
//	go run ./tests/msl              checks sources and table, and prints how many there are
//	go run ./tests/msl -write DIR   writes the sources as files, for xcrun metal
//	go run ./tests/msl -programs DIR
//	                                writes the programs of the table; the name of each begins with accept or refuse
//	go run ./tests/msl -only PREFIX checks only the sources whose names begin so
//	go run ./tests/msl -table FILE  checks the programs of a file in the form of the table, and nothing else
//	go run ./tests/msl -lists DIR   checks that the list has all sources of a folder, which FAKEMETAL_SOURCES has
//	                                filled while tests ran, or that they are groups, which it checks
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// main prints lines that tests/count.py reads, and fails if any source or program is taken otherwise than it should be.
func main() {
	write := flag.String("write", "", "write all sources into this `folder`, and check nothing")
	table := flag.String("programs", "", "write the programs of the table into this `folder`, and check nothing")
	file := flag.String("table", "", "check the programs of this `file`, and nothing else")
	seen := flag.String("lists", "", "check that the list has each source of this `folder`, and check nothing else")
	only := flag.String("only", "", "take only the sources whose names begin with this `prefix`")
	flag.Parse()
	err := func() error {
		if *file != "" {
			return tableOf(*file)
		}
		return run(*write, *table, *seen, *only)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "msl:", err)
		os.Exit(1)
	}
}

// run does what the command was called for. The current folder is the root of the repository.
func run(write, table, seen, only string) error {
	if table != "" {
		var all []source
		for _, p := range programs() {
			all = append(all, p.source)
		}
		return writeAll(table, all)
	}
	all, err := list()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s source) bool { return !strings.HasPrefix(s.name, only) })
	if write != "" {
		return writeAll(write, all)
	}
	if seen != "" {
		return lists(all, seen)
	}
	f, err := open(".")
	if err != nil {
		return err
	}
	wrong, err := f.check(all)
	if err != nil {
		return err
	}
	if len(wrong) == 0 {
		fmt.Printf("ok %d sources with %d kernels compile\n", len(all), kernels(all))
	}
	made, err := triton(".")
	if err != nil {
		return err
	}
	refused, err := f.check(made)
	if err != nil {
		return err
	}
	if len(refused) == 0 {
		fmt.Printf("ok %d sources made of Triton IR compile\n", len(made))
	}
	wrong = append(wrong, refused...)
	return report(append(wrong, f.table(programs())...))
}

// report prints complaints, and fails if there are any.
func report(wrong []complaint) error {
	for _, w := range wrong {
		fmt.Printf("FAIL %s: %s\n", w.Name, w.Words)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d complaints", len(wrong))
	}
	return nil
}

// tableOf checks the programs of a file, which may be new ones for the table.
func tableOf(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	f, err := open(".")
	if err != nil {
		return err
	}
	return report(f.table(parsePrograms(string(text), 0)))
}

// The number is printed, because a check of fewer sources than yesterday's is no better check.
//
// kernels counts the kernels of sources, whether pipelines are made of them or not.
func kernels(all []source) (n int) {
	for i := range all {
		n += len(kernelName.FindAllString(all[i].text, -1))
	}
	return n
}

// table checks programs, and complains of those that are taken otherwise than it says.
func (f *front) table(all []program) (wrong []complaint) {
	counts := map[bool]int{}
	for p, got := range f.verdicts(all) {
		if p.refused() != (got != "") || !strings.Contains(got, p.words) {
			wrong = append(wrong, complaint{p.name, fmt.Sprintf("got %q; want %q", got, p.words)})
		}
		counts[p.refused()]++
	}
	if len(wrong) == 0 {
		fmt.Printf("ok %d invalid programs refused, %d valid ones accepted\n", counts[true], counts[false])
	}
	return wrong
}

// verdicts yields programs with all their errors in one text, which is empty for a program that is accepted. Programs are
// not compiled together as the library's sources are: in a namespace their names would hide those of the headers.
func (f *front) verdicts(all []program) iter.Seq2[*program, string] {
	texts := make([]string, len(all))
	f.each(len(all), func(i int) {
		wrong, err := f.batch("", []source{all[i].source})
		if err != nil {
			wrong = append(wrong, complaint{all[i].name, err.Error()})
		}
		for _, w := range wrong {
			if !strings.HasPrefix(w.Words, ownRule) {
				texts[i] += w.Words + "\n"
			}
		}
	})
	return func(yield func(*program, string) bool) {
		for i := range all {
			if !yield(&all[i], texts[i]) {
				return
			}
		}
	}
}

// The list is made by calls written by hand. Tests compile shaders for other calls too: a kernel that the list lacks would
// first meet a strict compiler on a Mac.
//
// lists checks that the sources of a folder are among those of the list. Groups need not be, because programs and composites
// have any combination of steps: those that the list lacks are given to the front end here.
func lists(all []source, folder string) error {
	texts := map[string]bool{}
	for i := range all {
		texts[all[i].text] = true
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.metal"))
	missing := 0
	var groups []source
	for _, path := range paths {
		read, failed := os.ReadFile(path)
		err = errors.Join(err, failed)
		text := string(read)
		switch {
		case texts[text]:
		case isGroup(text):
			groups = append(groups, source{name: "group_" + strings.TrimSuffix(filepath.Base(path), ".metal"), text: text, functions: []string{msl.Name}})
		default:
			missing++
			fmt.Printf("FAIL %s: no call of tests/msl/list.go gives this source\n", path)
		}
	}
	switch {
	case err != nil:
		return err
	case len(paths) == 0:
		return fmt.Errorf("no sources in %s", folder)
	case missing > 0:
		return fmt.Errorf("%d of %d sources are not in the list", missing, len(paths))
	}
	if err := compiles(groups); err != nil {
		return err
	}
	fmt.Printf("ok the list has all %d sources that tests compiled, but for %d groups, which compile\n", len(paths), len(groups))
	return nil
}

// isGroup reports whether a source is that of a group of elementwise steps.
func isGroup(text string) bool { return strings.Contains(text, "\ninline void steps(") }

// compiles gives sources to the front end, if there are any.
func compiles(some []source) error {
	if len(some) == 0 {
		return nil
	}
	f, err := open(".")
	if err != nil {
		return err
	}
	wrong, err := f.check(some)
	return cmp.Or(err, report(wrong))
}

// writeAll writes sources as files. Their names, which are words, are those of the files.
func writeAll(folder string, all []source) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for i := range all {
		if err := os.WriteFile(filepath.Join(folder, all[i].name+".metal"), []byte(all[i].text), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d sources with %d kernels in %s\n", len(all), kernels(all), folder)
	return nil
}
