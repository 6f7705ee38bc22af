package serve

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// Control is who decides which models are loaded.
type Control int

// The modes of control.
const (
	ControlNone     Control = iota // all models at the start
	ControlPoll                    // the repository, which is looked at again and again
	ControlExplicit                // requests
)

// Options describe a server.
type Options struct {
	Runtime      *runtime.Runtime
	Repositories []string // folders of models, or ONNX files, each a model of one version
	Control      Control
	// Load are the models that ControlExplicit loads at the start; "*": all.
	Load []string
	// LenientReady makes the server ready even if models are not.
	LenientReady bool
	// DefaultMaxBatch is the largest batch of models whose configuration leaves it open; see complete.
	DefaultMaxBatch int
	// NoComplete asks for whole configurations: what one lacks is an error, and is not taken from the file of the model.
	NoComplete bool
	// ConfigName is the name of a configuration in the folder "configs" of a model, without its ending. A model that has it
	// is configured by it and not by config.pbtxt. "": no model is.
	ConfigName string
	// Cache has the responses of models whose configuration asks for it; nil: none.
	Cache *Cache
	// Observe, which may be nil, is called with the durations of each request that was answered, from any goroutine.
	Observe func(v *Version, what Observed, took time.Duration)
	// Limiter is the rate limiter; nil: none, and settings of it in configurations change nothing, as in Triton.
	Limiter *Limiter
	// Loads is how many models are loaded at one time; 0: two.
	Loads int
	// Log, which may be nil, receives what happens to models. It is called from any goroutine.
	Log func(level Level, text string)
}

// Level is how important a message of the log is.
type Level int

// The levels.
const (
	Info Level = iota
	Warning
	Failure
)

// Server serves models. It may be used from any goroutine.
type Server struct {
	options Options
	exiting atomic.Bool
	ending  chan struct{}  // closed when exiting is set
	flights atomic.Int64   // requests that are being answered
	tasks   sync.WaitGroup // loads, and versions that are being retired; see task

	mu     sync.RWMutex // guards models and what is in them but for their versions' own
	models map[string]*model
	// waiting are the ensembles that could not be loaded: their models may come later.
	waiting map[string]bool
}

// model is a model by name, loaded or not.
// A record stays when its model is unloaded: the index shows what became of it.
type model struct {
	name string
	busy sync.Mutex // held while the model is loaded or unloaded

	// The rest is guarded by Server.mu.
	ready     map[int64]*Version
	latest    int64           // the highest number in ready
	states    map[int64]State // of all versions that were ever loaded
	signature string          // of the files at the last load that succeeded
	override  bool            // the configuration or the files came with the request to load
	plan      *plan           // of an ensemble, which is made anew when its models change; nil: it is none
	asked     bool            // whether it was loaded by its name, and not for an ensemble
}

// State is what a version is doing.
type State struct {
	Word   string // READY, UNAVAILABLE, LOADING or UNLOADING
	Reason string // why it is UNAVAILABLE
}

// The words of State.
const (
	Ready       = "READY"
	Gone        = "UNAVAILABLE"
	Loading     = "LOADING"
	Unloading   = "UNLOADING"
	wasUnloaded = "unloaded"
)

// New makes a server that has loaded nothing; see Start.
func New(o Options) *Server {
	if o.Loads <= 0 {
		o.Loads = 2
	}
	if o.Log == nil {
		o.Log = func(Level, string) {}
	}
	return &Server{options: o, models: map[string]*model{}, waiting: map[string]bool{}, ending: make(chan struct{})}
}

// Find is a version that is READY, held for the caller, who calls release; number -1 is the latest one.
// A version that is held answers also after it has been replaced.
func (s *Server) Find(name string, number int64) (v *Version, release func(), err error) {
	if v, err = s.take(name, number); err != nil {
		return nil, nil, err
	}
	return v, v.release, nil
}

// take is Find; the caller calls release of the version.
func (s *Server) take(name string, number int64) (*Version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, err := s.find(name, number)
	if err == nil {
		v.uses.Add(1) // a version is retired only after it has left the table, which the lock guards
	}
	return v, err
}

