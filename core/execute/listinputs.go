package execute

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// A file may have inputs that are lists of tensors, or nothing. A run then gets one tensor more, before all others: the form,
// which says of how many tensors each input is made. A program has a program of its own for each form.

// A Former is a Source with inputs or outputs that are not always one tensor.
type Former interface {
	Source
	// Varies reports whether inputs are so, and whether outputs are: their results begin with their form.
	Varies() (inputs, outputs bool)
	// Formed is the source for inputs of so many tensors each; -1 stands for an input that is nothing.
	Formed(counts []int64) (Source, error)
}

// mostForms is how many forms a program keeps: the latest ones.
const mostForms = 64

// listPrograms are the programs of a program by the forms of its inputs.
type listPrograms struct {
	mu sync.Mutex
	subprograms
}

// takesLists notes how a program depends on forms.
func (p *Program) takesLists(s Source) {
	if f, ok := s.(Former); ok {
		inputs, outputs := f.Varies()
		if p.varies = outputs; inputs {
			p.byLists = &listPrograms{subprograms: subprograms{programs: map[string]*Program{}}}
		}
	}
}

// Varies reports whether a run may return more or fewer tensors than Outputs says: the form of the outputs, and then all of
// them.
func (p *Program) Varies() bool { return p.varies }

// runByLists runs the program for the form that the first tensor holds, on the others. It waits for the form.
func (p *Program) runByLists(in []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode, made []*runtime.Tensor, x *Extras) ([]*runtime.Tensor, error) {
	if mode.Has(runtime.NonBlocking) {
		return nil, &runtime.Long{}
	}
	sub, err := p.programForLists(in)
	if err != nil {
		return nil, err
	}
	return sub.RunWith(in[1:], on, mode, made, x)
}

// programForLists is the program for a form.
func (p *Program) programForLists(in []*runtime.Tensor) (*Program, error) {
	if len(in) == 0 || in[0].DType != dtype.Int64 || in[0].Rank != 1 || in[0].Dims[0] != int64(p.Given) {
		return nil, status.Errorf(status.Invalid, "[program] the first tensor is not the form of the inputs; want int64[%d], of how many tensors each input is made", p.Given)
	}
	k, err := Constant(in[0])
	if err != nil {
		return nil, err
	}
	p.byLists.mu.Lock()
	defer p.byLists.mu.Unlock()
	key := string(k.Bytes)
	if sub := p.byLists.programs[key]; sub != nil {
		return sub, nil
	}
	counts, _ := k.Ints()
	source, err := p.source.(Former).Formed(counts)
	if err != nil {
		return nil, err
	}
	return p.byLists.add(p, mostForms, key, source), nil
}
