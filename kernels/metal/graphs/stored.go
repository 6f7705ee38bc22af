package graphs

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// Executables that were compiled by earlier processes; package store has the folder. A graph is built in each process,
// because its text is the key and its ports are needed, but compiled only once on a machine.

// leastStored is the number of tensors of a graph, inputs and constants included, from which on it is stored. Loading
// reads, checks and opens several files, whatever the graph; compiling takes longer the more there is to compile. So
// graphs of one operator with one input are left out. Neither has been timed on a Mac.
const leastStored = 3

// format is the version of notes, of the text of scripts and of how executables are compiled. It changes with any of them.
const format = 1

// key is the text that tells executables apart: everything that MPSGraph was given, and what it runs on. The library's own
// version is not in it, because nothing else of the library reaches MPSGraph.
func key(d *gpu.Device, s *script) string {
	return fmt.Sprintf("executable %d\nsystem %s\ngpu %s, family %d\noptions %d, optimization level %d\n%s",
		format, objc.Build(), d.Metal.Name(), d.Family, mpsgraph.OptionsNone, mpsgraph.OptimizationLevel0, s.text.String())
}

// load makes the program of a stored executable. It is specialized at once, under no lock of a stream; what MPSGraph reads
// late it has read then.
func (x *executable) load(d *gpu.Device, key string, types []mpsgraph.ShapedType, how mpsgraph.CompilationDescriptor, results int) bool {
	return d.Store.Load(key, func(path string, note []byte) bool {
		feeds, targets, ok := orders(note, len(x.in), results)
		if !ok {
			return false
		}
		x.program = mpsgraph.NewExecutable(objc.File(path), how)
		if x.program == 0 {
			return false
		}
		fed := make([]mpsgraph.ShapedType, len(feeds))
		for i, from := range feeds {
			fed[i] = types[from]
		}
		x.program.Specialize(d.Graphs, objc.ArrayOf(fed...), how)
		x.feeds, x.targets, x.loaded = feeds, targets, key
		return true
	})
}

// save stores the program, with the orders of its inputs and results, which a loaded executable does not report.
func (x *executable) save(d *gpu.Device, key string) {
	note := []byte{byte(len(x.feeds))}
	for _, i := range append(append([]int(nil), x.feeds...), x.targets...) {
		note = append(note, byte(i))
	}
	d.Store.Save(key, note, func(path string) { x.program.Serialize(objc.File(path)) })
}

// orders reads the note of save. Anything else than inputs and results that exist, each once, is refused.
func orders(note []byte, inputs, results int) (feeds, targets []int, ok bool) {
	if len(note) == 0 || len(note) != 1+int(note[0])+results {
		return nil, nil, false
	}
	of := func(text []byte, limit int) (list []int) {
		seen := map[byte]bool{}
		for _, i := range text {
			if int(i) >= limit || seen[i] {
				return nil
			}
			seen[i] = true
			list = append(list, int(i))
		}
		return list
	}
	feeds, targets = of(note[1:][:note[0]], inputs), of(note[1+note[0]:], results)
	return feeds, targets, len(feeds) == int(note[0]) && len(targets) == results
}
