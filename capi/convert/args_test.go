package convert

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// address is memory of a test as C would pass it.
func address[T any](list []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(list)) }

func named(name string, kind uint32, bits uint64) Attr {
	return Attr{Name: unsafe.StringData(name + "\x00"), Kind: kind, Bits: bits}
}

// pointed keeps lists in memory that does not move, for an attribute has their address as a number.
var pointed []any

// pointing is an attribute with the address of a list.
func pointing[T any](name string, kind op.ValueKind, list []T) Attr {
	pointed = append(pointed, list)
	a := named(name, uint32(kind), uint64(uintptr(address(list))))
	a.Count = int64(len(list))
	return a
}

func TestRowOf(t *testing.T) {
	add := op.MustByName("add")
	row, err := RowOf(uint64(add.ID))
	require.NoError(t, err)
	require.Same(t, add, row)
	for _, id := range []uint64{0, 255, 256, math.MaxUint16, 1<<16 | uint64(add.ID), 1<<32 | uint64(add.ID), math.MaxUint64} {
		_, err := RowOf(id)
		require.Equalf(t, status.NotFound, status.CodeOf(err), "%d", id)
	}
}

func TestScalar(t *testing.T) {
	row := op.MustByName("add")
	for _, c := range []struct {
		kind, bits uint64
		want       op.Value
	}{
		{ArgBool, 0, op.Value{Kind: op.Bool}},
		{ArgBool, 7, op.Value{Kind: op.Bool, I: 1}},
		{ArgInt, math.MaxUint64, op.Value{Kind: op.Int, I: -1}},
		{ArgFloat, math.Float64bits(2.5), op.Value{Kind: op.Float, F: 2.5}},
	} {
		v, err := Scalar(row.Name, c.kind, c.bits)
		require.NoError(t, err)
		require.Equal(t, c.want, v)
	}
	for _, kind := range []uint64{ArgNone, ArgTensor, 5, math.MaxUint64} {
		_, err := Scalar(row.Name, kind, 0)
		require.Equal(t, status.Type, status.CodeOf(err))
	}
}

func TestAttributesTakeTheRowsOrder(t *testing.T) {
	row := op.MustByName("sum") // axis, dtype, keepdim
	axes := []int64{0, -1}
	axis := pointing("axis", op.Ints, axes)
	at, err := attributes(nil, row, []Attr{named("keepdim", uint32(op.Bool), 3), axis})
	require.NoError(t, err)
	axes[0] = 99 // the numbers were copied
	require.Equal(t, op.Attrs{{Kind: op.Ints, Ints: []int64{0, -1}}, {}, {Kind: op.Bool, I: 1}}, at)

	at, err = attributes(nil, row, nil)
	require.NoError(t, err)
	require.Equal(t, make(op.Attrs, 3), at)
}

// TestAttributesOfEveryKind reads values as rows will have them; here it is no matter what a row wants.
func TestAttributesOfEveryKind(t *testing.T) {
	row := op.MustByName("sum")
	edge, texts := []byte("ed\x00ge"), []*byte{unsafe.StringData("a\x00"), unsafe.StringData("\x00"), unsafe.StringData("ü\x00")}
	floats := []float64{1.5, math.Inf(-1)}
	for _, c := range []struct {
		a    Attr
		want op.Value
	}{
		{pointing("axis", op.String, edge), op.Value{Kind: op.String, Ref: "ed\x00ge"}},
		{pointing("axis", op.String, []byte{}), op.Value{Kind: op.String, Ref: ""}},
		{pointing("axis", op.Strings, texts), op.Value{Kind: op.Strings, Ref: []string{"a", "", "ü"}}},
		{pointing("axis", op.Floats, floats), op.Value{Kind: op.Floats, Ref: []float64{1.5, math.Inf(-1)}}},
		{pointing("axis", op.Floats, []float64{}), op.Value{Kind: op.Floats, Ref: []float64{}}},
	} {
		v, err := c.a.Value(nil, row)
		require.NoError(t, err)
		require.Equal(t, c.want, v)
	}
	text, list := pointing("axis", op.String, edge), pointing("axis", op.Floats, floats)
	at, err := attributes(nil, row, []Attr{text})
	require.NoError(t, err)
	numbers, err := list.Value(nil, row)
	require.NoError(t, err)
	edge[0], floats[0] = 'x', 7 // they were copied
	require.Equal(t, "ed\x00ge", at[0].Str())
	require.Equal(t, 1.5, numbers.Floats()[0])
}

