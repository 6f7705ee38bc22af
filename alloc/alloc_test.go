package alloc

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/stretchr/testify/require"
)

const (
	kiB = 1 << 10
	miB = 1 << 20
)

// mustAlloc allocates and fails the test where that fails.
func mustAlloc(t *testing.T, a *Allocator, size int64, on device.Stream) *Block {
	t.Helper()
	b, err := a.Alloc(size, on)
	require.NoError(t, err)
	require.NoError(t, check(a))
	return b
}

func free(t *testing.T, a *Allocator, b *Block, uses ...Use) {
	t.Helper()
	a.Free(b, uses)
	require.NoError(t, check(a))
}

func TestAllocRounds(t *testing.T) {
	for _, c := range []struct{ size, want, reserved int64 }{
		{1, 256, 8 * miB},
		{255, 256, 8 * miB},
		{256, 256, 8 * miB},
		{257, 512, 8 * miB},
		{8 * miB, 8 * miB, 8 * miB},
		{8*miB + 1, 8*miB + 256, 32 * miB},
		{32*miB + 1, 32*miB + 256, 32*miB + 16*kiB},
		{256 * miB, 256 * miB, 256 * miB},
		{256*miB + 1, 256*miB + 256, 256*miB + 16*kiB},
		{5 << 30, 5 << 30, 5 << 30},
	} {
		a := New(Config{Source: &fakeSource{blind: true}})
		b := mustAlloc(t, a, c.size, nil)
		require.Equal(t, c.want, b.Size)
		require.Equal(t, c.size, b.Requested)
		s := a.Stats()
		require.Equal(t, c.want, s.Allocated.Current)
		require.Equal(t, c.size, s.Requested.Current)
		require.Equal(t, c.reserved, s.Reserved.Current, "size %d", c.size)
		free(t, a, b)
		require.NoError(t, a.Close())
	}
}

func TestAllocRefusesSizes(t *testing.T) {
	a := New(Config{Source: &fakeSource{blind: true}})
	for size, want := range map[int64]status.Code{
		-1: status.Invalid, math.MinInt64: status.Invalid,
		MaxSize + 1: status.OutOfMemory, math.MaxInt64: status.OutOfMemory, math.MaxInt64 - 255: status.OutOfMemory,
	} {
		b, err := a.Alloc(size, nil)
		require.Nil(t, b)
		require.Equal(t, want, status.CodeOf(err), "size %d: %v", size, err)
	}
	_, err := a.Alloc(MaxSize, nil)
	require.NoError(t, err, "a source that has this much")
	require.NoError(t, check(a))
}

func TestEmptyBlock(t *testing.T) {
	a := New(Config{Source: &fakeSource{}})
	b := mustAlloc(t, a, 0, nil)
	require.Zero(t, b.Size)
	require.Nil(t, b.Addr)
	require.Empty(t, b.Heap.Bytes())
	free(t, a, b)
	free(t, a, b)
	free(t, a, nil)
	require.Zero(t, a.Stats().BadFrees)
	require.Zero(t, a.Stats().Reserved.Peak)
}

func TestTiersGrowWithTheProgram(t *testing.T) {
	source := &fakeSource{blind: true}
	a := New(Config{Source: source})
	var sizes []int64
	for before := int64(0); source.bytes < 1<<30; {
		mustAlloc(t, a, 4*miB, nil)
		if source.bytes != before {
			sizes = append(sizes, (source.bytes-before)/miB)
			before = source.bytes
		}
	}
	require.Equal(t, []int64{8, 8, 8, 8, 8, 8, 8, 8, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 256, 256}, sizes)
}

func TestFreeMergesBothNeighbours(t *testing.T) {
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		a := New(Config{Source: &fakeSource{}})
		var blocks [3]*Block
		for i := range blocks {
			blocks[i] = mustAlloc(t, a, []int64{2 * miB, 3 * miB, 3 * miB}[i], nil)
		}
		for _, i := range order {
			free(t, a, blocks[i])
		}
		require.Equal(t, int64(8*miB), mustAlloc(t, a, 8*miB, nil).Size)
		require.Equal(t, int64(1), a.Stats().Heaps.Current)
	}
}

