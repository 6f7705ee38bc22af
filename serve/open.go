package serve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/onnx"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/batching"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
)

// opening is what a version is made of.
type opening struct {
	server *Server
	folder string // of the model
	file   string // the ONNX file
	bytes  []byte // the file, where the request to load has it; nil: it is read
	number int64
	config *modelconfig.ModelConfig // of the model, complete but for what the file says
}

// open makes a version that serves. Whatever was made is closed where it fails.
func (o *opening) open() (v *Version, err error) {
	start := time.Now()
	if o.server.exiting.Load() {
		return nil, inference.Errorf(inference.Unavailable, "Server not ready")
	}
	v = &Version{number: o.number, config: proto.Clone(o.config).(*modelconfig.ModelConfig), leaving: make(chan struct{}), load: loads.Add(1), observer: o.server.options.Observe}
	if field := modelconfig.Unsupported(v.config); field != "" {
		return nil, inference.UnsupportedField(field, v.config.Name)
	}
	if err := checkParameters(v.config); err != nil {
		return nil, err
	}
	o.noteParameters(v.config)
	// A version that is half made has instances and programs that would otherwise never be closed.
	defer func() {
		if err != nil {
			v.close()
			v = nil
		}
	}()
	if len(v.config.GetEnsembleScheduling().GetStep()) > 0 {
		o.setCache(v)
		err = o.openEnsemble(v)
		v.loadTime = time.Since(start).Seconds()
		return v, err
	}
	if err = o.load(v); err != nil {
		return v, err
	}
	o.setCache(v)
	if err = v.start(o.server); err != nil {
		return v, err
	}
	if err = v.warmUp(o.server, o.folder); err != nil {
		return v, err
	}
	v.loadTime = time.Since(start).Seconds()
	return v, nil
}

// setCache gives the version the cache of responses, where its configuration asks for it and the server has one.
func (o *opening) setCache(v *Version) {
	if !v.config.GetResponseCache().GetEnable() {
		return
	}
	if v.cache = o.server.options.Cache; v.cache == nil {
		o.server.options.Log(Warning, "model '"+v.config.Name+"' has response_cache, and the server has no cache: see --cache-config")
	}
}

// load reads the file, completes the configuration from it and makes the programs.
func (o *opening) load(v *Version) error {
	rt := o.server.options.Runtime
	if b := v.config.Backend; b != modelconfig.Ours && b != modelconfig.ORT {
		return inference.Errorf(inference.InvalidArg, "unable to find backend library for backend '%s', try specifying runtime on the model configuration.", b)
	}
	// A configuration that a server has shown may have the name of the library of its backend.
	if r := v.config.Runtime; r != "" && r != "libtriton_"+v.config.Backend+".so" {
		return inference.Errorf(inference.InvalidArg, "unable to find '%s' for model '%s', backend '%s' is built in: want no runtime", r, v.config.Name, v.config.Backend)
	}
	// The order matters: what the file says completes the configuration, and only then is the whole configuration checked.
	first, err := o.parse(rt)
	if err != nil {
		return err
	}
	closeFirst := func() { _ = first.Close() } // it was only read
	if err := o.complete(v.config, first); err != nil {
		closeFirst()
		return err
	}
	if err := modelconfig.CheckPorts(v.config); err != nil {
		closeFirst()
		return inference.Errorf(inference.InvalidArg, "%s", err)
	}
	values, err := takeDefaults(v.config, first)
	if err != nil {
		closeFirst()
		return err
	}
	if err := v.bind(first, o.folder, values); err != nil {
		closeFirst()
		return err
	}
	// Groups are completed last, because their names follow from that of the model.
	gpus := rt.Count(place.MPSKind)
	modelconfig.CompleteInstances(v.config, gpus)
	if err := modelconfig.CheckInstances(v.config, gpus); err != nil {
		closeFirst()
		return inference.Errorf(inference.InvalidArg, "%s", err)
	}
	return o.compile(v, first)
}

// parse reads the ONNX file. It is read and not mapped: a file that is replaced in place while it is served must not
// change the model, or end the process.
func (o *opening) parse(rt *runtime.Runtime) (*onnx.Model, error) {
	if o.bytes != nil {
		return tensorsOnly(onnx.Parse(o.bytes, "", execute.Folder(rt))) // without a folder there is no external data
	}
	bytes, err := readFile(os.OpenFile, o.file, largestModel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, inference.Errorf(inference.Unavailable, "unable to find '%s' for model '%s'", o.file, o.config.Name)
	}
	if err != nil {
		return nil, inference.Errorf(inference.Unavailable, "unable to read '%s' for model '%s': %s", o.file, o.config.Name, errors.Unwrap(err))
	}
	return tensorsOnly(onnx.Parse(bytes, filepath.Dir(o.file), execute.Folder(rt)))
}

