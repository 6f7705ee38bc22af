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
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/dots"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/float16"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/nontemporal"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rearrange"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rownorm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/winograd"
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
	rows = append(rows, countedImages(x, out, ints)...)
	return append(rows, countedProducts(x, y, out)...)
}

// countedImages are rows that images go through whose channels are planes. What has no portable loop has the loop here that its caller runs
// then, or one like it.
func countedImages(x, out []float32, at []int32) []countedRow {
	const side, odd = 30, 16 // of a plane with its padding, and where its odd elements begin
	tiles := winograd.Tiles{PerLine: 14, Count: 14 * 14, Columns: 28, Lines: 28, Apart: 28, Pitch: 2 * odd, Odd: odd}
	const cell = 14*14 + 16 + 8 // room for whole panels, and a vector behind them
	cells, sums, plane := make([]float32, winograd.Cells*cell+16), make([]float32, winograd.Cells*cell+16), make([]float32, 2*odd*side+64)
	copy(plane, x)
	copy(sums, x)
	filter, offsets := x[:9], []int{0, 1, 2, side, side + 1, side + 2, 2 * side, 2*side + 1, 2*side + 2}
	taps := make([]stencil.Tap, 9)
	for i := range taps {
		taps[i] = stencil.Tap{Offset: offsets[i], Number: int32(offsets[i])}
	}
	bools := make([]uint8, len(x))
	for i := range bools {
		bools[i] = uint8(i / 3 % 2)
	}
	opened := make(map[vec.Level]*winograd.Tiles)
	tilesOf := func() *winograd.Tiles {
		if opened[vec.Active()] == nil {
			t := tiles
			t.Panel = winograd.PanelTiles()
			must(t.Open(&winograd.Tiles{}))
			opened[vec.Active()] = &t
		}
		return opened[vec.Active()]
	}
	return []countedRow{
		{"Winograd, kernels", func() { must(winograd.Kernels(cells, x, 208, 208)) }},
		{"Winograd, image", func() { must(tilesOf().Image(cells, plane, cell)) }},
		{"Winograd, sums", func() {
			_, ok := tilesOf().Sums(out, sums, cell)
			must(ok)
		}},
		{"depthwise plane 3x3", func() { must(stencil.DepthwisePlane(out, plane, filter, offsets, 28, 28, 28, side)) }},
		{"even and odd elements", func() { must(stencil.PadPlane(out, x, 64, 56, 56, 60, 0, 30, true)) }},
		{"max pool of planes 3x3", func() { maxRow(out, at, x, taps) }},
		{"where", func() { chooseRow(out, bools, x, plane[:len(plane)&^15]) }},
		{"transpose", func() { must(rearrange.Transpose(out, x, 64, 64, 64, 64)) }},
		{"interleave three", func() { must(rearrange.Interleave3(out[:3*1360], x[:1360], x[1360:2720], x[2720:4080])) }},
	}
}

func must(ok bool) {
	if !ok {
		panic("operands that do not fit")
	}
}

// maxRow looks at 1024 windows.
func maxRow(best []float32, at []int32, x []float32, taps []stencil.Tap) {
	const n = 1024
	if stencil.HasMaxPoolRow() {
		must(stencil.MaxPoolRow(best, at, x, taps, n, 2, 0))
		return
	}
	for i := range n {
		top, place := x[taps[0].Offset+2*i], taps[0].Number
		for _, tap := range taps[1:] {
			if v := x[tap.Offset+2*i]; !(v <= top) && top == top { //nolint:staticcheck // a NaN is not less
				top, place = v, tap.Number
			}
		}
		best[i], at[i] = top, place+2*int32(i)
	}
}

// chooseRow is where.
func chooseRow(to []float32, condition []uint8, a, b []float32) {
	n := min(len(to), len(a), len(b)) &^ 15
	if nontemporal.HasChoose() {
		nontemporal.Choose(4, false, unsafe.Pointer(&to[0]), unsafe.Pointer(&condition[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), int64(4*n))
		return
	}
	for i := range to[:n] {
		if to[i] = b[i]; condition[i] != 0 {
			to[i] = a[i]
		}
	}
}

// countedProducts are rows of products beside the tiles.
func countedProducts(x, y, out []float32) []countedRow {
	packed := make(map[vec.Level]*gemm.PackedRight)
	offsets, left := []int{0, 1, 2, 30, 31, 32, 60, 61, 62}, make([]float32, countedLength)
	lines := dots.Lines{Width: 14, Count: 14, StepA: 14, StepB: 16, Images: 1, Row: 196}
	return []countedRow{
		{"row times matrix", func() { must(gemm.MatMul(out[:64], x[:64], y, 1, 64, 64, 64, 64, 64)) }},
		{"row times packed matrix", func() {
			if packed[vec.Active()] == nil {
				packed[vec.Active()] = packedRight(y, 64, 64, 64)
			}
			must(packed[vec.Active()].MatMul(out[:64], x[:64], 1, 0, 64, 64, 64))
		}},
		{"rows of a panel", func() { must(gemm.PackLeft(left, x, 64, 64, 64)) }},
		{"product of 16 rows at offsets", func() { must(gemm.AddAtOffsets(out[:16*72], left, y, offsets, 16, 72, 9, 72, true)) }},
		{"product of 16 rows with lines", func() {
			if gemm.HasGrid[float32](16, 14) {
				must(gemm.AddGridAtOffsets(out[:16*70], left, y, offsets, 16, 70, 9, 70, 14, 30, true))
				return
			}
			must(gemm.AddAtOffsets(out[:16*134], left, y, offsets, 16, 134, 9, 134, true)) // with what is between lines
		}},
		{"matrix times column", func() { must(gemm.MatMul(out[:64], x, y[:64], 64, 1, 64, 64, 1, 1)) }},
		{"two rows at offsets", func() { must(gemm.AddAtOffsets(out[:1600], x[:18], y, offsets, 2, 800, 9, 800, true)) }},
		{"times a transposed matrix", func() { must(dots.AddTransposed(out[:12], x, y, 3, 4, 512, 512, 512, 4)) }},
		{"products of lines", func() {
			if dots.HasLines() {
				must(dots.AddLines(out[:6*9], x, y, offsets, 6, 9, &lines))
				return
			}
			for i := range 6 {
				for j, o := range offsets {
					sum := float32(0)
					for l := range lines.Count {
						a, b := x[i*lines.Row+l*lines.StepA:][:lines.Width], y[o+l*lines.StepB:][:lines.Width]
						for k, v := range a {
							sum += v * b[k]
						}
					}
					out[i*9+j] += sum
				}
			}
		}},
	}
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
