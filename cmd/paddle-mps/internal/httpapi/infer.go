package httpapi

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/sharedmemory"
	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// lengthHeader is the header with the length of the JSON, where binary tensors follow it.
const lengthHeader = "Inference-Header-Content-Length"

// inferBody is a request as it is read, and how its outputs are to be written.
// It lives as long as the request: inputs refer to the buffer of the body, or to memory that was made of its JSON.
type inferBody struct {
	inference.Request
	binaryByDefault bool
	binary          []bool  // of Outputs: whether each is to be written in binary form
	limit           int64   // bytes of inputs that are given as JSON
	body            *buffer // with memory for what is read from it

	call    *call
	regions *sharedmemory.Regions
	shared  int64                         // bytes of inputs in shared memory
	places  map[string]*sharedmemory.Held // of outputs that belong into shared memory
}

// infer answers an inference.
func (c *call) infer() error {
	// Durations of requests begin here, as those of tritonserver do: reading the body is a part of them.
	received := time.Now()
	if err := c.api.Server.Serves(c.model, c.version); err != nil {
		return err // before the body is read, as in tritonserver
	}
	// The header of the request says how long the JSON is before any of it has arrived.
	header, err := c.headerLength()
	if err != nil {
		return err
	}
	lead := 0
	if header > 0 {
		lead = int((alignment - header%alignment) % alignment) // so that the binary part is aligned
	}
	b, err := c.body(lead)
	if err != nil {
		return err
	}
	// Inputs are parts of the buffer: it is given back when the response was written.
	defer b.free()
	t := c.traced(received)
	defer t.End()
	in := &inferBody{limit: c.api.MaxInput, body: b, call: c, regions: c.api.Regions}
	defer in.release()
	in.Inputs = b.inputs[:0]
	in.Model, in.Version, in.Received, in.Trace = c.model, c.version, received, t.Inner()
	// Three forms of a body: JSON alone, JSON and what follows it, or one tensor and no JSON.
	body := b.bytes[lead:]
	switch {
	case header > int64(len(body)):
		return inference.Errorf(inference.InvalidArg, "inference header size should be in range (0, %d), got: %s", len(body), c.r.Header.Get(lengthHeader))
	case header == 0 || header < 0 && len(body) == 0:
		err = c.raw(in, body)
	case header < 0:
		err = in.read(body, nil, c.model)
	default:
		err = in.read(body[:header], body[header:], c.model)
	}
	if err == nil {
		err = in.takeWork()
	}
	if err != nil {
		return err
	}
	b.inputs = in.Inputs
	response, err := c.api.Server.Infer(c.r.Context(), &in.Request)
	t.Answered()
	if err != nil {
		return c.refuseTraced(t, err)
	}
	defer response.Free()
	// A client that does not read makes the outputs stay.
	if err := c.take(Outputs(response)); err != nil {
		return c.refuseTraced(t, err)
	}
	if err := in.place(response); err != nil {
		return err
	}
	t.Now("HTTP_SEND_START")
	err = c.respond(in, response)
	t.Now("HTTP_SEND_END")
	return err
}

// Outputs is how many bytes the outputs of a response have.
func Outputs(r *inference.Response) (bytes int64) {
	for i := range r.Outputs {
		bytes += int64(len(r.Outputs[i].Data))
	}
	return bytes
}

// takeWork takes room for what a run makes of the inputs besides their data.
func (in *inferBody) takeWork() error {
	for i := range in.Inputs {
		if err := in.call.take(tensors.Work(in.Inputs[i].Type, in.Inputs[i].Data)); err != nil {
			return err
		}
	}
	return nil
}

// alignment is that of the binary part of a body.
const alignment = 16

