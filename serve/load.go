package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
)

// Overrides are what a request to load has in place of files.
// Files are kept in memory as long as the model serves.
type Overrides struct {
	Config string            // as JSON; "": that of the repository
	Files  map[string][]byte // by path within the model, such as 1/model.onnx
}

// NoConfig is the error of a load with an override of the configuration that is empty.
func NoConfig(name string) *inference.Error {
	return inference.Errorf(inference.Internal, "failed to load '%s', failed to poll from model repository", name)
}

// Load loads a model, or loads it again where its files have changed, and waits until all its versions serve. The versions
// before serve until then, and go on where the load fails.
func (s *Server) Load(name string, o Overrides) error {
	if s.options.Control != ControlExplicit {
		return inference.Errorf(inference.Unavailable, "explicit model load / unload is not allowed if polling is enabled")
	}
	// The name comes from a client and becomes a part of a path.
	if err := checkName(name); err != nil {
		return err
	}
	return s.load(name, o)
}

// load is Load in any mode.
func (s *Server) load(name string, o Overrides) error {
	if err := s.loadOn(name, o, nil); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.models[name]; m != nil {
		m.asked = true
	}
	return nil
}

// loadOn is load on the way to the ensembles of path: the models of an ensemble come first, and then the ensembles that use
// the model are made anew.
func (s *Server) loadOn(name string, o Overrides, path []string) error {
	ensemble := false
	if f, ok := s.locate(name); ok || o.Config != "" {
		f.name = name
		if c, err := s.readConfig(f, o); err == nil { // else loadOne says why not
			c.Name = name
			ensemble = len(steps(c)) > 0
			if err := s.loadParts(c, path); err != nil {
				return inference.Errorf(inference.InvalidArg, "load failed for model '%s': %s\n", name, inference.From(err).Text)
			}
		}
	}
	// A poll tries an ensemble that waits for its models again, though its own files have not changed.
	changed, err := s.loadOne(name, o)
	s.mu.Lock()
	delete(s.waiting, name)
	if ensemble && err != nil {
		s.waiting[name] = true
	}
	s.mu.Unlock()
	if changed {
		s.revise(name)
	}
	return err
}

// loadOne loads one model, and reports whether another one serves than before.
func (s *Server) loadOne(name string, o Overrides) (changed bool, err error) {
	done, ok := s.task()
	if !ok {
		return false, inference.Errorf(inference.Unavailable, "Server not ready")
	}
	defer done()
	m := s.hold(name)
	defer m.busy.Unlock()
	// Files of the request take the place of the whole folder, which need not exist.
	f, there := s.locate(name)
	if len(o.Files) > 0 {
		f, there = found{name: name}, true
	}
	// The configuration is read before anything of the model that serves is touched.
	var plan *plan
	err = errors.New("model not found in any model repository")
	if there {
		plan, err = s.plan(f, o)
	}
	if err != nil {
		s.options.Log(Failure, fmt.Sprintf("Poll failed for model directory '%s': %s", name, err))
		if there && s.isNoModel(&f) {
			s.options.Log(Warning, fmt.Sprintf("'%s' has neither config.pbtxt nor a version with a model; want %s", f.folder, layout))
		}
		// Names that are in no repository must not make the table grow.
		s.forget(m)
		var refused *inference.Error
		if errors.As(err, &refused) {
			return false, refused
		}
		return false, NoConfig(name)
	}
	if s.unchanged(m, plan) {
		return false, nil
	}
	err = s.replace(m, plan)
	return err == nil, err
}

// model is the record of a name, which is made where there is none.
func (s *Server) model(name string) *model {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.models[name]
	if m == nil {
		m = &model{name: name, states: map[int64]State{}, ready: map[int64]*Version{}}
		s.models[name] = m
	}
	return m
}

// hold is the record of a name with its lock, which the caller unlocks.
func (s *Server) hold(name string) *model {
	for {
		m := s.model(name)
		m.busy.Lock()
		// A load of the same name that has failed meanwhile may have dropped the record: what is put there would be lost.
		s.mu.RLock()
		kept := s.models[name] == m
		s.mu.RUnlock()
		if kept {
			return m
		}
		m.busy.Unlock()
	}
}

// forget drops the record of a model that has never been loaded: names that requests make up are not kept.
func (s *Server) forget(m *model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(m.states) == 0 {
		delete(s.models, m.name)
	}
}

// unchanged reports whether a load would make what is there already.
func (s *Server) unchanged(m *model, p *plan) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(m.ready) > 0 && !p.override && p.signature == m.signature
}

// plan is what a load is going to make.
// It is made before anything is loaded, so that mistakes in files are found while nothing has changed.
type plan struct {
	config    *modelconfig.ModelConfig
	versions  []*opening
	signature string
	override  bool
}

