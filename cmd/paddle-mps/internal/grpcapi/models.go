package grpcapi

import (
	"context"
	"strings"

	health "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// ServerLive answers whether the server runs.
func (a *API) ServerLive(context.Context, *kserve.ServerLiveRequest) (*kserve.ServerLiveResponse, error) {
	return &kserve.ServerLiveResponse{Live: a.Server.Live()}, nil
}

// ServerReady answers whether the server can serve all models.
func (a *API) ServerReady(context.Context, *kserve.ServerReadyRequest) (*kserve.ServerReadyResponse, error) {
	return &kserve.ServerReadyResponse{Ready: a.Server.Ready()}, nil
}

// Check is ServerReady in the health protocol of gRPC.
func (a *API) Check(context.Context, *health.HealthCheckRequest) (*health.HealthCheckResponse, error) {
	r := &health.HealthCheckResponse{Status: health.HealthCheckResponse_NOT_SERVING}
	if a.Server.Ready() {
		r.Status = health.HealthCheckResponse_SERVING
	}
	return r, nil
}

// ModelReady answers whether a version serves.
func (a *API) ModelReady(_ context.Context, r *kserve.ModelReadyRequest) (*kserve.ModelReadyResponse, error) {
	// Each method reads the version first, so that a wrong one has the same message everywhere.
	n, err := versionOf(r.Version)
	if err != nil {
		return nil, err
	}
	// A model that does not exist is an error, and not one that is not ready.
	ready, err := a.Server.ModelReady(r.Name, n)
	return &kserve.ModelReadyResponse{Ready: ready}, err
}

// ServerMetadata answers what the server is.
func (a *API) ServerMetadata(context.Context, *kserve.ServerMetadataRequest) (*kserve.ServerMetadataResponse, error) {
	return &kserve.ServerMetadataResponse{Name: a.Name, Version: a.Version, Extensions: a.Extensions}, nil
}

// ModelMetadata answers what a model takes and gives.
func (a *API) ModelMetadata(_ context.Context, r *kserve.ModelMetadataRequest) (*kserve.ModelMetadataResponse, error) {
	n, err := versionOf(r.Version)
	if err != nil {
		return nil, err
	}
	m, err := a.Server.Metadata(r.Name, n)
	if err != nil {
		return nil, err
	}
	return &kserve.ModelMetadataResponse{
		Name: m.Name, Versions: m.Versions, Platform: m.Platform, Inputs: ports(m.Inputs), Outputs: ports(m.Outputs),
	}, nil
}

// ports are inputs or outputs as the message has them.
func ports(list []serve.Port) (all []*kserve.ModelMetadataResponse_TensorMetadata) {
	for _, p := range list {
		all = append(all, &kserve.ModelMetadataResponse_TensorMetadata{Name: p.Name, Datatype: p.Type, Shape: p.Shape})
	}
	return all
}

// ModelConfig answers with the configuration of a model.
func (a *API) ModelConfig(_ context.Context, r *kserve.ModelConfigRequest) (*kserve.ModelConfigResponse, error) {
	n, err := versionOf(r.Version)
	if err != nil {
		return nil, err
	}
	config, err := a.Server.ConfigOf(r.Name, n)
	if err != nil {
		return nil, err
	}
	return &kserve.ModelConfigResponse{Config: config}, nil
}

// RepositoryIndex answers with the models of the repository.
func (a *API) RepositoryIndex(_ context.Context, r *kserve.RepositoryIndexRequest) (*kserve.RepositoryIndexResponse, error) {
	if err := noRepository(r.RepositoryName); err != nil {
		return nil, err
	}
	entries, err := a.Server.Index(r.Ready)
	if err != nil {
		return nil, err
	}
	// Fields that an entry lacks stay empty.
	answer := &kserve.RepositoryIndexResponse{}
	for _, e := range entries {
		answer.Models = append(answer.Models, &kserve.RepositoryIndexResponse_ModelIndex{Name: e.Name, Version: e.Version, State: e.State, Reason: e.Reason})
	}
	return answer, nil
}

// noRepository refuses requests that name a repository, because repositories have no names.
func noRepository(name string) error {
	if name != "" {
		return inference.Errorf(inference.Unsupported, "'repository_name' specification is not supported")
	}
	return nil
}

// RepositoryModelLoad loads a model, perhaps with a configuration and files of the request.
func (a *API) RepositoryModelLoad(_ context.Context, r *kserve.RepositoryModelLoadRequest) (*kserve.RepositoryModelLoadResponse, error) {
	if err := noRepository(r.RepositoryName); err != nil {
		return nil, err
	}
	o := serve.Overrides{}
	// A configuration is a text and a file is bytes; everything else is no parameter of a load.
	// Each parameter has one type that it may be of, which is checked before anything is loaded.
	for name, p := range r.Parameters {
		wrong := func(want string) error {
			return inference.Errorf(inference.InvalidArg, "invalid value type for load parameter '%s', expected %s.", name, want)
		}
		if path, isFile := strings.CutPrefix(name, "file:"); isFile {
			value, ok := p.ParameterChoice.(*kserve.ModelRepositoryParameter_BytesParam)
			if !ok {
				return nil, wrong("bytes_param")
			}
			if o.Files == nil {
				o.Files = map[string][]byte{}
			}
			o.Files[path] = value.BytesParam
			continue
		}
		if name != "config" {
			return nil, inference.Errorf(inference.InvalidArg, "unrecognized load parameter '%s'.", name)
		}
		value, ok := p.ParameterChoice.(*kserve.ModelRepositoryParameter_StringParam)
		if !ok {
			return nil, wrong("string_param")
		}
		// An empty text is no configuration, and no request to use that of the repository either.
		if value.StringParam == "" {
			return nil, serve.NoConfig(r.ModelName)
		}
		o.Config = value.StringParam
	}
	if err := a.Server.Load(r.ModelName, o); err != nil {
		return nil, err
	}
	return &kserve.RepositoryModelLoadResponse{}, nil
}

// RepositoryModelUnload unloads a model, and with unload_dependents the models that were loaded for an ensemble alone.
func (a *API) RepositoryModelUnload(_ context.Context, r *kserve.RepositoryModelUnloadRequest) (*kserve.RepositoryModelUnloadResponse, error) {
	if err := noRepository(r.RepositoryName); err != nil {
		return nil, err
	}
	dependents := false
	if p, ok := r.Parameters["unload_dependents"]; ok {
		value, ok := p.ParameterChoice.(*kserve.ModelRepositoryParameter_BoolParam)
		if !ok {
			return nil, inference.Errorf(inference.InvalidArg, "invalid value type for 'unload_dependents' parameter, expected bool_param.")
		}
		dependents = value.BoolParam
	}
	if err := a.Server.Unload(r.ModelName, dependents); err != nil {
		return nil, err
	}
	return &kserve.RepositoryModelUnloadResponse{}, nil
}
