//go:build linux && arm64 && cgo && !race

package vec_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/float16"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rownorm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
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

// countedRow is one row function, on operands that are its own.
type countedRow struct {
	name string
	call func()
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
	float16.F32ToF16Row(halves, x)
	taps := make([]stencil.Tap, 9) // 3 x 3 windows over lines of 16 runs of channels
	const channels, line = 64, 16
	for i := range taps {
		taps[i] = stencil.Tap{Offset: (i/3*line + i%3) * channels, Number: int32(i)}
	}
	windows := (countedLength/channels - 2*line) / 2
	rows := []countedRow{
		{"add", func() { arith.RowsOf[float32](arith.Add).VV(out, x, y) }},
		{"subtract", func() { arith.RowsOf[float32](arith.Sub).VV(out, x, y) }},
		{"multiply", func() { arith.RowsOf[float32](arith.Mul).VV(out, x, y) }},
		{"divide", func() { arith.RowsOf[float32](arith.Div).VV(out, x, y) }},
		{"maximum", func() { arith.RowsOf[float32](arith.Max).VV(out, x, y) }},
		{"minimum", func() { arith.RowsOf[float32](arith.Min).VV(out, x, y) }},
		{"multiply by a number", func() { arith.RowsOf[float32](arith.Mul).VS(out, x, 3) }},
		{"pow", func() { maths.Pow(out, positive, y) }},
		{"less", func() { arith.Less(bools, x, y) }},
		{"equal", func() { arith.Equal(bools, x, y) }},
		{"float32 to int32", func() { arith.ToInt32(ints, x) }},
		{"float64 to float32", func() { arith.ToFloat32(out, doubles) }},
		{"float16 to float32", func() { float16.F16ToF32Row(out, halves) }},
		{"float32 to float16", func() { float16.F32ToF16Row(halves, x) }},
		{"bfloat16 to float32", func() { float16.BF16ToF32Row(out, halves) }},
		{"float32 to bfloat16", func() { float16.F32ToBF16Row(halves, x) }},
		{"sum", func() { reduction.Sum(x) }},
		{"sum of squares", func() { reduction.SumSquares(x) }},
		{"max of a row", func() { reduction.MaxRow(x) }},
		{"min of a row", func() { reduction.MinRow(x) }},
		{"sum of columns", func() { reduction.SumColumns(sums, x, len(sums), countedLength/len(sums)) }},
		{"max of columns", func() { reduction.MaxColumns(out[:64], x, 64, countedLength/64) }},
		{"largest of a row", func() { reduction.Largest(x, vec.Descending) }},
		{"place of the largest", func() { reduction.Find(x, 1234, 0) }},
		{"largest of columns", func() { reduction.ArgColumns(out, ints, x, 0, 3) }},
		{"attention's weights", func() { rownorm.OnlineSoftmaxColumns(out[:4092], y[:12], weight[:12], positive[:12], 0) }},
		{"softmax of 1024", func() { rownorm.Softmax(out, x, 1024) }},
		{"softmax of 64", func() { rownorm.Softmax(out, x, 64) }},
		{"softmax of 10", func() { rownorm.Softmax(out[:4090], x[:4090], 10) }},
		{"layer norm", func() {
			rownorm.NormalizeRows(out, x, weight, y, countedLength, 1e-5, true, func(float64) {})
		}},
		{"depthwise 3x3", func() { stencil.DepthwiseChannelsLast(out, x, weight, taps, windows, channels, channels) }},
		{"max pool 3x3", func() { stencil.MaxPoolChannelsLast(out, x, taps, windows, channels, channels) }},
	}
	for _, f := range []maths.Function{maths.Neg, maths.Abs, maths.Relu, maths.Exp, maths.Tanh, maths.Sigmoid, maths.Erf, maths.Gelu, maths.GeluTanh, maths.Silu, maths.Sin, maths.Cos} {
		rows = append(rows, countedRow{f.String(), func() { f.Row(out, x) }})
	}
	for _, f := range []maths.Function{maths.Sqrt, maths.Rsqrt, maths.Log} {
		rows = append(rows, countedRow{f.String(), func() { f.Row(out, positive) }})
	}
	return rows
}

// TestCountedRows runs each row at the portable level and at that of vec.NEON. Without the flag it only sees that they run.
func TestCountedRows(t *testing.T) {
	all := vec.Levels()
	require.Equal(t, []vec.Level{vec.Portable, vec.NEON}, all)
	defer vectest.UseLevel(vec.Active(), rooms...)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i, row := range countedRows() {
		for j, level := range all {
			vectest.UseLevel(level, rooms...)
			row.call() // what the first call does once more is not counted
			if *countInstructions {
				marked(len(all)*i+j, row.call)
				fmt.Printf("row %d %s: %s\n", len(all)*i+j, level, row.name)
			}
		}
	}
}