// tensorsOnly refuses models with sequences or optionals, which the protocols have no messages for.
func tensorsOnly(m *onnx.Model, err error) (*onnx.Model, error) {
	if err == nil {
		err = m.OnlyTensors()
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// compile makes a program for each place that instances run on, and compiles it for a batch of one where all other
// dimensions are known, so that a model that cannot run is not READY. The first one takes over the model.
func (o *opening) compile(v *Version, first *onnx.Model) error {
	model := first
	for _, at := range places(v.config) {
		c, err := o.server.options.Runtime.Context(at)
		if err == nil && model == nil {
			model, err = o.parse(o.server.options.Runtime)
			if err == nil {
				_, err = takeDefaults(v.config, model)
			}
		}
		if err != nil {
			if model != nil {
				_ = model.Close() // it was only read
			}
			return err
		}
		if at == place.CPU {
			model.UseIntegers()
		}
		// The program closes its model, so that the first one is given away here.
		p := &program{context: c, Program: execute.New(c, source{model})}
		p.inputs, p.outputs = model.Ports()
		v.programs, model = append(v.programs, p), nil
		// This is where operators that no device has are refused, with the name of the node.
		if shapes, known := v.smallest(); known {
			if err := p.Prepare(shapes); err != nil && !decided(err) {
				return err
			}
		}
	}
	return nil
}

// places are those that the instances of a configuration run on, each once, in their order.
func places(c *modelconfig.ModelConfig) (all []place.Place) {
	seen := map[place.Place]bool{}
	for _, g := range c.InstanceGroup {
		for _, p := range placesOf(g) {
			if !seen[p] {
				seen[p], all = true, append(all, p)
			}
		}
	}
	return all
}

// placesOf are those of a group. KIND_MODEL leaves the choice to us: the CPU, as it is of the same group in Triton with
// ONNX Runtime.
func placesOf(g *modelconfig.ModelInstanceGroup) (all []place.Place) {
	if g.Kind != modelconfig.ModelInstanceGroup_KIND_GPU {
		return []place.Place{place.CPU}
	}
	for _, n := range g.Gpus {
		all = append(all, place.MPS(n))
	}
	return all
}

// start makes the queue and the instances.
func (v *Version) start(s *Server) error {
	v.queue = batching.New(v.queueConfig())
	// Instances are numbered by their device, as Triton names them.
	for _, g := range v.config.InstanceGroup {
		for _, at := range placesOf(g) {
			for range g.Count {
				if err := v.startInstance(s, v.programOn(at), g, g.Name+"_"+strconv.Itoa(int(at.Index))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// programOn is the program of a place.
func (v *Version) programOn(at place.Place) *program {
	for _, p := range v.programs {
		if p.context.Place() == at {
			return p
		}
	}
	return nil
}

// queueConfig is the policy of the queue.
func (v *Version) queueConfig() batching.Config {
	// Every queue has a bound, so that clients which are faster than the model cannot take all memory.
	c := batching.Config{Expired: v.expire}
	// Without dynamic batching each request runs by itself, whatever max_batch_size says: that is Triton's rule.
	d := v.config.GetDynamicBatching()
	if d == nil {
		return c
	}
	c.MaxBatch, c.Delay = int(v.config.MaxBatchSize), time.Duration(min(d.MaxQueueDelayMicroseconds, 1<<40))*time.Microsecond
	for _, n := range d.PreferredBatchSize {
		c.Preferred = append(c.Preferred, int(n))
	}
	c.Levels, c.Default = d.PriorityLevels, d.DefaultPriorityLevel
	c.Policy = policyOf(d.DefaultQueuePolicy)
	c.Policies = map[uint64]batching.Policy{}
	// Levels without a policy of their own have the default one.
	for level, p := range d.PriorityQueuePolicy {
		c.Policies[level] = policyOf(p)
	}
	v.ordered = d.PreserveOrdering
	for _, p := range v.inputs {
		v.anyShape = v.anyShape || p.value != nil
		for _, d := range p.dims {
			v.anyShape = v.anyShape || d == -1
		}
	}
	return c
}

// policyOf is the policy of one level.
func policyOf(p *modelconfig.ModelQueuePolicy) batching.Policy {
	return batching.Policy{
		Bound:    int(p.GetMaxQueueSize()),
		Timeout:  time.Duration(min(p.GetDefaultTimeoutMicroseconds(), 1<<50)) * time.Microsecond,
		Override: p.GetAllowTimeoutOverride(),
		Delay:    p.GetTimeoutAction() == modelconfig.ModelQueuePolicy_DELAY,
	}
}
