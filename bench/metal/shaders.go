package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

// The model of an M1, the smallest GPU that the library supports: 68 GB/s, and 2.6 TFLOP/s of fused multiply-adds,
// which are two operations each, on 1,024 lanes.
const (
	m1Bandwidth  = 68e9
	m1Arithmetic = 2.6e12 / 2
	m1Lanes      = 1024
)

// The bars: bytes moved for each byte of operands, and transactions for each that there has to be.
const (
	bytesBar        = 1.1
	transactionsBar = 1.25
)

// shaderCase is a call whose shaders are counted. The operands are those of a row of the operator table, of zeros.
type shaderCase struct {
	family, name string
	operator     string
	dtype        dtype.DType
	dims         [][]int64 // of the inputs
	attrs        map[string]op.Value
	swapped      bool  // the first input is read along its columns: its last two axes are exchanged
	rows         int64 // of which the threads are printed; 0: the elements of the result
	bar          float64
}

// groupCase is a program whose steps are one group: each operator gets what the one before has made, and the second input if
// it takes two.
type groupCase struct {
	shaderCase
	steps []string
}

// countedGroups are groups as models have them. A group of short dtypes takes four elements a thread, not 16 bytes.
func countedGroups() (all []groupCase) {
	for _, c := range []struct {
		name  string
		dtype dtype.DType
		dims  [][]int64
		steps []string
	}{
		{"10 steps", dtype.Float32, [][]int64{{1 << 16}, {1 << 16}}, []string{
			"add", "multiply", "relu", "subtract", "tanh", "add", "square", "multiply", "sigmoid", "add",
		}},
		{"10 steps, float16", dtype.Float16, [][]int64{{1 << 16}, {1 << 16}}, []string{
			"add", "multiply", "relu", "subtract", "tanh", "add", "square", "multiply", "sigmoid", "add",
		}},
		{"a bias to channels, relu", dtype.Float32, [][]int64{{8, 64, 128}, {64, 1}}, []string{"add", "relu"}},
		{"a bias to rows, gelu", dtype.Float32, [][]int64{{256, 256}, {256}}, []string{"add", "gelu"}},
		{"a number to each row, silu", dtype.Float32, [][]int64{{256, 256}, {256, 1}}, []string{"multiply", "silu"}},
		{"rows of 255", dtype.Float32, [][]int64{{1024, 255}, {255}}, []string{"add", "multiply", "relu"}},
	} {
		all = append(all, groupCase{shaderCase{family: "groups", name: c.name, dtype: c.dtype, dims: c.dims, bar: bytesBar}, c.steps})
	}
	return all
}

// axis is the attributes of a reduction over one axis, of all axes without one.
func axis(n ...int64) map[string]op.Value {
	if len(n) == 0 {
		return nil
	}
	return map[string]op.Value{"axis": {Kind: op.Int, I: n[0]}}
}

// with adds an attribute, a number or a list of them.
func with(attrs map[string]op.Value, name string, n ...int64) map[string]op.Value {
	// The attributes that are given already stay as they are.
	all := map[string]op.Value{name: {Kind: op.Int, I: n[0]}}
	if len(n) > 1 {
		all[name] = op.Value{Kind: op.Ints, Ints: n}
	}
	maps.Copy(all, attrs)
	return all
}

// indices are the operators whose last operand is int64: places.
var indices = []string{"index", "index_put", "index_reduce", "max_unpool"}

