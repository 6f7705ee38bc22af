package metal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/objc"
)

// TestInfo reads what the device says of itself.
func TestInfo(t *testing.T) {
	i := newRig(t, Config{}).Info()
	require.Equal(t, "metal", i.Backend)
	require.NotEmpty(t, i.Name)
	require.Regexp(t, `^macOS \d+\.\d+$`, i.System)
	require.GreaterOrEqual(t, i.Major, 7)
	require.Positive(t, i.TotalMemory)
	require.Positive(t, i.Recommended)
	require.True(t, i.Async)
	require.False(t, i.Float64)
	require.EqualValues(t, 0x80, i.UUID[6]&0xf0, "version 8")
	require.EqualValues(t, 0x80, i.UUID[8]&0xc0, "variant")
}

// TestAdd runs one operator both ways, with tensors and scalars on either side.
func TestAdd(t *testing.T) {
	for name, prefer := range map[string]Prefer{"shaders": PreferShaders, "graphs": PreferGraphs} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Prefer: prefer})
			if prefer == PreferGraphs {
				needGraphs(t, r.Device)
			}
			for _, n := range []int{1, 3, 1000} {
				x, y := random(n), random(n)
				for kind, in := range map[string][2]device.Operand{
					"tensors":      {r.of(x...), r.of(y...)},
					"scalar right": {r.of(x...), scalar(2, int64(n))},
					"scalar left":  {scalar(-3, int64(n)), r.of(y...)},
				} {
					out := r.of(make([]float32, n)...)
					c, o := call(out, in[0], in[1])
					p := r.compile(c)
					r.stream.Sync(r.stream.Run(p, c))
					require.NoError(t, <-o.ended, kind)
					for i, got := range floats(&out) {
						a, b := x[i], y[i]
						switch kind {
						case "scalar right":
							b = 2
						case "scalar left":
							a = -3
						}
						require.Equal(t, a+b, got, "%s, element %d of %d", kind, i, n)
					}
				}
			}
		})
	}
}

// TestKeys tells calls apart that need different programs, and no others.
func TestKeys(t *testing.T) {
	r := newRig(t, Config{})
	needGraphs(t, r.Device)
	g := &Device{Device: r.Device.Device, variants: gpu.Variants(PreferGraphs)}
	a, b, out := r.of(random(8)...), r.of(random(8)...), r.of(random(8)...)
	short := r.at(0, a.DType, 4)
	add := op.MustByName("add").ID
	key := func(d *Device, out device.Operand, in ...device.Operand) device.Key {
		c, _ := call(out, in...)
		c.Op = add
		return d.Key(add, c)
	}
	require.Equal(t, key(r.Device, out, a, b), key(r.Device, short, short, short), "shaders take every length")
	require.NotEqual(t, key(g, out, a, b), key(g, short, short, short), "graphs take one")
	require.Equal(t, key(g, out, a, b), key(g, out, b, a))
	require.Equal(t, key(r.Device, out, a, scalar(2, 8)), key(r.Device, out, a, scalar(1, 8)), "the value of a scalar is an argument")
	require.NotEqual(t, key(r.Device, out, a, b), key(r.Device, out, a, scalar(1, 8)), "their shaders differ")
	require.NotEqual(t, key(r.Device, out, a, b), key(g, out, a, b))
	c, _ := call(out, a, b)
	c.Op = add
	require.Zero(t, testing.AllocsPerRun(100, func() { r.Key(add, c); g.Key(add, c) }))
	other := op.MustByName("reshape").ID
	c.Op = other
	none := device.Key{Op: other}
	none.SetDTypes(c.Out, c.In)
	require.Equal(t, none, r.Key(other, c))
}

// TestRoutes goes the preferred way, but the last one last, and on to the next where a way refuses.
func TestRoutes(t *testing.T) {
	for name, prefer := range map[string]Prefer{"shaders": PreferShaders, "graphs": PreferGraphs} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Prefer: prefer})
			needGraphs(t, r.Device)
			isGraph := func(row *op.Row, n int64) bool {
				x := r.at(0, dtype.Float32, n)
				x.Layout = shape.Contiguous(metaltest.ShapeAs(t, n, n))
				c, _ := call(x, x, x)
				c.Attrs = make(op.Attrs, len(row.Attrs))
				p, err := r.Compile(metaltest.Single(row, c))
				require.NoError(t, err)
				require.NoError(t, p.Close())
				return fmt.Sprintf("%T", p.(*program).kernel) == "*graphs.executable"
			}
			require.Equal(t, prefer == PreferGraphs, isGraph(op.MustByName("add"), 4))
			require.Equal(t, prefer == PreferGraphs, isGraph(op.MustByName("matmul"), 4))
			require.True(t, isGraph(op.MustByName("matmul"), 512), "its shader is slow")
			require.False(t, isGraph(op.MustByName("add"), 1<<15), "4 GiB are too much for MPSGraph")
		})
	}
}

// TestCompileRefuses says what it cannot do.
func TestCompileRefuses(t *testing.T) {
	r := newRig(t, Config{})
	_, err := r.Compile(&device.Plan{})
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	x := r.at(0, dtype.Float64, 2)
	c, _ := call(x, x, x)
	_, err = r.Compile(metaltest.Single(op.MustByName("add"), c))
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.ErrorContains(t, err, "[add] metal has nothing for float64 of this layout")
}

// TestPipelinesThatFail are errors that say which function it was, and leave nothing behind.
func TestPipelinesThatFail(t *testing.T) {
	r := newRig(t, Config{})
	defer objc.Pool().Close()
	_, err := r.Pipelines(`kernel void add() {}`, "add", "none")
	require.ErrorContains(t, err, "the library has no function none")
}
