// Package execute compiles programs and runs them.
//
// A [Program] is a graph for a device. It is legalized and planned once for each set of shapes (compile.go, with its constants folded
// in constants.go), divided where the device lacks steps (split.go), kept in the device's cache, and run as a whole (run.go), on a
// goroutine of the device where no caller waits (asynchronous.go), or into tensors of the caller (runinto.go). A graph may consist of
// stages (stage.go), depend on elements of inputs (elementinputs.go), take lists (listinputs.go) or strings (strings.go).
//
// The invariant: a run computes what the calls of the graph compute, one by one, and a run that fails before it is submitted has
// changed nothing. Program.mu guards the constants of a program; compilers run with no lock held.
//
// The package makes no graph and knows no function that was traced: what a traced program has besides, its gradient and its variants for
// known sizes, it calls through two interfaces, which package trace implements.
package execute

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Program is a graph that runs as one call on one device. It is compiled for a set of shapes at the first call
// with them, or in advance by Prepare; the result is in the program cache of the device, with a key made of
// the program's number and the shapes. It may be used from any goroutine.
type Program struct {
	ctx       *runtime.Context
	source    Source
	id        uint64
	AllInputs []op.Type // of the graph: arguments, then what was captured
	Given     int       // inputs that are arguments
	Results   int       // outputs that Run returns

	// Of programs that were traced.
	IsTraced       bool
	CapturedInputs []*runtime.Tensor // further inputs
	Asked          []bool            // whether each argument asked for gradients
	AskedAt        []uint64          // Storage.Asked of each captured tensor
	ReplacedAt     []uint32          // Storage.Replaced of each captured tensor
	Asking         []*runtime.Tensor // captured tensors that ask for gradients, as they did when they were captured
	ReadTensors    []*runtime.Tensor // whose elements the function has read: see core/trace/elements.go
	ReadVersions   []uint32          // the versions of their storages then
	Open           bool              // arguments have symbols: see Unify
	ChangedInputs  []int             // inputs that the outputs behind the results are written into
	ChangedBy      []Holder          // by changed
	Gradient       gradient          // of programs whose results ask for gradients; their last outputs are for it
	Variants       variants          // of programs with symbols whose results do
	Quiet          map[int]uint64    // of both: the operands, by call, that get no gradient; see RecordDetached of core/trace

	byElements atomic.Pointer[elementPrograms] // nil unless inputs decide what the graph is
	byLists    *listPrograms                   // nil unless inputs are lists
	varies     bool                            // outputs are lists
	strings    graph.Stringed                  // the source, if inputs or outputs are strings; else nil
	Home       *Program                        // of one that is for their elements, or a form: the program that has its constants

	mu     sync.Mutex
	loaded map[*op.Const]runtime.View // constants that all shapes share; see constant

	combined map[combination]*op.Const // what follows from two constants, likewise

	stage        int       // how many stages there are before it, of one that is the rest of another
	latest       []noted   // what was compiled last, by stage
	sizes        []op.Type // of all inputs, for which that was
	compilations int64
}

// gradient is what a program whose results ask for gradients has for them: a program of the backward pass.
type gradient interface {
	// Record makes the results of a run those of a function with this gradient. asking are the captured tensors that ask for gradients,
	// and kept the outputs behind the results and changes, which the record owns from now on.
	Record(in []*runtime.Tensor, given int, asking, results, kept []*runtime.Tensor) error
	// Release ends the reference of the program.
	Release()
}

// variants are programs for known sizes, of a program with symbols: runs with gradients are theirs.
type variants interface {
	Prepare(shapes []op.Type) error
	Run(in []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode, made []*runtime.Tensor, x *Extras) ([]*runtime.Tensor, error)
	Close()
}

// noted is what Info and Explain say of a compilation.
type noted struct {
	info  ProgramInfo
	plan  *device.Plan
	onCPU []bool // its steps that the CPU runs
}

// Source is what a program is made of: a graph, or a model of a file. One that is an io.Closer is closed with its program.
type Source = graph.Source

