package host

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// BenchmarkReduce measures reductions of 64 MiB, or for any of 16, along each axis.
func BenchmarkReduce(b *testing.B) {
	r := newRig(b, Config{Threads: 1})
	ds := []int64{64, 256, 1024}
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 1<<16+1)
	for i := range values {
		values[i] = random.NormFloat64()
	}
	floats, bools := of(dtype.Float32, dims(ds...), values...), of(dtype.Bool, dims(ds...), 0)
	for _, name := range []string{"sum", "max", "argmax", "any", "all"} {
		for axis := range ds {
			x, d := floats, outputOf(name, dtype.Float32)
			if d == dtype.Bool {
				x = bools
			}
			axes := op.Axes(1 << axis)
			out := of(d, dims(keep(ds, axes)...))
			b.Run(fmt.Sprintf("%s/axis=%d", name, axis), func(b *testing.B) {
				b.SetBytes(x.Numel() * x.DType.Size())
				for b.Loop() {
					require.NoError(b, r.call(name, &device.Call{In: operands(x), Out: operands(out), Axes: axes}))
				}
			})
		}
	}
}

// BenchmarkSort measures a sort of a million float32, and the search for the hundred largest.
func BenchmarkSort(b *testing.B) {
	r := newRig(b, Config{Threads: 1})
	const n, k = 1_000_000, 100
	random := rand.New(rand.NewPCG(1, 2))
	x := of(dtype.Float32, dims(n))
	for i := range int64(n) {
		put(x.at(i), dtype.Float32, random.NormFloat64())
	}
	sorted, first, places := of(dtype.Float32, dims(n)), of(dtype.Float32, dims(k)), of(dtype.Int64, dims(k))
	zero, one := op.Value{Kind: op.Int}, op.Value{Kind: op.Bool, I: 1}
	for name, c := range map[string]*device.Call{
		"sort": {In: operands(x), Out: operands(sorted), Axes: 1, Attrs: op.Attrs{zero, {Kind: op.Bool}}},
		"topk": {In: operands(x), Out: operands(first, places), Axes: 1, Attrs: op.Attrs{{Kind: op.Int, I: k}, zero, one}},
	} {
		b.Run(name, func(b *testing.B) {
			p, err := r.compile(name, c)
			require.NoError(b, err)
			room := make([]uint64, p.Workspace(c)/8+1)
			c.Workspace = unsafe.Pointer(&room[0])
			for b.Loop() {
				o := newOwner()
				c.Owner = o
				r.stream.Run(p, c)
				require.NoError(b, o.wait())
			}
		})
	}
}
