package graphs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// named is a call of an operator.
type named struct {
	row  *op.Row
	call *device.Call
}

// variety is calls each of which has a graph of its own: they differ in one thing from another one.
func (b bench) variety() (all map[string]named) {
	all = map[string]named{}
	of := func(d dtype.DType, arrangement string, dims ...int64) device.Operand {
		return b.Operand(d, arrangement, metaltest.Steady, dims...)
	}
	add := func(name, row string, out device.Operand, attrs op.Attrs, in ...device.Operand) {
		r := op.MustByName(row)
		if attrs == nil {
			attrs = make(op.Attrs, len(r.Attrs))
		}
		all[name] = named{r, &device.Call{Attrs: attrs, In: in, Out: []device.Operand{out}}}
	}
	f := func(dims ...int64) device.Operand { return of(dtype.Float32, "contiguous", dims...) }
	add("sum", "add", f(3, 4), nil, f(3, 4), f(3, 4))
	add("another operator", "subtract", f(3, 4), nil, f(3, 4), f(3, 4))
	add("another size", "add", f(5, 4), nil, f(5, 4), f(5, 4))
	add("another dtype", "add", of(dtype.Float16, "contiguous", 3, 4), nil, of(dtype.Float16, "contiguous", 3, 4), of(dtype.Float16, "contiguous", 3, 4))
	add("another order", "add", f(3, 4), nil, of(dtype.Float32, "transposed", 3, 4), f(3, 4))
	add("product", "matmul", f(3, 5), nil, f(3, 4), f(4, 5))
	add("another length", "matmul", f(3, 5), nil, f(3, 6), f(6, 5))
	for i, stride := range []int64{1, 2} {
		for _, dilation := range []int64{1, 2} {
			row := op.MustByName("conv")
			attrs := make(op.Attrs, len(row.Attrs))
			attrs[op.ConvStride], attrs[op.ConvDilation] = whole(stride, stride), whole(dilation, dilation)
			attrs[op.ConvPadding], attrs[op.ConvGroups] = whole(0, 0, 0, 0), op.Value{Kind: op.Int, I: 1}
			size := (11 - 2*dilation - 1) / stride
			add(fmt.Sprint("convolution ", i, dilation), "conv", f(1, 2, size+1, size+1), attrs, f(1, 3, 11, 11), f(2, 3, 3, 3))
		}
	}
	for _, n := range []int64{7, 8} { // a constant of the graph
		add(fmt.Sprint("places ", n), "nonzero", b.Operand(dtype.Int64, "contiguous", metaltest.Steady, n, 1), nil, f(n))
	}
	return all
}

func whole(n ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: n} }

// runs has MPSGraph compute a call, and compares with the host.
func (b bench) runs(n named) {
	b.T.Helper()
	want := metaltest.ByHost(b.T, n.row, *n.call)
	got := b.ByGPU(n.row, n.call)
	require.NoError(b.T, got.Err)
	if n.row.ID == op.IDNonzero {
		require.Equal(b.T, want.Count, got.Count)
		want.Bytes, got.Bytes = want.Bytes[:8*want.Count], got.Bytes[:8*want.Count]
	}
	metaltest.AgreeWithin(b.T, n.call.Out[0].DType, want, got, metaltest.BoundOf(b.T, n.row, n.call))
}

// TestEachGraphIsStoredOnce has a graph for each call of a variety, and finds each of them again: in this process and on
// another device, which compiles nothing.
func TestEachGraphIsStoredOnce(t *testing.T) {
	folder, told := t.TempDir(), len(warnings)
	b := openIn(t, folder)
	all := b.variety()
	for name, n := range all {
		before := b.GPU.Store.Stats()
		b.runs(n)
		after := b.GPU.Store.Stats()
		require.Equal(t, before.Writes+1, after.Writes, "%s has the key of another graph", name)
		require.Equal(t, before.Hits, after.Hits, name)
	}
	for name, n := range all {
		before := b.GPU.Store.Stats()
		b.runs(n)
		require.Equal(t, before.Hits+1, b.GPU.Store.Stats().Hits, name)
	}
	again := openIn(t, folder)
	for _, n := range again.variety() {
		again.runs(n)
	}
	require.Zero(t, fakemetal.Count(t, "executables"), "compiled")
	require.EqualValues(t, len(all), again.GPU.Store.Stats().Hits)
	require.Empty(t, warnings[told:])
}