// countedShaders are the families that the design makes a promise for, in shapes that are small enough for the mock
// and have what tells a good kernel from a bad one: rows that are no multiple of a vector or a SIMD group, more rows
// than threads and fewer.
func countedShaders() []shaderCase {
	// The dtypes of each size, and shapes of one and two operands.
	f32, f16, i64, u8 := dtype.Float32, dtype.Float16, dtype.Int64, dtype.Uint8
	one := func(dims ...int64) [][]int64 { return [][]int64{dims} }
	two := func(x, y []int64) [][]int64 { return [][]int64{x, y} }
	const b = bytesBar
	return []shaderCase{
		{"elementwise", "contiguous, float32", "add", f32, two([]int64{1 << 16}, []int64{1 << 16}), nil, false, 0, b},
		{"elementwise", "contiguous, float16", "add", f16, two([]int64{1 << 16}, []int64{1 << 16}), nil, false, 0, b},
		{"elementwise", "contiguous, uint8", "add", u8, two([]int64{1 << 16}, []int64{1 << 16}), nil, false, 0, b},
		{"elementwise", "contiguous, exp", "exp", f32, one(1 << 16), nil, false, 0, b},
		{"elementwise", "a bias to rows", "add", f32, two([]int64{256, 256}, []int64{256}), nil, false, 0, b},
		{"elementwise", "a number to each row", "add", f32, two([]int64{256, 256}, []int64{256, 1}), nil, false, 0, b},
		{"elementwise", "columns and rows", "add", f32, two([]int64{256, 256}, []int64{256, 256}), nil, true, 0, b},
		{"elementwise", "a bias to rows, float16", "add", f16, two([]int64{256, 512}, []int64{512}), nil, false, 0, b},
		{"elementwise", "a bias to channels, 3 axes", "add", f32, two([]int64{8, 64, 128}, []int64{64, 1}), nil, false, 0, b},
		{"copies", "a transposed matrix, float16", "assign", f16, one(256, 256), nil, true, 0, b},
		{"copies", "a transposed matrix", "assign", f32, one(256, 256), nil, true, 0, b},
		{"copies", "to float16", "cast", f32, one(1 << 16), map[string]op.Value{"dtype": {Kind: op.DType, I: int64(f16)}}, false, 0, b},
		{"reductions, last axis", "sum, 1024 x 1000", "sum", f32, one(1024, 1000), axis(-1), false, 1024, b},
		{"reductions, last axis", "sum, 8192 x 64", "sum", f32, one(8192, 64), axis(-1), false, 8192, b},
		{"reductions, last axis", "sum, 16384 x 7", "sum", f32, one(16384, 7), axis(-1), false, 16384, b},
		{"reductions, last axis", "max, 4096 x 100, float16", "max", f16, one(4096, 100), axis(-1), false, 4096, b},
		{"reductions, last axis", "sum, 4096 x 100, int64", "sum", i64, one(4096, 100), axis(-1), false, 4096, b},
		{"reductions, last axis", "any, 1024 x 1000, uint8", "any", u8, one(1024, 1000), axis(-1), false, 1024, b},
		{"reductions, last axis", "prod, 1024 x 1001", "prod", f32, one(1024, 1001), axis(-1), false, 1024, b},
		{"reductions, last axis", "argmax, 1024 x 1000", "argmax", f32, one(1024, 1000), axis(-1), false, 1024, b},
		{"reductions, last axis", "mean, 4 x 100000", "mean", f32, one(4, 100000), axis(-1), false, 4, b},
		{"reductions, outer axis", "sum, 1000 x 1024", "sum", f32, one(1000, 1024), axis(0), false, 1024, b},
		{"reductions, outer axis", "max, 100000 x 8", "max", f32, one(100000, 8), axis(0), false, 8, b},
		{"reductions, outer axis", "sum, 1000 x 1001", "sum", f32, one(1000, 1001), axis(0), false, 1001, b},
		{"reductions, outer axis", "sum, 64 x 32 x 128, middle", "sum", f32, one(64, 32, 128), axis(1), false, 64 * 128, b},
		{"reductions, outer axis", "sum, 1000 x 1024, float16", "sum", f16, one(1000, 1024), axis(0), false, 1024, b},
		{"reductions, outer axis", "sum over rows of a transposed", "sum", f32, one(512, 512), axis(-1), true, 512, b},
		{"reductions, all", "sum, 2^20", "sum", f32, one(1 << 20), nil, false, 1, b},
		{"reductions, all", "max, 2^20, float16", "max", f16, one(1 << 20), nil, false, 1, b},
		{"softmax", "4096 x 32", "softmax", f32, one(4096, 32), axis(-1), false, 4096, b},
		{"softmax", "4096 x 33", "softmax", f32, one(4096, 33), axis(-1), false, 4096, b},
		{"softmax", "2048 x 100, float16", "softmax", f16, one(2048, 100), axis(-1), false, 2048, b},
		{"softmax", "1024 x 1000", "softmax", f32, one(1024, 1000), axis(-1), false, 1024, b},
		{"softmax", "128 x 4096", "softmax", f32, one(128, 4096), axis(-1), false, 128, b},
		{"softmax", "128 x 4096, float16", "softmax", f16, one(128, 4096), axis(-1), false, 128, b},
		{"softmax", "16 x 50000", "softmax", f32, one(16, 50000), axis(-1), false, 16, -1},
		{"softmax", "outer axis, 256 x 256", "softmax", f32, one(256, 256), axis(0), false, 256, b},
		// Without a bar: what each of them promises is another number. Sorts go over the list many times, windows read an
		// element for each window that it is in, and index_reduce reads all indices for each slice.
		{"scans", "cumsum, 1024 x 1000", "cumsum", f32, one(1024, 1000), axis(-1), false, 1024, -1},
		{"scans", "cumprod, 1024 x 1000", "cumprod", f32, one(1024, 1000), axis(-1), false, 1024, -1},
		{"scans", "cummax, 1024 x 1000", "cummax", f32, one(1024, 1000), axis(-1), false, 1024, -1},
		{"scans", "logcumsumexp, 256 x 1000", "logcumsumexp", f32, one(256, 1000), axis(-1), false, 256, -1},
		{"sorts", "sort, 256 x 256", "sort", f32, one(256, 256), axis(-1), false, 256, -1},
		{"sorts", "sort, 4 x 8192", "sort", f32, one(4, 8192), axis(-1), false, 4, -1},
		{"sorts", "topk, 8 of 256 x 256", "topk", f32, one(256, 256), with(axis(-1), "k", 8), false, 256, -1},
		{"convolutions", "conv, 8 channels, 3 x 3", "conv", f32, two([]int64{2, 8, 18, 18}, []int64{8, 8, 3, 3}), nil, false, 0, -1},
		{"convolutions", "conv_transpose, the same", "conv_transpose", f32, two([]int64{2, 8, 16, 16}, []int64{8, 8, 3, 3}), nil, false, 0, -1},
		{"convolutions", "conv_weight, the same", "conv_weight", f32, two([]int64{2, 8, 18, 18}, []int64{2, 8, 16, 16}), with(nil, "kernel_size", 3, 3), false, 0, -1},
		{"pools", "max_pool, 2 x 2", "max_pool", f32, one(4, 16, 32, 32), with(nil, "kernel_size", 2, 2), false, 0, -1},
		{"pools", "avg_pool, 2 x 2", "avg_pool", f32, one(4, 16, 32, 32), with(nil, "kernel_size", 2, 2), false, 0, -1},
		{"pools", "avg_unpool, 2 x 2", "avg_unpool", f32, one(4, 16, 16, 16), with(with(nil, "kernel_size", 2, 2), "size", 32, 32), false, 0, -1},
		{"pools", "max_unpool, 16 x 16 to 32 x 32", "max_unpool", f32, two([]int64{4, 16, 16, 16}, []int64{4, 16, 16, 16}), with(nil, "size", 32, 32), false, 0, -1},
		{"indexing", "1024 rows of 2048 x 64", "index", f32, two([]int64{2048, 64}, []int64{1024}), nil, false, 1024, -1},
		{"indexing", "the same, index_put", "index_put", f32, [][]int64{{2048, 64}, {1024, 64}, {1024}}, nil, false, 1024, -1},
		{"indexing", "256 rows, index_reduce", "index_reduce", f32, [][]int64{{512, 16}, {256, 16}, {256}}, map[string]op.Value{"reduce": {Kind: op.String, Ref: op.Folds[0]}}, false, 256, -1},
		{"indexing", "nonzero of 2^16", "nonzero", f32, one(1 << 16), nil, false, 0, -1},
		// Tiles by matrices of SIMD groups, then products with a vector, along the matrix's outer axis and its inner one.
		// Each part of a matrix is read by several threadgroups, so that only the vector on the left has a bar.
		{"matmul", "64 x 64 x 64", "matmul", f32, two([]int64{64, 64}, []int64{64, 64}), nil, false, 0, -1},
		{"matmul", "16 of 32 x 64 x 32, float16", "matmul", f16, two([]int64{16, 32, 64}, []int64{16, 64, 32}), nil, false, 0, -1},
		{"matmul", "1 x 512 x 512", "matmul", f32, two([]int64{1, 512}, []int64{512, 512}), nil, false, 0, b},
		{"matmul", "512 x 512 x 1", "matmul", f32, two([]int64{512, 512}, []int64{512, 1}), nil, false, 0, -1},
		{"matmul", "512 x 512 x 1, float16", "matmul", f16, two([]int64{512, 512}, []int64{512, 1}), nil, false, 0, -1},
		{"matmul", "128 x 128 x 128, int64", "matmul", i64, two([]int64{128, 128}, []int64{128, 128}), nil, false, 0, -1},
		{"matmul", "128 x 128 x 128, int32", "matmul", dtype.Int32, two([]int64{128, 128}, []int64{128, 128}), nil, false, 0, -1},
	}
}

