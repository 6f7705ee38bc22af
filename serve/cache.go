package serve

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// The response cache: if the configuration of a model has response_cache { enable: true }, a repeated request is answered
// from memory, without an execution. A key is a digest of everything that an answer depends on: the load of the version, the
// inputs as the model gets them, and the requested outputs. A reloaded version starts without entries.
//
// The cache is shared by all models and bounded in bytes; it evicts the least recently used entries. Data is copied in and
// out, because the data of a response belongs to the caller.

// key is what a response depends on.
type key [sha256.Size]byte

// entry is a response in the cache.
type entry struct {
	key     key
	outputs []inference.Tensor
	bytes   int64
}

// overhead is the approximate memory of an entry besides its data, and of an output.
const overhead = 256

// Cache is a cache of responses. It may be used from any goroutine.
type Cache struct {
	size int64

	mu      sync.Mutex
	used    int64
	entries map[key]*list.Element
	order   *list.List // of *entry, the latest first
}

// NewCache makes a cache of so many bytes.
func NewCache(size int64) *Cache {
	return &Cache{size: size, entries: map[key]*list.Element{}, order: list.New()}
}

// Use is the number of bytes and entries in the cache.
func (c *Cache) Use() (used int64, entries int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used, len(c.entries)
}

// get is a copy of the outputs of an entry.
func (c *Cache) get(k key) ([]inference.Tensor, bool) {
	c.mu.Lock()
	at := c.entries[k]
	if at == nil {
		c.mu.Unlock()
		return nil, false
	}
	c.order.MoveToFront(at)
	outputs := at.Value.(*entry).outputs
	c.mu.Unlock()
	// Entries are never changed, so that the copy needs no lock.
	return cloned(outputs), true
}

// put adds an entry, and evicts old ones to make room. An entry that is larger than the cache is not stored.
func (c *Cache) put(k key, outputs []inference.Tensor) {
	bytes := int64(overhead)
	for i := range outputs {
		bytes += overhead + int64(len(outputs[i].Data))
	}
	// A response that fills the cache alone would evict all others, and be evicted by the next one.
	if bytes > c.size {
		return
	}
	e := &entry{k, cloned(outputs), bytes}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[k] != nil {
		return // another request with the same inputs was first
	}
	c.used += bytes
	c.entries[k] = c.order.PushFront(e)
	for c.used > c.size {
		oldest := c.order.Remove(c.order.Back()).(*entry)
		delete(c.entries, oldest.key)
		c.used -= oldest.bytes
	}
}

// cloned is a copy of outputs and their data.
func cloned(outputs []inference.Tensor) []inference.Tensor {
	all := slices.Clone(outputs)
	for i := range all {
		all[i].Shape, all[i].Data = slices.Clone(all[i].Shape), bytes.Clone(all[i].Data)
	}
	return all
}

// loads counts the versions that were made, each of which has keys of its own.
var loads atomic.Uint64

// keyOf is the key of a request that was accepted.
func (v *Version) keyOf(r *inference.Request, a *accepted) (k key) {
	h := sha256.New()
	number(h, v.load)
	for i := range a.data {
		// Lengths stand before what they are of, so that no two requests write the same bytes.
		number(h, uint64(len(a.shapes[i])))
		for _, d := range a.shapes[i] {
			number(h, uint64(d))
		}
		number(h, uint64(len(a.data[i])))
		_, _ = h.Write(a.data[i]) // a hash never fails
	}
	// The order in which outputs are asked for changes no answer: they come in the order of the configuration.
	wanted := slices.Clone(r.Outputs)
	slices.SortFunc(wanted, func(a, b inference.Requested) int { return cmp.Compare(a.Name, b.Name) })
	for _, o := range wanted {
		number(h, uint64(len(o.Name)))
		_, _ = h.Write([]byte(o.Name)) // likewise
		number(h, uint64(o.Classes))
	}
	h.Sum(k[:0])
	return k
}

// number writes a number into a hash.
func number(h hash.Hash, n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = h.Write(b[:]) // a hash never fails
}

// cached answers a job from the cache, or by running it.
func (v *Version) cached(ctx context.Context, j *job) (*inference.Response, error) {
	start := time.Now()
	k := v.keyOf(j.request, &j.accepted)
	if outputs, ok := v.cache.get(k); ok {
		took := time.Since(start)
		v.counters.Hit(j.received, took)
		v.observeOne(ObservedQueue, 0)
		v.observeOne(ObservedHit, took)
		return &inference.Response{Model: v.config.Name, Version: v.number, ID: j.request.ID, Outputs: outputs}, nil
	}
	looked := time.Since(start)
	response, err := v.wait(ctx, j)
	if err != nil {
		return nil, err
	}
	start = time.Now()
	v.cache.put(k, response.Outputs)
	kept := time.Since(start)
	v.counters.Missed(looked, kept)
	v.observeOne(ObservedMiss, looked+kept)
	return response, nil
}