// A freed block is used for the next request of its size, although its class may hold shorter ones.
func TestReuseWithinAClass(t *testing.T) {
	a := New(Config{Source: &fakeSource{blind: true}})
	size := int64(1000 * Alignment)
	var blocks, walls []*Block
	for i := range int64(20) { // as many as fill the class: 992 to 1023 units
		blocks = append(blocks, mustAlloc(t, a, size-i%8*Alignment, nil))
		walls = append(walls, mustAlloc(t, a, Alignment, nil))
	}
	for rest := a.common.longest(); rest > 0; rest = a.common.longest() {
		walls = append(walls, mustAlloc(t, a, rest, nil))
	}
	for i := range blocks { // the longest first, so that shorter ones hide them
		free(t, a, blocks[i])
	}
	for range 3 { // i%8 == 0 for three of them
		mustAlloc(t, a, size, nil)
	}
	require.Equal(t, int64(1), a.Stats().Heaps.Current)
	mustAlloc(t, a, size, nil)
	require.Equal(t, int64(2), a.Stats().Heaps.Current)
	require.NotEmpty(t, walls)
}

func TestBinsLongest(t *testing.T) {
	var s bins
	require.Zero(t, s.longest())
	for _, units := range []int64{7, 1009, 1020, 1015} { // the last three are of one class
		s.insert(&Block{Size: units * Alignment})
	}
	require.Equal(t, int64(1020*Alignment), s.longest())
}

// Classes follow each other without gaps, and their sizes differ by at most 1/32.
func TestClass(t *testing.T) {
	last, first := 0, int64(1)
	for units := int64(1); units < 1<<16; units++ {
		row, col := class(units * Alignment)
		at := int(row)*cols + int(col)
		if at != last {
			require.Equal(t, last+1, at, "%d units", units)
			last, first = at, units
		}
		require.LessOrEqual(t, (units-first)*cols, units, "%d units", units)
	}
	row, col := class(MaxSize)
	require.Equal(t, [2]uint8{rows - 1, 0}, [2]uint8{row, col})
}

func TestFindEveryByteClass(t *testing.T) {
	a := New(Config{Source: &fakeSource{}})
	var blocks []*Block
	for _, size := range []int64{1, 256, 257, 16*kiB - 256, 16 * kiB, 16*kiB + 1, 100 * kiB, 3 * miB, 9 * miB, 256, 256} {
		blocks = append(blocks, mustAlloc(t, a, size, nil))
	}
	for _, b := range blocks {
		for _, at := range []int64{0, 1, 255, b.Size / 4, b.Size / 2, b.Size - 256, b.Size - 1} {
			got, offset, ok := a.find(unsafe.Add(b.Addr, at))
			require.True(t, ok)
			require.Same(t, b, got)
			require.Equal(t, at, offset)
		}
	}
	middle := blocks[5]
	from, size := middle.Addr, middle.Size
	free(t, a, middle)
	for _, at := range []int64{0, 1, size - 1} {
		_, _, ok := a.find(unsafe.Add(from, at))
		require.False(t, ok, "freed byte %d", at)
	}
}

func TestFindMisses(t *testing.T) {
	a := New(Config{Source: &fakeSource{}})
	_, _, ok := a.find(nil)
	require.False(t, ok)
	b := mustAlloc(t, a, 8*miB, nil)
	memory := b.Heap.Bytes()
	outside := new(int)
	for name, p := range map[string]unsafe.Pointer{
		"nil": nil, "the heap's end": unsafe.Add(unsafe.Pointer(&memory[0]), len(memory)), "elsewhere": unsafe.Pointer(outside),
	} {
		_, _, ok := a.find(p)
		require.False(t, ok, name)
	}
	blind := New(Config{Source: &fakeSource{blind: true}})
	mustAlloc(t, blind, 8*miB, nil)
	_, _, ok = blind.find(unsafe.Add(nil, miB))
	require.False(t, ok, "a heap that the CPU does not see has no addresses")
}