// shaders prints what the kernels of families ask of memory, by the model of the mock: those whose names begin with a
// text, or all. It does so in a process of its own, because the mock counts from its start or not at all.
func shaders(family ...string) error {
	// Not yet the process that counts: start it, and let it print.
	if os.Getenv("FAKEMETAL_COUNT") != "1" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		c := exec.Command(self, append([]string{"shaders"}, family...)...)
		c.Env = append(os.Environ(), "FAKEMETAL_COUNT=1")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		return c.Run()
	}
	m, err := start(metal.PreferShaders)
	if err != nil {
		return err
	}
	fmt.Printf("\n%-26s%-32s%8s%8s%8s%8s%8s%10s%10s\n", "shaders, counted", "", "bytes", "lines", "passes", "threads", "instr.", "barriers", "M1 ms")
	fmt.Printf("%-26s%-32s%8s%8s%8s%8s%8s%10s%10s\n", "", "", "/byte", "/ideal", "", "/row", "/elem.", "/group", "/GiB")
	missed := false
	for _, c := range countedShaders() {
		if len(family) > 0 && !strings.HasPrefix(c.family, family[0]) {
			continue
		}
		line, good, err := m.countShader(&c)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", c.family, c.name, err)
		}
		fmt.Printf("%-26s%-32s%s\n", c.family, c.name, line)
		missed = missed || !good
	}
	// Groups are programs and no calls.
	for _, c := range countedGroups() {
		if len(family) > 0 && !strings.HasPrefix(c.family, family[0]) {
			continue
		}
		line, good, err := m.countGroup(&c)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", c.family, c.name, err)
		}
		fmt.Printf("%-26s%-32s%s\n", c.family, c.name, line)
		missed = missed || !good
	}
	// As with counts, the table is whole before a missed bar ends the command.
	if err := m.rt.Close(); err != nil {
		return err
	}
	if missed {
		return errMissed
	}
	return nil
}

