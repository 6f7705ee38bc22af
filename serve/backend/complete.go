package backend

import (
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx"
)

// The rule is that of the onnxruntime backend, so that a repository moves over without a change: a model whose inputs and
// outputs all begin with an open dimension can be batched, and gets the server's default max_batch_size and dynamic batching,
// unless its configuration says otherwise. Nothing is completed where the configuration has inputs and outputs.

// complete adds to a configuration what it lacks and the file says, and returns the new one as JSON.
func complete(c *config, defaultMaxBatch int64, file *onnx.Model) ([]byte, error) {
	inputs, outputs := file.Ports()
	batched := true
	for _, p := range append(inputs[:len(inputs):len(inputs)], outputs...) {
		if !p.Ranked {
			return nil, status.Errorf(status.Invalid, "the file does not say how many dimensions %q has; want inputs and outputs in config.pbtxt", p.Name)
		}
		batched = batched && len(p.Dims) > 0 && p.Dims[0].Size < 0
	}
	switch {
	case batched && c.maxBatch == 0 && !file.Counts(): // what a model counts is no batch
		c.maxBatch = max(defaultMaxBatch, 0)
	case !batched && c.maxBatch > 0:
		return nil, status.Errorf(status.Invalid, "max_batch_size is %d; want 0, because not all inputs and outputs of the file begin with an open dimension", c.maxBatch)
	}
	var err error
	if len(c.inputs) == 0 {
		c.inputs, err = c.portsOf(inputs)
	}
	if err == nil && len(c.outputs) == 0 {
		c.outputs, err = c.portsOf(outputs)
	}
	if err != nil {
		return nil, err
	}
	return c.with(c.maxBatch > 1), nil
}

// With a batch dimension the dimensions of a configuration are those of one row.

// portsOf are inputs or outputs of a file as a configuration has them.
func (c *config) portsOf(ports []*onnx.Port) (made []*port, err error) {
	for _, p := range ports {
		kind, err := datatypeOfPort(p)
		if err != nil {
			return nil, err
		}
		dims := p.Dims
		if c.maxBatch > 0 {
			dims = dims[1:]
		}
		q := &port{name: p.Name, dataType: kind.String()}
		for _, d := range dims {
			q.dims = append(q.dims, max(d.Size, -1))
		}
		if len(dims) == 0 { // a configuration has no empty dims
			q.dims, q.reshaped = []int64{1}, c.maxBatch > 0
		}
		made = append(made, q)
	}
	return made, nil
}
