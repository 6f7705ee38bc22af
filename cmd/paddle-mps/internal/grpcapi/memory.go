package grpcapi

import (
	"context"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/sharedmemory"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// The extension of system shared memory: its methods, and inputs and outputs that are in regions.

// SystemSharedMemoryStatus lists the registered regions, or the one that the request names.
func (a *API) SystemSharedMemoryStatus(_ context.Context, r *kserve.SystemSharedMemoryStatusRequest) (*kserve.SystemSharedMemoryStatusResponse, error) {
	all, err := a.Regions.List(r.Name)
	if err != nil {
		return nil, err
	}
	answer := &kserve.SystemSharedMemoryStatusResponse{Regions: map[string]*kserve.SystemSharedMemoryStatusResponse_RegionStatus{}}
	for _, s := range all {
		answer.Regions[s.Name] = &kserve.SystemSharedMemoryStatusResponse_RegionStatus{Name: s.Name, Key: s.Key, Offset: s.Offset, ByteSize: s.Size}
	}
	return answer, nil
}

// SystemSharedMemoryRegister registers a region.
func (a *API) SystemSharedMemoryRegister(_ context.Context, r *kserve.SystemSharedMemoryRegisterRequest) (*kserve.SystemSharedMemoryRegisterResponse, error) {
	return &kserve.SystemSharedMemoryRegisterResponse{}, a.Regions.Register(r.Name, r.Key, r.Offset, r.ByteSize)
}

// SystemSharedMemoryUnregister removes a region, or all of them where the request names none.
func (a *API) SystemSharedMemoryUnregister(_ context.Context, r *kserve.SystemSharedMemoryUnregisterRequest) (*kserve.SystemSharedMemoryUnregisterResponse, error) {
	return &kserve.SystemSharedMemoryUnregisterResponse{}, a.Regions.Unregister(r.Name)
}

// shared is what a request has in shared memory.
type shared struct {
	regions *sharedmemory.Regions
	left    int64                         // bytes that inputs may still have: those of a request are bounded as a message is
	places  map[string]*sharedmemory.Held // of outputs
	room    *httpapi.Room
	taken   int64 // of room, for inputs and what a run makes of them
}

// tensor is an input or output of a message.
type tensor interface {
	GetName() string
	GetParameters() map[string]*kserve.InferParameter
}

// placeOf reads the place that the parameters of a tensor name; false where they name none.
func placeOf(t tensor) (p sharedmemory.Place, is bool, err error) {
	// Tensors rarely have parameters.
	all := t.GetParameters()
	if len(all) == 0 {
		return p, false, nil
	}
	if v, ok := all["shared_memory_region"]; ok {
		text, ok := v.ParameterChoice.(*kserve.InferParameter_StringParam)
		if !ok {
			return p, true, inference.Errorf(inference.InvalidArg, "invalid value type for 'shared_memory_region' parameter for tensor '%s', expected string_param.", t.GetName())
		}
		p.Region, is = text.StringParam, true
	}
	// The order is that of tritonserver, for messages about requests with two faults.
	for _, one := range []struct {
		name string
		to   *uint64
	}{{"shared_memory_offset", &p.Offset}, {"shared_memory_byte_size", &p.Size}} {
		v, ok := all[one.name]
		switch number, right := v.GetParameterChoice().(*kserve.InferParameter_Int64Param); {
		case !ok && is && one.to == &p.Size:
			return p, true, inference.Errorf(inference.InvalidArg, "'shared_memory_byte_size' must be specified along with 'shared_memory_region' parameter for tensor '%s'", t.GetName())
		case !ok:
		case !is:
			return p, true, inference.Errorf(inference.InvalidArg, "'%s' can not be specified without 'shared_memory_region' parameter for tensor '%s'", one.name, t.GetName())
		case !right:
			return p, true, inference.Errorf(inference.InvalidArg, "invalid value type for '%s' parameter for tensor '%s', expected int64_param.", one.name, t.GetName())
		default:
			*one.to = uint64(number.Int64Param) // a negative one is larger than every region
		}
	}
	return p, is, nil
}

// input is a copy of an input that is in shared memory; false for one that is not.
func (s *shared) input(in *kserve.ModelInferRequest_InferInputTensor, model string) (data []byte, is bool, err error) {
	p, is, err := placeOf(in)
	if err != nil || !is {
		return nil, is, err
	}
	// tritonserver looks at contents before it looks for the region.
	if in.Contents != nil {
		return nil, true, inference.Errorf(inference.InvalidArg, "unexpected 'content' provided when using shared memory for input tensor '%s' for model '%s'", in.Name, model)
	}
	h, err := s.regions.Hold(p)
	if err != nil {
		return nil, true, err
	}
	defer h.Release()
	data, err = h.Read(s.left, s.reserve)
	s.left -= int64(len(data))
	return data, true, err
}

// reserve takes room for an input, or for what a run makes of it, until the request is answered.
func (s *shared) reserve(bytes int64) error {
	err := s.room.Take(bytes)
	if err == nil {
		s.taken += bytes
	}
	return err
}

// output notes the place of an output, whose region is held until the request is answered.
func (s *shared) output(o *kserve.ModelInferRequest_InferRequestedOutputTensor) error {
	p, is, err := placeOf(o)
	if err != nil || !is {
		return err
	}
	if o.Parameters["classification"] != nil {
		return inference.Errorf(inference.InvalidArg, "output can't set both 'shared_memory_region' and 'classification'")
	}
	h, err := s.regions.Hold(p)
	if err != nil {
		return err
	}
	if s.places == nil {
		s.places = map[string]*sharedmemory.Held{}
	}
	if before := s.places[o.Name]; before != nil {
		before.Release()
	}
	s.places[o.Name] = h
	return nil
}

// take copies the outputs that belong there into shared memory, and takes their elements out of the response.
func (s *shared) take(r *inference.Response) error {
	// Their contents stay empty and keep their places among the others.
	for i := range r.Outputs {
		t := &r.Outputs[i]
		if h := s.places[t.Name]; h != nil {
			if err := h.Write(t.Name, t.Data); err != nil {
				return err
			}
			t.Data = nil
		}
	}
	return nil
}

// release ends the holds of regions, and gives the room of inputs back.
func (s *shared) release() {
	s.room.Give(s.taken)
	for _, h := range s.places {
		h.Release()
	}
}
