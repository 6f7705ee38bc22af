//go:build linux && arm64 && cgo && !race

package vec

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// countInstructions has `./build.sh bench arm64` run the rows below in an emulator that counts instructions.
var countInstructions = flag.Bool("instructions", false, "run rows between marks for bench/arm64.c")

const (
	countedMark   = 0x61726d36 // as in bench/arm64.c
	countedLength = 4096       // elements, 16 KiB of float32: what a thread takes of a large tensor is as long or longer
)

// marked calls f between the two marks of a count.
func marked(number int, f func()) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_GETPID, countedMark, uintptr(number), 0)
	f()
	_, _, _ = syscall.RawSyscall(syscall.SYS_GETPID, countedMark, uintptr(number), 1)
}

// countedRow is one row function of a table, on operands that are its own.
type countedRow struct {
	name string
	call func(t *table)
}

// countedRows are the rows that take the most time in networks and in the benchmarks of the CPU device.
func countedRows() []countedRow {
	r := rand.New(rand.NewPCG(1, 2))
	x, y, out, weight := make([]float32, countedLength), make([]float32, countedLength), make([]float32, countedLength), make([]float32, countedLength)
	positive, bools, halves, ints := make([]float32, countedLength), make([]uint8, countedLength), make([]uint16, countedLength), make([]int32, countedLength)
	doubles, sums := make([]float64, countedLength), make([]float64, 64)
	for i := range x {
		x[i], y[i], weight[i] = float32(2*r.NormFloat64()), float32(2*r.NormFloat64()), float32(r.NormFloat64())
		positive[i], doubles[i] = float32(r.ExpFloat64())+0x1p-20, r.NormFloat64()
	}
	f32ToF16Row(halves, x)
	taps := make([]Tap, 9) // 3 x 3 windows over lines of 16 runs of channels
	const channels, line = 64, 16
	for i := range taps {
		taps[i] = Tap{Offset: (i/3*line + i%3) * channels, Number: int32(i)}
	}
	windows := (countedLength/channels - 2*line) / 2
	rows := []countedRow{
		{"add", func(t *table) { t.binary32[Add].VV(out, x, y) }},
		{"subtract", func(t *table) { t.binary32[Sub].VV(out, x, y) }},
		{"multiply", func(t *table) { t.binary32[Mul].VV(out, x, y) }},
		{"divide", func(t *table) { t.binary32[Div].VV(out, x, y) }},
		{"maximum", func(t *table) { t.binary32[Max].VV(out, x, y) }},
		{"minimum", func(t *table) { t.binary32[Min].VV(out, x, y) }},
		{"multiply by a number", func(t *table) { t.binary32[Mul].VS(out, x, 3) }},
		{"pow", func(t *table) { t.pow(out, positive, y) }},
		{"less", func(t *table) { t.less(bools, x, y) }},
		{"equal", func(t *table) { t.equal(bools, x, y) }},
		{"float32 to int32", func(t *table) { t.toInt32(ints, x) }},
		{"float64 to float32", func(t *table) { t.toFloat32(out, doubles) }},
		{"float16 to float32", func(t *table) { t.f16ToF32(out, halves) }},
		{"float32 to float16", func(t *table) { t.f32ToF16(halves, x) }},
		{"bfloat16 to float32", func(t *table) { t.bf16ToF32(out, halves) }},
		{"float32 to bfloat16", func(t *table) { t.f32ToBF16(halves, x) }},
		{"sum", func(t *table) { t.sum(x) }},
		{"sum of squares", func(t *table) { t.sumSquares(x) }},
		{"max of a row", func(t *table) { t.max(x) }},
		{"min of a row", func(t *table) { t.min(x) }},
		{"sum of columns", func(t *table) { t.sumColumns(sums, x, len(sums), countedLength/len(sums)) }},
		{"max of columns", func(t *table) { t.maxColumns(out[:64], x, 64, countedLength/64) }},
		{"largest of a row", func(t *table) { t.largest(x, Descending) }},
		{"place of the largest", func(t *table) { t.find(x, 1234, 0) }},
		{"largest of columns", func(t *table) { t.argColumns(out, ints, x, 0, 3) }},
		{"attention's weights", func(t *table) { t.weigh(out[:4092], y[:12], weight[:12], positive[:12], 0) }},
		{"softmax of 1024", func(t *table) { t.softmax(out, x, 1024) }},
		{"softmax of 64", func(t *table) { t.softmax(out, x, 64) }},
		{"softmax of 10", func(t *table) { t.softmax(out[:4090], x[:4090], 10) }},
		{"layer norm", func(t *table) {
			t.normalize(out, x, weight, y, countedLength, 1e-5, true, func(float64) {})
		}},
		{"depthwise 3x3", func(t *table) { t.depthwise(out, x, weight, taps, windows, channels, channels) }},
		{"max pool 3x3", func(t *table) { t.maxDeep(out, x, taps, windows, channels, channels) }},
	}
	for _, f := range []Unary{Neg, Abs, Relu, Exp, Tanh, Sigmoid, Erf, Gelu, GeluTanh, Silu, Sin, Cos} {
		rows = append(rows, countedRow{f.String(), func(t *table) { t.unary[f](out, x) }})
	}
	for _, f := range []Unary{Sqrt, Rsqrt, Log} {
		rows = append(rows, countedRow{f.String(), func(t *table) { t.unary[f](out, positive) }})
	}
	return rows
}

// TestCountedRows runs each row on the portable table and on that of NEON. Without the flag it only sees that they run.
func TestCountedRows(t *testing.T) {
	all := tables()
	require.Len(t, all, 2)
	require.Equal(t, NEON, all[1].level)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i, row := range countedRows() {
		for j, set := range all {
			row.call(set) // what the first call does once more is not counted
			if *countInstructions {
				marked(len(all)*i+j, func() { row.call(set) })
				fmt.Printf("row %d %s: %s\n", len(all)*i+j, set.level, row.name)
			}
		}
	}
}
