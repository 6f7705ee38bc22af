package alloc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// ./build.sh bench alloc compares these with malloc.

var benchSizes = []struct {
	name string
	size int64
}{{"256B", 256}, {"4KiB", 4 << 10}, {"100KB", 100_000}, {"3MiB", 3 << 20}}

func BenchmarkPair(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			a := New(Config{Source: &fakeSource{}})
			_, err := a.Alloc(256, nil) // a program has other memory
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				x, err := a.Alloc(c.size, nil)
				if err != nil {
					b.Fatal(err)
				}
				a.Free(x, nil)
			}
		})
	}
}

// BenchmarkPairContended divides the time by the pairs of both goroutines.
func BenchmarkPairContended(b *testing.B) {
	a := New(Config{Source: &fakeSource{}})
	b.SetParallelism(1)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			x, err := a.Alloc(4<<10, nil)
			if err != nil {
				b.Error(err)
				return
			}
			a.Free(x, nil)
		}
	})
}

// BenchmarkPairPending frees under a stream that never gets done, as in a loop of kernel launches.
func BenchmarkPairPending(b *testing.B) {
	a := New(Config{Source: &fakeSource{}})
	s := &fakeStream{}
	uses := []Use{{s, 0}}
	b.ReportAllocs()
	for b.Loop() {
		x, err := a.Alloc(4<<10, s)
		if err != nil {
			b.Fatal(err)
		}
		uses[0].Ticket = s.submit()
		a.Free(x, uses)
	}
}

// BenchmarkChurn replaces a random one of 1000 blocks of mixed sizes, so that bins and merges work.
func BenchmarkChurn(b *testing.B) {
	a := New(Config{Source: &fakeSource{}})
	live := make([]*Block, 1000)
	seed := uint64(1)
	b.ReportAllocs()
	for b.Loop() {
		seed = seed*6364136223846793005 + 1442695040888963407
		i := seed >> 33 % uint64(len(live))
		a.Free(live[i], nil)
		var err error
		live[i], err = a.Alloc(int64(1)<<(seed>>50%14)+int64(seed>>40%4096), nil)
		if err != nil {
			b.Fatal(err)
		}
	}
}
