package backend

import (
	"slices"
	"time"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// An execution goes through these steps, each of which leaves nothing half done:
//
//   - Check: every input of every request, its element type, shape and size, against the configuration. The server has checked
//     them too; a size that is wrong would be memory that is not the server's, so that nothing is taken on trust.
//   - Group: requests that differ in their rows alone. The server puts requests of different shapes together where a
//     configuration without open dimensions makes it believe that it may.
//   - Gather: one tensor for each input of a group. One request on the CPU whose memory is aligned is not copied.
//   - Run: the program, compiled for these shapes at the first run with them.
//   - Check again and split: results have the element type and the shape that the configuration says, and as many rows as the
//     requests together.

// Request is a request of an execution.
type Request struct {
	Inputs  []Input  // in the order of Model.Inputs
	Outputs []Output // in the order of Model.Outputs
	Batch   int64    // set by Run: how many rows it has; 1 where requests have no batch dimension
	Err     error    // set by Run; one that is set before is not run
}

// Input is an input of a request, borrowed for the run.
type Input struct {
	Given  bool     // false: the request leaves it out
	Type   Datatype // as the server says
	Dims   []int64  // with the batch dimension
	Pieces [][]byte // the elements in row-major order, in memory of the server
}

// Output is an output of a request. Data belongs to the instance until Release or the next Run.
type Output struct {
	Wanted bool     // Run leaves it to the caller to skip the others
	Type   Datatype // set by Run, like the rest
	Dims   []int64  // with the batch dimension
	Data   []byte   // memory of the device, which is only read
}

// Run runs the requests of an execution. Each has an error afterwards, or the outputs that it wants. gathering is how long it
// took to put the inputs together.
func (i *Instance) Run(list []Request) (gathering time.Duration) {
	i.Release()
	for n := range list {
		if r := &list[n]; r.Err == nil {
			r.Batch = 0
			r.Err = i.model.checkRequest(r)
		}
	}
	for n := range list {
		if list[n].Err != nil || list[n].Batch < 0 {
			continue
		}
		i.group = i.group[:0]
		for k := n; k < len(list); k++ {
			if r := &list[k]; k == n || r.Err == nil && r.Batch > 0 && i.model.together(&list[n], r) {
				i.group = append(i.group, r)
			}
		}
		gathering += i.runGroup()
		for _, r := range i.group {
			r.Batch = -r.Batch // it has been run
		}
	}
	for n := range list {
		list[n].Batch = max(list[n].Batch, -list[n].Batch)
	}
	return gathering
}

// runGroup runs requests as one batch, and one by one where that fails: the error may be that of one of them.
func (i *Instance) runGroup() (gathering time.Duration) {
	err := i.runBatch(i.group, &gathering)
	if err != nil && len(i.group) > 1 {
		for n, r := range i.group {
			r.Err = i.runBatch(i.group[n:n+1], &gathering)
		}
		return gathering
	}
	for _, r := range i.group {
		r.Err = err
	}
	return gathering
}

// checkRequest checks the inputs of a request against the configuration, and sets its batch size.
func (m *Model) checkRequest(r *Request) error {
	if len(r.Inputs) != len(m.inputs) || len(r.Outputs) != len(m.outputs) {
		return status.Errorf(status.Internal, "[metal_mps] got %d inputs and %d outputs; want %d and %d", len(r.Inputs), len(r.Outputs), len(m.inputs), len(m.outputs))
	}
	r.Batch = 1
	first := true
	for n, t := range m.inputs {
		in := &r.Inputs[n]
		if !in.Given {
			if t.given == nil || !t.absence {
				return status.Errorf(status.Invalid, "[metal_mps] input '%s' is missing, and the model has no value for it", t.name)
			}
			continue
		}
		if err := m.checkInput(t, in); err != nil {
			return err
		}
		if m.maxBatch == 0 {
			continue
		}
		if first {
			r.Batch, first = in.Dims[0], false
		}
		if in.Dims[0] != r.Batch || r.Batch < 1 || r.Batch > m.maxBatch {
			return status.Errorf(status.Invalid, "[metal_mps] input '%s' has batch size %d; want that of the other inputs, and one from 1 to %d", t.name, in.Dims[0], m.maxBatch)
		}
	}
	return nil
}

// checkInput checks type, shape and size of an input.
func (m *Model) checkInput(t *tensor, in *Input) error {
	if in.Type != t.kind {
		return status.Errorf(status.Invalid, "[metal_mps] input '%s' is %s; want %s", t.name, in.Type, t.kind)
	}
	s, err := shape.Of(in.Dims...)
	bytes := int64(0)
	if err == nil {
		bytes, err = s.Bytes(t.dtype().Size()) // of strings those of their numbers, which are checked here to fit too
	}
	if err != nil {
		return status.Errorf(status.Invalid, "[metal_mps] input '%s': %s", t.name, err)
	}
	if !m.fits(t, &s) {
		return status.Errorf(status.Invalid, "[metal_mps] input '%s' has shape %s; want %s", t.name, list(in.Dims), m.want(t))
	}
	given := int64(0)
	for _, p := range in.Pieces {
		given += int64(len(p))
	}
	if t.kind == stringType {
		if why := tensors.CheckElements(joined(in.Pieces), s.Numel(), "input '"+t.name+"'"); why != "" {
			return status.Errorf(status.Invalid, "[metal_mps] %s", why)
		}
		return nil
	}
	if given != bytes {
		return status.Errorf(status.Invalid, "[metal_mps] input '%s' has %d bytes; want %d for shape %s", t.name, given, bytes, list(in.Dims))
	}
	return nil
}

// fits reports whether a shape, as requests have it, is one that the configuration allows.
func (m *Model) fits(t *tensor, s *shape.Shape) bool {
	got := s.Slice()
	if t.scalar {
		return len(got) == 1 && got[0] == 1
	}
	// With a batch dimension the first size is that of the request, which its caller compares.
	if m.maxBatch > 0 {
		if len(got) == 0 {
			return false
		}
		got = got[1:]
	}
	if len(got) != len(t.dims) {
		return false
	}
	for i, d := range t.dims {
		if d >= 0 && got[i] != d {
			return false
		}
	}
	return true
}

// want is the shape that requests have, for people.
func (m *Model) want(t *tensor) string {
	switch {
	case t.scalar:
		return "[1]"
	case m.maxBatch > 0:
		return list(append([]int64{-1}, t.dims...))
	}
	return list(t.dims)
}

// Without a batch dimension there is nothing along which requests could be put together, although the server may hand several
// over at once.

// together reports whether two requests can be one batch.
func (m *Model) together(a, b *Request) bool {
	if m.maxBatch == 0 {
		return false
	}
	for n := range m.inputs {
		x, y := &a.Inputs[n], &b.Inputs[n]
		if x.Given != y.Given || x.Given && !slices.Equal(x.Dims[1:], y.Dims[1:]) {
			return false
		}
	}
	return true
}

// Results stay on the device until the caller has copied them: the server gives memory for an output only once its shape is
// known.

// runBatch runs requests that fit together and gives each its rows.
func (i *Instance) runBatch(group []*Request, gathering *time.Duration) error {
	m, start, rows := i.model, time.Now(), int64(0)
	for _, r := range group {
		rows += r.Batch
	}
	defer i.freeInputs()
	for n, t := range m.inputs {
		x, err := i.input(n, group, rows)
		if err != nil {
			return err
		}
		i.in[t.at] = x
	}
	*gathering += time.Since(start)
	made, err := execute.RunAs(eager.In(m.rt, 0), i.program, i.in, i.stream, i.made[:0])
	if err != nil {
		return err
	}
	i.made, i.held = made, append(i.held, made...)
	for n, t := range m.outputs {
		if t.at >= len(made) {
			return status.Errorf(status.Internal, "[metal_mps] the program has %d results; want more than %d", len(made), t.at)
		}
		if err := i.split(n, made[t.at], group, rows); err != nil {
			return err
		}
	}
	return nil
}

// input is the tensor of an input for a batch.
func (i *Instance) input(n int, group []*Request, rows int64) (*runtime.Tensor, error) {
	m, t, first := i.model, i.model.inputs[n], &group[0].Inputs[n]
	if !first.Given {
		return i.defaults[n], nil
	}
	s, err := shape.Of(first.Dims...)
	switch {
	case err != nil:
		return nil, err
	case t.scalar:
		s = shape.Shape{}
	case m.maxBatch > 0:
		s.Dims[0] = rows
	}
	i.parts = i.parts[:0]
	for _, r := range group {
		i.parts = append(i.parts, r.Inputs[n].Pieces...)
	}
	if t.kind == boolType {
		for k, p := range i.parts {
			i.parts[k] = truths(p)
		}
	}
	defer clear(i.parts) // they are borrowed
	if t.kind == stringType {
		return execute.FromStrings(m.rt, i.ctx, s, joined(i.parts))
	}
	return m.rt.Gather(i.ctx, t.dtype(), s, i.parts)
}

// joined are pieces of strings as one: a string may begin in one piece and end in another.
func joined(pieces [][]byte) []byte {
	if len(pieces) == 1 {
		return pieces[0]
	}
	return slices.Concat(pieces...)
}

// stringType is TYPE_STRING, whose elements have sizes of their own.
const stringType = Datatype(tensors.Bytes)

// boolType is BOOL: clients may send any byte that is not 0 for true, and tensors have 1.
const boolType Datatype = 1

// Kernels compute with bits of BOOL, so that a byte of 2 would be neither true nor false. The server's memory is not changed:
// another request may have the same.

// truths are bytes that are 0 and 1: a copy where there are others.
func truths(p []byte) []byte {
	for k, b := range p {
		if b > 1 {
			p = slices.Clone(p)
			for ; k < len(p); k++ {
				p[k] = min(p[k], 1)
			}
			break
		}
	}
	return p
}

// On mps the run may be under way still: the runtime keeps what it reads until it is done.

// freeInputs frees the inputs of a run, but for the defaults.
func (i *Instance) freeInputs() {
	for n, t := range i.model.inputs {
		if x := i.in[t.at]; x != nil && x != i.defaults[n] {
			i.model.rt.Free(x.Handle())
		}
	}
	clear(i.in)
}

// The data of a request is a part of the result, cut where its rows end; nothing is copied here.

// split gives each request its rows of a result.
func (i *Instance) split(n int, made *runtime.Tensor, group []*Request, rows int64) error {
	m, t, s := i.model, i.model.outputs[n], made.Shape
	if made.DType != t.dtype() || execute.HasStrings(made) != (t.kind == stringType) {
		return status.Errorf(status.Internal, "[metal_mps] output '%s' is %s; want %s", t.name, made.DType, t.dtype())
	}
	data, err := i.contents(made)
	if err != nil {
		return err
	}
	if t.scalar && s.Rank == 0 {
		s = shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{1}}
	}
	if !m.fits(t, &s) || m.maxBatch > 0 && s.Dims[0] != rows {
		return status.Errorf(status.Invalid, "[metal_mps] output '%s' has shape %s; want %s with %d rows", t.name, list(slices.Clone(s.Slice())), m.want(t), rows)
	}
	i.size += int64(len(data))
	row, elements := len(data)/int(rows), s.Numel()/rows
	for _, r := range group {
		o, size := &r.Outputs[n], len(data)
		if m.maxBatch > 0 {
			s.Dims[0], size = r.Batch, row*int(r.Batch)
		}
		if t.kind == stringType && m.maxBatch > 0 {
			first, _, _ := tensors.SplitElements(data, elements*r.Batch) // the runtime has encoded them
			size = len(first)
		}
		o.Type, o.Dims, o.Data = t.kind, append(o.Dims[:0], s.Slice()...), data[:size:size]
		data = data[size:]
	}
	return nil
}

// contents is the elements of a result in memory of the runtime, until Release. Strings are encoded into a tensor of bytes: the
// server reads the memory from C, which must not have that of Go.
func (i *Instance) contents(made *runtime.Tensor) ([]byte, error) {
	if !execute.HasStrings(made) {
		return made.Contents()
	}
	wire, err := execute.Strings(made)
	if err != nil {
		return nil, err
	}
	s, err := shape.Of(int64(len(wire)))
	if err != nil {
		return nil, err
	}
	bytes, err := i.model.rt.FromHost(i.ctx, dtype.Uint8, s, wire)
	if err != nil {
		return nil, err
	}
	i.held = append(i.held, bytes)
	return bytes.Contents()
}

// A call into Go that only frees costs about as much as the memory of small results is worth, and large results of a model
// that gets no more requests should not stay.

// keep is how much of results waits for the next run to be freed: below it a call of its own costs more than the memory.
const keep = 1 << 20

// Large reports whether the results are worth a call of Release before the next run.
func (i *Instance) Large() bool { return i.size > keep }

// Release frees the results of the latest run.
func (i *Instance) Release() {
	for _, t := range i.held {
		i.model.rt.Free(t.Handle())
	}
	clear(i.held)
	i.held, i.size = i.held[:0], 0
}
