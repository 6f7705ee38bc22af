package grpcapi

import (
	"context"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/serve"
)

// What the server lacks is refused with what it is, and lists of it are empty.

// noMemory is the error of shared memory of a kind.
func noMemory(kind string) error {
	return serve.Errorf(serve.Unsupported, "%s shared memory is not supported by this server", kind)
}

// SystemSharedMemoryStatus lists the registered regions: none.
func (a *API) SystemSharedMemoryStatus(context.Context, *kserve.SystemSharedMemoryStatusRequest) (*kserve.SystemSharedMemoryStatusResponse, error) {
	return &kserve.SystemSharedMemoryStatusResponse{}, nil
}

// SystemSharedMemoryRegister would register a region.
func (a *API) SystemSharedMemoryRegister(context.Context, *kserve.SystemSharedMemoryRegisterRequest) (*kserve.SystemSharedMemoryRegisterResponse, error) {
	return nil, noMemory("system")
}

// SystemSharedMemoryUnregister forgets regions: there are none.
func (a *API) SystemSharedMemoryUnregister(context.Context, *kserve.SystemSharedMemoryUnregisterRequest) (*kserve.SystemSharedMemoryUnregisterResponse, error) {
	return &kserve.SystemSharedMemoryUnregisterResponse{}, nil
}

// CudaSharedMemoryStatus lists the registered regions: none.
func (a *API) CudaSharedMemoryStatus(context.Context, *kserve.CudaSharedMemoryStatusRequest) (*kserve.CudaSharedMemoryStatusResponse, error) {
	return &kserve.CudaSharedMemoryStatusResponse{}, nil
}

// CudaSharedMemoryRegister would register a region.
func (a *API) CudaSharedMemoryRegister(context.Context, *kserve.CudaSharedMemoryRegisterRequest) (*kserve.CudaSharedMemoryRegisterResponse, error) {
	return nil, noMemory("CUDA")
}

// CudaSharedMemoryUnregister forgets regions: there are none.
func (a *API) CudaSharedMemoryUnregister(context.Context, *kserve.CudaSharedMemoryUnregisterRequest) (*kserve.CudaSharedMemoryUnregisterResponse, error) {
	return &kserve.CudaSharedMemoryUnregisterResponse{}, nil
}

// TraceSetting would show and change the settings of traces.
func (a *API) TraceSetting(context.Context, *kserve.TraceSettingRequest) (*kserve.TraceSettingResponse, error) {
	return nil, serve.Errorf(serve.Unavailable, "the server does not support tracing")
}

// LogSettings shows the settings of the log, and changes those that the request names.
func (a *API) LogSettings(_ context.Context, r *kserve.LogSettingsRequest) (*kserve.LogSettingsResponse, error) {
	// All changes are made, or none where one of them is wrong.
	values, err := a.Settings.Change(func(l *httpapi.Logging) error {
		for name, v := range r.Settings {
			if err := change(l, name, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	yes := func(b bool) *kserve.LogSettingsResponse_SettingValue {
		return &kserve.LogSettingsResponse_SettingValue{ParameterChoice: &kserve.LogSettingsResponse_SettingValue_BoolParam{BoolParam: b}}
	}
	text := func(s string) *kserve.LogSettingsResponse_SettingValue {
		return &kserve.LogSettingsResponse_SettingValue{ParameterChoice: &kserve.LogSettingsResponse_SettingValue_StringParam{StringParam: s}}
	}
	return &kserve.LogSettingsResponse{Settings: map[string]*kserve.LogSettingsResponse_SettingValue{
		"log_file": text(values.File), "log_info": yes(values.Info), "log_warning": yes(values.Warning), "log_error": yes(values.Error),
		"log_verbose_level": {ParameterChoice: &kserve.LogSettingsResponse_SettingValue_Uint32Param{Uint32Param: values.Verbose}},
		"log_format":        text(values.Format),
	}}, nil
}

// change changes one setting of the log.
func change(l *httpapi.Logging, name string, v *kserve.LogSettingsRequest_SettingValue) error {
	b, isBool := v.ParameterChoice.(*kserve.LogSettingsRequest_SettingValue_BoolParam)
	n, isNumber := v.ParameterChoice.(*kserve.LogSettingsRequest_SettingValue_Uint32Param)
	s, isText := v.ParameterChoice.(*kserve.LogSettingsRequest_SettingValue_StringParam)
	switch {
	case name == "log_file":
		return serve.Errorf(serve.Unsupported, "log file location can not be updated through network protocol")
	case name == "log_info" && isBool:
		l.Info = b.BoolParam
	case name == "log_warning" && isBool:
		l.Warning = b.BoolParam
	case name == "log_error" && isBool:
		l.Error = b.BoolParam
	case name == "log_verbose_level" && isNumber:
		l.Verbose = n.Uint32Param
	case name == "log_format" && isText:
		l.Format = s.StringParam
		return httpapi.CheckFormat(s.StringParam)
	default:
		return serve.Errorf(serve.InvalidArg, "log setting '%s' is not supported, or not with a value of this type", name)
	}
	return nil
}
