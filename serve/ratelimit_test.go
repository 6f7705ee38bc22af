package serve

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
)

// group is a group of instances with resources.
func group(priority uint32, resources ...*modelconfig.ModelRateLimiter_Resource) *modelconfig.ModelInstanceGroup {
	return &modelconfig.ModelInstanceGroup{RateLimiter: &modelconfig.ModelRateLimiter{Priority: priority, Resources: resources}}
}

// TestLimiter: never more is in use than there is, from many goroutines; each instance gets a turn.
func TestLimiter(t *testing.T) {
	l := NewLimiter([]Limit{{Resource{"R", EveryDevice}, 4}, {Resource{"G", Global}, 3}})
	var r, g atomic.Int64
	var all sync.WaitGroup
	for i := range 12 {
		need := int64(i%4 + 1)
		s, err := l.add(group(uint32(i%3), &modelconfig.ModelRateLimiter_Resource{Name: "R", Count: uint32(need)},
			&modelconfig.ModelRateLimiter_Resource{Name: "G", Global: true, Count: 1}), place.CPU)
		require.NoError(t, err)
		all.Go(func() {
			defer l.remove(s)
			for range 60 {
				l.acquire(s)
				if n, m := r.Add(need), g.Add(1); n > 4 || m > 3 {
					t.Errorf("%d of 4 and %d of 3 are in use", n, m)
				}
				time.Sleep(10 * time.Microsecond)
				r.Add(-need)
				g.Add(-1)
				l.release(s)
			}
		})
	}
	all.Wait()
	for resource, n := range l.used {
		require.Zero(t, n, resource)
	}
}

// TestPriorities: of those that wait the one with the fewest executions times its priority is next.
func TestPriorities(t *testing.T) {
	l := NewLimiter(nil)
	r := &modelconfig.ModelRateLimiter_Resource{Name: "R", Count: 1}
	var all []*share
	for _, priority := range []uint32{1, 1, 3, 3} {
		s, err := l.add(group(priority, r), place.CPU)
		require.NoError(t, err)
		all = append(all, s)
	}
	running := all[0]
	l.acquire(running)
	l.mu.Lock()
	for _, s := range all[1:] {
		heap.Push(&l.waiting, s)
	}
	l.mu.Unlock()
	for range 400 {
		l.release(running)
		for _, s := range all {
			select {
			case <-s.granted:
				// It waits again as soon as it runs, so that three wait whenever one is chosen.
				l.mu.Lock()
				heap.Push(&l.waiting, running)
				l.mu.Unlock()
				running = s
			default:
			}
		}
	}
	often, seldom := all[0].executions+all[1].executions, all[2].executions+all[3].executions
	require.InDelta(t, 3, float64(often)/float64(seldom), 0.1, "%d and %d", often, seldom)
}

// TestLimitsThatCannotBeMet: a model that could never run does not load.
func TestLimitsThatCannotBeMet(t *testing.T) {
	model := string(onnxtest.Unary("Neg", onnxtest.Float, -1, 1))
	config := func(resource string) string {
		return `instance_group { count: 2 kind: KIND_CPU rate_limiter { priority: 2 resources { ` + resource + ` } } }`
	}
	s := started(t, map[string]string{
		"fits/1/model.onnx": model, "fits/config.pbtxt": config(`name: "R" count: 2`),
		"large/1/model.onnx": model, "large/config.pbtxt": config(`name: "R" count: 5`),
		"free/1/model.onnx": model, "free/config.pbtxt": config(`name: "S" count: 1`),
	}, Options{Limiter: NewLimiter([]Limit{{Resource{"R", EveryDevice}, 3}}), Loads: 1})
	index, err := s.Index(false)
	require.NoError(t, err)
	reasons := map[string]string{}
	for _, e := range index {
		reasons[e.Name] = e.Reason
	}
	require.Empty(t, reasons["fits"])
	require.Contains(t, reasons["free"], `Resource count for "S" is limited to 0`)
	require.Contains(t, reasons["large"], `Resource count for "R" is limited to 3 which will prevent scheduling of one or more model instances, the minimum required count is 5`)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := s.Infer(context.Background(), input("fits", []int64{1, 1}, 1)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestResourcesOfTwoKinds: a name is one of a device or of all devices, whichever instance comes first.
func TestResourcesOfTwoKinds(t *testing.T) {
	for _, first := range []bool{false, true} {
		l := NewLimiter([]Limit{{Resource{"R", EveryDevice}, 4}, {Resource{"R", Global}, 4}})
		_, err := l.add(group(1, &modelconfig.ModelRateLimiter_Resource{Name: "R", Global: first, Count: 1}), place.CPU)
		require.NoError(t, err)
		_, err = l.add(group(1, &modelconfig.ModelRateLimiter_Resource{Name: "R", Global: !first, Count: 1}), place.CPU)
		require.ErrorContains(t, err, "both global and device-specific", "%v", first)
	}
}
