package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
)

// The parameters of the loops, the same as in c/pairs.c, which runs them with malloc: rounds, of which the median
// counts; pairs per thread and round; live blocks of the churn.
const (
	pairRounds = 9
	pairCount  = 400_000
	churnLive  = 1000
)

// pairBars are the bars in nanoseconds per pair, by the number of threads. The time is divided by the pairs of one
// thread: two threads that wait for one lock take the time of both.
var pairBars = map[int]float64{1: 60, 2: 150}

// pairSizes are the requests in bytes; 0 is the churn, in which each step replaces a random one of a thousand live
// blocks of up to 12 KiB.
var pairSizes = []int64{256, 4 * kib, 100_000, 3 * mib, 0}

// pairKey identifies a measurement.
type pairKey struct {
	threads int
	size    int64
}

// pairs prints nanoseconds per pair for alloc, malloc and mimalloc, and reports whether alloc meets its bars.
func pairs(out io.Writer) (good bool, err error) {
	work, err := os.MkdirTemp("", "pairs")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(work)
	malloc, mimalloc, err := peers(filepath.Join(work, "pairs"))
	if err != nil {
		return false, err
	}
	good = true
	fmt.Fprintf(out, "%-22s %8s %11s %10s %10s\n", "ns a pair", "alloc", "bar", "malloc", "mimalloc")
	// Two threads show what the one lock of an allocator costs.
	for threads := 1; threads <= 2; threads++ {
		for _, size := range pairSizes {
			key, name := pairKey{threads, size}, fmt.Sprintf("%d B", size)
			if size == 0 {
				name = "churn"
			}
			t, bar := pairTime(key), pairBars[threads]
			verdict := fmt.Sprintf("%.0f %s", bar, pass(t <= bar))
			if size == 0 {
				verdict = "" // the bar is for pairs of one size, not for random merges and splits
			} else {
				good = good && t <= bar
			}
			fmt.Fprintf(out, "%-10s %d thread%-3s %8.1f %11s %10s %10s\n", name, threads, "s"[:threads-1], t, verdict, malloc[key], mimalloc[key])
		}
	}
	return good, nil
}

// pairTime is the median of the rounds of one measurement, in nanoseconds per pair. The allocator is the same in all
// rounds, so that only the first one makes heaps.
func pairTime(k pairKey) float64 {
	// One block stays live, so that the heap does not become idle with each free: a program has other memory too.
	a := alloc.New(alloc.Config{Source: nowhere{}})
	first, err := a.Alloc(256, nil)
	if err != nil {
		panic(err)
	}
	defer a.Free(first, nil)
	var times [pairRounds]float64
	for i := range times {
		var wg sync.WaitGroup
		start := time.Now()
		for t := range k.threads {
			wg.Go(func() {
				if k.size == 0 {
					churn(a, uint64(t+1))
				} else {
					pairLoop(a, k.size)
				}
			})
		}
		wg.Wait()
		times[i] = float64(time.Since(start)) / pairCount
	}
	slices.Sort(times[:])
	return times[pairRounds/2]
}

// pairLoop allocates and frees one size in turn.
func pairLoop(a *alloc.Allocator, size int64) {
	for range pairCount {
		b, err := a.Alloc(size, nil)
		if err != nil {
			panic(err)
		}
		a.Free(b, nil)
	}
}

// churn replaces random blocks of random sizes. The generator is Knuth's linear congruential one, as in c/pairs.c, so
// that both allocate the same sequence.
func churn(a *alloc.Allocator, seed uint64) {
	live := make([]*alloc.Block, churnLive)
	for range pairCount {
		seed = seed*6364136223846793005 + 1442695040888963407
		slot := &live[seed>>33%churnLive]
		a.Free(*slot, nil)
		b, err := a.Alloc(int64(1)<<(seed>>50%14)+int64(seed>>40%4096), nil)
		if err != nil {
			panic(err)
		}
		*slot = b
	}
	for _, b := range live {
		a.Free(b, nil)
	}
}

// peers runs the loops with malloc and with mimalloc. Where a compiler or mimalloc is missing, it prints what to
// install and leaves the column empty.
func peers(program string) (malloc, mimalloc map[pairKey]string, err error) {
	// The compiler of build.sh.
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if words, err := exec.Command(cc, "-O2", "-pthread", "-o", program, "bench/alloc/c/pairs.c").CombinedOutput(); err != nil {
		fmt.Printf("the columns of malloc stay empty: %s (apt-get install gcc libc6-dev): %s\n", err, words)
		return nil, nil, nil
	}
	if malloc, err = pairsOf(program, ""); err != nil {
		return nil, nil, err
	}
	library := mimallocLibrary()
	if library == "" {
		fmt.Println("the column of mimalloc stays empty: apt-get install libmimalloc2.0")
		return malloc, nil, nil
	}
	mimalloc, err = pairsOf(program, library)
	return malloc, mimalloc, err
}

// pairsOf runs the compiled pairs.c and reads its lines "threads size nanoseconds". library, if not empty, is loaded
// first and replaces malloc.
func pairsOf(program, library string) (map[pairKey]string, error) {
	c := exec.Command(program)
	c.Env = append(os.Environ(), "LD_PRELOAD="+library)
	words, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("pairs.c with %q: %w", library, err)
	}
	times := map[pairKey]string{}
	for line := range strings.Lines(string(words)) {
		f := strings.Fields(line)
		threads, _ := strconv.Atoi(f[0])
		size, _ := strconv.ParseInt(f[1], 10, 64)
		times[pairKey{threads, size}] = f[2]
	}
	return times, nil
}

// mimallocLibrary finds Debian's mimalloc; root installs it where it is missing. It is empty where there is none.
func mimallocLibrary() string {
	for range 2 {
		for _, pattern := range []string{"/usr/lib/*/libmimalloc.so*", "/usr/lib/libmimalloc.so*"} {
			if found, _ := filepath.Glob(pattern); len(found) > 0 {
				return found[0]
			}
		}
		if os.Getuid() != 0 || exec.Command("apt-get", "install", "-y", "-q", "libmimalloc2.0").Run() != nil {
			return ""
		}
	}
	return ""
}
