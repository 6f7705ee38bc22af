package shaders_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/kernels/metal/shaders"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// recorder is an encoder that runs nothing: it keeps the threads and the threadgroups of each dispatch.
type recorder struct {
	record          objc.Dispatch
	threads, groups []float64
	inGroups        []bool // threadgroups were counted and not threads
}

func (r *recorder) Arguments() *objc.Dispatch {
	r.record.Clear()
	return &r.record
}

func (r *recorder) Dispatch(_ mtl.ComputePipelineState, d *objc.Dispatch) error {
	product := func(s objc.Size) float64 { return float64(s.Width) * float64(s.Height) * float64(s.Depth) }
	threads, group := product(d.Threads), product(d.Group)
	if d.InGroups != 0 {
		threads *= group
	}
	r.threads, r.groups = append(r.threads, threads), append(r.groups, math.Ceil(threads/group))
	r.inGroups = append(r.inGroups, d.InGroups != 0)
	return nil
}

func (r *recorder) Execute(mpsgraph.Executable, objc.Array, objc.Array) error { panic("no graph") }
func (r *recorder) Use(mtl.Buffer) error                                      { return nil }
func (r *recorder) Blit(_, _ gpu.Span, _ uint64) error                        { panic("no blit") }
func (r *recorder) Word() (mtl.Buffer, uint64, error)                         { return 1, 0, nil }
func (r *recorder) Number([8]byte) (mtl.Buffer, error)                        { return 1, nil }

// large is a call of an operator that is too large for one dispatch, or nearly.
type large struct {
	operator     string
	in, out      [][]int64
	attrs        map[string]op.Value
	axis         int
	strided      bool        // neighbours on the last axis lie a line of memory apart
	instructions float64     // of a thread, as ./build.sh bench metal counts them, with a third more
	bytes        float64     // that a thread moves, of all its dispatches at most
	dtype        dtype.DType // float32 if it is not said
	// first and last are the bytes of a thread of the dispatches in front of a sort's network and behind it, which find
	// elements anywhere; 0: as all others.
	first, last float64
}

// attrsOf are attributes: names and their values.
func attrsOf(pairs ...any) map[string]op.Value {
	all := map[string]op.Value{}
	for i := 0; i < len(pairs); i += 2 {
		v := op.Value{}
		switch x := pairs[i+1].(type) {
		case int:
			v = op.Value{Kind: op.Int, I: int64(x)}
		case []int64:
			v = op.Value{Kind: op.Ints, Ints: x}
		case string:
			v = op.Value{Kind: op.String, Ref: x}
		}
		all[pairs[i].(string)] = v
	}
	return all
}

const (
	near = 16  // bytes of an element that is read and written beside its neighbours, with an index
	far  = 256 // of one that is a line each time

	spread = 128 + 16 + 2*128 // of a place that names an element anywhere: the element, the place, the result and its index
)

