package grpcapi

import (
	"context"
	"slices"

	"google.golang.org/grpc/metadata"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// trace is the trace of a request, which was read; nil where it has none. The time until the message was there is that of
// tritonserver's GRPC_WAITREAD: a server cannot see when a call begins.
func (a *API) trace(ctx context.Context, r *inference.Request) *traces.Request {
	t := a.Traces.Start(r.Model, func(name string) string {
		if all := metadata.ValueFromIncomingContext(ctx, name); len(all) > 0 {
			return all[0]
		}
		return ""
	})
	if t == nil {
		return nil
	}
	if at, ok := ctx.Value(arrivingKey{}).(*arriving); ok && !at.began.IsZero() {
		t.Stamp("GRPC_WAITREAD_START", at.began)
	} else {
		t.Stamp("GRPC_WAITREAD_START", r.Received)
	}
	t.Stamp("GRPC_WAITREAD_END", r.Received)
	r.Trace = t.Inner()
	return t
}

// wasSent ends the trace of a call. Nothing of the call is traced afterwards.
func wasSent(t *traces.Request) {
	t.Now("GRPC_SEND_END")
	t.End()
}

// TraceSetting shows the settings of traces of all models or of one, and changes those that the request names.
func (a *API) TraceSetting(_ context.Context, r *kserve.TraceSettingRequest) (*kserve.TraceSettingResponse, error) {
	// Messages and their order are those of tritonserver.
	if r.ModelName != "" && a.Server.Serves(r.ModelName, -1) != nil {
		return nil, inference.Errorf(inference.InvalidArg, "Request for unknown model : %s", r.ModelName)
	}
	if a.Traces == nil {
		return nil, inference.Errorf(inference.Unavailable, "the server does not support tracing")
	}
	// Values are lists of texts here: an empty one clears the setting, as null does in JSON.
	if len(r.Settings) > 0 {
		u := &traces.Update{}
		for _, name := range []string{"trace_file", "trace_level", "trace_rate", "trace_count", "log_frequency"} {
			value, given := r.Settings[name]
			if !given {
				continue
			}
			if name == "trace_file" {
				return nil, inference.Errorf(inference.Unsupported, "trace file location can not be updated through network protocol")
			}
			if err := u.Set(name, value.GetValue(), " "); err != nil {
				return nil, err
			}
		}
		if err := a.Traces.Update(r.ModelName, u); err != nil {
			return nil, err
		}
	}
	all := map[string]*kserve.TraceSettingResponse_SettingValue{}
	for _, m := range a.Traces.Show(r.ModelName) {
		// A setting that is given several times has several values here, and JSON has several members.
		if v := all[m.Name]; v != nil {
			v.Value = append(v.Value, m.Values...)
			continue
		}
		all[m.Name] = &kserve.TraceSettingResponse_SettingValue{Value: slices.Clone(m.Values)}
	}
	return &kserve.TraceSettingResponse{Settings: all}, nil
}