func TestStats(t *testing.T) {
	a := New(Config{Source: &fakeSource{}})
	x := mustAlloc(t, a, 1000, nil)
	y := mustAlloc(t, a, 3*miB, nil)
	free(t, a, x)
	s := a.Stats()
	require.Equal(t, Stat{3 * miB, 3*miB + 1024, 3*miB + 1024, 1024}, s.Allocated)
	require.Equal(t, Stat{3 * miB, 3*miB + 1000, 3*miB + 1000, 1000}, s.Requested)
	require.Equal(t, Stat{1, 2, 2, 1}, s.Blocks)
	require.Equal(t, s.Allocated, s.Active)
	require.Equal(t, Stat{8 * miB, 8 * miB, 8 * miB, 0}, s.Reserved)
	require.Equal(t, int64(5*miB), s.InactiveSplit.Current)
	require.Equal(t, int64(5*miB), s.Cached())
	free(t, a, y)
	s = a.Stats()
	require.Zero(t, s.InactiveSplit.Current)
	require.Equal(t, int64(8*miB-1024), s.InactiveSplit.Peak)
	require.Zero(t, s.InactiveSplits.Current)

	a.ResetPeak()
	a.ResetAccumulated()
	s = a.Stats()
	require.Equal(t, Stat{}, s.Allocated)
	require.Equal(t, Stat{8 * miB, 8 * miB, 0, 0}, s.Reserved)
	require.Equal(t, int64(8*miB), a.EmptyCache())
	require.Equal(t, Stat{0, 8 * miB, 0, 8 * miB}, a.Stats().Reserved)
}

func TestSnapshotAddsUp(t *testing.T) {
	a := New(Config{Source: &fakeSource{}})
	s := &fakeStream{}
	mustAlloc(t, a, 5000, nil)
	free(t, a, mustAlloc(t, a, 3*miB, s), Use{s, s.submit()})
	mustAlloc(t, a, 20*miB, nil)
	snap := a.Snapshot()
	require.Len(t, snap.Heaps, 2)
	sum := map[State]int64{}
	for _, h := range snap.Heaps {
		require.NotZero(t, h.Address)
		at := int64(0)
		for _, b := range h.Blocks {
			require.Equal(t, at, b.Offset)
			at += b.Size
			sum[b.State] += b.Size
			if b.State == Pending {
				require.Same(t, s, b.Stream)
				require.Equal(t, device.Ticket(1), b.Ticket)
			}
		}
		require.Equal(t, h.Size, at)
	}
	require.Equal(t, snap.Stats.Allocated.Current, sum[Live])
	require.Equal(t, snap.Stats.Active.Current, sum[Live]+sum[Pending])
	require.Equal(t, snap.Stats.Reserved.Current, sum[Live]+sum[Pending]+sum[Free])
	require.Equal(t, int64(3*miB), sum[Pending])
}

func TestBadFree(t *testing.T) {
	a, other := New(Config{Source: &fakeSource{}}), New(Config{Source: &fakeSource{}})
	twice := mustAlloc(t, a, 100, nil)
	merged := mustAlloc(t, a, 100, nil)
	kept := mustAlloc(t, a, 100, nil)
	free(t, a, twice)
	free(t, a, merged)
	for name, b := range map[string]*Block{
		"freed": twice, "merged away": merged, "of another allocator": mustAlloc(t, other, 100, nil), "never allocated": {},
	} {
		if invariants {
			require.Panics(t, func() { a.Free(b, nil) }, name)
		} else {
			a.Free(b, nil)
		}
		require.NoError(t, check(a), name)
	}
	require.Equal(t, int64(4), a.Stats().BadFrees)
	free(t, a, kept)
}

func TestPoison(t *testing.T) {
	if !invariants {
		t.Skip("needs -tags invariants")
	}
	a := New(Config{Source: &fakeSource{}})
	s := &fakeStream{}
	b := mustAlloc(t, a, 1000, nil)
	memory := unsafe.Slice((*byte)(b.Addr), b.Size)
	free(t, a, b, Use{s, s.submit()})
	require.Equal(t, make([]byte, 1024), memory, "a stream still uses it")
	s.finish(1)
	a.Stats()
	for _, x := range memory {
		require.Equal(t, byte(0xDB), x)
	}
}

