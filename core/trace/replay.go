package trace

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Gradients of programs for all sizes. Much of a backward pass is made of sizes, such as 1 / n for a mean or the shape that a
// broadcast is summed to, and its rules are written for known ones. So the pass is not made for symbols: for each set of sizes
// the calls of the graph are traced once more, now with sizes that are known, and the backward pass with them. What that makes
// is a program like that of a function traced for these sizes; the function itself is not called.
//
// A graph says what is computed, and not what the function said of gradients beside that. Which operands of a call get none,
// because they were detached or nothing was recorded, is noted for each call. A hook, a write into a tensor, or a gradient of the
// caller's is not: such functions are found when two programs are united. The calls of each are traced again, and the
// backward pass has to be the one that the function had.

// An example, y = mean(x * x) of a program that was united from traces for 5 and for 7 elements:
//
//	graph:            input %0 float32[s0]    %1 = multiply(%0, %0)    %2 = mean(%1)    output %2
//	a run for 3:      the two calls are traced for float32[3], with an argument that asks for gradients
//	its function:     in x                    out y
//	its pullback:     in x, dy                out dx, which is expand(dy * 1/3, [3]) * x * 2
//
// The function and its pullback are compiled by themselves, the pullback at the first backward pass. A program keeps what it has
// traced for the latest sets of sizes; what is compiled is in the cache of the device, like all else.
//
// A run without gradients needs none of this: it is a run of the graph with symbols.

// mostReplays is how many sets of sizes a program keeps programs for: the latest ones.
const mostReplays = 64

// One goroutine at a time traces calls, so that two with the same new sizes trace them once. Nothing is compiled meanwhile, and no
// function of the caller is called: calls of a graph have no hooks. Runs for sizes that are known do not wait for it, nor does a
// caller who may not.

// replays are the programs of a program with symbols, by the shapes of the inputs.
type replays struct {
	whole   *execute.Program // with symbols
	of      []int            // results that ask for gradients
	tracing sync.Mutex       // held while calls are traced; taken without mu

	mu       sync.Mutex // held for a moment
	programs map[string]*replayed
	order    []string // keys of programs, the oldest first
}

// replayed is a program for known sizes. It is closed when it has been dropped and no run is in it.
type replayed struct {
	*execute.Program
	users   int // under replays.mu, like dropped
	dropped bool
}

// Prepare compiles the program for sizes.
func (r *replays) Prepare(shapes []op.Type) error {
	known, err := r.find(shapes, 0)
	if err != nil {
		return err
	}
	defer r.leave(known)
	return known.Prepare(shapes)
}

// Run runs the program for the sizes of the inputs.
func (r *replays) Run(in []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode, made []*runtime.Tensor, x *execute.Extras) ([]*runtime.Tensor, error) {
	if len(in) != r.whole.Given {
		return nil, execute.WrongInputs(len(in), r.whole.Given)
	}
	types := make([]op.Type, len(in))
	for i, t := range in {
		types[i] = op.Type{DType: t.DType, Shape: t.Shape}
	}
	known, err := r.find(types, mode)
	if err != nil {
		return nil, err
	}
	defer r.leave(known)
	return known.RunWith(in, on, mode, made, x)
}

// find is the program for arguments of these types, with a user more.
func (r *replays) find(types []op.Type, mode runtime.Mode) (*replayed, error) {
	var text []byte
	for i := range types {
		text = execute.AppendShape(text, types[i].DType, &types[i].Shape)
	}
	key := string(text)
	if found := r.enter(key); found != nil {
		return found, nil
	}
	if mode.Has(runtime.NonBlocking) {
		return nil, &runtime.Long{}
	}
	r.tracing.Lock()
	defer r.tracing.Unlock()
	if found := r.enter(key); found != nil { // another goroutine has traced it
		return found, nil
	}
	made, err := r.trace(types)
	if err != nil {
		return nil, err
	}
	made.Home = r.whole.Root() // which has the compiled programs and their figures
	return r.keep(key, made), nil
}

// enter is the program of a key, with a user more; nil where there is none.
func (r *replays) enter(key string) *replayed {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.programs[key]
	if found != nil {
		found.users++
	}
	return found
}

// keep keeps a program, with a user, and drops the oldest one where there are too many.
func (r *replays) keep(key string, made *execute.Program) *replayed {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.order) == mostReplays {
		r.forget(r.order[0])
		r.order = r.order[1:]
	}
	x := &replayed{Program: made, users: 1}
	r.programs[key], r.order = x, append(r.order, key)
	return x
}

