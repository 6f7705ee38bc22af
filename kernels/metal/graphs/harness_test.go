package graphs_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/graphs"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/objc"
)

// TestMain has the mock of Metal end the process for what a graph does wrong, so that no test overlooks it.
func TestMain(m *testing.M) {
	os.Setenv("FAKEMETAL_STRICT", "1")
	status := m.Run()
	if os.Getenv("GRAPHS_FOLDER") != "" {
		fmt.Printf("\nstored %d %d %d %d, warnings %q\n", stored.Hits, stored.Misses, stored.Writes, stored.Dropped, warnings)
	}
	os.Exit(status)
}

// bench is a device that prefers MPSGraph.
type bench struct{ *metaltest.Bench }

// open opens the device; work lingers until a call waits for it. Graphs are stored where the test, or the one that has
// started this process, wants it.
func open(t testing.TB) bench { return openIn(t, os.Getenv("GRAPHS_FOLDER")) }

func openIn(t testing.TB, folder string) bench {
	d, err := metal.Open(metal.Config{Library: fakemetal.Library(t), Prefer: metal.PreferGraphs, Linger: -1, Folder: folder})
	require.NoError(t, err)
	d.OnRefusal(func(text string) { warnings = append(warnings, text) })
	b := bench{metaltest.New(t, d, d.Device, metal.PreferGraphs)}
	t.Cleanup(func() {
		s := d.Stored()
		stored.Hits, stored.Misses, stored.Writes, stored.Dropped = stored.Hits+s.Hits, stored.Misses+s.Misses, stored.Writes+s.Writes, stored.Dropped+s.Dropped
	})
	return b
}

// What all devices of this process have stored, and what they have warned of.
var (
	stored   device.Stored
	warnings []string
)

// on is the bench for a part of a test.
func (b bench) on(t testing.TB) bench { return bench{b.For(t)} }

// agrees runs a call by MPSGraph and on the host, and wants the same within what the row allows.
// What MPSGraph refuses before macOS 13.3, where it has no reliable int64, is no difference.
func (b bench) agrees(row *op.Row, c *device.Call) {
	b.T.Helper()
	want := metaltest.ByHost(b.T, row, *c)
	p, err := b.Compile(metaltest.Single(row, c))
	if err == nil && p.(device.Sized).Bytes() < graphs.GraphBytes { // another variant
		require.False(b.T, objc.MacOS().AtLeast("13.3"))
		require.NoError(b.T, p.Close())
		return
	}
	if err != nil {
		require.False(b.T, objc.MacOS().AtLeast("13.3"), "%v", err)
		require.Equal(b.T, status.Unsupported, status.CodeOf(err), "%v", err)
		return
	}
	metaltest.AgreeWithin(b.T, c.Out[0].DType, want, b.Runs(p, c), metaltest.BoundOf(b.T, row, c))
}

// made is what MPSGraph has for a call.
func (b bench) made(c *device.Call) (gpu.Kernel, error) {
	defer objc.Pool().Close()
	for _, v := range gpu.Named(c.Op, kernels.Decisive(c), gpu.Graph) {
		if class, ok := v.Accepts(b.GPU, c); ok {
			return v.Make(b.GPU, c, class)
		}
	}
	require.Fail(b.T, "there is no graph")
	return nil, nil
}

// graphTypes are the dtypes that an operator has lowerings for.
func graphTypes(id op.ID) (set dtype.Set) {
	for _, d := range gpu.Elements.Members() {
		if len(gpu.Named(id, d, gpu.Graph)) > 0 {
			set |= dtype.SetOf(d)
		}
	}
	return set
}
