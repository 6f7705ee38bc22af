package serve

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// largestWarmUp is the size of all inputs of a warm-up request together in bytes.
const largestWarmUp = 1 << 30

// warmUp runs the requests that the configuration has for it on each device of the version. It counts in no statistics.
func (v *Version) warmUp(s *Server, folder string) error {
	for _, w := range v.config.ModelWarmup {
		r, err := v.warmUpRequest(w, folder)
		if err != nil {
			return err
		}
		// A sample is a request like any other: what does not fit fails the load.
		if err := v.accept(r, &job{}); err != nil {
			return inference.Errorf(inference.InvalidArg, "failed to run warmup sample '%s': %s", w.Name, err)
		}
		for _, p := range v.programs {
			for range max(w.Count, 1) {
				// A server that ends does not wait for all of a long warm-up.
				if s.exiting.Load() {
					return inference.Errorf(inference.Unavailable, "Server not ready")
				}
				if err := runOnce(v, s.options.Runtime, p, r); err != nil {
					return inference.Errorf(inference.From(err).Code, "failed to run warmup sample '%s': %s", w.Name, err)
				}
			}
		}
	}
	return nil
}

// runOnce runs a request by itself on a stream of its own.
func runOnce(v *Version, rt *runtime.Runtime, p *program, r *inference.Request) error {
	stream, err := p.context.NewStream()
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }() // failures are those of attempt
	// The run goes past the queue: warm-up happens before the version serves, on each device once.
	n := &instance{version: v, runtime: rt, program: p, stream: stream, async: p.context.Place() != place.CPU}
	j := &job{request: r}
	if err := v.accept(r, j); err != nil {
		return err
	}
	return n.attempt([]*job{j}, &statistics.Moments{})
}

// warmUpRequest makes the request of a sample.
func (v *Version) warmUpRequest(w *modelconfig.ModelWarmup, folder string) (*inference.Request, error) {
	r := &inference.Request{Model: v.config.Name, ID: w.Name}
	// A configuration may come from a client: no memory is taken before the sizes of all inputs are known.
	left := int64(largestWarmUp)
	for name, in := range w.Inputs {
		// Dimensions are without the batch here too; the sample says how many items it has.
		t := inference.Tensor{Name: name, Type: tensors.Type(in.DataType), Shape: in.Dims}
		if v.config.MaxBatchSize > 0 {
			t.Shape = append([]int64{int64(max(w.BatchSize, 1))}, in.Dims...)
		}
		size, ok := warmUpSize(&t)
		// What a run makes of strings counts here too: they are small in the request alone.
		if t.Type == tensors.Bytes && ok {
			size = min(size, largestWarmUp) * (1 + tensors.WorkEach/tensors.LengthSize)
		}
		if !ok || size > left {
			return nil, inference.Errorf(inference.InvalidArg, "warmup sample '%s' has shape %s for input '%s'; want known dimensions and at most %d bytes for all inputs", w.Name, tensors.Text(t.Shape), name, largestWarmUp)
		}
		left -= size
		r.Inputs = append(r.Inputs, t)
	}
	for i := range r.Inputs {
		t := &r.Inputs[i]
		size, _ := warmUpSize(t) // see above
		var err error
		if t.Data, err = warmUpData(w.Inputs[t.Name], t.Type, size, folder); err != nil {
			return nil, inference.Errorf(inference.InvalidArg, "warmup sample '%s', input '%s': %s", w.Name, t.Name, err)
		}
	}
	return r, nil
}

// warmUpSize is the number of bytes of an input that no file has. Zeros are the lengths of empty strings; they also are what
// random strings are in tritonserver.
func warmUpSize(t *inference.Tensor) (int64, bool) {
	if t.Type == tensors.Bytes {
		n, ok := tensors.Count(t.Shape)
		return min(n, largestWarmUp) * tensors.LengthSize, ok
	}
	return tensors.ByteSize(t.Type, t.Shape)
}

// warmUpData are zeros, random elements, or those of a file in the folder warmup of the model.
func warmUpData(in *modelconfig.ModelWarmup_Input, k tensors.Type, size int64, folder string) ([]byte, error) {
	if file := in.GetInputDataFile(); file != "" {
		// A model that came with a request, or is one file, has no folder: the path would begin where the server was started.
		if folder == "" {
			return nil, fmt.Errorf("file '%s' is not there: the model has no folder", file)
		}
		// Files of samples are in a folder of their own beside the versions, as in Triton, and nowhere else.
		root, err := os.OpenRoot(filepath.Join(folder, "warmup"))
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }()
		return readFile(root.OpenFile, file, largestWarmUp)
	}
	data := make([]byte, size)
	if !in.GetRandomData() || k == tensors.Bytes {
		return data, nil
	}
	for i := int64(0); i < size; i += k.Size() {
		switch k {
		case tensors.FP32:
			binary.LittleEndian.PutUint32(data[i:], math.Float32bits(rand.Float32()))
		case tensors.FP64:
			binary.LittleEndian.PutUint64(data[i:], math.Float64bits(rand.Float64()))
		case tensors.FP16, tensors.BF16: // 0.5 to 1, whatever the fraction
			binary.LittleEndian.PutUint16(data[i:], map[tensors.Type]uint16{tensors.FP16: 0x3800, tensors.BF16: 0x3F00}[k]|uint16(rand.IntN(128)))
		default: // indices too must be in range: 0 and 1 are in most
			data[i] = byte(rand.IntN(2))
		}
	}
	return data, nil
}
