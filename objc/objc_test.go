package objc_test

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// load opens the mock of Apple's libraries.
func load(t testing.TB) {
	require.NoError(t, objc.Load(fakemetal.Library(t)))
}

func TestLoadOnce(t *testing.T) {
	load(t)
	load(t)
	require.Equal(t, status.Invalid, status.CodeOf(objc.Load("libother.so")))
	require.True(t, objc.MacOS().AtLeast("13.0"))
	_, err := objc.Symbol("no_such_function")
	require.Equal(t, status.Unavailable, status.CodeOf(err))
}

func TestVersion(t *testing.T) {
	v := objc.Version{Major: 13, Minor: 3}
	require.Equal(t, "13.3", v.String())
	for since, want := range map[string]bool{
		"": true, "10.15.4": true, "12.7": true, "13.0": true, "13.3": true, "13.4": false, "14.0": false, "26.1": false,
	} {
		require.Equal(t, want, v.AtLeast(since), since)
	}
}

func TestStrings(t *testing.T) {
	load(t)
	defer objc.Pool().Close()
	for _, text := range []string{"", "abc", "加法 µ", "a long one, which no string of a few words on the stack would hold"} {
		require.Equal(t, text, objc.Text(text).String())
	}
	require.Empty(t, objc.String(0).String())
}

func TestCollections(t *testing.T) {
	load(t)
	defer objc.Pool().Close()
	numbers := []int64{0, -1, 7, 1 << 62, -1 << 63}
	a := objc.Ints(numbers)
	require.Equal(t, len(numbers), a.Len())
	for i, n := range numbers {
		require.Equal(t, n, objc.Number(a.At(i)).Int64())
	}
	require.Zero(t, a.At(-1))
	require.Zero(t, a.At(len(numbers)))
	require.Zero(t, objc.ArrayOf[objc.Number]().Len())
	require.Zero(t, objc.ArrayOf(objc.Int(1), 0), "nil inside")

	keys := []objc.String{objc.Text("x"), objc.Text("y")}
	d := objc.DictionaryOf(keys, []objc.Number{objc.Int(1), objc.Int(2)})
	require.EqualValues(t, 2, objc.Number(d.Get(objc.ID(keys[1]))).Int64())
	require.Zero(t, objc.DictionaryOf(keys, []objc.Number{objc.Int(1)}))
	require.Zero(t, objc.DictionaryOf(keys, []objc.Number{objc.Int(1), 0}))
}

// TestErrors turns NSError into ours; a method may fail without one.
func TestErrors(t *testing.T) {
	err := objc.Error(0).Status(status.Device, "the compiler")
	require.Equal(t, status.Device, status.CodeOf(err))
	require.EqualError(t, err, "the compiler failed without an error message")
}

// TestPools releases what was autoreleased, and nothing that was retained.
func TestPools(t *testing.T) {
	load(t)
	before := fakemetal.Count(t, "live_objects")
	var kept objc.Array
	func() {
		defer objc.Pool().Close()
		kept = objc.Retain(objc.Ints([]int64{1, 2, 3}))
		objc.Ints([]int64{4})
		func() {
			defer objc.Pool().Close()
			objc.Text("inner")
		}()
	}()
	require.Equal(t, before+4, fakemetal.Count(t, "live_objects"), "an array of three")
	objc.Release(kept)
	objc.Release(objc.Array(0))
	require.Equal(t, before, fakemetal.Count(t, "live_objects"))
}

// TestPoolsOnManyThreads opens pools on goroutines that would move between threads.
func TestPoolsOnManyThreads(t *testing.T) {
	load(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				scope := objc.Pool()
				n := objc.Int(int64(g*1000 + i))
				runtime.Gosched()
				if n.Int64() != int64(g*1000+i) {
					t.Error("a number changed")
				}
				scope.Close()
			}
		})
	}
	wg.Wait()
}

// TestStructs passes and answers structs and floats in registers and in memory.
func TestStructs(t *testing.T) {
	load(t)
	defer objc.Pool().Close()
	all, err := mtl.Devices()
	require.NoError(t, err)
	defer objc.Release(all)
	gpu := mtl.Device(all.At(0))
	need := gpu.HeapBufferSizeAndAlign(1000, mtl.ResourceStorageModeShared)
	require.GreaterOrEqual(t, need.Size, uint64(1000))
	require.Positive(t, need.Align)
	require.Positive(t, objc.PhysicalMemory())
	require.GreaterOrEqual(t, objc.MacOS().Major, int64(13))
}

// TestSendsAllocateNothing holds for messages of words.
func TestSendsAllocateNothing(t *testing.T) {
	load(t)
	defer objc.Pool().Close()
	n := objc.Int(5)
	require.Zero(t, testing.AllocsPerRun(100, func() { n.Int64() }))
}

func BenchmarkSend(b *testing.B) {
	load(b)
	defer objc.Pool().Close()
	n := objc.Int(5)
	for b.Loop() {
		n.Int64()
	}
}

// TestLoadedVersionIsNotMasked loads the mock in a process of its own, as macOS 27 that says it is 16.0.
func TestLoadedVersionIsNotMasked(t *testing.T) {
	if os.Getenv("FAKEMETAL_MASKED") != "" {
		require.NoError(t, objc.Load(fakemetal.Library(t)))
		require.Equal(t, objc.Version{Major: 27, Minor: 1}, objc.MacOS())
		require.Equal(t, "Version 16.0 (Build 26B101)", objc.Build())
		return
	}
	child := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	child.Env = append(os.Environ(), "FAKEMETAL_MASKED=1", "FAKEMETAL_MACOS=27.1")
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