// ProgramInfo describes a program. From Steps on it is about the shapes that were compiled last: zeros
// before the first compilation.
type ProgramInfo struct {
	Inputs, Outputs int
	Captured        int   // tensors that are read besides the inputs
	Operators       int   // calls of operators in the graph
	Compilations    int64 // sets of shapes that were compiled, some perhaps again after their eviction
	Constants       int64 // bytes of those that all shapes share
	Steps           int   // steps of the plan, after legalizing
	CPUSteps        int   // steps that the CPU runs, because the device lacks them
	Parts           int   // sequences of steps on one device
	Arena           int64 // bytes that a run needs for intermediate results
	Groups          int   // runs of elementwise steps that the device computes block by block
	Grouped         int   // steps that are in groups
	Outdated        bool  // its function may do something else now: a tensor that it has captured or read is another one
}

// programIDs counts the programs made so far, so that the keys of two programs differ.
var programIDs atomic.Uint64

// New makes a program of a graph, or of a model, for a device. Nothing is compiled yet.
func New(c *runtime.Context, s Source) *Program {
	return Begin(c, &Program{Given: len(s.Inputs()), Results: len(s.Outputs())}, s)
}

// Begin makes a program of what p knows already, such as the arguments of a traced one, and of its graph.
func Begin(c *runtime.Context, p *Program, s Source) *Program {
	p.ctx, p.source, p.id, p.AllInputs, p.loaded = c, s, programIDs.Add(1), s.Inputs(), map[*op.Const]runtime.View{}
	p.takesLists(s)
	p.stringed(s)
	return p
}

// Close releases the compiled programs and the constants. No other method may be running or be called later;
// submitted runs complete.
func (p *Program) Close() {
	p.ctx.Cache().Discard(func(k *device.Key) bool { return k.Op == 0 && k.Class == p.id })
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, v := range p.loaded {
		v.Store.Release()
		delete(p.loaded, k)
	}
	p.ctx.Runtime.FreeAll(p.ReadTensors)
	p.ReadTensors = nil
	if p.Gradient != nil {
		p.Gradient.Release()
	} else {
		p.FreeCaptured()
	}
	if p.Variants != nil {
		p.Variants.Close()
	}
	if s, ok := p.source.(io.Closer); ok {
		_ = s.Close() // it was only read
	}
}

// FreeCaptured frees what has been captured, which recorded runs of a closed program may still need; see pullback.
func (p *Program) FreeCaptured() {
	p.ctx.Runtime.FreeAll(p.CapturedInputs)
	p.ctx.Runtime.FreeAll(p.Asking)
	p.CapturedInputs, p.Asking = nil, nil
}

// Source is what the program was made of.
func (p *Program) Source() Source { return p.source }

// Inputs are the dtypes and shapes of the arguments; a dimension that is a symbol may have any size.
func (p *Program) Inputs() []op.Type { return p.AllInputs[:p.Given] }

// A function may be traced anew for other arguments, so that it asks before a run. Any other program is what it is, and says
// in an error what it wants.

// Captured are the tensors that a traced program reads besides its arguments. They belong to the program.
func (p *Program) Captured() []*runtime.Tensor { return p.CapturedInputs }

// Changed are the inputs, captured ones behind the arguments, that a run writes into.
func (p *Program) Changed() []int { return p.ChangedInputs }

// Outputs is the number of tensors that Run returns.
func (p *Program) Outputs() int { return p.Results }

// Context is the device that the program runs on.
func (p *Program) Context() *runtime.Context { return p.ctx }

// Info describes the program.
func (p *Program) Info() ProgramInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := ProgramInfo{Compilations: p.compilations}
	for k := range p.latest {
		i.add(&p.latest[k].info)
	}
	i.Outdated = p.IsTraced && !p.upToDate(true)
	i.Inputs, i.Outputs, i.Captured, i.Operators = p.Given, p.Results, len(p.CapturedInputs), p.source.Calls()
	for k := range p.loaded {
		i.Constants += int64(len(k.Bytes))
	}
	return i
}

// add adds the figures of a stage. A run holds the memory of all its stages.
func (i *ProgramInfo) add(o *ProgramInfo) {
	i.Steps, i.CPUSteps, i.Parts, i.Arena = i.Steps+o.Steps, i.CPUSteps+o.CPUSteps, i.Parts+o.Parts, i.Arena+o.Arena
	i.Groups, i.Grouped = i.Groups+o.Groups, i.Grouped+o.Grouped
}

// String is the graph as text.
func (p *Program) String() string { return p.source.String() }

