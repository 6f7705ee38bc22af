package alloc

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// hammer allocates and frees at random. The goroutine writes its number to both ends of what it
// has and expects to find it there later; with -race that also shows blocks that overlap.
func hammer(t *testing.T, a *Allocator, streams []*fakeStream, worker uint64, rounds int) {
	r := rand.New(rand.NewPCG(worker, 2))
	var live []*Block
	for range rounds {
		switch k := r.IntN(20); {
		case k == 0:
			a.Stats()
			a.Snapshot()
			a.Age()
		case k == 1:
			a.EmptyCache()
		case k == 2:
			s := streams[r.IntN(len(streams))]
			s.finish(s.submitted.Load())
		case k < 12 && len(live) < 8:
			// Memory out of a stream's pool belongs to the stream's work, so the host, which
			// writes here, asks for none.
			b, err := a.Alloc(1+r.Int64N(1<<(8+r.UintN(14))), nil)
			if err == nil {
				mark(b, worker)
				live = append(live, b)
			} else if status.CodeOf(err) != status.OutOfMemory {
				t.Error(err)
			}
		case k < 14:
			s := streams[r.IntN(len(streams))]
			if b, err := a.Alloc(1+r.Int64N(1<<16), s); err == nil {
				a.Free(b, []Use{{s, s.submit()}})
			}
		case len(live) > 0:
			i := r.IntN(len(live))
			release(t, a, live[i], streams, worker, r)
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		}
	}
	for _, b := range live {
		release(t, a, b, streams, worker, r)
	}
}

func mark(b *Block, worker uint64) {
	for _, p := range ends(b) {
		*p = worker
	}
}

func ends(b *Block) [2]*uint64 {
	return [2]*uint64{(*uint64)(b.Addr), (*uint64)(unsafe.Add(b.Addr, b.Size-8))}
}

func release(t *testing.T, a *Allocator, b *Block, streams []*fakeStream, worker uint64, r *rand.Rand) {
	for _, p := range ends(b) {
		if *p != worker {
			t.Errorf("block of worker %d has %d in it", worker, *p)
		}
	}
	middle := unsafe.Add(b.Addr, b.Size/2)
	if found, at, ok := a.find(middle); !ok || found != b || at != b.Size/2 {
		t.Errorf("find answers %t, %d", ok, at)
	}
	var uses []Use
	for range r.IntN(3) {
		s := streams[r.IntN(len(streams))]
		uses = append(uses, Use{Stream: device.Stream(s), Ticket: s.submit()})
	}
	a.Free(b, uses)
}
