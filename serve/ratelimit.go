package serve

import (
	"container/heap"
	"sync"

	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
)

// The rate limiter: with --rate-limit=execution_count, an instance that has a batch waits until the resources of its group are
// free, and holds them while the batch runs. A resource is a name with a count, on one device or, if it is global, shared by
// all. Of the waiting instances, the one with the smallest product of executions and priority is next, and no other overtakes
// it: an instance that needs much is not starved by those that need little.
//
// How much there is of each resource is said by --rate-limit-resource; where nothing is said of any, there is as much as the
// instance with the largest need has.

// Resource names a resource of a device; global resources are those of device Global.
type Resource struct {
	Name   string
	Device int
}

// Global is the device of resources that all devices share.
const Global = -2

// Limit is a number of units of a resource. Device EveryDevice is any without a number of its own.
type Limit struct {
	Resource
	Count int
}

// EveryDevice is the device of a limit that names none.
const EveryDevice = -1

// Limiter is a rate limiter. It may be used from any goroutine.
type Limiter struct {
	limits map[Resource]int

	mu      sync.Mutex
	used    map[Resource]int
	shares  map[*share]bool // of all instances
	waiting waiting
}

// share is what one instance needs.
type share struct {
	needs      map[Resource]int
	priority   uint64
	executions uint64
	granted    chan struct{} // has room for one
}

// NewLimiter makes a limiter with limits.
func NewLimiter(limits []Limit) *Limiter {
	l := &Limiter{limits: map[Resource]int{}, used: map[Resource]int{}, shares: map[*share]bool{}}
	for _, one := range limits {
		l.limits[one.Resource] = one.Count
	}
	return l
}

// limit is how much there is of a resource. The caller has the lock.
func (l *Limiter) limit(r Resource) int {
	// A limit of the device and one of every device may both be there: the larger one counts, as in Triton.
	most := 0
	if len(l.limits) == 0 {
		for s := range l.shares {
			most = max(most, s.needs[r])
		}
		return most
	}
	for said, n := range l.limits {
		if said.Name == r.Name && (r.Device == Global || said.Device == r.Device || said.Device == EveryDevice) {
			most = max(most, n)
		}
	}
	return most
}

// add makes the share of an instance of a group on a device. It refuses one that could never run.
func (l *Limiter) add(g *modelconfig.ModelInstanceGroup, at place.Place) (*share, error) {
	s := &share{needs: map[Resource]int{}, priority: max(uint64(g.GetRateLimiter().GetPriority()), 1), granted: make(chan struct{}, 1)}
	for _, r := range g.GetRateLimiter().GetResources() {
		key := Resource{r.Name, int(at.Index)}
		if r.Global {
			key.Device = Global
		}
		s.needs[key] += int(r.Count)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shares[s] = true
	for r, n := range s.needs {
		if has := l.limit(r); n > has {
			delete(l.shares, s)
			return nil, inference.Errorf(inference.InvalidArg, "Resource count for \"%s\" is limited to %d which will prevent scheduling of one or more model instances, the minimum required count is %d", r.Name, has, n)
		}
		if l.isMixed(r) {
			delete(l.shares, s)
			return nil, inference.Errorf(inference.InvalidArg, "Resource \"%s\" is present as both global and device-specific resource in the model configuration.", r.Name)
		}
	}
	return s, nil
}

// isMixed reports whether some instance needs a resource of the same name that is global where this one is not, or the other
// way around. The caller has the lock.
func (l *Limiter) isMixed(r Resource) bool {
	for s := range l.shares {
		for other := range s.needs {
			if other.Name == r.Name && (other.Device == Global) != (r.Device == Global) {
				return true
			}
		}
	}
	return false
}

// remove ends a share: its instance has ended.
func (l *Limiter) remove(s *share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.shares, s)
	l.grant() // a resource without a limit may have become less
}

// acquire waits for the resources of a share.
func (l *Limiter) acquire(s *share) {
	// The channel has room for one, so that granting never waits for the instance.
	l.mu.Lock()
	heap.Push(&l.waiting, s)
	l.grant()
	l.mu.Unlock()
	<-s.granted
}

// release gives the resources of a share back after an execution.
func (l *Limiter) release(s *share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r, n := range s.needs {
		l.used[r] -= n
	}
	l.grant()
}

// grant gives resources to the instances that wait, in their order, as long as there are enough. The caller has the lock.
func (l *Limiter) grant() {
	for len(l.waiting) > 0 {
		s := l.waiting[0]
		for r, n := range s.needs {
			// An instance alone always runs: a limit that was lowered by an instance that has ended must not stop it.
			if l.used[r] > 0 && l.used[r]+n > l.limit(r) {
				return
			}
		}
		heap.Pop(&l.waiting)
		for r, n := range s.needs {
			l.used[r] += n
		}
		s.executions++
		s.granted <- struct{}{}
	}
}

// waiting is a heap of the shares that wait, with the one on top that is next.
type waiting []*share

func (w waiting) Len() int { return len(w) }
func (w waiting) Less(i, j int) bool {
	return w[i].executions*w[i].priority < w[j].executions*w[j].priority
}
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *waiting) Push(x any)   { *w = append(*w, x.(*share)) }
func (w *waiting) Pop() any {
	old := *w
	last := old[len(old)-1]
	*w = old[:len(old)-1]
	return last
}
