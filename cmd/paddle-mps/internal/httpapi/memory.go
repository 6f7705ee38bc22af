package httpapi

import (
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/sharedmemory"
	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// The extension of system shared memory: its paths, and inputs and outputs that are in regions.

// systemMemoryStatus lists the registered regions, or the one in the path.
func (c *call) systemMemoryStatus() error {
	// It is answered where clients may not register too: there are no regions then.
	all, err := c.api.Regions.List(c.region)
	if err != nil {
		return err
	}
	return c.reply(all)
}

// systemMemoryRegister registers a region: {"key":"/name","offset":0,"byte_size":64}.
func (c *call) systemMemoryRegister() error {
	if err := c.api.Regions.Allowed(); err != nil {
		return err
	}
	if c.region == "" {
		return inference.Errorf(inference.InvalidArg, "'region name' is necessary to register system shared memory region")
	}
	// The order of checks is tritonserver's: key, offset, size, and only then the key itself.
	given, err := c.object()
	if err != nil {
		return err
	}
	v, ok := jsontext.Find(given, "key")
	if !ok {
		return inference.Errorf(inference.InvalidArg, "Shared memory register request has no 'key' field")
	}
	key, err := v.String()
	if err != nil {
		return inference.Errorf(inference.Internal, "%s", err)
	}
	var offset, size uint64
	if v, ok := jsontext.Find(given, "offset"); ok {
		if offset, err = v.Uint(); err != nil {
			return inference.Errorf(inference.Internal, "%s", err)
		}
	}
	if v, ok = jsontext.Find(given, "byte_size"); !ok {
		return inference.Errorf(inference.InvalidArg, "Shared memory register request has no 'byte_size' field")
	}
	if size, err = v.Uint(); err != nil {
		return inference.Errorf(inference.Internal, "%s", err)
	}
	if err := c.api.Regions.Register(c.region, key, offset, size); err != nil {
		return err
	}
	return c.done()
}

// systemMemoryUnregister removes the region in the path, or all of them.
func (c *call) systemMemoryUnregister() error {
	if err := c.api.Regions.Unregister(c.region); err != nil {
		return err
	}
	return c.done()
}

// placeOf reads the place that parameters of an input or output name; false where they name none.
func placeOf(parameters []jsontext.Member) (p sharedmemory.Place, is bool, err error) {
	v, is := jsontext.Find(parameters, "shared_memory_region")
	if is {
		if p.Region, err = v.String(); err != nil {
			return p, true, internal("shared_memory_region", err)
		}
	}
	// Without a region the others change nothing, but wrong ones are errors as well.
	if p.Offset, err = placeNumber(parameters, "shared_memory_offset"); err == nil {
		p.Size, err = placeNumber(parameters, "shared_memory_byte_size")
	}
	return p, is, err
}

// placeNumber is a number of a place; 0 where there is none.
func placeNumber(parameters []jsontext.Member, name string) (uint64, error) {
	v, ok := jsontext.Find(parameters, name)
	if !ok {
		return 0, nil
	}
	n, err := v.Uint()
	if err != nil {
		return 0, internal(name, err)
	}
	return n, nil
}

// sharedInput is a copy of an input that is in shared memory. Those of one request together are bounded as a body is,
// and count against the room of all requests.
func (in *inferBody) sharedInput(p sharedmemory.Place) ([]byte, error) {
	// The copy is the request's own: what the owner of the object does from here on changes nothing.
	h, err := in.regions.Hold(p)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	data, err := h.Read(in.limit-in.shared, in.call.take)
	in.shared += int64(len(data))
	return data, err
}

// sharedOutput notes the place of an output, whose region is held until the request is answered.
func (in *inferBody) sharedOutput(name string, parameters []jsontext.Member) error {
	p, is, err := placeOf(parameters)
	if err != nil || !is {
		return err
	}
	// Classes are texts that are made of the elements: they have no size that a client could know.
	if _, both := jsontext.Find(parameters, "classification"); both {
		return inference.Errorf(inference.InvalidArg, "Output can't set both 'shared_memory_region' and 'classification'")
	}
	if v, both := jsontext.Find(parameters, "binary_data"); both {
		if binary, err := v.Bool(); err != nil {
			return inference.Errorf(inference.Internal, "Unable to set 'binary_data': %s", err)
		} else if binary {
			return inference.Errorf(inference.InvalidArg, "Output can't set both 'shared_memory_region' and 'binary_data'")
		}
	}
	h, err := in.regions.Hold(p)
	if err != nil {
		return err
	}
	if in.places == nil {
		in.places = map[string]*sharedmemory.Held{}
	}
	// A name that is given twice has the last place.
	if before := in.places[name]; before != nil {
		before.Release()
	}
	in.places[name] = h
	return nil
}

// place copies the outputs that belong there into shared memory.
func (in *inferBody) place(r *inference.Response) error {
	// The sizes are known now; a place that is too small is an error of the server, as in tritonserver.
	for i := range r.Outputs {
		t := &r.Outputs[i]
		if h := in.places[t.Name]; h != nil {
			if err := h.Write(t.Name, t.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// release ends the holds of regions.
func (in *inferBody) release() {
	for _, h := range in.places {
		h.Release()
	}
}
