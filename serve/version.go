package serve

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/onnx"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/batching"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// Version is one version of a model that can serve.
type Version struct {
	number   int64
	config   *modelconfig.ModelConfig
	inputs   []port // in the order of the configuration
	outputs  []port
	programs []*program // one for each place with instances
	queue    *batching.Queue
	needed   int  // inputs that every request has
	anyShape bool // whether requests of one batch may differ in shape, so that they carry a key
	ordered  bool // whether responses leave in the order of the requests
	rated    bool // whether the rate limiter says when instances run
	counters statistics.Counters
	cache    *Cache                                  // nil: none
	ensemble *ensemble                               // in place of programs, queue and instances; nil: none
	observer func(*Version, Observed, time.Duration) // see Options.Observe
	load     uint64                                  // of loads
	loadTime float64                                 // seconds

	running sync.WaitGroup // instances
	order   sync.Mutex     // guards previous
	former  <-chan struct{}

	uses    atomic.Int64 // requests that hold the version
	leaving chan struct{}
	left    sync.Once
	retired atomic.Bool
}

// program is the model on one device.
// Its constants are loaded once, whichever instance runs first.
type program struct {
	context *runtime.Context
	*execute.Program
	inputs, outputs []*onnx.Port
}

// source is a model as a source of programs.
type source struct{ *onnx.Model }

// Decided is the model with inputs of known elements.
func (s source) Decided(known map[int]*op.Const) execute.Source { return s.Given(known) }

// release ends what Server.Find began: the version may be closed.
func (v *Version) release() {
	if v.uses.Add(-1) == 0 && v.retired.Load() {
		v.left.Do(func() { close(v.leaving) })
	}
}

// retire waits until no request holds the version, and closes it. No request finds it any more.
// It may wait long: for the slowest request that holds the version.
func (v *Version) retire() {
	v.retired.Store(true)
	if v.uses.Load() == 0 {
		v.left.Do(func() { close(v.leaving) })
	}
	<-v.leaving
	v.close()
}

// close ends the instances, frees the programs and returns their memory to the system. Nothing is in the queue.
func (v *Version) close() {
	// A version whose load has failed may have neither a queue nor instances.
	if v.queue != nil {
		v.queue.Close()
	}
	v.running.Wait()
	for _, p := range v.programs {
		p.Close()
	}
	if v.ensemble != nil {
		return // it has no memory of its own
	}
	// A request that still holds the version holds no weights through it: instances have them too, and default values of inputs are parts
	// of the file.
	v.programs, v.queue, v.inputs = nil, nil, nil
	runtime.ReturnMemory()
}

// Config is the configuration that the version runs with. It is not to be changed.
func (v *Version) Config() *modelconfig.ModelConfig { return v.config }

// Number is that of the folder of the version.
func (v *Version) Number() int64 { return v.number }

// memory is what the weights take on each device; a model without any is not listed.
func (v *Version) memory() []statistics.Memory {
	all := []statistics.Memory{}
	for _, p := range v.programs {
		m := statistics.Memory{Kind: "CPU", Bytes: uint64(p.Info().Constants)}
		if m.Bytes == 0 {
			continue
		}
		if at := p.context.Place(); at.Kind == place.MPSKind {
			m.Kind, m.ID = "GPU", int64(at.Index)
		}
		all = append(all, m)
	}
	return all
}
