package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
)

// Ensembles and their models. Loading an ensemble first loads its models that are not loaded. When a model is loaded or
// unloaded, each ensemble that uses it is created again: READY if all its models are, otherwise UNAVAILABLE until they are.
//
// No goroutine holds model.busy of two models at the same time: the models of an ensemble are loaded before the lock of the
// ensemble is taken, and ensembles are revised after the lock of the model is released.

// steps are the names of the models of a configuration, each once; none where it is no ensemble.
func steps(c *modelconfig.ModelConfig) (names []string) {
	for _, s := range c.GetEnsembleScheduling().GetStep() {
		if !slices.Contains(names, s.ModelName) {
			names = append(names, s.ModelName)
		}
	}
	return names
}

// loadParts loads the models of an ensemble that do not serve. path are the ensembles on the way to it, which must not come
// again.
func (s *Server) loadParts(c *modelconfig.ModelConfig, path []string) error {
	for _, name := range steps(c) {
		// A configuration may come from a client, and the name becomes part of a path. The ensemble refuses an invalid name
		// when it looks up the model.
		if checkName(name) != nil {
			continue
		}
		if slices.Contains(append(path, c.Name), name) {
			return inference.Errorf(inference.InvalidArg, "circular dependency between ensembles: %s -> ... -> %s -> %s", name, c.Name, name)
		}
		s.mu.RLock()
		m := s.models[name]
		serves := m != nil && len(m.ready) > 0
		s.mu.RUnlock()
		if serves {
			continue
		}
		// What cannot be loaded is found when the ensemble looks for it, unless it is a circle.
		if err := s.loadOn(name, Overrides{}, append(slices.Clip(path), c.Name)); err != nil && strings.Contains(err.Error(), "circular dependency") {
			return err
		}
	}
	return nil
}

// revise makes the ensembles anew that use a model which has been loaded or unloaded.
func (s *Server) revise(name string) {
	for _, m := range s.dependents(name) {
		if s.reviseOne(m) {
			s.revise(m.name)
		}
	}
}

// dependents are the ensembles that use a model.
func (s *Server) dependents(name string) (all []*model) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, n := range s.names() {
		if m := s.models[n]; m.plan != nil && slices.Contains(steps(m.plan.config), name) {
			all = append(all, m)
		}
	}
	return all
}

// reviseOne makes an ensemble anew, or takes it out where a model is missing; false where it was unloaded meanwhile.
func (s *Server) reviseOne(m *model) bool {
	done, ok := s.task()
	if !ok {
		return false
	}
	defer done()
	m.busy.Lock()
	defer m.busy.Unlock()
	s.mu.RLock()
	p := m.plan
	s.mu.RUnlock()
	if p == nil {
		return false
	}
	// The plan is that of the last load that succeeded: files that have changed since are for the next load.
	made := map[int64]*Version{}
	for _, o := range p.versions {
		v, err := o.open()
		if err == nil {
			made[o.number] = v
			continue
		}
		s.options.Log(Warning, fmt.Sprintf("ensemble '%s' is not available: %s", m.name, err))
		for _, v := range made {
			v.retire()
		}
		made = nil
		break
	}
	for _, v := range s.swap(m, p, made) {
		s.retireLater(v, nil)
	}
	return true
}

// unloadParts unloads the models of an ensemble that were loaded for it alone.
func (s *Server) unloadParts(names []string) {
	// What another ensemble still uses stays.
	for _, name := range names {
		s.mu.RLock()
		m := s.models[name]
		own := m == nil || m.asked
		s.mu.RUnlock()
		if !own && len(s.dependents(name)) == 0 {
			s.unloadWith(name, true)
		}
	}
}

// tryEnsemble checks an ensemble before anything of it is touched: one that cannot be leaves no trace, as in Triton.
func (s *Server) tryEnsemble(m *model, p *plan) error {
	if len(steps(p.config)) == 0 {
		return nil
	}
	v, err := p.versions[0].open()
	if err != nil {
		s.options.Log(Failure, fmt.Sprintf("failed to load '%s': %s", m.name, inference.From(err).Text))
		s.forget(m)
		return inference.Errorf(inference.InvalidArg, "load failed for model '%s': %s\n", m.name, inference.From(err).Text)
	}
	v.retire()
	return nil
}