func TestHeapsThatAreNotAsAsked(t *testing.T) {
	for name, source := range map[string]*fakeSource{"short": {short: 1}, "not aligned": {skew: 64}} {
		a := New(Config{Source: source})
		_, err := a.Alloc(1, nil)
		require.Equal(t, status.Device, status.CodeOf(err), name)
		require.Zero(t, source.open, name)
		require.NoError(t, check(a))
	}
}

func TestClose(t *testing.T) {
	source := &fakeSource{closing: errors.New("stuck")}
	s := &fakeStream{}
	a := New(Config{Source: source})
	x, y := mustAlloc(t, a, 8*miB, nil), mustAlloc(t, a, 8*miB, s)
	free(t, a, y, Use{s, s.submit()})
	err := a.Close()
	require.Equal(t, status.Internal, status.CodeOf(err), "a block is live")
	require.ErrorContains(t, err, "1 blocks (8388608 bytes)")
	require.Equal(t, invariants, strings.Contains(err.Error(), "alloc.TestClose ("), "who allocated it: %v", err)
	require.Equal(t, 1, source.open)
	free(t, a, x)
	require.ErrorContains(t, a.Close(), "stuck")
	require.Zero(t, source.open)
	require.Equal(t, device.Ticket(1), s.Done(), "Close waits")
	_, err = a.Alloc(1, nil)
	require.Equal(t, status.Invalid, status.CodeOf(err))
}

func TestHistory(t *testing.T) {
	var clock fakeClock
	s := &fakeStream{}
	a := New(Config{Source: &fakeSource{}, Hard: 8 * miB, Now: clock.now})
	mustAlloc(t, a, 100, nil)
	a.Record(5)
	clock.ns.Store(7)
	x := mustAlloc(t, a, 1000, s)
	at, offset := uintptr(x.Addr), x.Offset
	free(t, a, x, Use{s, s.submit()})
	_, err := a.AllocFor(1000, s, 21)
	require.NoError(t, err)
	_, err = a.Alloc(9*miB, nil)
	require.Error(t, err)
	events, total := a.History()
	require.Equal(t, uint64(4), total)
	require.Equal(t, []Event{
		{7, DidAlloc, 1, offset, 1024, at, nil, 0},
		{7, DidFree, 1, offset, 1024, at, nil, 0},
		{7, DidAlloc, 1, offset, 1024, at, s, 21},
		{7, DidRefuse, 0, 0, 9 * miB, 0, nil, 0},
	}, events)

	for range 3 {
		free(t, a, mustAlloc(t, a, 1, nil))
	}
	events, total = a.History()
	require.Equal(t, uint64(10), total)
	require.Len(t, events, 5, "the latest")
	require.Equal(t, "free", events[4].Action.String())
	a.Record(0)
	mustAlloc(t, a, 1, nil)
	events, total = a.History()
	require.Empty(t, events)
	require.Zero(t, total)
}

func TestHistoryOfHeaps(t *testing.T) {
	a := New(Config{Source: &fakeSource{blind: true}})
	a.Record(100)
	free(t, a, mustAlloc(t, a, 9*miB, nil))
	a.EmptyCache()
	var actions []string
	events, _ := a.History()
	for _, e := range events {
		actions = append(actions, e.Action.String())
	}
	require.Equal(t, []string{"grow", "alloc", "free", "shrink"}, actions)
	require.Equal(t, int64(32*miB), events[3].Size)
}

// Whatever uses a block has, taking and freeing it again makes no garbage.
func TestWarmCallsMakeNoGarbage(t *testing.T) {
	if invariants {
		t.Skip("headers are made anew with -tags invariants")
	}
	a := New(Config{Source: &fakeSource{}})
	s1, s2 := &fakeStream{}, &fakeStream{}
	uses := make([]Use, 2)
	for n := range 3 {
		got := testing.AllocsPerRun(1000, func() {
			for range 4 {
				b, _ := a.Alloc(5000, s1)
				uses[0], uses[1] = Use{s1, s1.submit()}, Use{s2, s2.submit()}
				a.Free(b, uses[:n])
			}
			s1.finish(s1.submitted.Load())
			s2.finish(s2.submitted.Load())
		})
		require.Zero(t, got, "%d uses", n)
	}
}