// Explain says what was compiled last: steps with what they ask of the machine, groups, memory, and which steps the CPU runs because the device lacks them.
// It is empty before the first compilation. Stages follow each other.
func (p *Program) Explain() string {
	p.mu.Lock()
	latest := slices.Clone(p.latest)
	p.mu.Unlock()
	var text []string
	for _, x := range latest {
		text = append(text, graph.Explain(x.plan, func(step int) string {
			note := asked(&x.plan.Steps[step])
			if x.onCPU[step] {
				note += "  on the CPU, because " + p.ctx.Info().Backend + " has no kernel"
			}
			return note
		}))
	}
	return strings.Join(text, "\n")
}

// Prepare compiles the program for shapes, unless it is in the cache. It may take long and holds no lock.
func (p *Program) Prepare(shapes []op.Type) error {
	if p.Variants != nil {
		return p.Variants.Prepare(shapes)
	}
	e, err := p.find(p.WithCaptured(shapes), 0)
	if err != nil {
		return err
	}
	defer e.Release(0)
	_, err = e.Program()
	return err
}

// WithCaptured are the types of all inputs, from those of the arguments.
func (p *Program) WithCaptured(arguments []op.Type) []op.Type {
	all := slices.Clone(arguments)
	for _, t := range p.CapturedInputs {
		all = append(all, op.Type{DType: t.DType, Shape: t.Shape})
	}
	return all
}

// Run computes the outputs from the inputs, both in the order of the graph, on a stream of the device (nil: the
// default one). The outputs may not be computed yet when Run returns; reading them waits. The caller frees them.
func (p *Program) Run(in []*runtime.Tensor, on *runtime.Stream) ([]*runtime.Tensor, error) {
	return p.RunWith(in, on, 0, nil, nil)
}

// RunAs is Program.Run, with the outputs appended to made. In mode Recording the results of a traced program have
// gradients, if inputs ask for them. In mode NonBlocking a run that would keep its caller waiting is refused with a
// [Long] and has no effect.
func RunAs(c eager.Caller, p *Program, in []*runtime.Tensor, on *runtime.Stream, made []*runtime.Tensor) ([]*runtime.Tensor, error) {
	return p.RunWith(in, on, c.Mode(), made, nil)
}

// What takes longer than this is worth the microsecond that giving up a lock and taking it again costs.

// waitable is how many elements a caller waits for who holds a lock: they take a few microseconds.
const waitable = 4096

// RunWith is Run in a mode; most runs have no extras.
func (p *Program) RunWith(in []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode, made []*runtime.Tensor, x *Extras) ([]*runtime.Tensor, error) {
	if profile.On() && !mode.Has(runtime.Profiled) {
		start, before := profile.Now(), len(made)
		results, err := p.RunWith(in, on, mode|runtime.Profiled, made, x)
		p.recordRun(in, results[min(before, len(results)):], err, start)
		return results, err
	}
	if p.Variants != nil && mode.Has(runtime.Recording) {
		return p.Variants.Run(in, on, mode, made, x)
	}
	if p.byLists != nil {
		return p.runByLists(in, on, mode, made, x)
	}
	if p.strings != nil && (x == nil || x.strings == nil) {
		return p.runStrings(in, on, mode, made, x)
	}
	if p.byElements.Load() == nil {
		results, err := p.runOnce(in, on, mode, made, x)
		if err == nil || !p.decidesByElements(err, nil) {
			return results, err
		}
	}
	if len(in) != p.Given {
		return nil, WrongInputs(len(in), p.Given)
	}
	return p.runByElements(in, on, mode, made, x)
}

var errRunTraced = status.Errorf(status.Unsupported, "[program] a program cannot run within a function that is traced; want the calls that it was made of")

// runOnce is run of a program that no input decides. One that can be cancelled has ended on the device when it returns, so
// that it writes nothing into inputs unless it has computed everything.
func (p *Program) runOnce(in []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode, made []*runtime.Tensor, x *Extras) ([]*runtime.Tensor, error) {
	if on.Traces() {
		return nil, errRunTraced
	}
	if len(in) != p.Given {
		return nil, WrongInputs(len(in), p.Given)
	}
	r := newRun(p, on)
	defer r.recycle()
	r.stop = x.stopped()
	err := r.stop.Err()
	if err == nil {
		err = r.read(in, on)
	}
	if err == nil {
		err = r.find(mode)
	}
	if err == nil {
		err = r.prepare()
	}
	if err == nil {
		err = r.submit()
	}
	if err != nil {
		return nil, err
	}
	if next := r.code.next; next != nil {
		return r.runNext(next, on, mode, made, x)
	}
	before := len(made)
	made, err = r.adopt(made)
	if r.stop != nil && err == nil {
		err = settle(p.ctx.Runtime, made[before:])
	}
	if err != nil {
		return nil, err
	}
	if p.Gradient == nil && len(p.ChangedInputs) == 0 {
		return made, nil
	}
	return p.finish(r.inputs, made, on, mode)
}

