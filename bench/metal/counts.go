package main

import (
	"fmt"
	goruntime "runtime"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

// table prints rows and records whether one exceeded its bar. bench/pair reads the rows of two revisions by their
// names.
type table struct{ missed bool }

// row prints a number with its bar, which is the most that it may be; a negative bar is none.
func (t *table) row(what string, value float64, bar float64) {
	verdict := ""
	if bar >= 0 {
		verdict = fmt.Sprintf("%8g ok", bar)
		if value > bar {
			verdict, t.missed = fmt.Sprintf("%8g MISSED", bar), true
		}
	}
	fmt.Printf("%-62s%10.4g%s\n", what, value, verdict)
}

// note prints a number without a bar.
func (t *table) note(what string, value float64) { t.row(what, value, -1) }

// tally has the counts of the mock (sends to objects, command buffers, compilations, buffers, bytes copied by the
// GPU, MPSGraphTensorData, encoded graphs) and those of Go's runtime (calls of C, allocations).
type tally struct {
	sends, commits, compiles, buffers, copied, datas, graphs, barriers int64
	crossings, mallocs                                                 int64
}

// since runs work and returns what was counted meanwhile. Other goroutines are counted too, so nothing else runs.
func since(work func() error) (t tally, err error) {
	// The names are those of the counters in tests/fakemetal.
	numbers := map[string]*int64{
		"sends": &t.sends, "commits": &t.commits, "compiles": &t.compiles, "buffers": &t.buffers,
		"copied_bytes": &t.copied, "tensor_datas": &t.datas, "encoded_graphs": &t.graphs,
		"memory_barriers": &t.barriers,
	}
	if err := fakemetal.ResetCounts(); err != nil {
		return t, err
	}
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	crossings := goruntime.NumCgoCall()
	if err := work(); err != nil {
		return t, err
	}
	t.crossings = goruntime.NumCgoCall() - crossings
	goruntime.ReadMemStats(&after)
	t.mallocs = int64(after.Mallocs - before.Mallocs)
	for what, n := range numbers {
		if *n, err = fakemetal.Counted(what); err != nil {
			return t, err
		}
	}
	return t, nil
}

// tensor makes a tensor of zeros on the GPU; the caller frees it.
func (m *machine) tensor(dims ...int64) (*runtime.Tensor, error) {
	s, err := shape.Of(dims...)
	if err != nil {
		return nil, err
	}
	return m.rt.FromHost(m.gpu, dtype.Float32, s, make([]byte, 4*s.Numel()))
}

// counts prints the table; it is an error to exceed a bar. The machine prefers shaders, so that elementwise operators
// and small products do not go through MPSGraph.
func counts() error {
	m, err := start(metal.PreferShaders)
	if err != nil {
		return err
	}
	t := &table{}
	fmt.Printf("%-62s%10s%8s\n", "on "+m.gpu.Info().Name+", "+m.gpu.Info().System, "count", "bar")
	for _, part := range []func(*machine, *table) error{elementwise, orders, matrices, copies, waits} {
		if err := part(&m, t); err != nil {
			return err
		}
	}
	if err := m.rt.Close(); err != nil {
		return err
	}
	if err := fromC(t); err != nil {
		return err
	}
	if t.missed {
		return errMissed
	}
	return nil
}

// elementwise counts x + y of 8 floats, warm: first within one command buffer, where only the sends of the dispatch
// count, then over many calls with the commits, waits and completions that belong to them.
func elementwise(m *machine, t *table) error {
	x, err := m.tensor(8)
	if err != nil {
		return err
	}
	defer m.rt.Free(x.Handle())
	add := op.MustByName("add")
	call := func(n int) error {
		for range n {
			y, err := eager.Binary(m.rt, add, runtime.Operand{Tensor: x}, runtime.Operand{Tensor: x}, nil)
			if err != nil {
				return err
			}
			m.rt.Free(y.Handle())
		}
		return nil
	}
	// Warm up: the shader is compiled, and pools of records and buffers have their final size.
	if err := call(800); err != nil {
		return err
	}
	if err := m.gpu.Synchronize(); err != nil {
		return err
	}
	// One more call opens the command buffer, which the rows below must not count.
	if err := call(1); err != nil {
		return err
	}
	// Few enough that the command buffer, which takes 40 calls, is not committed meanwhile.
	const few = 30
	in, err := since(func() error { return call(few) })
	if err != nil {
		return err
	}
	t.row("x + y, 8 floats, warm: sends", float64(in.sends)/few, 8)
	t.row("  crossings from Go to C", float64(in.crossings)/few, 1)
	t.row("  Go allocations", float64(in.mallocs)/few, 0)
	if err := m.gpu.Synchronize(); err != nil {
		return err
	}
	const many = 8000
	all, err := since(func() error {
		if err := call(many); err != nil {
			return err
		}
		return m.gpu.Synchronize()
	})
	if err != nil {
		return err
	}
	t.note("  sends with commits, waits and completion", float64(all.sends)/many)
	// A command buffer is committed every 40 calls; 1.01 leaves room for the last one, which has fewer.
	t.row("  commits for 40 calls", 40*float64(all.commits)/many, 1.01)
	t.row("  compilations in 8000 calls", float64(all.compiles), 0)
	t.row("  buffers made in 8000 calls", float64(all.buffers), 0)
	t.row("  bytes copied in 8000 calls", float64(all.copied), 0)
	t.note("  Go allocations with commits, waits and completion", float64(all.mallocs)/many)
	return nil
}

// orders counts the memory barriers of 30 additions in one command buffer: of chains, whose links wait for each other, and
// of additions that do not. Results are kept: memory that is used again has to wait for its last use.
func orders(m *machine, t *table) error {
	const calls = 30
	add := op.MustByName("add")
	// run adds the last result of each of some chains to itself, in turn, and answers how many barriers that took. It begins
	// with no command buffer open, and all of it fits one.
	run := func(chains int) (int64, error) {
		var made []*runtime.Tensor
		defer func() {
			for _, y := range made {
				m.rt.Free(y.Handle())
			}
		}()
		for range chains {
			x, err := m.tensor(1 << 12)
			if err != nil {
				return 0, err
			}
			made = append(made, x)
		}
		all, err := since(func() error {
			for i := range calls {
				// The first ones are the beginnings of the chains; result i comes so many behind its operand.
				x := made[i]
				y, err := eager.Binary(m.rt, add, runtime.Operand{Tensor: x}, runtime.Operand{Tensor: x}, nil)
				if err != nil {
					return err
				}
				made = append(made, y)
			}
			return m.gpu.Synchronize()
		})
		return all.barriers, err
	}
	// Of several chains in turn each barrier orders a link of every one. The bars are what there has to be: a barrier less
	// would give wrong results, of which the mock ends the process.
	for _, c := range []struct {
		what   string
		chains int
	}{
		{"30 additions, a chain: memory barriers", 1},
		{"  3 chains, in turn", 3},
		{"  independent", calls},
	} {
		barriers, err := run(c.chains)
		if err != nil {
			return err
		}
		t.row(c.what, float64(barriers), float64(calls/c.chains-1))
	}
	return nil
}

// matrices counts a warm product of two matrices of 64 by 64, by a shader and, where that is preferred, through MPSGraph.
// It checks that it did go that way: the numbers would be meaningless otherwise.
func matrices(m *machine, t *table) error {
	const many = 400
	all, err := m.products(many)
	if err != nil {
		return err
	}
	if all.graphs != 0 {
		return fmt.Errorf("%d of %d products went through MPSGraph; want none", all.graphs, many)
	}
	t.note("matmul of 64 by 64 by a shader, warm: sends", float64(all.sends)/many)
	t.row("  compilations", float64(all.compiles)/many, 0)
	t.row("  bytes copied", float64(all.copied)/many, 0)
	// The other preference is that of a device, so it takes a machine of its own.
	graphs, err := start(metal.PreferGraphs)
	if err != nil {
		return err
	}
	if all, err = graphs.products(many); err != nil {
		return err
	}
	if all.graphs != many {
		return fmt.Errorf("%d of %d products went through MPSGraph", all.graphs, many)
	}
	t.note("matmul of 64 by 64 through MPSGraph, warm: sends", float64(all.sends)/many)
	t.note("  MPSGraphTensorData made", float64(all.datas)/many)
	t.row("  buffers made", float64(all.buffers)/many, 0)
	t.row("  compilations", float64(all.compiles)/many, 0)
	t.row("  bytes copied", float64(all.copied)/many, 0)
	t.note("  Go allocations", float64(all.mallocs)/many)
	return graphs.rt.Close()
}

// products counts warm products of two matrices of 64 by 64, with commits and completions.
func (m *machine) products(many int) (all tally, err error) {
	x, err := m.tensor(64, 64)
	if err != nil {
		return all, err
	}
	defer m.rt.Free(x.Handle())
	row := op.MustByName("matmul")
	// The defaults: neither matrix is transposed.
	at := make(op.Attrs, len(row.Attrs))
	for i := range at {
		at[i] = row.Attrs[i].Default
	}
	// Results are freed at once: memory is used again, and no call waits for more of it.
	call := func(n int) error {
		for range n {
			ys, err := eager.Call(m.rt, row, []runtime.Operand{{Tensor: x}, {Tensor: x}}, at, m.gpu, nil)
			if err != nil {
				return err
			}
			m.rt.Free(ys[0].Handle())
		}
		return m.gpu.Synchronize()
	}
	// Warm up: the program is compiled, and pools of records have their final size.
	if err := call(100); err != nil {
		return all, err
	}
	return since(func() error { return call(many) })
}

// copies counts copies between memory of the host program and the device, by the CPU (Context.CopyCount) and by the
// GPU, in units of the tensor's size.
func copies(m *machine, t *table) error {
	const n = 1 << 16
	s, err := shape.Of(n)
	if err != nil {
		return err
	}
	// counted is the number of copies of the whole tensor that work makes, by the CPU and by the GPU.
	counted := func(work func() error) (float64, error) {
		before, _ := m.gpu.CopyCount()
		gpu, err := since(work)
		after, _ := m.gpu.CopyCount()
		return float64(after-before) + float64(gpu.copied)/(4*n), err
	}
	// Zero copy needs memory that starts at a page, 16 KiB on Apple silicon.
	// SAFETY: only the address of memory, to find the start of a page; the heap does not move it.
	memory := make([]byte, 4*n+1<<14)
	memory = memory[-uintptr(unsafe.Pointer(&memory[0]))&(1<<14-1):][:4*n]
	var x *runtime.Tensor
	in, err := counted(func() (err error) { x, err = m.rt.FromHost(m.gpu, dtype.Float32, s, memory); return err })
	if err != nil {
		return err
	}
	t.row("to_tensor of 256 KiB: copies", in, 1)
	out, err := counted(func() error { return x.Read(memory) })
	if err != nil {
		return err
	}
	t.row("numpy() of a finished tensor: copies", out, 1)
	m.rt.Free(x.Handle())
	var shared *runtime.Tensor
	// Import makes a tensor of the CPU over the memory, Share one of the GPU over the same.
	none, err := counted(func() error {
		// SAFETY: the memory outlives both tensors.
		there, err := m.rt.Import(dtype.Float32, shape.Contiguous(s), unsafe.Pointer(&memory[0]), nil)
		if err != nil {
			return err
		}
		defer m.rt.Free(there.Handle())
		shared, err = there.Share(m.gpu)
		return err
	})
	if err != nil {
		return err
	}
	t.row("to_tensor with zero_copy of a page-aligned array: copies", none, 0)
	m.rt.Free(shared.Handle())
	return nil
}

// waits counts a synchronize of an idle device, which must not ask Metal at all.
func waits(m *machine, t *table) error {
	all, err := since(m.gpu.Synchronize)
	if err != nil {
		return err
	}
	t.row("synchronize of an idle device: sends", float64(all.sends), 0)
	return nil
}