func TestAttributesRefuse(t *testing.T) {
	row := op.MustByName("sum")
	endless := Attr{Name: unsafe.StringData(strings.Repeat("x", maxText+1)), Kind: uint32(op.Int)}
	long := named("axis", uint32(op.Ints), 1<<20)
	long.Count = maxCount + 1
	negative := named("axis", uint32(op.String), 1<<20)
	negative.Count = -1
	reserved := named("axis", 2, 0)
	reserved.reserved = 1
	for name, c := range map[string]struct {
		list []Attr
		code status.Code
	}{
		"unknown":    {[]Attr{named("axes", 2, 0)}, status.NotFound},
		"empty":      {[]Attr{named("", 2, 0)}, status.NotFound},
		"nameless":   {[]Attr{{Kind: 2}}, status.Invalid},
		"twice":      {[]Attr{named("axis", 2, 0), named("axis", 2, 0)}, status.Invalid},
		"endless":    {[]Attr{endless}, status.Invalid},
		"reserved":   {[]Attr{reserved}, status.Invalid},
		"kind":       {[]Attr{named("axis", 11, 0)}, status.Type},
		"wide kind":  {[]Attr{named("axis", 256+uint32(op.Int), 0)}, status.Type},
		"long list":  {[]Attr{long}, status.Invalid},
		"negative":   {[]Attr{negative}, status.Invalid},
		"null text":  {[]Attr{pointing("axis", op.Strings, []*byte{nil})}, status.Invalid},
		"not UTF-8":  {[]Attr{pointing("axis", op.String, []byte{0xff})}, status.Invalid},
		"graph":      {[]Attr{named("axis", uint32(op.Graph), 0)}, status.Unsupported},
		"null list":  {[]Attr{{Name: unsafe.StringData("axis\x00"), Kind: uint32(op.Floats), Count: 1}}, status.Invalid},
		"null texts": {[]Attr{{Name: unsafe.StringData("axis\x00"), Kind: uint32(op.Strings), Count: 1}}, status.Invalid},
	} {
		_, err := attributes(nil, row, c.list)
		require.Equal(t, c.code, status.CodeOf(err), name)
	}
}

func TestIndexItemsRefuse(t *testing.T) {
	for _, c := range []struct {
		it   Item
		code status.Code
	}{
		{Item{kind: -1}, status.Type},
		{Item{kind: 4}, status.Type},
		{Item{kind: 1, Has: 8}, status.Invalid},
		{Item{kind: 1, Has: -1}, status.Invalid},
	} {
		list := []Item{c.it}
		_, err := IndexItems(nil, address(list), 1)
		require.Equal(t, c.code, status.CodeOf(err))
	}
	_, err := IndexItems(nil, nil, 1)
	require.Equal(t, status.Invalid, status.CodeOf(err))
}

func TestFit(t *testing.T) {
	n, rest, err := FitStruct("x", 40, 56)
	require.NoError(t, err)
	require.EqualValues(t, 40, n)
	require.EqualValues(t, 16, rest)
	for _, given := range []uintptr{0, 39, maxStruct + 1, math.MaxUint} {
		_, _, err := FitStruct("x", 40, given)
		require.Equal(t, status.Invalid, status.CodeOf(err))
	}
}