// Where two inputs are one memory and neither changes, both read the same. With a change the calls, made one by one, would see
// it in the other input as well.

// separate refuses a run that changes an input whose memory another input shares: the graph knows of no such sharing.
func (p *Program) separate(in []*runtime.Tensor) error {
	for _, at := range p.ChangedInputs {
		for i, t := range in {
			if i != at && t.Store == in[at].Store {
				return status.Errorf(status.Unsupported, "[program] input %d, which the program changes, shares memory with input %d; want a copy of one", at, i)
			}
		}
	}
	return nil
}

// The record comes before the changes: what the gradient reads of an input is the value that the run has read.

// finish records the run if it is to be, writes what the program has computed into the inputs that it changes, and returns the
// results. What it writes has a history like the results, which the inputs then have, as where calls are run one by one.
func (p *Program) finish(in, made []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode) ([]*runtime.Tensor, error) {
	results, changes, kept := made[:p.Results], made[p.Results:][:len(p.ChangedInputs)], made[p.Results+len(p.ChangedInputs):]
	defer p.ctx.Runtime.FreeAll(changes)
	var err error
	if p.Gradient != nil && mode.Has(runtime.Recording) {
		err = p.Gradient.Record(in, p.Given, p.Asking, made[:p.Results+len(p.ChangedInputs)], kept)
	} else {
		p.ctx.Runtime.FreeAll(kept)
	}
	for i, at := range p.ChangedInputs {
		if err == nil {
			err = p.change(changes[i], in[at], p.ChangedBy[i], on, mode)
		}
	}
	if err != nil {
		p.ctx.Runtime.FreeAll(results)
		return nil, err
	}
	return results, nil
}

// Holder says how the caller of a function knows a tensor that the function has changed.
type Holder struct {
	Handle   uint64 // of a captured tensor, which may be freed; 0 for an argument
	Recorded bool   // the call that changed it was
}

// change writes a value into an input: through the handle of the caller, who sees the history of the value in it, if there still is one
// of the same view.
func (p *Program) change(value, into *runtime.Tensor, by Holder, on *runtime.Stream, mode runtime.Mode) error {
	rt := p.ctx.Runtime
	if !by.Recorded {
		mode = 0
	}
	if t := rt.Acquire(by.Handle); t != nil {
		defer t.Release()
		if t.Store == into.Store && t.Offset == into.Offset && t.Layout == into.Layout {
			into = t
		}
	}
	return eager.In(rt, mode&runtime.Recording).CallInto(runtime.AssignRow, []runtime.Operand{{Tensor: value}}, nil, into, on)
}

// find is the cache entry for shapes, with a reference on a lane; it compiles where there is none.
func (p *Program) find(shapes []op.Type, lane program.Lane) (*program.Entry, error) {
	var text []byte
	for i := range shapes {
		text = AppendShape(text, shapes[i].DType, &shapes[i].Shape)
	}
	key := p.key(text)
	if e := p.ctx.Cache().Find(&key, lane); e != nil {
		return e, nil
	}
	return p.ctx.Cache().Get(key, lane, func() (device.Program, error) { return p.compile(shapes) })
}

// key is the key of the program for inputs that appendShape has described. Programs for elements of inputs have keys of their
// home, so that closing it finds all of them, and behind no dtype's number their own.
func (p *Program) key(text []byte) device.Key {
	if p.Home == nil {
		key := device.Key{Class: p.id} // no operator has number 0
		key.AppendRest(text)
		return key
	}
	key := device.Key{Class: p.Home.id}
	key.AppendRest(append(p.prefix(), text...))
	return key
}

// prefix is what the keys of a program for elements of inputs begin with.
func (p *Program) prefix() []byte { return binary.AppendUvarint([]byte{0xFF}, p.id) }

// AppendShape appends dtype, rank and dimensions of an input; equal shapes are equal texts.
func AppendShape(text []byte, d dtype.DType, s *shape.Shape) []byte {
	text = append(text, byte(d), byte(s.Rank))
	for _, n := range s.Slice() {
		text = binary.AppendVarint(text, n)
	}
	return text
}
