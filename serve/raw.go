package serve

import (
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// RawInput is the only input of a model from bytes alone, a batch of one: the shape is that of the configuration, in which
// one dimension may have any size.
func (s *Server) RawInput(name string, number int64, data []byte) (inference.Tensor, error) {
	v, release, err := s.Find(name, number)
	if err != nil {
		return inference.Tensor{}, err
	}
	defer release()
	if len(v.inputs) != 1 {
		return inference.Tensor{}, inference.Errorf(inference.InvalidArg, "[request id: <id_unknown>] Raw request must only have 1 input (found 1) to be deduced but got %d inputs in '%s' model configuration", len(v.inputs), name)
	}
	p := &v.inputs[0]
	t := inference.Tensor{Name: p.name, Type: p.kind, Data: data}
	if v.config.MaxBatchSize > 0 {
		t.Shape = append(t.Shape, 1)
	}
	// One open dimension follows from the number of bytes; two could be anything.
	free, known := -1, append([]int64(nil), p.dims...)
	for i, d := range p.dims {
		if d != -1 {
			continue
		}
		if free >= 0 {
			return inference.Tensor{}, inference.Errorf(inference.InvalidArg, "[request id: <id_unknown>] The shape of the raw input '%s' can not be deduced because there are more than one variable-sized dimension", p.name)
		}
		free, known[i] = i, 1
	}
	// The body is the text of the only string, without its length.
	if p.kind == tensors.Bytes {
		if n, _ := tensors.Count(known); n != 1 || free >= 0 {
			return inference.Tensor{}, inference.Errorf(inference.InvalidArg, "[request id: <id_unknown>] For BYTE datatype raw input '%s', the model must have input shape [1]", p.name)
		}
		t.Shape, t.Data = append(t.Shape, known...), tensors.AppendElement(make([]byte, 0, tensors.LengthSize+len(data)), data)
		return t, nil
	}
	each, ok := tensors.ByteSize(p.kind, known)
	if free >= 0 && ok && each > 0 {
		known[free] = int64(len(data)) / each
	}
	t.Shape = append(t.Shape, known...)
	// Only the name in this message tells that the body was taken for the elements.
	if want, ok := tensors.ByteSize(p.kind, t.Shape); !ok || int64(len(data)) != want {
		return inference.Tensor{}, inference.Errorf(inference.InvalidArg, "[request id: <id_unknown>] input byte size mismatch for input 'raw_input' for model '%s'. Expected %d, got %d", name, want, len(data))
	}
	return t, nil
}