// zeros makes the operands of a case, and how many bytes they have.
func (m *machine) zeros(c *shaderCase) (in []runtime.Operand, bytes int64, err error) {
	for i, dims := range c.dims {
		s, err := shape.Of(dims...)
		if err != nil {
			return in, 0, err
		}
		// Indices are zeros as well: they name the first slice or place, which every tensor has.
		kind := c.dtype
		if i == len(c.dims)-1 && slices.Contains(indices, c.operator) {
			kind = dtype.Int64
		}
		n := s.Numel() * kind.Size()
		x, err := m.rt.FromHost(m.gpu, kind, s, make([]byte, n))
		if err != nil {
			return in, 0, err
		}
		// A view: nothing is copied, and the bytes are the same.
		if c.swapped && i == 0 {
			ys, err := eager.Call(m.rt, op.MustByName("transpose"), []runtime.Operand{{Tensor: x}}, op.Attrs{{Kind: op.Ints, Ints: []int64{1, 0}}}, m.gpu, nil)
			if err != nil {
				return in, 0, err
			}
			m.rt.Free(x.Handle())
			x = ys[0]
		}
		bytes += n
		in = append(in, runtime.Operand{Tensor: x})
	}
	return in, bytes, nil
}

// countShader runs a case once, because counts are exact: nothing has to be warm or repeated. It answers the line of the
// table; good is whether no bar was missed.
func (m *machine) countShader(c *shaderCase) (line string, good bool, err error) {
	// Attributes that the case does not name have their defaults.
	row := op.MustByName(c.operator)
	at := make(op.Attrs, len(row.Attrs))
	for name, v := range c.attrs {
		at[row.AttrIndex(name)] = v
	}
	return m.count(c, func(in []runtime.Operand) ([]*runtime.Tensor, error) {
		return eager.Call(m.rt, row, in, at, m.gpu, nil)
	})
}

