package serve

import (
	"errors"
	"slices"
	"time"

	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// execute runs the jobs as one batch and divides the outputs among them.
func (n *instance) execute(jobs []*job, m *statistics.Moments) error {
	rt := n.runtime
	// Tensors are freed on every way out, those of the inputs only after the outputs were read: an output may be an input.
	in, err := n.gather(rt, jobs)
	defer func() {
		for _, t := range in {
			if t != nil {
				rt.Free(t.Handle())
			}
		}
		// One batch of the largest size must not take its memory forever.
		if cap(n.buffer) > inference.LargestKept {
			n.buffer = nil
		}
	}()
	if err != nil {
		return err
	}
	// The moments divide the time of an execution as the statistics of Triton do: making inputs, running, reading outputs.
	m.Inputs = time.Now()
	out, err := n.program.Run(in, n.stream)
	if err == nil && n.async {
		err = n.stream.Synchronize()
	}
	defer func() {
		for _, t := range out {
			rt.Free(t.Handle())
		}
	}()
	if m.Outputs = time.Now(); err != nil {
		return err
	}
	return n.divide(jobs, out)
}

// gather makes the inputs of the program, in its order.
// The buffer of the instance holds the inputs of a batch until it has run.
func (n *instance) gather(rt *runtime.Runtime, jobs []*job) (in []*runtime.Tensor, err error) {
	v := n.version
	// A program has its inputs in the order of the model, which may differ from that of the configuration. What is nil where
	// an error ends it was not made.
	n.in = slices.Grow(n.in[:0], len(v.inputs))[:len(v.inputs)]
	in, need := n.in, 0
	clear(in)
	// The size is known before anything is copied, so that the buffer grows once: slices of it must not move.
	if len(jobs) > 1 {
		for _, j := range jobs {
			for i, data := range j.accepted.data {
				if !j.accepted.isAbsent(i) {
					need += len(data) + len(v.inputs)*alignment
				}
			}
		}
		if cap(n.buffer) < need {
			n.buffer = make([]byte, 0, need)
		}
	}
	buffer := n.buffer[:0]
	for i := range v.inputs {
		p, first := &v.inputs[i], &jobs[0].accepted
		// A request that is alone is not copied together: its data are the input.
		data, dims := first.data[i], first.shapes[i]
		if len(jobs) > 1 && !first.isAbsent(i) {
			dims = append([]int64(nil), dims...)
			dims[0] = 0
			buffer = buffer[:(len(buffer)+alignment-1)/alignment*alignment]
			start := len(buffer)
			for _, j := range jobs {
				buffer = append(buffer, j.accepted.data[i]...)
				dims[0] += j.accepted.shapes[i][0]
			}
			data = buffer[start:]
		}
		// The rank is that of the model; a configuration without a rank in the file may ask for more than tensors have.
		s, err := shape.Of(dims...)
		if err != nil {
			return in, err
		}
		if in[p.at], err = n.tensor(rt, p.kind, s, data); err != nil {
			return in, err
		}
	}
	return in, nil
}

// alignment is that of each input within the buffer of an instance: it suits every element type.
const alignment = 16

// tensor is data as a tensor: the data themselves where the CPU runs the model and can read them where they are, else a
// copy.
func (n *instance) tensor(rt *runtime.Runtime, k tensors.Type, s shape.Shape, data []byte) (*runtime.Tensor, error) {
	if k == tensors.Bytes {
		return execute.FromStrings(rt, n.program.context, s, data)
	}
	if !n.async {
		// The bytes of a body begin wherever they were received. Addresses that do not suit the type are copied.
		if t, err := rt.Borrow(k.DType(), s, data); err == nil {
			return t, nil // else they are not aligned
		}
	}
	return rt.FromHost(n.program.context, k.DType(), s, data)
}

// divide reads the outputs that jobs ask for and gives each job its part.
func (n *instance) divide(jobs []*job, out []*runtime.Tensor) error {
	v := n.version
	for _, j := range jobs {
		j.response = inference.Response{Model: v.config.Name, Version: v.number, ID: j.request.ID, Outputs: j.outputs[:0], Buffers: j.memory[:0]}
	}
	for i := range v.outputs {
		p := &v.outputs[i]
		if !wanted(jobs, p.name) {
			continue
		}
		t := out[p.at]
		if err := v.checkOutput(p, t, jobs); err != nil {
			return err
		}
		data, err := read(t, jobs)
		if err != nil {
			return err
		}
		if err := v.share(p, t.Shape.Slice(), data, jobs); err != nil {
			return err
		}
	}
	return nil
}

// read is the elements of an output. It waits for the device and returns what has failed there.
func read(t *runtime.Tensor, jobs []*job) ([]byte, error) {
	if execute.HasStrings(t) {
		return execute.Strings(t)
	}
	// The memory belongs to the responses, so it is another one for each batch.
	size := int64(t.Numel()) * int64(t.DType.Size())
	m := inference.NewBuffer(size, len(jobs))
	if m == nil {
		data := make([]byte, size)
		return data, t.Read(data)
	}
	for _, j := range jobs {
		j.response.Buffers = append(j.response.Buffers, m)
	}
	return m.Bytes[:size], t.Read(m.Bytes[:size])
}

// wanted reports whether some job asks for an output.
func wanted(jobs []*job, name string) bool {
	for _, j := range jobs {
		if _, ok := j.request.Requested(name); ok {
			return true
		}
	}
	return false
}

// checkOutput refuses a result that the configuration does not describe, or that cannot be divided.
func (v *Version) checkOutput(p *port, t *runtime.Tensor, jobs []*job) error {
	dims := t.Shape.Slice()
	if t.DType != p.kind.DType() || execute.HasStrings(t) != (p.kind == tensors.Bytes) {
		return inference.Errorf(inference.Internal, "unexpected datatype for inference output '%s': the model produced a tensor of %s, expecting %s", p.name, t.DType, p.kind.ConfigName())
	}
	// A model may be wrong about what it declares; clients must not get shapes that the metadata exclude.
	inner, want := dims, p.dims
	if p.reshape != nil {
		want = p.reshape
	}
	if v.config.MaxBatchSize > 0 {
		total := int64(0)
		for _, j := range jobs {
			total += j.accepted.batch
		}
		if len(dims) == 0 || dims[0] != total {
			return inference.Errorf(inference.Internal, "failed to split the output tensor '%s' in responses: expected batch size of at least %d in model output, got %s", p.name, total, tensors.Text(dims))
		}
		inner = dims[1:]
	}
	if !fits(inner, want) {
		return inference.Errorf(inference.Internal, "model '%s', tensor '%s': the model produced shape %s but the model configuration specifies shape %s", v.config.Name, p.name, tensors.Text(dims), tensors.Text(want))
	}
	return nil
}

// share adds an output to the responses, each with its part of data. The parts are slices of one piece of memory.
// Shapes are new for each response; data are not.
func (v *Version) share(p *port, dims []int64, data []byte, jobs []*job) error {
	for _, j := range jobs {
		part, mine := data, j.ints(len(dims))
		copy(mine, dims)
		if v.config.MaxBatchSize > 0 {
			if len(jobs) > 1 {
				part, data = divided(p.kind, data, dims, j.accepted.batch)
				dims = append([]int64{dims[0] - j.accepted.batch}, dims[1:]...)
			}
			mine[0] = j.accepted.batch
			if p.reshape != nil {
				mine = append(mine[:1:1], reshaped(mine[1:], p.reshape, p.dims)...)
			}
		} else if p.reshape != nil {
			mine = reshaped(mine, p.reshape, p.dims)
		}
		want, ok := j.request.Requested(p.name)
		if !ok {
			continue
		}
		t := inference.Tensor{Name: p.name, Type: p.kind, Shape: mine, Data: part}
		if want.Classes > 0 {
			var err error
			if t, err = inference.Classify(t, want.Classes, p.labels, v.config.MaxBatchSize > 0); err != nil {
				return err
			}
		}
		j.response.Outputs = append(j.response.Outputs, t)
	}
	return nil
}

// divided is the part of the first items of a batch of a shape, and the rest.
func divided(k tensors.Type, data []byte, dims []int64, items int64) (part, rest []byte) {
	if k == tensors.Bytes {
		n, _ := tensors.Count(dims[1:])                      // the dimensions are those of a tensor
		part, rest, _ = tensors.SplitElements(data, n*items) // and the runtime has encoded its elements
		return part, rest
	}
	// Items are equal in size: what one takes is the whole by their number.
	n := int64(len(data)) / max(dims[0], 1) * items
	return data[:n:n], data[n:]
}

// decided reports whether a program cannot be compiled for shapes alone: it will be when elements of inputs are known.
func decided(err error) bool {
	var needs *graph.NeedsElements
	return errors.As(err, &needs)
}