// Instructions are rounded up from what bench metal counts of small calls: of scans, of the places of a sort in a
// threadgroup, of windows by term, and of an index.
var largeCalls = []large{
	{operator: "full", out: [][]int64{{1 << 31}}, attrs: attrsOf("fill_value", 1), instructions: 20, bytes: 4},
	{operator: "uniform", out: [][]int64{{1 << 31}}, instructions: 600, bytes: 4},
	{operator: "normal", out: [][]int64{{1 << 24, 64}}, strided: true, instructions: 600, bytes: far / 2},
	{operator: "cumsum", in: [][]int64{{1 << 19, 1 << 12}}, out: [][]int64{{1 << 19, 1 << 12}}, axis: 1, instructions: 16 * 64, bytes: 16 * 8},
	{operator: "cumsum", in: [][]int64{{1 << 12, 1 << 19}}, out: [][]int64{{1 << 12, 1 << 19}}, axis: 0, instructions: 16 * 64, bytes: 16 * far},
	{operator: "cumprod", in: [][]int64{{1 << 12, 1 << 19}}, out: [][]int64{{1 << 12, 1 << 19}}, axis: 0, instructions: 16 * 56, bytes: 16 * far},
	{operator: "cummax", in: [][]int64{{1 << 19, 1 << 12}}, out: [][]int64{{1 << 19, 1 << 12}, {1 << 19, 1 << 12}}, axis: 1, instructions: 16 * 72, bytes: 16 * near},
	{operator: "sort", in: [][]int64{{64, 1 << 20}}, out: [][]int64{{64, 1 << 20}}, axis: 1, instructions: 450, bytes: 32, first: spread, last: spread},
	{operator: "sort", in: [][]int64{{1 << 18, 256}}, out: [][]int64{{1 << 18, 256}}, axis: 1, strided: true, instructions: 450, bytes: 32, first: spread, last: spread},
	{operator: "topk", in: [][]int64{{64, 1 << 20}}, out: [][]int64{{64, 1 << 20}, {64, 1 << 20}}, axis: 1, instructions: 450, bytes: 32, first: spread, last: spread},
	{operator: "randperm", out: [][]int64{{1 << 26}}, instructions: 450, bytes: 32, last: spread, dtype: dtype.Int64},
	{operator: "add", in: [][]int64{{1 << 31}, {1 << 31}}, out: [][]int64{{1 << 31}}, instructions: 4 * 4, bytes: 4 * 12},
	{operator: "add", in: [][]int64{{1 << 20, 1 << 9}, {1 << 20, 1 << 9}}, out: [][]int64{{1 << 20, 1 << 9}}, strided: true, instructions: 4 * 20, bytes: 4 * 3 * 128},
	{operator: "remainder", in: [][]int64{{1 << 31}, {1 << 31}}, out: [][]int64{{1 << 31}}, instructions: 4 * 500, bytes: 4 * 12},
	{operator: "exp", in: [][]int64{{1 << 31}}, out: [][]int64{{1 << 31}}, instructions: 8 * 100, bytes: 8 * 4, dtype: dtype.Float16},
	{operator: "layer_norm", in: [][]int64{{1 << 20, 1 << 10}, {1 << 10}, {1 << 10}}, out: [][]int64{{1 << 20, 1 << 10}, {1 << 20, 1}}, axis: 1, instructions: 150 * msl.HeldElements, bytes: 8 * msl.HeldElements},
	{operator: "matmul", in: [][]int64{{8192, 8192}, {8192, 8192}}, out: [][]int64{{8192, 8192}}, instructions: 2 * 8 * 8192, bytes: 8192},
	{operator: "matmul", in: [][]int64{{2048, 2048}, {2048, 2048}}, out: [][]int64{{2048, 2048}}, instructions: 16 * 2 * 16 * 2048, bytes: 2 * 2048, dtype: dtype.Int64},
	{operator: "matmul", in: [][]int64{{1, 1 << 15}, {1 << 15, 1 << 16}}, out: [][]int64{{1, 1 << 16}}, instructions: 1 << 15, bytes: 2 * 1 << 15},
	{operator: "conv", in: [][]int64{{8, 3, 2048, 2048}, {16, 3, 3, 3}}, out: [][]int64{{8, 16, 2046, 2046}}, instructions: 27 * 23, bytes: 27*4 + 4},
	{operator: "conv", in: [][]int64{{8, 1, 4096, 4096}, {8, 1, 1, 1}}, out: [][]int64{{8, 8, 4096, 4096}}, instructions: 130, bytes: 8},
	{operator: "conv", in: [][]int64{{8, 3, 2048, 2048}, {16, 3, 3, 3}}, out: [][]int64{{8, 16, 2046, 2046}}, strided: true, instructions: 27 * 23, bytes: 27*128 + 128},
	{operator: "conv_transpose", in: [][]int64{{8, 16, 2046, 2046}, {16, 3, 3, 3}}, out: [][]int64{{8, 3, 2048, 2048}}, instructions: 144 * 29, bytes: 144*4 + 4},
	{operator: "conv_weight", in: [][]int64{{8, 64, 514, 514}, {8, 64, 512, 512}}, out: [][]int64{{64, 64, 3, 3}}, attrs: attrsOf("kernel_size", []int64{3, 3}), instructions: 8 * 512 * 2 * 32, bytes: 8 * 512 * 2 * 8},
	{operator: "max_pool", in: [][]int64{{32, 64, 1024, 1024}}, out: [][]int64{{32, 64, 512, 512}, {32, 64, 512, 512}}, attrs: attrsOf("kernel_size", []int64{2, 2}), instructions: 177, bytes: 4*8 + 12},
	{operator: "avg_pool", in: [][]int64{{32, 64, 1024, 1024}}, out: [][]int64{{32, 64, 512, 512}}, attrs: attrsOf("kernel_size", []int64{2, 2}), strided: true, instructions: 130, bytes: 4*128 + 128},
	{operator: "avg_unpool", in: [][]int64{{32, 64, 512, 512}}, out: [][]int64{{32, 64, 1024, 1024}}, attrs: attrsOf("kernel_size", []int64{2, 2}, "size", []int64{1024, 1024}), instructions: 140, bytes: 8},
	{operator: "max_unpool", in: [][]int64{{32, 256, 256, 256}, {32, 256, 256, 256}}, out: [][]int64{{32, 256, 512, 512}}, attrs: attrsOf("size", []int64{512, 512}), instructions: 100, bytes: 8},
	{operator: "index", in: [][]int64{{1 << 20, 64}, {1 << 24}}, out: [][]int64{{1 << 24, 64}}, instructions: 40, bytes: near},
	{operator: "index", in: [][]int64{{1 << 28}, {1 << 28}}, out: [][]int64{{1 << 28}}, instructions: 40, bytes: far + 8},
	{operator: "index_put", in: [][]int64{{1 << 28}, {1 << 28}}, out: [][]int64{{1 << 28}}, instructions: 40, bytes: far + 8},
	{operator: "nonzero", in: [][]int64{{1 << 30}}, out: [][]int64{{1 << 30, 1}}, instructions: 4 * 64, bytes: 4 * 12},
	{operator: "nonzero", in: [][]int64{{1 << 22, 16}}, out: [][]int64{{1 << 26, 2}}, strided: true, instructions: 4 * 64, bytes: 4 * (128 + 16)},
}

