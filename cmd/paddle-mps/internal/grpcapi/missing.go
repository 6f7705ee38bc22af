package grpcapi

import (
	"context"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// What the server lacks is refused with what it is, and lists of it are empty.

// CudaSharedMemoryStatus lists the registered regions: none.
func (a *API) CudaSharedMemoryStatus(_ context.Context, r *kserve.CudaSharedMemoryStatusRequest) (*kserve.CudaSharedMemoryStatusResponse, error) {
	if r.Name != "" {
		return nil, inference.Errorf(inference.NotFound, "Unable to find cuda shared memory region: '%s'", r.Name)
	}
	return &kserve.CudaSharedMemoryStatusResponse{}, nil
}

// CudaSharedMemoryRegister would register a region.
func (a *API) CudaSharedMemoryRegister(context.Context, *kserve.CudaSharedMemoryRegisterRequest) (*kserve.CudaSharedMemoryRegisterResponse, error) {
	return nil, inference.Errorf(inference.Unsupported, "CUDA shared memory is not supported by this server")
}

// CudaSharedMemoryUnregister forgets regions: there are none.
func (a *API) CudaSharedMemoryUnregister(context.Context, *kserve.CudaSharedMemoryUnregisterRequest) (*kserve.CudaSharedMemoryUnregisterResponse, error) {
	return &kserve.CudaSharedMemoryUnregisterResponse{}, nil
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
	expect := func(what string) error {
		return inference.Errorf(inference.InvalidArg, "expect %s for '%s'", what, name)
	}
	switch {
	case name == "log_file":
		return inference.Errorf(inference.Unsupported, "log file location can not be updated through network protocol")
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
	case name == "log_info" || name == "log_warning" || name == "log_error":
		return expect("boolean")
	case name == "log_verbose_level":
		return expect("int32")
	case name == "log_format":
		return expect("string")
	}
	return nil
}