// plan reads the configuration of a model and selects its versions.
func (s *Server) plan(f found, o Overrides) (*plan, error) {
	p := &plan{override: o.Config != "" || len(o.Files) > 0, signature: f.signature()}
	var err error
	if p.config, err = s.readConfig(f, o); err != nil {
		return nil, err
	}
	// The highest numbers come first, as the policy "latest" wants them.
	numbers, err := f.versions(o)
	if err != nil {
		return nil, err
	}
	modelconfig.Complete(p.config, f.name, f.hasDefault(numbers, o))
	if err := modelconfig.Check(p.config); err != nil {
		return nil, err
	}
	if p.config.Name != f.name {
		return nil, fmt.Errorf("unexpected directory name '%s' for model '%s', directory name must equal model name", f.name, p.config.Name)
	}
	// Which file a version is made of depends on where the model is from: one file, the request, or the repository.
	for _, n := range chosen(p.config.VersionPolicy, numbers) {
		v := &opening{server: s, folder: f.folder, number: n, config: p.config}
		switch {
		case f.file != "":
			v.file = f.file
		case len(o.Files) > 0:
			v.bytes = o.Files[fmt.Sprintf("%d/%s", n, modelconfig.File(p.config))]
			if v.bytes == nil {
				// A version without its file is refused by the reader, with a message, and not looked for in the repository.
				v.bytes = []byte{}
			}
		default:
			v.file = filepath.Join(f.folder, fmt.Sprint(n), modelconfig.File(p.config))
		}
		p.versions = append(p.versions, v)
	}
	return p, nil
}

