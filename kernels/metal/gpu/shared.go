package gpu

import (
	"slices"
	"sync"

	"github.com/paddle-mps/paddle-mps/objc"
)

// Steps of a program, and programs for other shapes, often want the same source. It is compiled once, and its pipelines are
// shared as long as some kernel has them. What no kernel has is forgotten: eager programs have a cache of their own, which keeps
// kernels.

// shared are the pipelines that kernels have, by their sources.
type shared struct {
	mu  sync.Mutex
	all map[string]*sharing
}

// sharing is the pipelines of one source.
type sharing struct {
	of        *shared
	key       string
	pipelines []Pipeline
	held      int // pipelines that were given out and not released
}

// take gives out the pipelines of a source; nil where no kernel has them.
func (s *shared) take(key string) []Pipeline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[key].give()
}

// give gives out all pipelines; none of no sharing. The caller holds the lock.
func (x *sharing) give() []Pipeline {
	if x == nil {
		return nil
	}
	x.held += len(x.pipelines)
	return slices.Clone(x.pipelines)
}

// add gives out pipelines that have been compiled, and shares them from now on. Where another goroutine was faster, its
// pipelines are given out and these are released.
func (s *shared) add(key string, made []Pipeline) []Pipeline {
	s.mu.Lock()
	defer s.mu.Unlock()
	if theirs := s.all[key].give(); theirs != nil {
		for _, p := range made {
			objc.Release(p.State)
		}
		return theirs
	}
	if s.all == nil {
		s.all = map[string]*sharing{}
	}
	x := &sharing{of: s, key: key, pipelines: made}
	for i := range made {
		made[i].sharing = x
	}
	s.all[key] = x
	return x.give()
}

// release takes one pipeline back; with the last one all are released.
func (x *sharing) release() {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	if x.held--; x.held > 0 {
		return
	}
	delete(x.of.all, x.key)
	for _, p := range x.pipelines {
		objc.Release(p.State)
	}
}
