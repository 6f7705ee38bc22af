package runtime

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Save writes the program to a file, which Load reads: the graph (see graph.ReadFile) with the elements that captured tensors
// have now. The file appears whole or not at all. status.Unsupported: the program writes into tensors.
//
// What a program keeps for its gradient is left out, so that a loaded program has none. The sizes of all inputs have to be
// known.
func (p *Program) Save(path string) error {
	if len(p.changed) > 0 {
		return status.Errorf(status.Unsupported, "[program] it writes into %d of its inputs; want one that only returns results", len(p.changed))
	}
	frozen := make([]*op.Const, len(p.captured))
	for i, t := range p.captured {
		var err error
		if frozen[i], err = t.Constant(); err != nil {
			return err
		}
	}
	g, err := p.source.Resolve(p.inputs)
	if err == nil {
		g, err = g.Freeze(frozen, p.results)
	}
	if err != nil {
		return err
	}
	beside := fmt.Sprintf("%s.%d-%d", path, os.Getpid(), savings.Add(1))
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return unwritten(err)
	}
	defer os.Remove(beside) // which fails once it has its name
	_, err = g.WriteTo(f)
	if err == nil {
		err = f.Sync() // before it has its name, should the machine stop
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(beside, path)
	}
	return unwritten(err)
}

// Files are written beside the one that they replace and renamed, so that a program that has the old file mapped keeps it whole,
// and a reader never sees half of the new one.

// savings counts the files of this process, for names of their own.
var savings atomic.Uint64

// unwritten is an error of the system as one of the program.
func unwritten(err error) error {
	if err == nil || status.CodeOf(err) == status.Unsupported {
		return err
	}
	return status.Errorf(status.Invalid, "[program] it cannot be saved: %s", err)
}

// saved is the graph of a file that Save has written, which is mapped: its constants are read from there when they are needed.
// Nobody may change or cut the file meanwhile.
type saved struct {
	*graph.Graph
	mapping
}

// Load reads a file that Save has written; IsSaved tells whether it is one.
func Load(path string) (Source, error) {
	mapped, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	g, err := graph.ReadFile(mapped.bytes)
	if err != nil {
		_ = mapped.Close()
		return nil, err
	}
	return saved{g, *mapped}, nil
}

// IsSaved reports whether a file begins as those do that Save has written. One that cannot be read does not.
func IsSaved(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [64]byte
	n, _ := io.ReadFull(f, head[:]) // a shorter file is none
	return graph.IsFile(head[:n])
}

// mapping is a file in memory, read-only.
type mapping struct{ bytes []byte }

// A file that another process cuts short while it is mapped ends this process when its pages are read, as with every program that
// maps files. Save never does that: it replaces the file.

// mapFile maps a regular file. It is opened without waiting, should it be a pipe.
func mapFile(path string) (*mapping, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[program] it cannot be loaded: %s", err)
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[program] it cannot be loaded: %s", err)
	}
	if !about.Mode().IsRegular() || about.Size() == 0 {
		return nil, status.Errorf(status.Invalid, "[program] it cannot be loaded: %s is no regular file with contents", path)
	}
	bytes, err := syscall.Mmap(int(f.Fd()), 0, int(about.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[program] %s cannot be mapped: %s", path, err)
	}
	return &mapping{bytes}, nil
}

// Close unmaps the file. Nothing may read the constants of its graph later: devices have copies of them, or what they made of
// them when they compiled.
func (m *mapping) Close() error { return syscall.Munmap(m.bytes) }
