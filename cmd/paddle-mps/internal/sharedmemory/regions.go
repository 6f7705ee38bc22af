// Package sharedmemory implements the extension for system shared memory: a client puts inputs into a POSIX
// shared-memory object of the machine, and finds outputs there.
//
// [Regions] holds the regions that clients have registered. A region is a part of an object, and a [Place] is a part
// of a region, as a request names it. [Regions.Hold] finds the region of a place, [Held.Read] copies it out and
// [Held.Write] copies a result in.
//
// The invariant: kernels never access mapped memory of a client. Its owner may truncate the object at any time, and
// reading a mapping beyond the end raises SIGBUS, which crashes tritonserver 2.51. On Linux the bytes are copied
// with pread and pwrite on the descriptor, which return an error instead. macOS supports neither for such objects,
// but refuses to change the size of an object that has one. There the copy goes through a mapping, in a goroutine
// that converts a fault to an error.
//
// The number of registered regions is bounded, and the caller bounds what a request may read: an object may be
// sparse, so its size says nothing about memory.
package sharedmemory

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// most is the number of regions. Each has a descriptor.
const most = 4096

// reserved begins the names of objects that tritonserver makes for itself.
const reserved = "triton_python_backend_shm_region_"

// errDisabled is the error of a server that was not started with --allow-client-shm.
var errDisabled = inference.Errorf(inference.Unsupported, "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable.")

// Status describes a region to clients.
type Status struct {
	Name   string `json:"name"`
	Key    string `json:"key"`
	Offset uint64 `json:"offset"`
	Size   uint64 `json:"byte_size"`
}

// object is an open shared-memory object. Its methods may be called from any goroutine.
type object interface {
	size() (int64, error)
	readAt(to []byte, offset int64) error
	writeAt(from []byte, offset int64) error
	close()
}

// region is a registered part of an object. The object is closed when neither the table nor a request has it.
type region struct {
	Status
	object object
	users  atomic.Int64
}

// release ends one use.
func (r *region) release() {
	if r.users.Add(-1) == 0 {
		r.object.close()
	}
}

// Regions are the registered regions. They may be used from any goroutine.
type Regions struct {
	allowed bool
	mu      sync.RWMutex
	all     map[string]*region
}

// New makes an empty table; allowed is whether clients may register.
func New(allowed bool) *Regions { return &Regions{allowed: allowed, all: map[string]*region{}} }

// Allowed is the error of a server whose clients may not register; nil where they may.
func (s *Regions) Allowed() error {
	if !s.allowed {
		return errDisabled
	}
	return nil
}

