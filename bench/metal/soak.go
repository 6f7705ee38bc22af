package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

// soak runs operators of always new shapes through MPSGraph, which compiles a graph for each, and prints how much is
// kept in the program cache and in the process. After a fifth of the time the cache is full; from then on the bytes
// of programs and the number of objects may grow by 2 %, and resident memory, which malloc and Go's runtime return
// late, by 20 %.
func soak(spell time.Duration) error {
	m, err := start(metal.PreferGraphs)
	if err != nil {
		return err
	}
	fmt.Printf("%8s%10s%10s%12s%12s%12s%12s\n", "seconds", "shapes", "programs", "their MiB", "evictions", "objects", "RSS MiB")
	var first, last [3]float64
	// n counts the shapes so far; see shape.
	begin, n := time.Now(), int64(0)
	// Five lines, each after a fifth of the time.
	for next := spell / 5; next <= spell; next += spell / 5 {
		for time.Since(begin) < next {
			n++
			if err := m.shape(n); err != nil {
				return err
			}
		}
		if err := m.gpu.Synchronize(); err != nil {
			return err
		}
		p := m.gpu.Programs()
		live, err := fakemetal.Counted("live_objects")
		if err != nil {
			return err
		}
		last = [3]float64{float64(p.Bytes) / (1 << 20), float64(live), resident()}
		if first == [3]float64{} {
			first = last
		}
		fmt.Printf("%8.0f%10d%10d%12.1f%12d%12d%12.0f\n", time.Since(begin).Seconds(), n, p.Entries, last[0], p.Evictions, live, last[2])
	}
	// In the order of the columns of last.
	for i, what := range []string{"bytes of programs", "objects", "resident memory"} {
		if last[i] > first[i]*[3]float64{1.02, 1.02, 1.2}[i] {
			return fmt.Errorf("%s grew from %.0f to %.0f", what, first[i], last[i])
		}
	}
	return m.rt.Close()
}

// shape runs an addition, a maximum and a sum of the n-th shape. 131071 shapes are different, because 131071 is prime;
// multiplying by 48271 mixes large and small ones.
func (m *machine) shape(n int64) error {
	i := n * 48271 % 131071
	x, err := m.tensor(1+i%32, 1+i/32%64, 1+i/2048)
	if err != nil {
		return err
	}
	made := []*runtime.Tensor{x}
	defer func() {
		for _, t := range made {
			m.rt.Free(t.Handle())
		}
	}()
	for _, name := range []string{"add", "maximum"} {
		y, err := eager.Binary(m.rt, op.MustByName(name), runtime.Operand{Tensor: x}, runtime.Operand{Tensor: x}, nil)
		if err != nil {
			return err
		}
		made = append(made, y)
	}
	row := op.MustByName("sum")
	at := make(op.Attrs, len(row.Attrs))
	for i := range at {
		at[i] = row.Attrs[i].Default
	}
	sums, err := eager.Call(m.rt, row, []runtime.Operand{{Tensor: x}}, at, m.gpu, nil)
	made = append(made, sums...)
	return err
}

// resident is the resident memory of the process in MiB, from the second field of /proc/self/statm; 0 on systems
// without it.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var pages, held float64
	if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &pages, &held); err != nil {
		return 0
	}
	return held * float64(os.Getpagesize()) / (1 << 20)
}
