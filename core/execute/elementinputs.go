package execute

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// A file may have inputs that decide what its graph is: axes, the shape of a result, which branch of an If is taken. A program
// finds that out when it is compiled for the first time. From then on it reads the elements of these inputs at each run, and
// has a program of its own for each set of elements, in which they are constants.

// A Decider is a Source of which some inputs may decide what the graph is.
type Decider interface {
	// Decided is the source for known elements of some inputs, by their numbers. It takes the others.
	Decided(known map[int]*op.Const) Source
}

// Limits of inputs that decide.
const (
	mostDeciding = 4 << 10 // bytes of their elements
	mostDecided  = 64      // programs of one program: the latest ones
)

// elementPrograms are the programs of a program for the elements of inputs.
type elementPrograms struct {
	mu     sync.Mutex
	inputs []int // that decide, in ascending order
	subprograms
}

// subprograms are the latest programs of a program, by what tells them apart.
type subprograms struct {
	programs map[string]*Program
	order    []string // keys of programs, the oldest first
}

// add makes a program of a source. The oldest one goes where there are too many. The caller holds the lock of the list.
func (s *subprograms) add(p *Program, most int, key string, source Source) *Program {
	if len(s.order) == most {
		p.Drop(s.programs[s.order[0]])
		delete(s.programs, s.order[0])
		s.order = s.order[1:]
	}
	sub := New(p.ctx, source)
	sub.Home = p.Root()
	s.programs[key], s.order = sub, append(s.order, key)
	return sub
}

// The set of inputs only grows, so that a run is tried again a few times at most. Programs for elements of fewer inputs are
// dropped then.

// decidesByElements notes which inputs decide; false where err is no reason to run again. used is what the run that failed knew of them: a
// run at the same time may have noted more meanwhile.
func (p *Program) decidesByElements(err error, used *elementPrograms) bool {
	var needs *graph.NeedsElements
	if _, ok := p.source.(Decider); !ok || !errors.As(err, &needs) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all, before := map[int]bool{}, p.byElements.Load()
	if before != used {
		return true
	}
	if before != nil {
		for _, i := range before.inputs {
			all[i] = true
		}
	}
	n := len(all)
	for _, i := range needs.Inputs {
		all[i] = true
	}
	if len(all) > n {
		p.byElements.Store(&elementPrograms{inputs: slices.Sorted(maps.Keys(all)), subprograms: subprograms{programs: map[string]*Program{}}})
		if before != nil {
			before.mu.Lock()
			defer before.mu.Unlock()
			for _, sub := range before.programs {
				p.Drop(sub)
			}
		}
	}
	return len(all) > n
}

// runByElements runs the program for the elements that the deciding inputs have. It waits for them. A program that turns out
// to depend on further inputs is replaced.
func (p *Program) runByElements(in []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode, made []*runtime.Tensor, x *Extras) ([]*runtime.Tensor, error) {
	for {
		d := p.byElements.Load()
		sub, rest, err := p.subprogram(d, in, mode)
		if err != nil {
			return nil, err
		}
		results, err := sub.runOnce(rest, on, mode, made, x)
		var needs *graph.NeedsElements
		if errors.As(err, &needs) {
			err = &graph.NeedsElements{Inputs: d.outer(needs.Inputs), Err: needs.Err}
		}
		if !p.decidesByElements(err, d) {
			return results, err
		}
	}
}

// A subprogram numbers the inputs that it takes from 0 on.

// outer are the numbers of inputs of a subprogram in the program.
func (d *elementPrograms) outer(list []int) []int {
	out := make([]int, len(list))
	for i, n := range list {
		for _, before := range d.inputs { // in ascending order
			if before <= n {
				n++
			}
		}
		out[i] = n
	}
	return out
}

// Reading the elements waits for what computes them, so that such a program is not asynchronous.

// The key holds the elements themselves, so that two sets of elements never share a program.

// subprogram is the program for the elements of the deciding inputs, and the inputs that it takes.
func (p *Program) subprogram(d *elementPrograms, in []*runtime.Tensor, mode runtime.Mode) (*Program, []*runtime.Tensor, error) {
	known, key, bytes := map[int]*op.Const{}, []byte(nil), int64(0)
	var rest []*runtime.Tensor
	for i, t := range in {
		if !slices.Contains(d.inputs, i) {
			rest = append(rest, t)
			continue
		}
		if bytes += t.Numel() * t.DType.Size(); bytes > mostDeciding {
			return nil, nil, status.Errorf(status.Unsupported, "[program] what the program computes depends on the elements of input %d, which has shape %s; want at most %d bytes of such inputs", i, &t.Shape, mostDeciding)
		}
		if mode.Has(runtime.NonBlocking) && (!t.Store.Context.InOrder() || t.Store.ForeignWork.Load()) {
			return nil, nil, &runtime.Long{}
		}
		k, err := Constant(t)
		if err != nil {
			return nil, nil, err
		}
		k.Local = true
		known[i] = k
		key = binary.AppendUvarint(AppendShape(key, k.DType, &k.Shape), uint64(len(k.Bytes)))
		key = append(key, k.Bytes...)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if sub := d.programs[string(key)]; sub != nil {
		return sub, rest, nil
	}
	return d.add(p, mostDecided, string(key), p.source.(Decider).Decided(known)), rest, nil
}

// The oldest is dropped whatever its use was: a model that alternates between more sets compiles each time.

// Drop evicts what was compiled of a subprogram. It has nothing else: its constants are those of its home. A run that is
// under way keeps what it needs.
func (p *Program) Drop(sub *Program) {
	prefix, id := string(sub.prefix()), p.Root().id
	p.ctx.Cache().Discard(func(k *device.Key) bool {
		return k.Op == 0 && k.Class == id && strings.HasPrefix(k.Rest, prefix)
	})
}

// Root is the program that has the constants and the keys: the program itself, unless it is one of another.
func (p *Program) Root() *Program {
	if p.Home != nil {
		return p.Home
	}
	return p
}