// countGroup is countShader for a group.
func (m *machine) countGroup(c *groupCase) (line string, good bool, err error) {
	b := graph.NewBuilder() // of a program for just these shapes
	var in []graph.Value
	for _, dims := range c.dims {
		s, err := shape.Of(dims...)
		if err != nil {
			return "", false, err
		}
		in = append(in, b.Input(op.Type{DType: c.dtype, Shape: s}))
	}
	// The first input goes through all steps.
	v := in[0]
	for _, name := range c.steps {
		row := op.MustByName(name)
		out, err := b.Call(row, append([]graph.Value{v}, in[1:len(row.In)]...), nil)
		if err != nil {
			return "", false, err
		}
		v = out[0]
	}
	// A program finds its groups by itself; that it has one is seen from the number of passes.
	p := execute.New(m.gpu, b.Build(v))
	defer p.Close()
	// The run compiles; what that costs is not counted.
	return m.count(&c.shaderCase, func(in []runtime.Operand) ([]*runtime.Tensor, error) {
		var all []*runtime.Tensor
		for i := range in {
			all = append(all, in[i].Tensor)
		}
		return p.Run(all, nil)
	})
}

// count runs what a case is about, once.
func (m *machine) count(c *shaderCase, run func(in []runtime.Operand) ([]*runtime.Tensor, error)) (line string, good bool, err error) {
	in, bytes, err := m.zeros(c)
	defer func() {
		for i := range in {
			m.rt.Free(in[i].Tensor.Handle())
		}
	}()
	if err != nil {
		return "", false, err
	}
	if err := errors.Join(m.gpu.Synchronize(), fakemetal.ResetCounts()); err != nil {
		return "", false, err
	}
	// What is dispatched is counted when it has run, so the wait comes before the counts are read.
	ys, err := run(in)
	if err != nil {
		return "", false, err
	}
	// Some operators answer indices, too.
	result := int64(0)
	for _, y := range ys {
		result += y.Layout.Numel() * y.DType.Size()
		defer m.rt.Free(y.Handle()) // when the table's line is made
	}
	if err := m.gpu.Synchronize(); err != nil {
		return "", false, err
	}
	// One entry for each dispatch, in their order.
	all, err := fakemetal.Dispatches()
	if err != nil {
		return "", false, err
	}
	return c.line(all, bytes, ys[0].Layout.Numel(), result)
}

// line is the table's line for what the dispatches of a case have done. inputs are the bytes of the inputs; the first
// result has so many elements, and all have so many bytes.
func (c *shaderCase) line(all []fakemetal.Dispatch, inputs, elements, result int64) (line string, good bool, err error) {
	if len(all) == 0 {
		return "", false, errors.New("no shader ran")
	}
	// Dispatches follow each other, so bytes and times add up; the threads are those of the widest.
	var moved, transactions, ideal, arithmetic, barriers, groups int64
	var most, ms float64
	for _, d := range all {
		moved += d.LoadedBytes + d.StoredBytes
		transactions += d.LoadTransactions + d.StoreTransactions
		ideal += d.LoadIdeal + d.StoreIdeal
		arithmetic += d.Arithmetic
		barriers, groups = barriers+d.Barriers, groups+d.Groups
		most = max(most, float64(d.Threads))
		ms += 1e3 * dispatchTime(&d)
	}
	// A reduction has more inputs than results, a broadcast the other way round; the larger number is the work.
	operands := float64(inputs + result)
	work := max(elements, inputs/c.dtype.Size())
	ratio, spread := float64(moved)/operands, float64(transactions)/float64(ideal)
	// Both bars count; a negative one is none.
	verdict := ""
	good = c.bar < 0 || ratio <= c.bar && spread <= transactionsBar
	if !good {
		verdict = "  MISSED"
	}
	rows := cmp.Or(c.rows, elements)
	return fmt.Sprintf("%8.2f%8.2f%8d%9.4g%7.1f%10.3g%10.3g%s", ratio, spread, len(all), most/float64(rows),
		float64(arithmetic)/float64(work), float64(barriers)/float64(groups), ms*float64(1<<30)/operands, verdict), good, nil
}

// dispatchTime is how long a dispatch takes an M1 by the model, in seconds: as long as its transactions at the memory's
// speed, its arithmetic on all lanes, or that of one of its threads on one lane, whatever is longest.
func dispatchTime(d *fakemetal.Dispatch) float64 {
	memory := 128 * float64(d.LoadTransactions+d.StoreTransactions) / m1Bandwidth
	// A load or store is issued for all lanes of a SIMD group, as arithmetic is.
	instructions := float64(d.Arithmetic) + 32*float64(d.Loads+d.Stores)
	return max(memory, instructions/m1Arithmetic, instructions/float64(d.Threads)/(m1Arithmetic/m1Lanes))
}
