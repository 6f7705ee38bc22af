// Command cache measures warm look-ups in the cache of compiled programs (core/program): what one costs
// with its Release, and how many do not find their program without a lock, for different numbers of live
// programs and with one and two goroutines. Look-ups go through all programs in random order.
//
// The time is that of Find and Release alone. A call of an operator makes its key first, which belongs to
// the device, and then does the same two steps. The command fails when a bar is missed: a look-up of a
// live program that takes the lock, or one that takes too long where a training script typically is.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/program"
)

// The measurement and its bars. A round is short, so that some rounds are not disturbed by other work on the
// machine.
const (
	rounds  = 100     // of each measurement, of which the fastest counts: other work only adds time
	lookUps = 1 << 15 // of each goroutine in a round, at least
	maxNS   = 60      // nanoseconds of a look-up, with
	maxNSAt = 1000    // live programs
)

func main() {
	ok, err := table(os.Stdout)
	if err == nil && !ok {
		err = errors.New("a bar was missed")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cache:", err)
		os.Exit(1)
	}
}

// kinds of keys: of programs that take all shapes, as most shaders do, and of programs that are compiled for
// one, as graphs of MPSGraph are. The latter have a text, which takes longer to hash and to compare.
var kinds = []struct {
	name   string
	shapes bool
}{{"any shape", false}, {"one shape", true}}

// table prints a line for each kind of key and number of programs. It reports whether the bars are met.
func table(out io.Writer) (ok bool, err error) {
	ok = true
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "keys of\tlive\t1 goroutine\tslow path\t2 goroutines\tslow path\t")
	for _, kind := range kinds {
		for _, live := range []int{16, 128, 256, 1000, 4096} {
			m, err := fill(live, kind.shapes)
			if err != nil {
				return false, err
			}
			one, two := m.best(1), m.best(2)
			fmt.Fprintf(w, "%s\t%d\t%.1f ns\t%.2f %%\t%.1f ns\t%.2f %%\t\n", kind.name, live, one.ns, one.slow, two.ns, two.slow)
			ok = ok && one.slow == 0 && two.slow == 0 && (live != maxNSAt || one.ns <= maxNS)
		}
	}
	if err := w.Flush(); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "\nbars: nothing on the slow path; at most %d ns with %d programs and 1 goroutine\n", maxNS, maxNSAt)
	return ok, nil
}

// cache is a cache with the keys of all its programs.
type cache struct {
	*program.Cache
	keys []device.Key
}

// none is a program that does nothing: only the cache is measured.
type none struct{}

func (none) Workspace(*device.Call) int64 { return 0 }
func (none) Close() error                 { return nil }

// fill makes a cache with some live programs, none of which is evicted. It checks that, because a look-up of
// an evicted program would be a miss, which is another thing to measure.
func fill(live int, shapes bool) (c cache, err error) {
	c = cache{program.New(program.Config{}), make([]device.Key, live)}
	for i := range c.keys {
		c.keys[i] = key(i, shapes)
		e, err := c.Get(c.keys[i], 0, func() (device.Program, error) { return none{}, nil })
		if err != nil {
			return c, err
		}
		e.Release(0)
	}
	if got := c.Stats().Entries; got != int64(live) {
		return c, fmt.Errorf("the cache has %d programs; want %d", got, live)
	}
	return c, nil
}

// key is the key of program i, as devices fill it for three operands. Without shapes, it is one of 64
// operators and of as many classes as there need be, as for shaders. With shapes, its text is that of three
// layouts of four dimensions, as for graphs.
func key(i int, shapes bool) device.Key {
	k := device.Key{Op: op.ID(i % 64), Class: uint64(i / 64)}
	x := device.Operand{DType: dtype.Float32}
	k.SetDTypes([]device.Operand{x}, []device.Operand{x, x})
	if shapes {
		k.Class = 2
		var text []byte
		for range 3 {
			text = append(text, 4)
			for _, d := range []int64{32, 64, int64(i), 128} {
				text = binary.AppendVarint(text, d)
			}
			text = append(text, 0)
		}
		k.AppendRest(text)
	}
	return k
}

// cost is what a look-up takes, and the percentage of those on the slow path: Find has not found the
// program, and Get takes the lock.
type cost struct{ ns, slow float64 }

// best is the cost of a look-up in the fastest round, and the largest share of slow ones in any round.
// Each goroutine has an order and a lane of its own. The keys of an order lie one after the other, so that
// reading them costs next to nothing: a call has its key on the stack.
func (c cache) best(goroutines int) (b cost) {
	orders := make([][]device.Key, goroutines)
	for i := range orders {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		for len(orders[i]) < lookUps {
			for _, n := range rng.Perm(len(c.keys)) {
				orders[i] = append(orders[i], c.keys[n])
			}
		}
	}
	for round := range rounds {
		got := c.round(orders)
		if round == 0 {
			b = got
		}
		b = cost{min(b.ns, got.ns), max(b.slow, got.slow)}
	}
	return b
}

// round has each goroutine look up all keys of its order. The time is the mean of theirs: what a call
// waits for, not what the machine gets done.
func (c cache) round(orders [][]device.Key) (total cost) {
	costs := make([]cost, len(orders))
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range orders {
		all.Go(func() {
			<-start
			costs[i] = c.lookUpAll(orders[i], program.Lane(i))
		})
	}
	close(start)
	all.Wait()
	for _, one := range costs {
		total.ns += one.ns / float64(len(orders))
		total.slow += one.slow / float64(len(orders))
	}
	return total
}

// lookUpAll looks up keys and releases what it finds, as a call of an operator does.
func (c cache) lookUpAll(keys []device.Key, on program.Lane) cost {
	slow := 0
	began := time.Now()
	for i := range keys {
		e := c.Find(&keys[i], on)
		if e == nil {
			slow++
			e, _ = c.Get(keys[i], on, nil) // all of them are live: there is nothing to compile
		}
		e.Release(on)
	}
	n := float64(len(keys))
	return cost{float64(time.Since(began).Nanoseconds()) / n, 100 * float64(slow) / n}
}
