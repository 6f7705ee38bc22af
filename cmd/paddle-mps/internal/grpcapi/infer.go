package grpcapi

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// ModelInfer answers an inference.
func (a *API) ModelInfer(ctx context.Context, m *kserve.ModelInferRequest) (*kserve.ModelInferResponse, error) {
	return a.infer(ctx, m, nil)
}

// infer answers an inference, whose trace, where it gets one, is left in traced if that is not nil.
func (a *API) infer(ctx context.Context, m *kserve.ModelInferRequest, traced **traces.Request) (*kserve.ModelInferResponse, error) {
	// The message stays in memory until the response is made: tensors of the request are parts of it.
	places := shared{regions: a.Regions, left: a.MaxInput, room: a.Room}
	defer places.release()
	r, err := a.requestOf(m, &places)
	if err != nil {
		return nil, err
	}
	for i := range r.Inputs {
		if err := places.reserve(tensors.Work(r.Inputs[i].Type, r.Inputs[i].Data)); err != nil {
			return nil, err
		}
	}
	t := a.trace(ctx, r)
	if t != nil && traced != nil {
		*traced = t
	}
	response, err := a.Server.Infer(ctx, r)
	t.Answered()
	if err != nil {
		return nil, err
	}
	// Without room for the outputs the request is refused here. Marshal holds them until they are sent.
	if err := places.reserve(httpapi.Outputs(response)); err != nil {
		return nil, err
	}
	if err := places.take(response); err != nil {
		return nil, err
	}
	return responseOf(response), nil
}

// requestOf is a message as a request.
func (a *API) requestOf(m *kserve.ModelInferRequest, places *shared) (*inference.Request, error) {
	n, err := versionOf(m.ModelVersion)
	if err != nil {
		return nil, err
	}
	// An unknown model is reported before anything else about the request, as in tritonserver.
	if err := a.Server.Serves(m.ModelName, n); err != nil {
		return nil, err
	}
	r := &inference.Request{Model: m.ModelName, Version: n, ID: m.Id, Received: time.Now()}
	if err := readParameters(r, m.Parameters); err != nil {
		return nil, err
	}
	if err := readInputs(r, m, places); err != nil {
		return nil, err
	}
	for _, o := range m.Outputs {
		wanted := inference.Requested{Name: o.Name}
		if err := places.output(o); err != nil {
			return nil, err
		}
		if p := o.Parameters["classification"]; p != nil {
			n, ok := p.ParameterChoice.(*kserve.InferParameter_Int64Param)
			if !ok {
				return nil, inference.Errorf(inference.InvalidArg, "invalid value type for 'classification' parameter, expected int64_param")
			}
			// The message is tritonserver's, which refuses 0 as well.
			if n.Int64Param <= 0 {
				return nil, inference.Errorf(inference.InvalidArg, "invalid value for 'classification' parameter, expected >= 0")
			}
			wanted.Classes = int(min(n.Int64Param, math.MaxInt32))
		}
		r.Outputs = append(r.Outputs, wanted)
	}
	return r, nil
}

// readParameters reads the parameters of a request. Those that the server does not know are for models that read them:
// there are none.
func readParameters(r *inference.Request, all map[string]*kserve.InferParameter) error {
	// The types of parameters are checked as tritonserver does: a wrong one is an error and not a default.
	for name, p := range all {
		wrong := func(want string) error {
			return inference.Errorf(inference.InvalidArg, "invalid value type for '%s' parameter, expected %s.", name, want)
		}
		// Numbers that are too large for a duration are as good as forever.
		switch value := p.ParameterChoice.(type) {
		case *kserve.InferParameter_Int64Param:
			switch name {
			case "priority":
				if value.Int64Param < 0 {
					return inference.Errorf(inference.InvalidArg, "invalid value for 'priority', expected value >= 0.")
				}
				r.Priority = uint64(value.Int64Param)
			case "timeout":
				r.Timeout = time.Duration(max(min(value.Int64Param, 1<<50), 0)) * time.Microsecond
			case "sequence_start", "sequence_end", "triton_enable_empty_final_response":
				return wrong("bool_param")
			}
		case *kserve.InferParameter_Uint64Param:
			switch name {
			case "priority":
				r.Priority = value.Uint64Param
			case "timeout":
				return wrong("int64_param")
			case "sequence_id":
				return wrong("int64_param or string_param")
			case "sequence_start", "sequence_end", "triton_enable_empty_final_response":
				return wrong("bool_param")
			default:
				return wrong("int64_param, bool_param, or string_param")
			}
		default:
			_, isBool := value.(*kserve.InferParameter_BoolParam)
			_, isText := value.(*kserve.InferParameter_StringParam)
			switch {
			case name == "priority":
				return wrong("int64_param or uint64_param")
			case name == "timeout":
				return wrong("int64_param")
			case name == "sequence_id" && !isText:
				return wrong("int64_param or string_param")
			case (name == "sequence_start" || name == "sequence_end" || name == "triton_enable_empty_final_response") && !isBool:
				return wrong("bool_param")
			// A parameter without a value has no type, which only a model could make sense of.
			case value == nil && !strings.HasPrefix(name, "triton_"):
				return wrong("int64_param, bool_param, or string_param")
			}
		}
		if strings.HasPrefix(name, "triton_") && name != "triton_enable_empty_final_response" {
			return inference.Errorf(inference.InvalidArg, "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys starting with 'triton_' are allowed: triton_enable_empty_final_response")
		}
	}
	return nil
}

// readInputs reads the inputs of a request: their elements are in the raw contents of the message, or in typed ones.
func readInputs(r *inference.Request, m *kserve.ModelInferRequest, places *shared) error {
	// Raw contents belong to the inputs in their order. Inputs with typed contents have none.
	raw := m.RawInputContents
	for _, in := range m.Inputs {
		t := inference.Tensor{Name: in.Name, Type: tensors.Parse(in.Datatype), Shape: in.Shape}
		data, isShared, err := places.input(in, m.ModelName)
		switch {
		case err != nil:
			return err
		case isShared:
			t.Data = data
		case in.Contents != nil && len(m.RawInputContents) > 0:
			return inference.Errorf(inference.InvalidArg, "contents field must not be specified when using raw_input_contents for '%s' for model '%s'", in.Name, m.ModelName)
		case in.Contents != nil:
			data, err := contents(in, t.Type, m.ModelName)
			if err != nil {
				return err
			}
			t.Data = data
		case len(raw) > 0:
			t.Data, raw = raw[0], raw[1:]
		default:
			return inference.Errorf(inference.InvalidArg, "unable to find data for input tensor '%s' for model '%s' in request.", in.Name, m.ModelName)
		}
		r.Inputs = append(r.Inputs, t)
	}
	// Contents that are left over belong to no input: tritonserver passes over them.
	return nil
}

// responseOf is a response as a message, with all outputs in binary form.
func responseOf(r *inference.Response) *kserve.ModelInferResponse {
	// Outputs are the memory of the response, without a copy.
	m := &kserve.ModelInferResponse{ModelName: r.Model, ModelVersion: number(r.Version), Id: r.ID}
	for i := range r.Outputs {
		o := &r.Outputs[i]
		m.Outputs = append(m.Outputs, &kserve.ModelInferResponse_InferOutputTensor{Name: o.Name, Datatype: o.Type.String(), Shape: o.Shape})
		m.RawOutputContents = append(m.RawOutputContents, o.Data)
	}
	return m
}
