package metal

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/objc"
)

// variants are the compiled shaders of one kernel. Which of them a call needs depends on how its operands
// lie, which is known only with their addresses; so each is compiled when the first call needs it.
type variants struct {
	device *Device
	mu     sync.Mutex
	made   atomic.Pointer[map[uint64][]pipeline] // never changed, only replaced
}

// get is the pipelines of a variant, in the order of their names.
func (v *variants) get(key uint64, names []string, source func() (string, error)) ([]pipeline, error) {
	if p, ok := v.known(key); ok {
		return p, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p, ok := v.known(key); ok {
		return p, nil
	}
	text, err := source()
	if err != nil {
		return nil, err
	}
	defer objc.Pool().Close()
	p, err := v.device.compile(text, names...)
	if err != nil {
		return nil, err
	}
	more := map[uint64][]pipeline{key: p}
	if all := v.made.Load(); all != nil {
		maps.Copy(more, *all)
	}
	v.made.Store(&more)
	return p, nil
}

func (v *variants) known(key uint64) (p []pipeline, ok bool) {
	if all := v.made.Load(); all != nil {
		p, ok = (*all)[key]
	}
	return p, ok
}

func (v *variants) close() {
	all := v.made.Swap(nil)
	if all == nil {
		return
	}
	for _, ps := range *all {
		for _, p := range ps {
			p.release()
		}
	}
}