// call is the call on operands in memory of which nothing is known; nothing is read.
func (l *large) call(t *testing.T, d *gpu.Device) (*op.Row, *device.Call) {
	row := op.MustByName(l.operator)
	c := &device.Call{Op: row.ID, Attrs: make(op.Attrs, len(row.Attrs)), Axes: 1 << l.axis}
	for i := range row.Attrs {
		c.Attrs[i] = row.Attrs[i].Default
	}
	for name, v := range l.attrs {
		c.Attrs[row.AttrIndex(name)] = v
	}
	place := func(kind dtype.DType, dims []int64, offset int64) device.Operand {
		o := device.Operand{DType: kind, Layout: shape.Contiguous(metaltest.ShapeAs(t, dims...))}
		if l.strided {
			for i := range o.Rank {
				o.Strides[i] *= 32
			}
		}
		return d.Unplaced(o, offset)
	}
	given := l.dtype
	if given == dtype.Invalid {
		given = dtype.Float32
	}
	for i, dims := range l.in {
		kind := given
		if i > 0 && row.Kind == op.Index && i == len(l.in)-1 || l.operator == "max_unpool" && i == 1 {
			kind = dtype.Int64
		}
		c.In = append(c.In, place(kind, dims, 0))
	}
	for i, dims := range l.out {
		kind := given
		if i == 1 && row.ID != op.IDLayerNorm || l.operator == "nonzero" {
			kind = dtype.Int64
		}
		c.Out = append(c.Out, place(kind, dims, 8)) // sorts are not done in place
	}
	c.Scratch, c.Workspace = c.Out[0].Heap, unsafe.Pointer(c.Out[0].Addr)
	return row, c
}

