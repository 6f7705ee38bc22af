package alloc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// whole allocates all of a small heap, so that whatever fits came from what was freed.
func whole(t *testing.T, c Config) (*Allocator, *fakeSource) {
	t.Helper()
	source := &fakeSource{}
	c.Source = source
	return New(c), source
}

func TestReuseFollowsTheStream(t *testing.T) {
	s, other := &fakeStream{}, &fakeStream{}
	a, source := whole(t, Config{})
	b := mustAlloc(t, a, 8*miB, s)
	at := b.Addr
	free(t, a, b, Use{s, s.submit()})
	require.Equal(t, int64(8*miB), a.Stats().Active.Current)
	require.Zero(t, a.Stats().Allocated.Current)

	b = mustAlloc(t, a, 8*miB, s)
	require.Equal(t, at, b.Addr, "the same stream at once")
	require.Equal(t, uint64(1), b.After)
	free(t, a, b)
	require.Equal(t, int64(8*miB), a.Stats().Active.Current, "the first use is not over")

	require.NotEqual(t, at, mustAlloc(t, a, 8*miB, other).Addr, "another stream has to wait")
	require.NotEqual(t, at, mustAlloc(t, a, 8*miB, nil).Addr, "so has the host")
	require.Equal(t, 3, source.open)

	s.finish(1)
	b = mustAlloc(t, a, 8*miB, other)
	require.Equal(t, at, b.Addr)
	require.Zero(t, b.After)
}

func TestSeveralUses(t *testing.T) {
	s1, s2 := &fakeStream{}, &fakeStream{}
	a, _ := whole(t, Config{})
	b := mustAlloc(t, a, 8*miB, s1)
	at := b.Addr
	for range 9 {
		s1.submit()
		s2.submit()
	}
	free(t, a, b, Use{s1, 3}, Use{s2, 5}, Use{s1, 7}, Use{nil, 1}, Use{s2, 4})
	require.NotEqual(t, at, mustAlloc(t, a, 8*miB, s1).Addr, "s2 still uses it")
	s1.finish(6)
	s2.finish(4)
	require.NotEqual(t, at, mustAlloc(t, a, 8*miB, s1).Addr, "the last of its uses counts")
	s2.finish(5)
	b = mustAlloc(t, a, 8*miB, s1)
	require.Equal(t, at, b.Addr, "only s1 still uses it")
	require.Equal(t, uint64(7), b.After)
	free(t, a, b, Use{s2, 9})
	s2.finish(9)
	require.NotEqual(t, at, mustAlloc(t, a, 8*miB, s2).Addr, "the use before is not over")
	s1.finish(7)
	require.Equal(t, at, mustAlloc(t, a, 8*miB, s2).Addr)
}

// What a stream has freed is one block again at once, as if nothing were pending.
func TestPendingBlocksMergeAndSplit(t *testing.T) {
	s := &fakeStream{}
	a, source := whole(t, Config{})
	for round := range 50 {
		var blocks []*Block
		for range 7 {
			blocks = append(blocks, mustAlloc(t, a, int64(round+1)*20_000, s))
		}
		for i := range blocks {
			free(t, a, blocks[i*3%7], Use{s, s.submit()})
		}
	}
	require.Equal(t, 1, source.calls)
	require.Zero(t, s.done.Load())
	require.Zero(t, s.syncs.Load())
}

// A block that grows waits for its newest part and holds up no other.
func TestPendingInOrder(t *testing.T) {
	s := &fakeStream{}
	a, _ := whole(t, Config{})
	var blocks [4]*Block
	for i := range blocks {
		blocks[i] = mustAlloc(t, a, 2*miB, s)
	}
	for _, i := range []int{1, 3, 0} { // 0 joins 1
		free(t, a, blocks[i], Use{s, s.submit()})
	}
	s.finish(2)
	require.Equal(t, int64(2+4)*miB, a.Stats().Active.Current, "one live, two that wait as one")
}

// Allocations that find nothing in their own pool move what is done to the common pool.
func TestSweepOnTheWay(t *testing.T) {
	s1, s2 := &fakeStream{}, &fakeStream{}
	a, _ := whole(t, Config{})
	var blocks []*Block
	for range 8 {
		blocks = append(blocks, mustAlloc(t, a, miB/2, nil))
	}
	for i := range 4 {
		free(t, a, blocks[2*i], Use{s1, s1.submit()}, Use{s2, s2.submit()})
		free(t, a, blocks[2*i+1], Use{s1, s1.submit()})
	}
	s1.finish(8)
	s2.finish(4)
	for _, want := range []int{2, 0} { // two blocks with two users a call
		mustAlloc(t, a, 256, nil)
		require.Equal(t, want, a.pending)
	}
}

// A request that neither the stream's pool nor the common pool can serve is served from both.
func TestBridge(t *testing.T) {
	s := &fakeStream{}
	a, source := whole(t, Config{})
	var blocks []*Block
	for range 4 {
		blocks = append(blocks, mustAlloc(t, a, 2*miB, s))
	}
	free(t, a, blocks[0])
	free(t, a, blocks[1], Use{s, s.submit()})
	free(t, a, blocks[2])
	free(t, a, blocks[3], Use{s, s.submit()})
	mustAlloc(t, a, 8*miB, s)
	require.Equal(t, 1, source.calls)
}

func TestForget(t *testing.T) {
	s, other := &fakeStream{}, &fakeStream{}
	a, source := whole(t, Config{})
	b := mustAlloc(t, a, miB, s)
	free(t, a, b, Use{s, s.submit()})
	inherited := mustAlloc(t, a, miB, s)
	require.Equal(t, uint64(1), inherited.After)
	single, double := mustAlloc(t, a, miB, s), mustAlloc(t, a, miB, s)
	free(t, a, single, Use{s, s.submit()})
	free(t, a, double, Use{s, s.submit()}, Use{other, other.submit()})
	a.Forget(s)
	require.NoError(t, check(a))
	require.Equal(t, int64(2*miB), a.Stats().Active.Current, "one live, one that the other stream uses")
	free(t, a, inherited)
	other.finish(1)
	require.Zero(t, a.Stats().Active.Current)
	mustAlloc(t, a, 8*miB, nil)
	require.Equal(t, 1, source.calls)
	a.Forget(s)
	a.Forget(other)
}