// TestKeyOfGraph reads the key of an entry: what is not of the call.
func TestKeyOfGraph(t *testing.T) {
	folder := t.TempDir()
	b := openIn(t, folder)
	b.runs(b.variety()["product"])
	found, err := filepath.Glob(filepath.Join(folder, "executables", "*", "entry"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	text, err := os.ReadFile(found[0])
	require.NoError(t, err)
	for _, part := range []string{
		"executable 1", "system Version ", "(Build fakemetal)", "gpu ", ", family ", "optimization level 0",
		`%0 = placeholder [3 4] 268435488`, `matrixMultiplicationWithPrimaryTensor:secondaryTensor:name: %0 %1`, `end %0 %1`,
	} {
		require.Contains(t, string(text), part)
	}
}

// TestOnlyScriptAddsToGraphs looks for messages to graphs anywhere else, which keys would lack.
func TestOnlyScriptAddsToGraphs(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	sends := regexp.MustCompile(`\.Of\(|\.graph\.graph\.|mpsgraph\.NewGraph`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if name != "script.go" && !strings.HasSuffix(name, "_test.go") {
			require.NotRegexp(t, sends, string(text), name)
		}
	}
}

// stored runs tests of this program in another process, with graphs stored in a folder, and returns what it prints.
func storedBy(t *testing.T, tests, folder string, environment ...string) (out string, err error) {
	c := exec.Command(os.Args[0], "-test.run", tests, "-test.short")
	c.Env = append(append(os.Environ(), "PADDLE_MPS_SAMPLE=", "GRAPHS_FOLDER="+folder), environment...)
	text, err := c.CombinedOutput()
	return string(text), err
}

// figures are what storedBy prints of the stores.
func figures(t *testing.T, out string) (s device.Stored, warned string) {
	at := strings.LastIndex(out, "\nstored ")
	require.GreaterOrEqual(t, at, 0, out)
	_, err := fmt.Sscanf(out[at:], "\nstored %d %d %d %d,", &s.Hits, &s.Misses, &s.Writes, &s.Dropped)
	require.NoError(t, err)
	_, warned, _ = strings.Cut(out[at:], "warnings ")
	return s, strings.TrimSpace(warned)
}

// TestStoredGraphsCompute runs the tests of lowerings in processes of their own, one after the other, with one folder. The
// second process loads every graph that the first one has compiled, and passes the same tests.
func TestStoredGraphsCompute(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	for i, tests := range []string{"^TestGraphMatmul$", "^TestGraph(Indexing|Nonzero)$", "^TestGraph(Reductions|InPlace)$"} {
		t.Run(tests, func(t *testing.T) {
			sample.Skip(t, 3, "stored", i)
			folder := t.TempDir()
			out, err := storedBy(t, tests, folder)
			require.NoError(t, err, out)
			first, _ := figures(t, out)
			require.Positive(t, first.Writes)
			out, err = storedBy(t, tests, folder)
			require.NoError(t, err, out)
			second, warned := figures(t, out)
			require.Equal(t, device.Stored{Hits: first.Hits + first.Misses}, second)
			require.Equal(t, "[]", warned)
		})
	}
}

// TestChildVariety is what the tests below run in other processes.
func TestChildVariety(t *testing.T) {
	role := os.Getenv("GRAPHS_ROLE")
	if role == "" {
		t.Skip("a part of other tests")
	}
	b := open(t)
	all := b.variety()
	if strings.HasPrefix(role, "package_") {
		const abort = 6
		require.NoError(t, fakemetal.InjectFailure(role, 3, abort))
	}
	for _, n := range all {
		b.runs(n)
	}
	fmt.Printf("\nexecutables %d packages %d %d\n", fakemetal.Count(t, "executables"), fakemetal.Count(t, "packages_written"), fakemetal.Count(t, "packages_read"))
}

// TestOtherSystem has another macOS or GPU compile anew, and macOS 13 store nothing.
func TestOtherSystem(t *testing.T) {
	if os.Getenv("GRAPHS_FOLDER") != "" {
		t.Skip("a child")
	}
	folder := t.TempDir()
	for _, c := range []struct {
		environment string
		compiles    bool
	}{
		{"FAKEMETAL_MACOS=15.0", true},
		{"FAKEMETAL_MACOS=15.0", false},
		{"FAKEMETAL_MACOS=14.0", true},
		{"FAKEMETAL_GPU=M3", true},
		{"FAKEMETAL_GPU=M3", false},
	} {
		out, err := storedBy(t, "^TestChildVariety$", folder, "GRAPHS_ROLE=run", c.environment)
		require.NoError(t, err, out)
		s, _ := figures(t, out)
		require.Equal(t, c.compiles, s.Writes > 0, c.environment)
		require.Equal(t, !c.compiles, s.Hits > 0, c.environment)
	}
	none := filepath.Join(t.TempDir(), "none")
	out, err := storedBy(t, "^TestChildVariety$", none, "GRAPHS_ROLE=run", "FAKEMETAL_MACOS=13.5")
	require.NoError(t, err, out)
	s, warned := figures(t, out)
	require.Zero(t, s)
	require.Equal(t, "[]", warned)
	require.Contains(t, out, "packages 0 0")
	require.NoDirExists(t, none)
}

// TestManyProcessesStore starts processes at once on an empty folder.
func TestManyProcessesStore(t *testing.T) {
	folder := t.TempDir()
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			out, err := storedBy(t, "^TestChildVariety$", folder, "GRAPHS_ROLE=run")
			if err != nil || !strings.Contains(out, "warnings []") {
				t.Error(out)
			}
		})
	}
	wait.Wait()
	out, err := storedBy(t, "^TestChildVariety$", folder, "GRAPHS_ROLE=run")
	require.NoError(t, err, out)
	require.Contains(t, out, "\nexecutables 0 packages 0 ")
}