// trace traces the calls for arguments of these types.
func (r *replays) trace(types []op.Type) (*execute.Program, error) {
	g, err := r.whole.Source().Resolve(r.whole.WithCaptured(types))
	if err != nil {
		return nil, err
	}
	return replayCalls(r.whole, g, r.of, r.whole.Quiet)
}

// leave is the end of a run. The last one of a program that was dropped meanwhile closes it.
func (r *replays) leave(x *replayed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x.users--
	r.closeUnused(x)
}

// forget drops the program of a key; replays.mu is held.
func (r *replays) forget(key string) {
	x := r.programs[key]
	delete(r.programs, key)
	x.dropped = true
	r.closeUnused(x)
}

// closeUnused closes a program that was dropped, and that no run is in; replays.mu is held.
func (r *replays) closeUnused(x *replayed) {
	if x.dropped && x.users == 0 {
		r.whole.Drop(x.Program)
		x.Close()
	}
}

// Close drops all programs; no run is under way.
func (r *replays) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.programs {
		r.forget(key)
	}
}

// replaysAs gives the program gradients, if those of the two programs that it was made of are those of their calls. at is where
// their calls are in the graph of the program.
func replaysAs(p *execute.Program, first, second *execute.Program, at []int) error {
	for _, t := range first.Asking {
		same, err := t.WithHistory(&t.View, t.LatestHistory())
		if err != nil {
			return err
		}
		p.Asking = append(p.Asking, same)
	}
	for _, q := range []*execute.Program{first, second} {
		again, err := replayCalls(p, q.Source().(*graph.Graph), PullbackOf(q).of, q.Quiet)
		if err != nil {
			return err
		}
		text, same := differsFrom(again, q)
		again.Close()
		if !same {
			return status.Errorf(status.Unsupported, "[program] the gradient of the function is not that of its calls alone%s; want no hook, no gradient of its own and no write into a tensor in a function for all sizes", text)
		}
	}
	p.Quiet = map[int]uint64{}
	for i, operands := range first.Quiet { // the same of both
		p.Quiet[at[i]] = operands
	}
	p.Variants = &replays{whole: p, of: PullbackOf(first).of, programs: map[string]*replayed{}}
	return nil
}

// Texts number what a graph takes. Two backward passes with one text are the same pass only if they read the same values of the
// calls: exp has dy * exp(x), and a PyLayer around it may have dy times another tensor of that size. So what they read is
// compared too: inputs by their numbers, and values on the way as the last outputs of the calls.

// differsFrom compares calls that were traced again, and their backward pass, with what the function had: the first line of that
// which is another one.
func differsFrom(p *execute.Program, of *execute.Program) (line string, same bool) {
	if p.Gradient == nil || !slices.Equal(PullbackOf(p).to, PullbackOf(of).to) {
		return "", false
	}
	if line, same = differs(PullbackOf(p).program.String(), PullbackOf(of).program.String()); same {
		line, same = differs(p.String(), of.String())
	}
	return line, same && slices.Equal(PullbackOf(p).reads, PullbackOf(of).reads)
}

// differs compares a text with the wanted one: the first line of that which is another one.
func differs(text, of string) (line string, same bool) {
	lines := strings.Split(text, "\n")
	for i, want := range strings.Split(of, "\n") {
		if i >= len(lines) || lines[i] != want {
			return fmt.Sprintf(": it has `%s`", want), false
		}
	}
	return "", true
}

// Captured tensors keep their order, which is that of the inputs of the graph. One that asks for gradients stands for itself in
// the calls, with its history; several handles of one memory, of which some are detached, are told apart by Program.Quiet.

// replayCalls traces the calls of a graph for known sizes, with the captured tensors and the changes of this program. Of the results
// only those in of have gradients, and operands in quiet get none.
func replayCalls(p *execute.Program, g *graph.Graph, of []int, quiet map[int]uint64) (*execute.Program, error) {
	tr, err := begin(p.Context(), p.Given)
	if err != nil {
		return nil, err
	}
	r := &replay{Trace: tr, graph: g, quiet: quiet, operands: map[graph.Value]runtime.Operand{}}
	defer func() { p.Context().Runtime.FreeAll(r.made) }()
	made, err := r.program(p, of)
	if err != nil {
		tr.Abort()
		return nil, err
	}
	return made, nil
}

// replay is a trace of calls that a graph has.
type replay struct {
	*Trace
	graph    *graph.Graph
	quiet    map[int]uint64
	operands map[graph.Value]runtime.Operand // what stands for the values of the graph
	made     []*runtime.Tensor               // freed at the end
}