// Register registers a part of the object with a key.
func (s *Regions) Register(name, key string, offset, size uint64) error {
	if err := s.Allowed(); err != nil {
		return err
	}
	if name == "" {
		return inference.Errorf(inference.InvalidArg, "'region name' is necessary to register system shared memory region")
	}
	if err := checkKey(name, key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, has := s.all[name]; has {
		return inference.Errorf(inference.AlreadyExists, "shared memory region '%s' already in manager", name)
	}
	if len(s.all) >= most {
		return inference.Errorf(inference.Unavailable, "failed to register shared memory region '%s': there are %d already", name, most)
	}
	o, err := open(key)
	if err != nil {
		return inference.Errorf(inference.Internal, "Unable to open shared memory region: '%s'", key)
	}
	r := &region{Status: Status{name, key, offset, size}, object: o}
	r.users.Add(1)
	// The sum is not computed before it is known to fit.
	switch has, err := o.size(); {
	case err != nil:
		r.release()
		return inference.Errorf(inference.Internal, "Invalid shared memory region: '%s'", key)
	case offset > uint64(has) || size > uint64(has)-offset:
		r.release()
		return inference.Errorf(inference.InvalidArg, "failed to register shared memory region '%s': invalid args", name)
	case size == 0: // the text is what mmap says in tritonserver
		r.release()
		return inference.Errorf(inference.InvalidArg, "failed to register shared memory region '%s': unable to process address spaceInvalid argument", name)
	}
	s.all[name] = r
	return nil
}

// checkKey refuses keys that are no names of objects, and those that tritonserver keeps for itself.
func checkKey(name, key string) error {
	bare := strings.TrimLeft(key, "/")
	switch {
	case bare == "":
		return inference.Errorf(inference.InvalidArg, "cannot register shared memory region '%s' - invalid shm key '%s'", name, key)
	case strings.HasPrefix(bare, reserved):
		return inference.Errorf(inference.InvalidArg, "cannot register shared memory region '%s' with key '%s' as the key contains the reserved prefix '%s'", name, key, reserved)
	// shm_open takes one name, and the system joins it to a folder.
	case strings.ContainsAny(bare, "/\x00") || bare == "." || bare == "..":
		return inference.Errorf(inference.Internal, "Unable to open shared memory region: '%s'", key)
	}
	return nil
}

// Unregister removes a region, or with an empty name all of them. Requests that hold it finish. A name that there is not is
// no error.
func (s *Regions) Unregister(name string) error {
	if err := s.Allowed(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, r := range s.all {
		if name == "" || n == name {
			delete(s.all, n)
			r.release()
		}
	}
	return nil
}

// Close removes all regions when the server ends.
func (s *Regions) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, r := range s.all {
		delete(s.all, n)
		r.release()
	}
}

// List describes a region, or with an empty name all of them in order.
func (s *Regions) List(name string) ([]Status, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := []Status{}
	for n, r := range s.all {
		if name == "" || n == name {
			all = append(all, r.Status)
		}
	}
	if name != "" && len(all) == 0 {
		return nil, inference.Errorf(inference.NotFound, "Unable to find system shared memory region: '%s'", name)
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Place is a part of a region, as a request names it.
type Place struct {
	Region       string
	Offset, Size uint64
}

// Held is a place whose region stays until Release.
type Held struct {
	Place
	region *region
}

// Hold finds the region of a place and checks that the place lies in it.
func (s *Regions) Hold(p Place) (*Held, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := s.all[p.Region]
	switch {
	case r == nil:
		return nil, inference.Errorf(inference.NotFound, "Unable to find shared memory region: '%s'", p.Region)
	case p.Offset >= r.Size:
		return nil, inference.Errorf(inference.InvalidArg, "Invalid offset for shared memory region: '%s'", p.Region)
	case p.Size > math.MaxUint64-p.Offset:
		return nil, inference.Errorf(inference.InvalidArg, "Integer overflow detected: byte_size (%d) + offset (%d) exceeds maximum value (%d) for region '%s'", p.Size, p.Offset, uint64(math.MaxUint64), p.Region)
	case p.Offset+p.Size > r.Size:
		return nil, inference.Errorf(inference.InvalidArg, "Invalid offset + byte size for shared memory region: '%s'", p.Region)
	}
	r.users.Add(1)
	return &Held{p, r}, nil
}

// Release ends the hold.
func (h *Held) Release() { h.region.release() }

// at is where the place begins in the object.
func (h *Held) at() int64 { return int64(h.region.Offset + h.Offset) }

// within refuses a place that the object no longer has: its owner has truncated it.
func (h *Held) within(size int) error {
	if has, err := h.region.object.size(); err != nil || h.at()+int64(size) > has {
		return h.gone()
	}
	return nil
}

// gone is the error of an object that is smaller than it was when it was registered.
func (h *Held) gone() error {
	return inference.Errorf(inference.InvalidArg, "shared memory region '%s' is no longer backed by object '%s', which has been truncated", h.Region, h.region.Key)
}

// Read is a copy of the place, which has at most limit bytes. take is called before memory is taken for it, and may refuse.
func (h *Held) Read(limit int64, take func(bytes int64) error) ([]byte, error) {
	if h.Size > uint64(max(limit, 0)) {
		return nil, inference.Errorf(inference.InvalidArg, "input of %d bytes in shared memory region '%s' exceeds the maximum allowed input size, of which %d bytes are left", h.Size, h.Region, limit)
	}
	// Memory is taken after the object is known to have so much.
	if err := h.within(int(h.Size)); err != nil {
		return nil, err
	}
	if err := take(int64(h.Size)); err != nil {
		return nil, err
	}
	data := make([]byte, h.Size)
	if err := h.region.object.readAt(data, h.at()); err != nil {
		return nil, h.gone()
	}
	return data, nil
}

// Write copies an output to the place.
func (h *Held) Write(output string, data []byte) error {
	if uint64(len(data)) > h.Size {
		return inference.Errorf(inference.Internal, "shared memory size specified with the request for output '%s' (%d bytes) should be at least %d bytes to hold the results", output, h.Size, len(data))
	}
	// A write behind the end would make the object longer, in place of an error.
	if err := h.within(len(data)); err != nil {
		return err
	}
	if err := h.region.object.writeAt(data, h.at()); err != nil {
		return h.gone()
	}
	return nil
}
