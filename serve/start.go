package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// Start loads the models that the mode of control says. It returns an error where some could not be loaded; the others
// serve then.
func (s *Server) Start() error {
	names, failures := s.initial()
	for _, err := range failures {
		s.options.Log(Failure, err.Error())
	}
	if len(names)+len(failures) == 0 && s.options.Control != ControlExplicit {
		s.options.Log(Warning, fmt.Sprintf("there is no model in '%s'; want %s", strings.Join(s.options.Repositories, "', '"), layout))
	}
	failed := s.loadAll(names)
	if failed > 0 || len(failures) > 0 {
		return inference.Errorf(inference.Internal, "failed to load all models")
	}
	return nil
}

// initial are the models to load at the start.
func (s *Server) initial() (names []string, failures []error) {
	if s.options.Control == ControlExplicit && !slices.Equal(s.options.Load, []string{"*"}) {
		for _, name := range s.options.Load {
			if err := checkName(name); err != nil {
				failures = append(failures, err)
				continue
			}
			names = append(names, name)
		}
		return names, failures
	}
	// Names are loaded in their order, so that logs of two starts can be compared.
	all, failures := s.scan()
	return slices.Sorted(maps.Keys(all)), failures
}

// loadAll loads models, a few at a time, and returns how many could not be.
func (s *Server) loadAll(names []string) (failed int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, s.options.Loads)
	for _, name := range names {
		if s.exiting.Load() {
			return failed
		}
		// Reading and compiling take memory beside what a model needs later, so that few models are loaded at one time.
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := s.load(name, Overrides{}); err != nil {
				s.options.Log(Failure, fmt.Sprintf("failed to load model '%s': %s", name, err))
				mu.Lock()
				failed++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failed
}

// Poll looks at the repositories again and again until ctx ends: it loads models that are new or have changed, and unloads
// those that are gone.
func (s *Server) Poll(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	tried := map[string]string{} // signatures of what could not be loaded, which is not tried again until it changes
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.poll(tried)
		}
	}
}

// poll looks at the repositories once.
func (s *Server) poll(tried map[string]string) {
	all, failures := s.scan()
	for _, err := range failures {
		s.options.Log(Failure, err.Error())
	}
	var changed []string
	for name, f := range all {
		signature := f.signature()
		s.mu.RLock()
		m := s.models[name]
		same := m != nil && m.signature == signature
		waits := s.waiting[name]
		s.mu.RUnlock()
		// A model that cannot be loaded is not read again each time: only when its files have changed.
		if !same && (tried[name] != signature || waits) {
			tried[name] = signature
			changed = append(changed, name)
		}
	}
	s.loadAll(changed)
	if s.exiting.Load() {
		return
	}
	s.mu.RLock()
	names := s.names()
	s.mu.RUnlock()
	for _, name := range names {
		// A repository that cannot be read right now is no reason to unload what came from it.
		if _, there := all[name]; !there && len(failures) == 0 {
			delete(tried, name)
			s.unload(name)
		}
	}
}
