package metal_test

import (
	"encoding/binary"
	goruntime "runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
)

// follow adds 1 to the first float behind each of a list of addresses that is in the table, and copies the table.
const follow = `
kernel void follow(device const ulong *list, device ulong *seen, device const ulong *addresses, device uint *says, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < 3 * uint(addresses[0]) + 3 && i == 0; k++) seen[k] = addresses[k];
  for (ulong row = 1; row <= addresses[0]; row++) {
    const ulong offset = list[i] - addresses[3 * row];
    if (offset + 4 <= addresses[3 * row + 1]) *reinterpret_cast<device float *>(addresses[3 * row + 2] + offset) += 1;
  }
}`

// follower runs the kernel on addresses, and reads the table that it got.
type follower struct {
	*world
	kernel *native.Kernel
}

func newFollower(w *world) follower { return follower{w, w.kernel(w.library(follow), "follow")} }

// words is a tensor of 64-bit numbers.
func (f follower) words(values ...uint64) *runtime.Tensor {
	var bytes []byte
	for _, v := range values {
		bytes = binary.LittleEndian.AppendUint64(bytes, v)
	}
	s, err := shape.Of(int64(len(values)))
	require.NoError(f, err)
	t, err := f.rt.FromHost(f.gpu, dtype.Int64, s, bytes)
	require.NoError(f, err)
	return t
}

// run follows addresses, and answers where the kernel leaves the table.
func (f follower) run(on *runtime.Stream, addresses ...uint64) (table *runtime.Tensor) {
	list, table := f.words(addresses...), f.words(make([]uint64, 64)...)
	nothing := func([]uint32) error { return nil }
	require.NoError(f, f.kernel.RunReporting([]native.KernelArg{tensor(list), tensor(table)}, line(uint64(len(addresses))), auto, 16, true, nothing, on))
	f.free(list)
	return table
}

// rows reads a table, and frees it.
func (f follower) rows(table *runtime.Tensor) (rows [][3]uint64) {
	var all [64]uint64
	require.NoError(f, table.Read(unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), 8*len(all))))
	f.free(table)
	for i := range int(all[0]) {
		rows = append(rows, [3]uint64(all[3*i+3:]))
	}
	return rows
}

// addressOf asks for the address of a tensor.
func (f follower) addressOf(t *runtime.Tensor) uint64 {
	at, err := t.Map()
	require.NoError(f, err)
	return uint64(uintptr(at))
}

// TestKernelsFollowAddresses: a kernel finds the tensors whose address was asked for, at the GPU's addresses, and no others.
func TestKernelsFollowAddresses(t *testing.T) {
	f := newFollower(newWorld(t))
	x, y, hidden := f.filled(f.gpu, 1, 300), f.filled(f.gpu, 5, 8), f.filled(f.gpu, 0, 8)
	first, second := f.addressOf(x), f.addressOf(y)
	rows := f.rows(f.run(nil, second, first+4, 3))
	require.Len(t, rows, 2)
	bytes := map[uint64]uint64{first: 1200, second: 32}
	for _, r := range rows {
		require.GreaterOrEqual(t, r[1], bytes[r[0]])
		if goruntime.GOOS == "linux" { // elsewhere the mock has one address for both
			require.NotEqual(t, r[0], r[2], "the GPU's address is the CPU's")
		}
	}
	require.Less(t, rows[0][0], rows[1][0])
	low, _, err := f.first(y)
	require.NoError(t, err)
	require.EqualValues(t, 6, low)
	require.EqualValues(t, 2, f.values(x)[1])
	// A tensor that is gone is not found any more, and one that was asked for twice is found once.
	f.free(y)
	require.Equal(t, first, f.addressOf(x))
	require.Len(t, f.rows(f.run(nil, second)), 1)
	f.free(x, hidden)
	require.Empty(t, f.rows(f.run(nil, first)))
}

// TestSharedMemoryIsFoundOnce: rows of tensors over the same memory have no byte in common.
func TestSharedMemoryIsFoundOnce(t *testing.T) {
	f := newFollower(newWorld(t))
	x := f.filled(f.cpu, 1, 16<<10)
	one, err := x.Share(f.gpu)
	if err != nil { // memory of the CPU need not begin with a page
		require.ErrorContains(t, err, "[share] the memory begins")
		t.Skip("the CPU gave memory that does not begin with a page")
	}
	two, err := x.Share(f.gpu)
	require.NoError(t, err)
	require.Len(t, f.rows(f.run(nil, f.addressOf(one))), 1)
	low, _, err := f.first(x)
	require.NoError(t, err)
	require.EqualValues(t, 2, low)
	f.free(one, two, x)
}

// TestWhatIsFollowedIsOrdered: what a kernel may reach by an address is waited for, on other streams and on the CPU, as its
// arguments are.
func TestWhatIsFollowedIsOrdered(t *testing.T) {
	f := newFollower(newWorld(t))
	other, err := f.gpu.NewStream()
	require.NoError(t, err)
	x := f.filled(f.gpu, 0, 8)
	at := f.addressOf(x)
	const rounds = 40
	var results []*runtime.Tensor
	for i := range rounds {
		on := f.gpu.Default()
		if i%2 == 1 {
			on = other
		}
		f.free(f.run(on, at))
		if i == rounds/2 {
			results = append(results, f.add(x, x, nil))
		}
	}
	low, _, err := f.first(x)
	require.NoError(t, err)
	require.EqualValues(t, rounds, low)
	low, _, err = f.first(results[0])
	require.NoError(t, err)
	require.EqualValues(t, 2*(rounds/2+1), low)
	f.free(append(results, x)...)
	require.NoError(t, other.Close())
}

// TestWhatIsFollowedFails: a kernel that fails marks what it may have written, and a tensor that is freed before the kernel
// runs keeps its memory.
func TestWhatIsFollowedFails(t *testing.T) {
	f := newFollower(newWorld(t))
	x := f.filled(f.gpu, 1, 8)
	at := f.addressOf(x)
	require.NoError(t, f.gpu.Synchronize())
	fakemetal.Fail(t, "command_buffer", 1, 3)
	f.free(f.run(nil, at))
	require.Error(t, f.gpu.Synchronize())
	_, _, err := f.first(x)
	require.ErrorContains(t, err, "[follow] the GPU stopped the command buffer")
	table := f.run(nil, at)
	f.free(x)
	f.gpu.EmptyCache()
	require.Len(t, f.rows(table), 1)
}
