package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

type variants = Variants[int, string]

// named is a variant for some dtypes whose kernel is its name.
func named(id op.ID, set dtype.Set, p Priority, name string) Variant[int, string] {
	return Variant[int, string]{
		Op: id, DTypes: set, Priority: p,
		Make: func(int, *device.Call, uint64) (string, error) { return name, nil },
	}
}

// calling is a call of an operator of elements of one dtype.
func calling(id op.ID, d dtype.DType, in int) *device.Call {
	c := &device.Call{Op: id, Out: []device.Operand{{DType: d}}}
	for range in {
		c.In = append(c.In, device.Operand{DType: d})
	}
	return c
}

// chosen is the kernel of the variant that a registry chooses; empty where it has none.
func chosen(t *testing.T, r *variants, c *device.Call) string {
	v, _, class := r.Choose(0, c, 0)
	if v == nil {
		return ""
	}
	k, err := v.Make(0, c, class)
	require.NoError(t, err)
	return k
}

func TestVariantsKeepTheHighestPriority(t *testing.T) {
	var r variants
	require.Empty(t, chosen(t, &r, calling(op.IDAdd, dtype.Float32, 2)))
	require.Zero(t, r.DTypes(op.IDAdd))

	r.Add(named(op.IDAdd, dtype.SetOf(dtype.Float32, dtype.Int8), Portable, "portable"))
	r.Add(named(op.IDAdd, dtype.SetOf(dtype.Float32), Special, "special"))
	for d, want := range map[dtype.DType]string{dtype.Float32: "special", dtype.Int8: "portable", dtype.Bool: "", dtype.Last + 1: ""} {
		require.Equal(t, want, chosen(t, &r, calling(op.IDAdd, d, 2)), d)
	}
	require.Equal(t, dtype.SetOf(dtype.Float32, dtype.Int8), r.DTypes(op.IDAdd))
	require.Empty(t, chosen(t, &r, calling(op.IDDivide, dtype.Float32, 2)))
	require.Empty(t, r.Of(op.IDRandperm, dtype.Float32), "beyond the largest number")
}

func TestVariantsRefuseTwins(t *testing.T) {
	var r variants
	r.Add(named(op.IDAdd, dtype.Floats, Portable, "first"))
	require.Panics(t, func() { r.Add(named(op.IDAdd, dtype.SetOf(dtype.Float16), Portable, "second")) })
}

// A predicate leaves what it does not accept to the next variant, and tells classes apart.
func TestVariantsAsk(t *testing.T) {
	var r variants
	r.Add(named(op.IDAdd, dtype.Floats, Portable, "portable"))
	v := named(op.IDAdd, dtype.Floats, Special, "matrices")
	v.Accepts = func(_ int, c *device.Call) (uint64, bool) { return uint64(c.Out[0].Dims[0]), c.Out[0].Rank == 2 }
	require.False(t, r.Chooses(op.IDAdd))
	r.Add(v)
	require.True(t, r.Chooses(op.IDAdd))
	require.False(t, r.Chooses(op.IDDivide))
	require.False(t, r.Chooses(op.IDRandperm))

	c := calling(op.IDAdd, dtype.Float32, 2)
	require.Equal(t, "portable", chosen(t, &r, c))
	c.Out[0].Layout = shape.Contiguous(shape.Shape{Rank: 2, Dims: [shape.MaxRank]int64{3, 4}})
	require.Equal(t, "matrices", chosen(t, &r, c))
	_, number, class := r.Choose(0, c, 0)
	require.Equal(t, 0, number)
	require.EqualValues(t, 3, class)
	next, number, _ := r.Choose(0, c, 1)
	require.Equal(t, 1, number)
	require.Nil(t, next.Accepts)
}

// A composite is left whole for a variant that takes every step of it, and for no other.
func TestVariantsCompose(t *testing.T) {
	var r variants
	step := func(id op.ID, d dtype.DType) *op.Step {
		return &op.Step{Row: op.ByID(id), In: []op.Ref{{DType: d}}, Out: []op.Ref{{DType: d}}}
	}
	choosy := named(op.IDConcat, dtype.Floats, Special, "choosy")
	choosy.Accepts = func(int, *device.Call) (uint64, bool) { return 0, false }
	r.Add(choosy)
	require.False(t, r.Composes(step(op.IDConcat, dtype.Float32)))
	r.Add(named(op.IDConcat, dtype.SetOf(dtype.Float16), Portable, "portable"))
	require.True(t, r.Composes(step(op.IDConcat, dtype.Float16)))
	require.False(t, r.Composes(step(op.IDConcat, dtype.Float32)))
	require.False(t, r.Composes(step(op.IDStack, dtype.Float16)))
	choosy.Op, choosy.Total = op.IDStack, true
	r.Add(choosy)
	require.True(t, r.Composes(step(op.IDStack, dtype.Float16)))
}

// Keys of different variants and classes differ, and what does not fit a key is a mistake in the source.
func TestKeyClasses(t *testing.T) {
	seen := map[uint64]bool{0: true}
	for number := range mostVariants {
		for _, class := range []uint64{0, 1, 1<<60 - 1} {
			k := KeyClass(number, class)
			require.False(t, seen[k])
			seen[k] = true
			require.Equal(t, class, ClassOf(k))
		}
	}
	require.Panics(t, func() { KeyClass(0, 1<<60) })
	var r variants
	one := named(op.IDAdd, dtype.SetOf(dtype.Float32), Special, "one of many")
	one.Accepts = func(int, *device.Call) (uint64, bool) { return 0, true }
	for range mostVariants {
		r.Add(one)
	}
	require.Panics(t, func() { r.Add(one) })
}

func TestDecisive(t *testing.T) {
	require.Equal(t, dtype.Int8, Decisive(calling(op.IDFull, dtype.Int8, 0)))
	require.Equal(t, dtype.Int8, Decisive(calling(op.IDAdd, dtype.Int8, 2)))
	where := calling(op.IDWhere, dtype.Float32, 3)
	where.In[0].DType = dtype.Bool
	require.Equal(t, dtype.Float32, Decisive(where), "the condition does not decide")
	put := calling(op.IDIndexPut, dtype.Bool, 3)
	put.In[1].DType = dtype.Int64
	require.Equal(t, dtype.Bool, Decisive(put), "only operators that select have a condition in front")
}