// headerLength is the length of the JSON that the request states: 0 for a body that is one tensor and no JSON, -1 where
// it states none. Like tritonserver's it is the number that the text begins with.
func (c *call) headerLength() (int64, error) {
	text := c.r.Header.Get(lengthHeader)
	if text == "" {
		return -1, nil
	}
	// C++'s stoi reads the number at the beginning and does not mind what follows.
	digits := strings.TrimLeft(text, " ")
	end := len(digits) - len(strings.TrimLeft(strings.TrimLeft(digits, "+-"), "0123456789"))
	n, err := strconv.ParseInt(digits[:end], 10, 64)
	switch {
	case end == 0 || strings.Trim(digits[:end], "+-") == "":
		return 0, inference.Errorf(inference.InvalidArg, "Unable to parse %s, got: %s", lengthHeader, text)
	case err != nil || n > math.MaxInt32 || n < math.MinInt32:
		return 0, inference.Errorf(inference.InvalidArg, "Unable to parse %s, value is out of range [ %d, %d ], got: %s", lengthHeader, math.MinInt32, math.MaxInt32, text)
	case n < 0:
		return 0, inference.Errorf(inference.InvalidArg, "inference header size should be in range (0, %d), got: %s", max(c.r.ContentLength, 0), text)
	}
	return n, nil
}

// internal is an error about JSON of another form than it should have.
func internal(what string, err error) error {
	return inference.Errorf(inference.Internal, "Unable to parse '%s': %s", what, err)
}

// text is a member that is a text, and has to be there.
func text(all []jsontext.Member, name string) (string, error) {
	v, ok := jsontext.Find(all, name)
	if !ok {
		return "", internal(name, jsontext.ErrMissing(name))
	}
	s, err := v.String()
	if err != nil {
		return "", internal(name, err)
	}
	return s, nil
}

// read reads the JSON of a request, and takes the elements of its inputs from it or from what follows it.
func (in *inferBody) read(header, binary []byte, model string) error {
	// Members are looked for by name; their order does not matter.
	root, err := parse(header)
	if err != nil {
		return err
	}
	all := in.body.list(0, root)
	if v, ok := jsontext.Find(all, "id"); ok {
		if in.ID, err = v.String(); err != nil {
			return internal("id", err)
		}
	}
	if v, ok := jsontext.Find(all, "parameters"); ok {
		if err := in.readParameters(v); err != nil {
			return err
		}
	}
	// Parameters and the id come first, because messages about inputs name the id.
	inputs, ok := jsontext.Find(all, "inputs")
	if !ok {
		return internal("inputs", jsontext.ErrMissing("inputs"))
	}
	list, err := inputs.Array()
	if err != nil {
		return internal("inputs", err)
	}
	// Binary data belong to inputs in their order: each takes its part off the front.
	for v, ok := list.Next(); ok; v, ok = list.Next() {
		if binary, err = in.readInput(v, binary, model); err != nil {
			return err
		}
	}
	// What no input asks for is a sign of a wrong length.
	if len(binary) > 0 {
		return inference.Errorf(inference.InvalidArg, "unexpected additional input data for model '%s'", model)
	}
	if v, ok := jsontext.Find(all, "outputs"); ok {
		return in.readOutputs(v)
	}
	return nil
}

// readParameters reads the parameters of a request. Those that the server does not know are for models that read them:
// there are none.
func (in *inferBody) readParameters(v jsontext.Value) error {
	// Parameters have names of the protocol, or are for the model.
	all, err := v.AppendMembers(in.body.members[1][:0])
	if err != nil {
		return inference.Errorf(inference.Internal, "failed to get request params.: %s", err)
	}
	for _, p := range all {
		var number uint64
		switch p.Name {
		case "sequence_id":
			if _, err = p.Value.Uint(); err != nil {
				_, err = p.Value.String()
			}
		case "sequence_start", "sequence_end":
			_, err = p.Value.Bool()
		case "priority":
			number, err = p.Value.Uint()
			in.Priority = number
		case "timeout":
			number, err = p.Value.Uint()
			in.Timeout = time.Duration(min(number, 1<<50)) * time.Microsecond
		case "binary_data_output":
			in.binaryByDefault, err = p.Value.Bool()
		default:
			if strings.HasPrefix(p.Name, "triton_") {
				return inference.Errorf(inference.InvalidArg, "parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.")
			}
			if k := p.Value.Kind(); k == jsontext.Array || k == jsontext.Object || k == jsontext.Null {
				return inference.Errorf(inference.InvalidArg, "parameter '%s' has invalid type. It should be either 'int', 'bool', or 'string'.", p.Name)
			}
		}
		if err != nil {
			return internal(p.Name, err)
		}
	}
	return nil
}