// readConfig reads the configuration of the request, of the repository, or an empty one where neither has any and the file of
// the model says enough.
func (s *Server) readConfig(f found, o Overrides) (*modelconfig.ModelConfig, error) {
	// A configuration of the request replaces that of the repository as a whole, as in Triton.
	if o.Config != "" {
		c, err := modelconfig.ParseJSON([]byte(o.Config))
		if err != nil {
			//lint:ignore ST1005 it is Triton's text
			return nil, fmt.Errorf("Invalid config override: %w", err)
		}
		return c, nil
	}
	if len(o.Files) > 0 {
		return nil, inference.Errorf(inference.InvalidArg, "load of model '%s' with files has no parameter 'config'", f.name)
	}
	if f.file != "" {
		if s.options.NoComplete {
			return nil, fmt.Errorf("'%s' is a file without a configuration, which may not be completed; want %s with config.pbtxt", f.file, layout)
		}
		return &modelconfig.ModelConfig{}, nil
	}
	// A model without a configuration is completed from its file.
	path := s.configPath(f.folder)
	text, err := readFile(os.OpenFile, path, largestConfig)
	if errors.Is(err, fs.ErrNotExist) && !s.options.NoComplete {
		return &modelconfig.ModelConfig{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failed to open text file for read %s: %w", path, errors.Unwrap(err))
	}
	return modelconfig.Parse(text)
}

// versions are the numbers of the versions, the highest first.
func (f *found) versions(o Overrides) (numbers []int64, err error) {
	switch {
	case f.file != "":
		return []int64{1}, nil
	case len(o.Files) == 0:
		return versionsIn(f.folder)
	}
	for path := range o.Files {
		// A path is VERSION/FILE. Nothing is written anywhere, but a name that looks like a way out of the folder is a mistake.
		folder, file, ok := strings.Cut(path, "/")
		n, number := versionOf(folder)
		if !ok || !number || strings.Contains(file, "/") || file == "" || file == ".." {
			return nil, inference.Errorf(inference.InvalidArg, "file '%s' of model '%s' is not supported; want VERSION/FILE", path, f.name)
		}
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	return numbers, nil
}

// hasDefault reports whether some version has the file that makes it an ONNX model.
func (f *found) hasDefault(numbers []int64, o Overrides) bool {
	if f.file != "" {
		return true
	}
	for _, n := range numbers {
		path := fmt.Sprintf("%d/%s", n, modelconfig.DefaultFile)
		if o.Files[path] != nil {
			return true
		}
		if _, err := os.Stat(filepath.Join(f.folder, path)); len(o.Files) == 0 && err == nil {
			return true
		}
	}
	return false
}

// replace makes the versions of a plan and then puts them in the place of those before. The caller holds m.busy.
func (s *Server) replace(m *model, p *plan) error {
	if len(p.versions) == 0 {
		return inference.Errorf(inference.InvalidArg, "load failed for model '%s': at least one version must be available under the version policy of model '%s'\n", m.name, m.name)
	}
	if err := s.tryEnsemble(m, p); err != nil {
		return err
	}
	s.setStates(m, p, State{Word: Loading})
	// All versions of the plan have to load: a model is replaced as a whole or not at all.
	made, reason := map[int64]*Version{}, ""
	failed := map[int64]State{}
	for _, o := range slices.Backward(p.versions) {
		v, err := o.open()
		if err != nil {
			e := inference.From(err)
			s.options.Log(Failure, fmt.Sprintf("failed to load '%s' version %d: %s: %s", m.name, o.number, e.Code, e.Text))
			failed[o.number] = State{Gone, e.Code.String() + ": " + e.Text}
			reason += fmt.Sprintf("version %d is at %s state: %s: %s;", o.number, Gone, e.Code, e.Text)
			continue
		}
		made[o.number] = v
	}
	if reason != "" {
		// What was made for nothing has served no request, so that this does not wait.
		for _, v := range made {
			v.retire()
		}
		s.revert(m, failed)
		return inference.Errorf(inference.InvalidArg, "load failed for model '%s': %s\n", m.name, reason)
	}
	// From here on requests find the new versions. Those that hold an old one are answered by it before it is closed.
	old := s.swap(m, p, made)
	for _, v := range old {
		s.retireLater(v, nil)
	}
	s.options.Log(Info, fmt.Sprintf("successfully loaded '%s'", m.name))
	return nil
}

// setStates sets the state of the versions of a plan that do not serve.
func (s *Server) setStates(m *model, p *plan, state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range p.versions {
		if m.ready[o.number] == nil {
			m.states[o.number] = state
		}
	}
}

// revert is the state after a load that has failed. A model that serves goes on as before; one that does not shows why.
func (s *Server) revert(m *model, failed map[int64]State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(m.ready) > 0 {
		maps.DeleteFunc(m.states, func(n int64, st State) bool { return st.Word == Loading })
		return
	}
	for n, st := range m.states {
		if st.Word == Loading {
			m.states[n] = State{Gone, wasUnloaded}
		}
	}
	// The index shows why the model does not serve, and the server is not ready.
	maps.Copy(m.states, failed)
}

// swap puts versions in the place of those before, which it returns.
func (s *Server) swap(m *model, p *plan, made map[int64]*Version) []*Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	// States of versions that are gone stay in the index, as in Triton.
	old := slices.Collect(maps.Values(m.ready))
	m.ready, m.latest, m.signature, m.override, m.plan = made, -1, p.signature, p.override, nil
	if len(steps(p.config)) > 0 {
		m.plan = p
	}
	for n := range m.states {
		m.states[n] = State{Gone, wasUnloaded}
	}
	for n := range made {
		m.states[n] = State{Word: Ready}
		m.latest = max(m.latest, n)
	}
	return old
}

// Unload ends the service of a model. Requests that were accepted are answered. A name that is not loaded is no error. With
// dependents the models of an ensemble that were loaded for it alone go with it.
func (s *Server) Unload(name string, dependents bool) error {
	if s.options.Control != ControlExplicit {
		return inference.Errorf(inference.Unavailable, "explicit model load / unload is not allowed if polling is enabled")
	}
	s.unloadWith(name, dependents)
	return nil
}

// unload is Unload in any mode.
func (s *Server) unload(name string) { s.unloadWith(name, false) }

// unloadWith unloads a model, and with dependents the models of an ensemble that were loaded for it alone.
func (s *Server) unloadWith(name string, dependents bool) {
	s.mu.RLock()
	var parts []string
	if m := s.models[name]; m != nil && m.plan != nil && dependents {
		parts = steps(m.plan.config)
	}
	s.mu.RUnlock()
	s.unloadOne(name)
	s.revise(name)
	s.unloadParts(parts)
}

// unloadOne unloads one model.
func (s *Server) unloadOne(name string) {
	s.mu.RLock()
	m := s.models[name]
	s.mu.RUnlock()
	done, ok := s.task()
	if m == nil || !ok {
		if ok {
			done()
		}
		return // what is loaded when the server ends is unloaded by Close
	}
	defer done()
	m.busy.Lock()
	defer m.busy.Unlock()
	s.mu.Lock()
	// The versions leave the table at once and are closed when their requests are answered: an unload does not wait.
	old := m.ready
	m.ready, m.signature, m.plan, m.asked = map[int64]*Version{}, "", nil, false
	for n, st := range m.states {
		if m.states[n] = (State{Gone, wasUnloaded}); st.Word == Ready {
			m.states[n] = State{Unloading, wasUnloaded}
		}
	}
	s.mu.Unlock()
	for n, v := range old {
		s.retireLater(v, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if m.states[n].Word == Unloading {
				m.states[n] = State{Gone, wasUnloaded}
			}
			s.options.Log(Info, fmt.Sprintf("successfully unloaded '%s' version %d", name, n))
		})
	}
}