// FuzzWithin compares the overflow check with the extent computed in floating
// point, which is exact enough away from the limit.
func FuzzWithin(f *testing.F) {
	f.Add(int64(3), int64(-5), int64(4), int64(7), uint8(2))
	f.Add(int64(2), int64(math.MinInt64), int64(0), int64(1), uint8(3))
	f.Add(int64(2), int64(math.MaxInt64), int64(2), int64(math.MaxInt64), uint8(0))
	f.Fuzz(func(t *testing.T, d0, s0, d1, s1 int64, shift uint8) {
		size := int64(1) << (shift % 4)
		dims := []int64{d0 & math.MaxInt64, d1 & math.MaxInt64}
		strides := []int64{s0, s1}
		l, err := LayoutOf("fuzz", 2, address(dims), address(strides), size)
		extent := float64(dims[0]-1)*math.Abs(float64(s0)) + float64(dims[1]-1)*math.Abs(float64(s1))
		empty := dims[0] == 0 || dims[1] == 0
		if err != nil {
			tooMany := float64(max(dims[0], 1))*float64(max(dims[1], 1))*float64(size) > 0.99*math.MaxInt64
			require.True(t, tooMany || (extent+1)*float64(size) > 0.99*math.MaxInt64)
			return
		}
		require.True(t, empty || (extent+1)*float64(size) < 1.01*math.MaxInt64)
		low, high, ok := l.Extent()
		require.Equal(t, !empty, ok)
		require.True(t, low <= 0 && high >= 0 && high-low >= 0)
	})
}

func TestShapeOfRefuses(t *testing.T) {
	dims := make([]int64, shape.MaxRank+1)
	for _, rank := range []int32{-1, shape.MaxRank + 1, math.MinInt32, math.MaxInt32} {
		_, err := ShapeOf("x", rank, address(dims))
		require.Equal(t, status.Invalid, status.CodeOf(err))
	}
	_, err := ShapeOf("x", 1, nil)
	require.Equal(t, status.Invalid, status.CodeOf(err))
	s, err := ShapeOf("x", 0, nil)
	require.NoError(t, err)
	require.Zero(t, s.Rank)
}

func TestDLTensor(t *testing.T) {
	memory := make([]float32, 8)
	dims, strides := []int64{2, 2}, []int64{-4, 1}
	good := DLTensor{data: address(memory), deviceType: dlCPU, Rank: 2, Number: DLNumber{2, 32, 1}, Shape: address(dims), ByteOffset: 16}
	d, l, data, err := good.Read()
	require.NoError(t, err)
	require.Equal(t, dtype.Float32, d)
	require.True(t, l.IsContiguous())
	require.Equal(t, unsafe.Pointer(&memory[4]), data)

	good.strides = address(strides)
	_, l, _, err = good.Read()
	require.NoError(t, err)
	require.Equal(t, []int64{-4, 1}, l.Strides[:2])

	for name, c := range map[string]struct {
		spoil func(*DLTensor)
		code  status.Code
	}{
		"device": {func(d *DLTensor) { d.deviceType = 8 }, status.Unsupported},
		"lanes":  {func(d *DLTensor) { d.Number.Lanes = 0 }, status.Type},
		"code":   {func(d *DLTensor) { d.Number.Code = 3 }, status.Type},
		"offset": {func(d *DLTensor) { d.ByteOffset = 1 << 63 }, status.Invalid},
		"rank":   {func(d *DLTensor) { d.Rank = 10 }, status.Invalid},
		"shape":  {func(d *DLTensor) { d.Shape = nil }, status.Invalid},
	} {
		bad := good
		c.spoil(&bad)
		_, _, _, err := bad.Read()
		require.Equal(t, c.code, status.CodeOf(err), name)
	}
}

func TestDLNumbersRoundTrip(t *testing.T) {
	for d := dtype.Bool; d <= dtype.Last; d++ {
		got, err := DLNumbers[d].dtype()
		require.NoError(t, err)
		require.Equal(t, d, got)
		require.EqualValues(t, 8*d.Size(), DLNumbers[d].Bits)
	}
}

func TestSignature(t *testing.T) {
	for name, want := range map[string]string{
		"add":     "add(x, y) -> tensor",
		"softmax": "softmax(x, axis: int = -1) -> tensor",
		"concat":  "concat(*x, axis: int = 0) -> tensor",
		"sum":     "sum(x, axis: list of int = none, dtype: dtype = none, keepdim: bool = false) -> tensor",
		"split":   "split(x, sections: list of int, axis: int = 0) -> tensors",
	} {
		require.Equal(t, want, Signature(op.MustByName(name)))
	}
}