// readInput reads one input and returns what is left of the binary part.
func (in *inferBody) readInput(v jsontext.Value, binary []byte, model string) (rest []byte, err error) {
	all := in.body.list(1, v)
	var parameters []jsontext.Member
	if p, ok := jsontext.Find(all, "parameters"); ok {
		parameters = in.body.list(2, p)
	}
	// The ways to give elements exclude each other.
	data, hasData := jsontext.Find(all, "data")
	size, hasBinary := jsontext.Find(parameters, "binary_data_size")
	_, hasMemory := jsontext.Find(parameters, "shared_memory_region")
	if err := onlyOne(hasData, hasBinary, hasMemory); err != nil {
		return nil, err
	}
	t := inference.Tensor{}
	if t.Name, err = text(all, "name"); err != nil {
		return nil, err
	}
	datatype, err := text(all, "datatype")
	if err != nil {
		return nil, err
	}
	t.Type = tensors.Parse(datatype)
	if t.Shape, err = in.shapeOf(all); err != nil {
		return nil, err
	}
	place, _, err := placeOf(parameters)
	if err != nil {
		return nil, err
	}
	switch {
	case hasMemory:
		if t.Data, err = in.sharedInput(place); err != nil {
			return nil, err
		}
	case hasBinary:
		// The size is compared with what is there, and never added to anything.
		n, err := size.Uint()
		if err != nil {
			return nil, internal("binary_data_size", err)
		}
		if n > uint64(len(binary)) {
			return nil, inference.Errorf(inference.InvalidArg, "unexpected size for input '%s', expecting %d additional bytes for model '%s'", t.Name, n-uint64(len(binary)), model)
		}
		t.Data, binary = binary[:n:n], binary[n:]
	default:
		if t.Data, err = in.elements(&t, data); err != nil {
			return nil, err
		}
	}
	in.Inputs = append(in.Inputs, t)
	return binary, nil
}

// onlyOne refuses an input whose elements are given in several ways, or in none.
// The message lists the ways that the input has, in the order of tritonserver.
func onlyOne(data, binary, memory bool) error {
	given := ""
	n := 0
	for _, way := range []struct {
		is   bool
		name string
	}{{data, " 'data'"}, {binary, " 'binary_data_size'"}, {memory, " 'shared_memory_region'"}} {
		if way.is {
			given += way.name
			n++
		}
	}
	if n == 1 {
		return nil
	}
	if given = " set" + given; n == 0 {
		given = " no field is set"
	}
	return inference.Errorf(inference.InvalidArg, "Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters', 'shared_memory_region' in 'parameters'. But%s", given)
}

// mostDims is how many dimensions a shape may have: no model has as many, and a body can state millions.
const mostDims = 1024

// shapeOf reads the shape of an input.
func (in *inferBody) shapeOf(all []jsontext.Member) ([]int64, error) {
	v, ok := jsontext.Find(all, "shape")
	if !ok {
		return nil, internal("shape", jsontext.ErrMissing("shape"))
	}
	list, err := v.Array()
	if err != nil {
		return nil, internal("shape", err)
	}
	dims := in.body.dims
	start := len(dims)
	for e, ok := list.Next(); ok; e, ok = list.Next() {
		// A negative dimension is no unsigned number; one above 2^63 fits no model.
		d, err := e.Uint()
		if err != nil {
			return nil, internal("shape", err)
		}
		if len(dims)-start == mostDims {
			return nil, inference.Errorf(inference.InvalidArg, "the shape of an input has more than %d dimensions", mostDims)
		}
		dims = append(dims, int64(min(d, math.MaxInt64)))
	}
	// Shapes stand one behind the other in memory that grows: those before keep what they have.
	in.body.dims = dims
	return dims[start:len(dims):len(dims)], nil
}