// find is Find without the hold. The caller has the lock.
func (s *Server) find(name string, number int64) (*Version, error) {
	// A model that failed to load the first time has states and no version.
	m := s.models[name]
	if m == nil || len(m.states) == 0 {
		return nil, inference.Errorf(inference.NotFound, "Request for unknown model: '%s' is not found", name)
	}
	if number == -1 {
		if len(m.ready) == 0 {
			return nil, inference.Errorf(inference.NotFound, "Request for unknown model: '%s' has no available versions", name)
		}
		return m.ready[m.latest], nil
	}
	if v := m.ready[number]; v != nil {
		return v, nil
	}
	if _, known := m.states[number]; known {
		return nil, inference.Errorf(inference.Unavailable, "Request for unknown model: '%s' version %d is not at ready state", name, number)
	}
	return nil, inference.Errorf(inference.NotFound, "Request for unknown model: '%s' version %d is not found", name, number)
}

// Infer answers a request. It waits in the queue of the model; ctx cancels that wait. It also works after Exit, so that
// requests that have been accepted are answered.
func (s *Server) Infer(ctx context.Context, r *inference.Request) (*inference.Response, error) {
	s.flights.Add(1)
	defer s.flights.Add(-1)
	v, err := s.take(r.Model, r.Version)
	if err != nil {
		return nil, err
	}
	defer v.release()
	return v.infer(ctx, r)
}

// Flights is the number of requests that are being answered.
func (s *Server) Flights() int64 { return s.flights.Load() }

// Live reports whether the server answers requests.
func (s *Server) Live() bool { return !s.exiting.Load() }

// Ready reports whether the server can serve all models that it has been asked to load.
func (s *Server) Ready() bool {
	if s.exiting.Load() {
		return false
	}
	if s.options.LenientReady {
		return true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, m := range s.models {
		for _, state := range m.states {
			if state.Word != Ready && state.Reason != wasUnloaded {
				return false
			}
		}
	}
	return true
}

// ModelReady reports whether a version serves.
func (s *Server) ModelReady(name string, number int64) (bool, error) {
	if s.exiting.Load() {
		return false, inference.Errorf(inference.Unavailable, "Server not ready")
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, err := s.find(name, number)
	return err == nil, err
}

// Serves is the error that a request for a version would get because there is no such version; nil where it serves.
func (s *Server) Serves(name string, number int64) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, err := s.find(name, number)
	return err
}

// Exit makes the server not ready and refuses loads and unloads. Inferences are answered until Close.
func (s *Server) Exit() {
	s.mu.Lock() // no task begins after this
	defer s.mu.Unlock()
	if !s.exiting.Swap(true) {
		close(s.ending)
	}
}

// task begins something that Close waits for, unless the server ends; done ends it.
func (s *Server) task() (done func(), ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.exiting.Load() {
		return nil, false
	}
	s.tasks.Add(1)
	return s.tasks.Done, true
}

// retireLater retires a version that was replaced, without waiting for it; then, which may be nil, is called afterwards. The
// caller runs in a task that has not ended.
func (s *Server) retireLater(v *Version, then func()) {
	s.tasks.Go(func() {
		v.retire()
		if then != nil {
			then()
		}
	})
}

// Ending is closed by Exit.
func (s *Server) Ending() <-chan struct{} { return s.ending }

// Close unloads all models once their requests are answered and loads have ended. No other method may be running or be called later, but Infer.
func (s *Server) Close() {
	s.Exit()
	// A load that is on its way ends at its next step, and puts its versions where they are found here, or takes them back.
	s.tasks.Wait()
	var all []*Version
	s.mu.Lock()
	for _, m := range s.models {
		for _, v := range m.ready {
			all = append(all, v)
		}
		m.ready = nil
	}
	s.mu.Unlock()
	for _, v := range all {
		v.retire()
	}
}

// names are those of all models that the server knows, in order. The caller has the lock.
func (s *Server) names() []string {
	var all []string
	for name := range s.models {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
