package execute

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/mapped"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Save writes the program to a file, which Load reads: the graph (see graph.ReadFile) with the elements that captured tensors
// have now. The file appears whole or not at all. status.Unsupported: the program writes into tensors.
//
// What a program keeps for its gradient is left out, so that a loaded program has none. Sizes that are open stay so. Only a model
// of an ONNX file is written for the sizes for which it was compiled last, because each set of sizes has a graph of its own.
func (p *Program) Save(path string) error {
	if len(p.ChangedInputs) > 0 {
		return status.Errorf(status.Unsupported, "[program] it writes into %d of its inputs; want one that only returns results", len(p.ChangedInputs))
	}
	frozen := make([]*op.Const, len(p.CapturedInputs))
	for i, t := range p.CapturedInputs {
		var err error
		if frozen[i], err = constantIn(t, p.ctx); err != nil {
			return err
		}
	}
	source, ok := p.source.(interface {
		Freeze(last []*op.Const, outputs int) (*graph.Graph, error)
	})
	if !ok { // a model, which is a graph once its sizes are known
		p.mu.Lock()
		sizes := p.sizes
		p.mu.Unlock()
		if sizes == nil {
			sizes = p.AllInputs
		}
		known, err := p.source.Resolve(sizes)
		if err != nil {
			return err
		}
		source = known
	}
	g, err := source.Freeze(frozen, p.Results)
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
// The file must not change or shrink meanwhile.
type saved struct {
	*graph.Graph
	file *mapped.File
}

// Close unmaps the file.
func (s saved) Close() error { return s.file.Close() }

// What is read of the file at once is the text. Constants are read when they go to the device, by the first compilation that
// needs them.

// Load reads a file that Save has written; IsSaved tells whether it is one.
func Load(path string) (Source, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[program] it cannot be loaded: %s", err)
	}
	g, err := graph.ReadFile(file.Bytes)
	if err != nil {
		_ = file.Close() // the first error is the one to report
		return nil, err
	}
	return saved{g, file}, nil
}

// IsSaved reports whether a file begins as those do that Save has written. One that cannot be read does not.
func IsSaved(path string) bool {
	f, err := os.OpenFile(path, mapped.ReadOnly, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [64]byte
	n, _ := io.ReadFull(f, head[:]) // a shorter file is none
	return graph.IsFile(head[:n])
}

// constantIn is Constant in the dtype of the tensor on a device.
func constantIn(t *runtime.Tensor, c *runtime.Context) (*op.Const, error) {
	d := eager.DTypeOn(t, c)
	if d == t.DType {
		return Constant(t)
	}
	made, err := eager.Call(c.Runtime, eager.CastRow, []runtime.Operand{{Tensor: t}}, eager.CastTo(d), nil, nil)
	if err != nil {
		return nil, err
	}
	defer c.Runtime.Free(made[0].Handle())
	return Constant(made[0])
}
