package metal

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
)

var _ device.Refuser = (*Device)(nil)

// refusals is what Apple's compilers have refused. A shader that was refused is left out from then on, because what
// runs in its place may be a graph, which is compiled for dimensions: keys of calls depend on it. A graph is refused
// for the dimensions of one call, whose key has them; the cache of programs remembers what was made instead.
type refusals struct {
	// shaders has the shader variants that were refused, by the key of the calls that they would have taken. It is
	// never changed, only replaced; nil while there are none, so that a look-up of a program costs one load.
	shaders  atomic.Pointer[map[device.Key]*gpu.Refusal]
	revision atomic.Uint64
	warn     atomic.Pointer[func(text string)]

	countShaders, countGraphs, secondWay atomic.Int64

	mu     sync.Mutex
	warned map[string]bool // by operator, dtype and reason
}

// OnRefusal sets who is told; see device.Refuser.
func (d *Device) OnRefusal(warn func(text string)) {
	d.refusals.warn.Store(&warn)
	d.Store.OnWarning(warn)
}

// Revision grows with each shader that is refused.
func (d *Device) Revision() uint64 { return d.refusals.revision.Load() }

// Refusals are the counts.
func (d *Device) Refusals() device.Refusals {
	r := &d.refusals
	return device.Refusals{Shaders: r.countShaders.Load(), Graphs: r.countGraphs.Load(), SecondWay: r.secondWay.Load()}
}

// Retry has the compilers see again what they have refused. Warnings are not repeated, and counts go on. Programs that
// were compiled in the meantime stay as they are: the caller has evicted them, or keeps what works.
func (d *Device) Retry() {
	d.refusals.mu.Lock()
	defer d.refusals.mu.Unlock()
	d.ForgetRefusals()
	d.refusals.shaders.Store(nil)
	d.refusals.revision.Add(1)
}

// choose is the first variant from number after on that accepts a call and has not been refused; skipped, which may
// be nil, gets the refusals on the way. key has the call's operator and dtypes.
func (d *Device) choose(key device.Key, c *device.Call, after int, skipped *[]*gpu.Refusal) (v *gpu.Variant, number int, class uint64) {
	known := d.refusals.shaders.Load()
	for {
		v, number, class = d.variants.Choose(d.Device, c, after)
		if known == nil || v == nil || class&gpu.Specific != 0 {
			return v, number, class
		}
		key.Class = kernels.KeyClass(number, class)
		r := (*known)[key]
		if r == nil {
			return v, number, class
		}
		if skipped != nil {
			*skipped = append(*skipped, r)
		}
		after = number + 1
	}
}

// record counts a refusal and leaves the variant out from now on, if it is a shader.
func (r *refusals) record(key device.Key, number int, class uint64, refusal *gpu.Refusal) {
	if refusal.Graph {
		r.countGraphs.Add(1)
	} else {
		r.countShaders.Add(1)
	}
	if class&gpu.Specific != 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key.Class = kernels.KeyClass(number, class)
	more := map[device.Key]*gpu.Refusal{key: refusal}
	if all := r.shaders.Load(); all != nil {
		maps.Copy(more, *all)
	}
	r.shaders.Store(&more)
	r.revision.Add(1)
}

// attempt is the making of one kernel.
type attempt struct {
	call        *device.Call
	refused     []*gpu.Refusal
	unsupported *status.Error // of the first variant that does not take the call
}

// keep notes an error, if it hands the call to the next variant: a refusal or status.Unsupported.
func (a *attempt) keep(err error) (next bool) {
	if r := (*gpu.Refusal)(nil); errors.As(err, &r) {
		a.refused = append(a.refused, r)
		return true
	}
	e := status.From(err)
	if e.Code == status.Unsupported && a.unsupported == nil {
		a.unsupported = e
	}
	return e.Code == status.Unsupported
}

// sentence says what was refused: operator, dtype, the words of the compilers, and where they are.
func (a *attempt) sentence() string {
	var words []string
	for _, r := range a.refused {
		words = append(words, r.Error())
	}
	return fmt.Sprintf("%s: %s (macOS %s)", kernels.Decisive(a.call), strings.Join(words, "; "), build())
}

// build is the version of macOS with its build.
func build() string { return strings.TrimPrefix(objc.Build(), "Version ") }

// withoutPlaces drops where errors are in a source, program_source:LINE:COLUMN: before each: forms of one operator differ
// in that.
func withoutPlaces(text string) string {
	const start = "program_source:"
	before, after, found := strings.Cut(text, start)
	if !found {
		return text
	}
	return before + withoutPlaces(strings.TrimLeft(after, "0123456789: "))
}

// reason is equal for refusals that are reported once.
func (a *attempt) reason() string {
	reason := kernels.Decisive(a.call).String()
	for _, r := range a.refused {
		reason += "\n" + withoutPlaces(r.Error())
	}
	return reason
}

// error is why there is no kernel: refusals by compilers if there are any, because they should not be.
func (a *attempt) error() error {
	row := op.ByID(a.call.Op)
	switch {
	case len(a.refused) > 0:
		return &device.Refused{Reason: a.reason(), Cause: status.Errorf(status.Unsupported, "[%s] %s", row.Name, a.sentence())}
	case a.unsupported != nil:
		return status.Errorf(status.Unsupported, "[%s] %s", row.Name, a.unsupported.Msg)
	}
	for _, lack := range row.Lacks {
		if lack.Device == "metal" && lack.DTypes.Has(kernels.Decisive(a.call)) {
			return status.Errorf(status.Unsupported, "[%s] metal has no kernel of this operator: %s", row.Name, lack.Why)
		}
	}
	return status.Errorf(status.Unsupported, "[%s] metal has nothing for %s of this layout", row.Name, kernels.Decisive(a.call))
}

// warnOf reports what runs in place of what was refused, once for each operator, dtype and reason.
func (d *Device) warnOf(a *attempt, class uint64) {
	row := op.ByID(a.call.Op)
	instead := "another shader"
	if class&gpu.Specific != 0 {
		instead = "a graph of MPSGraph"
	}
	d.refusals.warnOnce(row.Name+" "+a.reason(), func() string {
		return fmt.Sprintf("[%s] %s; %s computes it, which may be slower", row.Name, a.sentence(), instead)
	})
}

// warnOnce reports a text, if it is the first with a key.
func (r *refusals) warnOnce(key string, text func() string) {
	r.mu.Lock()
	known := r.warned[key]
	if r.warned == nil {
		r.warned = map[string]bool{}
	}
	r.warned[key] = true
	r.mu.Unlock()
	if warn := r.warn.Load(); warn != nil && !known {
		(*warn)(text())
	}
}
