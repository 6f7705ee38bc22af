package serve

import (
	"maps"
	"slices"
	"strconv"

	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// Port describes an input or output to clients.
type Port struct {
	Name  string  `json:"name"`
	Type  string  `json:"datatype"`
	Shape []int64 `json:"shape"`
}

// Metadata describe a model to clients.
type Metadata struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"`
	Platform string   `json:"platform"`
	Inputs   []Port   `json:"inputs"`
	Outputs  []Port   `json:"outputs"`
}

// Metadata describes a model; the versions are all that are READY where the request names none.
func (s *Server) Metadata(name string, number int64) (*Metadata, error) {
	if s.exiting.Load() {
		return nil, inference.Errorf(inference.Unavailable, "Server not ready")
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, err := s.find(name, number)
	if err != nil {
		return nil, err
	}
	// A request for one version is told about that one; without a number, about all that serve.
	numbers := []int64{v.number}
	if number == -1 {
		numbers = slices.Sorted(maps.Keys(s.models[name].ready))
	}
	m := &Metadata{Name: name, Platform: v.config.Platform, Inputs: v.ports(v.inputs), Outputs: v.ports(v.outputs)}
	if m.Platform == "" {
		m.Platform = v.config.Backend
	}
	for _, n := range numbers {
		m.Versions = append(m.Versions, strconv.FormatInt(n, 10))
	}
	return m, nil
}

// ports describes inputs or outputs; the shapes have the batch.
func (v *Version) ports(list []port) []Port {
	all := []Port{}
	for _, p := range list {
		shape := p.dims
		if v.config.MaxBatchSize > 0 {
			shape = append([]int64{-1}, p.dims...)
		}
		all = append(all, Port{p.name, p.kind.String(), shape})
	}
	return all
}

// TypeOf is the element type of an input of a version; tensors.Invalid where it has no such input.
func (v *Version) TypeOf(input string) tensors.Type {
	if at := v.input(input); at >= 0 {
		return v.inputs[at].kind
	}
	return tensors.Invalid
}

// ConfigOf is the configuration that a version runs with. It is not to be changed.
func (s *Server) ConfigOf(name string, number int64) (*modelconfig.ModelConfig, error) {
	if s.exiting.Load() {
		return nil, inference.Errorf(inference.Unavailable, "Server not ready")
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, err := s.find(name, number)
	if err != nil {
		return nil, err
	}
	return v.config, nil
}

// Entry is one version in the index of the repository, or a model that was never loaded.
type Entry struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	State   string `json:"state,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Index lists all models of the repositories and all versions that were loaded; with ready only those that serve.
func (s *Server) Index(ready bool) ([]Entry, error) {
	if s.exiting.Load() {
		return nil, inference.Errorf(inference.Unavailable, "Server not ready")
	}
	// Folders that appeared after the start are listed as well, by their name alone: they are not loaded.
	listed, _ := s.scan() // what cannot be read is in the log when it is loaded
	s.mu.RLock()
	defer s.mu.RUnlock()
	// Models that came with a request and are in no repository have a record too.
	names := s.names()
	for name := range listed {
		if s.models[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	all := []Entry{}
	for _, name := range names {
		m := s.models[name]
		// Polling has unloaded it because its folder is gone. Requests for it still get the error of a model that is not loaded.
		if _, there := listed[name]; !there && s.options.Control == ControlPoll && len(m.ready) == 0 {
			continue
		}
		// A folder that has never been loaded has a name and nothing else.
		if m == nil || len(m.states) == 0 {
			if !ready {
				all = append(all, Entry{Name: name})
			}
			continue
		}
		for _, n := range slices.Sorted(maps.Keys(m.states)) {
			if st := m.states[n]; !ready || st.Word == Ready {
				all = append(all, Entry{name, strconv.FormatInt(n, 10), st.Word, st.Reason})
			}
		}
	}
	return all, nil
}

// Count is what metrics show of a version.
type Count struct {
	statistics.Totals
	Failures statistics.Failures
	Pending  int64
	LoadTime float64              // seconds
	Tags     map[string]string    // metric_tags of the configuration
	Latency  statistics.Latencies // numbers of successes by their time: see LatencyBound
	Load     uint64               // of the version: see Version.Load
	Cached   bool                 // whether the version uses the cache of responses
}

// Statistics are those of a version, of all versions of a model (number -1) or of all models (name "").
func (s *Server) Statistics(name string, number int64) ([]Count, error) {
	if s.exiting.Load() {
		return nil, inference.Errorf(inference.Unavailable, "Server not ready")
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if name != "" {
		// Triton words it otherwise here than in the other requests.
		if m := s.models[name]; m == nil || len(m.ready) == 0 {
			return nil, inference.Errorf(inference.InvalidArg, "requested model '%s' is not available", name)
		}
		if _, err := s.find(name, number); err != nil {
			return nil, inference.Errorf(inference.InvalidArg, "requested model version is not available for model '%s'", name)
		}
	}
	all := []Count{}
	// Only versions that serve have statistics: those of a version end with it.
	for _, other := range s.names() {
		if name != "" && name != other {
			continue
		}
		for _, n := range slices.Sorted(maps.Keys(s.models[other].ready)) {
			if number == -1 || number == n || name == "" {
				all = append(all, s.models[other].ready[n].count())
			}
		}
	}
	return all, nil
}

// count is what metrics show of the version.
func (v *Version) count() Count {
	c := Count{LoadTime: v.loadTime, Tags: v.config.MetricTags, Load: v.load, Cached: v.cache != nil}
	c.Totals, c.Failures, c.Pending = v.counters.Snapshot(&c.Latency)
	c.Name, c.Version, c.Memory = v.config.Name, strconv.FormatInt(v.number, 10), v.memory()
	return c
}