// TestThreadsStore compiles the same graphs on several threads at once.
func TestThreadsStore(t *testing.T) {
	b := openIn(t, t.TempDir())
	all := b.variety()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for name, n := range all {
				c := *n.call
				p, err := b.Compile(metaltest.Single(n.row, &c))
				if err == nil {
					err = p.Close()
				}
				if err != nil {
					t.Error(name, err)
				}
			}
		})
	}
	wait.Wait()
	require.EqualValues(t, len(all), b.GPU.Store.Stats().Writes)
}

// TestProcessEndsInMPSGraph has MPSGraph end the process while it writes or reads a package. The next process says so and
// computes everything; from then on, the graph is compiled and the others are loaded.
func TestProcessEndsInMPSGraph(t *testing.T) {
	for _, what := range []string{"package_write", "package_read"} {
		t.Run(what, func(t *testing.T) {
			folder := t.TempDir()
			if what == "package_read" {
				out, err := storedBy(t, "^TestChildVariety$", folder, "GRAPHS_ROLE=run")
				require.NoError(t, err, out)
			}
			out, err := storedBy(t, "^TestChildVariety$", folder, "GRAPHS_ROLE="+what)
			require.Error(t, err)
			require.Contains(t, out, "failed (macOS", "the mock ends the process")
			out, err = storedBy(t, "^TestChildVariety$", folder, "GRAPHS_ROLE=run")
			require.NoError(t, err, out)
			_, warned := figures(t, out)
			require.Equal(t, 1, strings.Count(warned, "when a process ended"), warned)
			out, err = storedBy(t, "^TestChildVariety$", folder, "GRAPHS_ROLE=run")
			require.NoError(t, err, out)
			_, warned = figures(t, out)
			require.Equal(t, "[]", warned)
			require.Contains(t, out, "\nexecutables 1 packages 0 ")
		})
	}
}

// TestEachFailureWhileStoring makes everything fail in turn that can while graphs are stored, and while they are loaded: a
// package that is not written or not loaded is compiled, everything else fails as it does without a folder. Nothing is
// left behind, and the same calls work afterwards.
func TestEachFailureWhileStoring(t *testing.T) {
	for _, warm := range []bool{false, true} {
		t.Run(fmt.Sprint("warm ", warm), func(t *testing.T) {
			packages := 0
			for n := int64(1); ; n++ {
				b := openIn(t, t.TempDir())
				calls := []named{b.variety()["product"], b.variety()["convolution 0 2"]}
				compile := func() (failed bool) {
					for _, c := range calls {
						p, err := b.Compile(metaltest.Single(c.row, c.call))
						if err != nil {
							return true
						}
						require.NoError(t, p.Close())
					}
					return false
				}
				if warm {
					require.False(t, compile())
				}
				live := fakemetal.Count(t, "live_objects")
				fakemetal.Reset(t)
				require.NoError(t, fakemetal.InjectFailure("any", n, 0))
				failed := compile()
				over := fakemetal.Count(t, "failed") == 0
				fakemetal.Reset(t)
				// What earlier runs used may still be released meanwhile, by the threads of the mock.
				require.LessOrEqual(t, fakemetal.Count(t, "live_objects"), live, "failure %d", n)
				if !failed && !over {
					packages++
				}
				b.Device.(interface{ Retry() }).Retry()
				for _, c := range calls {
					b.runs(c)
				}
				if over {
					break
				}
			}
			require.GreaterOrEqual(t, packages, 2, "packages that failed without a trace")
		})
	}
}

// TestGraphsOfOneOperator are not stored if they have one input: loading them is not expected to be faster.
func TestGraphsOfOneOperator(t *testing.T) {
	b := openIn(t, t.TempDir())
	x := b.Operand(dtype.Float32, "contiguous", metaltest.Steady, 5)
	b.agrees(op.MustByName("exp"), &device.Call{In: []device.Operand{x}, Out: []device.Operand{x}})
	require.Zero(t, b.GPU.Store.Stats())
	require.NotEmpty(t, gpu.Named(op.MustByName("exp").ID, dtype.Float32, gpu.Graph))
}