// No dispatch of a group of steps takes an M1 longer than 50 ms, however many steps there are and however costly they are.
func TestGroupsAreShort(t *testing.T) {
	const (
		seconds, bandwidth, rate = 0.050, 68e9, 1.3e12
		instructions, n          = 500, 1 << 31
	)
	d := gpu.NewLister(func(string, []string) {})
	row := op.MustByName("remainder")
	for _, steps := range []int{1, 2, 8} {
		of := func(offset int64) device.Operand {
			return d.Unplaced(device.Operand{DType: dtype.Float32, Layout: shape.Contiguous(metaltest.ShapeAs(t, n))}, offset)
		}
		c := &device.Call{In: []device.Operand{of(0), of(0)}, Out: []device.Operand{of(0)}}
		var all []shaders.GroupStep
		for i := range steps {
			from := []msl.Source{{From: msl.Read, Index: 0}, {From: msl.Read, Index: 1}}
			if i > 0 {
				from[0] = msl.Source{From: msl.Step, Index: i - 1}
			}
			all = append(all, shaders.GroupStep{Call: &device.Call{Op: row.ID, Attrs: op.Attrs{}, In: c.In, Out: c.Out}, Sources: from})
		}
		k, err := shaders.NewGroup(d, all, c, []int{steps - 1}, nil)
		require.NoError(t, err)
		var r recorder
		require.NoError(t, k.Encode(&r, c))
		whole := 0.0
		for _, threads := range r.threads {
			const lanes = 4 // elements of a thread
			took := max(threads*lanes*12/bandwidth, threads*lanes*float64(steps)*instructions/rate)
			require.LessOrEqual(t, took, seconds, "%d steps", steps)
			whole += took
		}
		require.Greater(t, whole, seconds)
	}
}

// No dispatch of the other families takes an M1 longer than 50 ms by the same model, for calls that are far too large for
// one: whatever a thread does is given here and not taken from the kernels.
func TestOtherDispatchesAreShort(t *testing.T) {
	const (
		seconds   = 0.050
		bandwidth = 68e9
		rate      = 1.3e12
		lanes     = 1024
	)
	d := gpu.NewLister(func(string, []string) {})
	for i := range largeCalls {
		l := &largeCalls[i]
		t.Run(fmt.Sprintf("%s/%v", l.operator, l.out[0]), func(t *testing.T) {
			row, c := l.call(t, d)
			var r recorder
			for _, rank := range []gpu.Rank{gpu.Shader, gpu.Slow} {
				for _, v := range gpu.Named(row.ID, c.Out[0].DType, rank) {
					class, ok := v.Accepts(d, c)
					if !ok || len(r.threads) > 0 {
						continue
					}
					k, err := v.Make(d, c, class)
					require.NoError(t, err)
					require.NoError(t, k.Encode(&r, c))
				}
			}
			require.NotEmpty(t, r.threads, "nothing takes the call")
			whole := 0.0
			network := [2]int{slices.Index(r.inGroups, true), len(r.inGroups)}
			for n := range r.inGroups {
				if r.inGroups[n] {
					network[1] = n
				}
			}
			for n, threads := range r.threads {
				bytes := l.bytes
				switch {
				case n < network[0] && l.first > 0:
					bytes = l.first
				case n > network[1] && l.last > 0:
					bytes = l.last
				}
				took := max(threads*bytes/bandwidth, threads*l.instructions/rate, l.instructions*lanes/rate)
				require.LessOrEqual(t, took, seconds, "dispatch %d of %d: %g threads", n, len(r.threads), threads)
				whole += took
			}
			require.Greater(t, whole, seconds, "the call is too small to show anything")
		})
	}
}