// readOutputs reads which outputs are asked for, and in what form.
func (in *inferBody) readOutputs(v jsontext.Value) error {
	list, err := v.Array()
	if err != nil {
		return internal("outputs", err)
	}
	for e, ok := list.Next(); ok; e, ok = list.Next() {
		// An output is asked for by its name; parameters say in what form.
		all := in.body.list(1, e)
		o := inference.Requested{}
		if o.Name, err = text(all, "name"); err != nil {
			return err
		}
		var parameters []jsontext.Member
		if p, ok := jsontext.Find(all, "parameters"); ok {
			parameters = in.body.list(2, p)
		}
		if err := in.sharedOutput(o.Name, parameters); err != nil {
			return err
		}
		if p, ok := jsontext.Find(parameters, "classification"); ok {
			n, err := p.Uint()
			if err != nil {
				return inference.Errorf(inference.Internal, "Unable to set 'classification': %s", err)
			}
			o.Classes = int(min(n, math.MaxInt32))
		}
		binary := false
		if p, ok := jsontext.Find(parameters, "binary_data"); ok {
			if binary, err = p.Bool(); err != nil {
				return internal("binary_data", err)
			}
		}
		in.binary = append(in.binary, binary)
		in.Outputs = append(in.Outputs, o)
	}
	return nil
}

// isBinary reports whether an output is to be written in binary form.
func (in *inferBody) isBinary(name string) bool {
	if in.places[name] != nil {
		return false
	}
	// The last one counts where an output is named several times.
	for i, binary := range slices.Backward(in.binary) {
		if in.Outputs[i].Name == name {
			return binary
		}
	}
	return in.binaryByDefault
}

// raw is a body that is the only input, of a batch of one; results are binary.
// The server knows the shape of the only input.
func (c *call) raw(in *inferBody, body []byte) error {
	if int64(len(body)) > c.api.MaxInput {
		return inference.Errorf(inference.InvalidArg, "Raw input has a byte_size (%d bytes) that exceeds the maximum allowed value of %d bytes. Use --http-max-input-size to increase the limit.", len(body), c.api.MaxInput)
	}
	t, err := c.api.Server.RawInput(c.model, c.version, body)
	if err != nil {
		return err
	}
	in.Inputs, in.binaryByDefault = append(in.Inputs, t), true
	return nil
}

// respond writes the response: JSON, and behind it the outputs in binary form.
func (c *call) respond(in *inferBody, r *inference.Response) error {
	// The JSON of a response is made in a buffer that is used again.
	b := buffers.Get().(*buffer)
	defer b.free()
	text, err := in.appendResponse(b.bytes[:0], r)
	b.bytes = text
	if err == nil {
		err = c.take(int64(len(text)))
	}
	if err != nil {
		return err
	}
	// The length is known before anything is written, so that the response needs no chunks.
	total := int64(len(text))
	for i := range r.Outputs {
		if in.isBinary(r.Outputs[i].Name) {
			total += int64(len(r.Outputs[i].Data))
		}
	}
	h := c.w.Header()
	h["Content-Type"] = typeJSON
	if total > int64(len(text)) { // outputs of no bytes make no binary part
		h["Content-Type"], h[lengthHeader] = typeBinary, []string{strconv.Itoa(len(text))}
	}
	c.patient(total) // compressed it is no larger
	// The client chooses; without a choice nothing is compressed.
	if encoding := chosenEncoding(c.r.Header.Get("Accept-Encoding")); encoding != "identity" {
		return c.compressed(encoding, in, text, r)
	}
	// Of a response that fits into its buffer the HTTP server states the length by itself, at no cost.
	if total > buffered {
		h["Content-Length"] = []string{strconv.FormatInt(total, 10)}
	}
	if total <= small {
		for i := range r.Outputs {
			if in.isBinary(r.Outputs[i].Name) {
				text = append(text, r.Outputs[i].Data...)
			}
		}
		b.bytes = text
		_, _ = c.w.Write(text) // a client that is gone is no error of ours
		return nil
	}
	_ = in.writeParts(c.w, text, r) // likewise
	return nil
}

// buffered is the size of responses that package net/http holds until the handler is done.
const buffered = 2048

// small is the size of responses that are copied together, which takes less time than writing twice.
const small = 16 << 10