// program makes the calls, and the program of them.
func (r *replay) program(p *execute.Program, of []int) (*execute.Program, error) {
	inputs, outputs := r.graph.Ends(p.Results + len(p.ChangedInputs))
	if err := r.arguments(p, inputs); err != nil {
		return nil, err
	}
	if err := r.captures(p, inputs); err != nil {
		return nil, err
	}
	if err := r.calls(); err != nil {
		return nil, err
	}
	results := make([]*runtime.Tensor, p.Results)
	for i, v := range outputs[:p.Results] {
		t, err := r.operand(v)
		if err != nil {
			return nil, err
		}
		if results[i] = t.Tensor; !slices.Contains(of, i) {
			if results[i], err = r.detached(t.Tensor); err != nil {
				return nil, err
			}
		}
	}
	last, changes := make([]runtime.Operand, len(p.ChangedInputs)), make([]*runtime.Tensor, len(p.ChangedInputs))
	for i, v := range outputs[p.Results:] {
		var err error
		if last[i], err = r.operand(v); err != nil {
			return nil, err
		}
		if slices.Contains(of, p.Results+i) {
			changes[i] = last[i].Tensor
		}
	}
	made, err := r.end(results, changes, func() error { return r.write(p.ChangedInputs, last) })
	if err == nil {
		made.ChangedBy = p.ChangedBy
	}
	return made, err
}

// arguments makes what stands for the arguments.
func (r *replay) arguments(p *execute.Program, inputs []graph.Value) error {
	for i, v := range inputs[:p.Given] {
		t, err := r.stand(r.graph.TypeOf(v), p.Asked[i])
		if err != nil {
			return err
		}
		r.operands[v], r.made = runtime.Operand{Tensor: t}, append(r.made, t)
	}
	return nil
}

func (r *replay) captures(p *execute.Program, inputs []graph.Value) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, v := range inputs[p.Given:] {
		s, err := r.capture("program", i, p.CapturedInputs[i])
		if err != nil {
			return err
		}
		r.operands[v] = runtime.Operand{Tensor: s.tensor}
		for _, t := range p.Asking {
			if t.Store != s.tensor.Store {
				continue
			}
			if same, err := r.capture("program", i, t); err != nil {
				return err
			} else if same == s {
				r.operands[v] = runtime.Operand{Tensor: t}
			}
		}
	}
	return nil
}

// detached is a tensor that asks for nothing.
func (r *replay) detached(t *runtime.Tensor) (*runtime.Tensor, error) {
	same, err := t.Alias()
	if err == nil {
		r.made = append(r.made, same)
	}
	return same, err
}

func (r *replay) calls() error {
	for i := range r.graph.Nodes() {
		if err := r.call(&r.graph.Nodes()[i], r.quiet[i]); err != nil {
			return err
		}
	}
	return nil
}

// call makes a call of the graph, with gradients for the operands that the function recorded.
func (r *replay) call(n *graph.Node, quiet uint64) error {
	in := make([]runtime.Operand, len(n.In))
	for i, v := range n.In {
		var err error
		if in[i], err = r.operand(v); err != nil {
			return err
		}
		if t := in[i].Tensor; quiet&(1<<i) != 0 && t.Asks() {
			if in[i].Tensor, err = r.detached(t); err != nil {
				return err
			}
		}
	}
	made, err := eager.In(r.ctx.Runtime, runtime.Recording).Call(n.Row, in, slices.Clone(n.Attrs), r.ctx, r.stream)
	if err != nil {
		return err
	}
	r.made = append(r.made, made...)
	for i, v := range n.Out {
		r.operands[v] = runtime.Operand{Tensor: made[i]}
	}
	return nil
}

// operand is what stands for a value of the graph. Constants are those of the graph, so that all sizes share their memory.
func (r *replay) operand(v graph.Value) (runtime.Operand, error) {
	number, elements := r.graph.Given(v)
	if number != nil {
		return runtime.Operand{Value: *number}, nil
	}
	if known, ok := r.operands[v]; ok || elements == nil {
		return known, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := r.tensor(r.builder.Constant(elements))
	if err != nil {
		return runtime.Operand{}, err
	}
	r.operands[v], r.made = runtime.Operand{Tensor: t}, append(r.made, t)
	return r.operands[v], nil
}

// It comes behind the backward pass, which reads of these inputs what they were before: a function that changes an input which its
// own gradient reads has been refused when it was traced.

// write gives inputs that the function changes their last values; mu is held.
func (r *replay) write(changed []int, last []runtime.Operand) error {
	values := make([]graph.Value, len(changed))
	for i := range changed {
		x, err := r.of("program", i, last[i].Tensor)
		if err != nil {
			return err
		}
		if values[i], err = r.read(x); err != nil {
			return err
		}
	}
	for i, at := range changed { // a last value may be what another input was
		r.sources[at].alias.value, r.sources[at].changed = values[i], true
	}
	return nil
}
