//go:build goexperiment.simd && amd64 && !race

package vectest

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// RequireAligned fails if a vector load of a constant of a room, a field of an object made by vec.NewAligned, crosses a line of the cache.
// SAFETY: only addresses are read.
func RequireAligned[T any](t *testing.T, consts *T) {
	t.Helper()
	require.Zero(t, uintptr(unsafe.Pointer(consts))%vec.CacheLine)
	require.Equal(t, uintptr(vec.CacheLine), unsafe.Sizeof(vec.Splat64{}))
	require.Equal(t, uintptr(vec.CacheLine), unsafe.Sizeof(vec.Splat32{}))
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if f.Anonymous {
			continue
		}
		element := f.Type
		if element.Kind() == reflect.Array && element.Elem().Kind() == reflect.Array {
			element = element.Elem()
		}
		require.Contains(t, []reflect.Type{reflect.TypeFor[vec.Splat64](), reflect.TypeFor[vec.Splat32]()}, element, f.Name)
		value := reflect.ValueOf(consts).Elem().FieldByIndex(f.Index)
		require.Zero(t, value.UnsafeAddr()%vec.CacheLine, f.Name)
	}
}

// RequireLoadsOfConstants fails where the loops in the room of the test load a constant from elsewhere: the linker may align a variable of
// a package to 32 bytes. It fails too if it finds fewer than least loads.
func RequireLoadsOfConstants(t *testing.T, least int) {
	t.Helper()
	names, err := filepath.Glob("*512.go")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	load := regexp.MustCompile(`vec\.Load(?:Splat|Narrow)512\(&(consts\.|Consts\.|maths\.Consts\.|c\[)?`)
	found := 0
	for _, name := range names {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range load.FindAllSubmatch(source, -1) {
			require.NotEmpty(t, m[1], "%s: a constant outside of consts, or of a table that is not a parameter", name)
			found++
		}
	}
	require.GreaterOrEqual(t, found, least)
}
