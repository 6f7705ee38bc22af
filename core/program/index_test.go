package program

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// TestIndexAgainstMap changes an index at random and compares it with a map. Hashes are good, or collide
// so often that searches pass over many slots of other and of removed entries.
func TestIndexAgainstMap(t *testing.T) {
	for name, hash := range map[string]func(n int) uint64{
		"spread": func(n int) uint64 { return uint64(n)*0x9e3779b97f4a7c15 | 1<<63 },
		"few":    func(n int) uint64 { return uint64(n%5) | 1<<63 },
		"one":    func(int) uint64 { return 1<<64 - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			var x index
			x.init()
			want := map[int]*Entry{}
			for range 5000 {
				n := rng.IntN(150)
				k := device.Key{Class: uint64(n)}
				require.Same(t, want[n], x.find(&k, hash(n)))
				if e := want[n]; e != nil {
					x.remove(e)
					delete(want, n)
				} else {
					want[n] = &Entry{key: k, hash: hash(n)}
					x.add(want[n])
				}
				require.Len(t, want, x.live)
			}
			require.LessOrEqual(t, 2*x.used, len(x.table.Load().slots))
		})
	}
}

// TestIndexComparesWholeKeys looks for keys that differ in one field from one that is there, with its hash.
func TestIndexComparesWholeKeys(t *testing.T) {
	k := device.Key{Op: 1, Outs: 1, Ins: 2, DTypes: [2]uint64{3, 4}, Class: 5, Rest: "6"}
	var x index
	x.init()
	e := &Entry{key: k, hash: 7}
	x.add(e)
	require.Same(t, e, x.find(&k, 7))
	for i := range reflect.TypeOf(k).NumField() {
		other := k
		switch f := reflect.ValueOf(&other).Elem().Field(i); f.Kind() {
		case reflect.String:
			f.SetString("7")
		case reflect.Array:
			f.Index(1).SetUint(0)
		default:
			f.SetUint(0)
		}
		require.NotEqual(t, k, other)
		require.Nil(t, x.find(&other, 7), "%+v", other)
	}
}

// TestIndexReaders has readers look for entries that stay while a writer adds and removes others and
// replaces the table many times: they always find what stays, and never another entry.
func TestIndexReaders(t *testing.T) {
	var x index
	x.init()
	hash := func(n int) uint64 { return uint64(n%37) | 1<<63 } // they share slots
	entry := func(n int) *Entry { return &Entry{key: device.Key{Class: uint64(n)}, hash: hash(n)} }
	const stay = 20
	for n := range stay {
		x.add(entry(n))
	}
	var over atomic.Bool
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for n := 0; !over.Load(); n = (n + 1) % (2 * stay) {
				k := device.Key{Class: uint64(n)}
				e := x.find(&k, hash(n))
				if e == nil && n < stay || e != nil && e.key != k {
					t.Errorf("looked for %d, found %v", n, e)
					return
				}
			}
		})
	}
	for range 200 {
		var added []*Entry
		for n := stay; n < 5*stay; n++ {
			added = append(added, entry(n))
			x.add(added[len(added)-1])
		}
		for _, e := range added {
			x.remove(e)
		}
	}
	over.Store(true)
	readers.Wait()
}

// TestHashSpreads has keys that differ as keys of real programs do, each family in one field only, for many
// seeds. A search in a table that is at most half full then passes over half a slot on average.
func TestHashSpreads(t *testing.T) {
	seeds := 100
	if testing.Short() { // one goroutine: the race detector has nothing to see
		seeds = 5
	}
	for name, key := range map[string]func(n uint64) device.Key{
		"operators": func(n uint64) device.Key { return device.Key{Op: op.ID(n)} },
		"low dtype": func(n uint64) device.Key { return device.Key{DTypes: [2]uint64{n}} },
		"last dtypes": func(n uint64) device.Key {
			return device.Key{DTypes: [2]uint64{0, n << 48}}
		},
		"classes":      func(n uint64) device.Key { return device.Key{Class: n} },
		"high classes": func(n uint64) device.Key { return device.Key{Class: n << 48} },
		"rest":         func(n uint64) device.Key { return device.Key{Rest: strconv.FormatUint(n, 10)} },
		"both": func(n uint64) device.Key {
			return device.Key{Op: op.ID(n / 64), Class: n % 64}
		},
		"equal words": func(n uint64) device.Key { return device.Key{DTypes: [2]uint64{n, n}, Class: n} },
	} {
		t.Run(name, func(t *testing.T) {
			for range seeds {
				c := New(Config{})
				passed := 0
				const live = 4096
				for n := range uint64(live) {
					k := key(n)
					c.live.add(&Entry{key: k, hash: c.hash(&k)})
				}
				slots := c.live.table.Load().slots
				for i := range slots {
					if e := slots[i].entry.Load(); e != nil {
						passed += (i - int(e.hash%uint64(len(slots))) + len(slots)) % len(slots)
					}
				}
				require.Less(t, passed, live, "passed over in %d searches", live)
			}
		})
	}
}
