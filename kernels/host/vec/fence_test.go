//go:build linux || darwin

package vec_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/dots"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/float16"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/lowprec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/nontemporal"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rearrange"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rownorm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/sorting"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// rowCalls are the functions of rows, on operands of n elements each.
func rowCalls(f *vectest.Fences, n int) map[string]func() {
	floats := func() []float32 { return vectest.Operand[float32](f, n) }
	doubles := func() []float64 { return vectest.Operand[float64](f, n) }
	halves := func() []uint16 { return vectest.Operand[uint16](f, n) }
	bytes := func() []uint8 { return vectest.Operand[uint8](f, n) }
	words := func() []int32 { return vectest.Operand[int32](f, n) }
	calls := map[string]func(){
		"f16 to f32":   func() { float16.F16ToF32Row(floats(), halves()) },
		"bf16 to f32":  func() { float16.BF16ToF32Row(floats(), halves()) },
		"f32 to f16":   func() { float16.F32ToF16Row(halves(), floats()) },
		"f32 to bf16":  func() { float16.F32ToBF16Row(halves(), floats()) },
		"to int32":     func() { arith.ToInt32(words(), floats()) },
		"to float32":   func() { arith.ToFloat32(floats(), doubles()) },
		"less":         func() { arith.Less(bytes(), floats(), floats()) },
		"less equal":   func() { arith.LessEqual(bytes(), floats(), floats()) },
		"equal":        func() { arith.Equal(bytes(), floats(), floats()) },
		"not equal":    func() { arith.NotEqual(bytes(), floats(), floats()) },
		"atan2":        func() { maths.Atan2(floats(), floats(), floats()) },
		"pow":          func() { maths.Pow(floats(), floats(), floats()) },
		"exp2":         func() { maths.Exp2(floats(), floats()) },
		"less int32":   func() { arith.LessInt32(bytes(), words(), words()) },
		"leaky relu":   func() { maths.LeakyRelu(floats(), floats(), 0.5) },
		"softplus":     func() { maths.Softplus(floats(), floats(), 1, 20) },
		"softmax":      func() { rownorm.Softmax(floats(), floats(), n) },
		"log_softmax":  func() { rownorm.LogSoftmax(floats(), floats(), n) },
		"normalize":    func() { rownorm.Normalize(floats(), floats(), floats(), floats(), 1, true) },
		"rows of 9":    func() { rownorm.NormalizeRows(floats(), floats(), nil, nil, 9, 1, true, func(float64) {}) },
		"rms":          func() { rownorm.Normalize(floats(), floats(), nil, nil, 1, false) },
		"weight":       func() { rownorm.Normalize(floats(), floats(), floats(), nil, 1, false) },
		"bias":         func() { rownorm.Normalize(floats(), floats(), nil, floats(), 1, false) },
		"sum":          func() { reduction.Sum(floats()) },
		"sum64":        func() { reduction.Sum64(doubles()) },
		"squares":      func() { reduction.SumSquares(floats()) },
		"product":      func() { reduction.Product(floats()) },
		"count":        func() { reduction.CountTrue(bytes()) },
		"max":          func() { reduction.MaxRow(floats()) },
		"min":          func() { reduction.MinRow(floats()) },
		"any":          func() { reduction.AnyByte(bytes()) },
		"all":          func() { reduction.AllBytes(bytes()) },
		"or":           func() { arith.Or(bytes(), bytes()) },
		"and":          func() { arith.AndTrue(bytes(), bytes()) },
		"logical not":  func() { arith.LogicalNot(bytes(), bytes()) },
		"largest":      func() { reduction.Largest(floats(), vec.Descending) },
		"find":         func() { reduction.Find(floats(), 1234, 0) },
		"beyond":       func() { sorting.Beyond(floats(), 1e38, 0) },
		"arg columns":  func() { reduction.ArgColumns(floats(), words(), floats(), 0, 3) },
		"running sums": func() { reduction.RunningSums(doubles(), floats(), floats()) },
		"running sum":  func() { reduction.RunningSum(floats(), floats()) },
		"bf16 row":     func() { float16.AddBF16Rows(floats(), vectest.Operand[float32](f, 1), halves(), n) },
		"bf16 rows": func() {
			float16.AddBF16Rows(vectest.Operand[float32](f, n/4), vectest.Operand[float32](f, 4), halves(), n/4)
		},
		"to columns": func() { rearrange.Transpose(floats(), floats(), n, 1, n, 1) },
		"to rows":    func() { rearrange.Transpose(floats(), floats(), 1, n, 1, n) },
		"weigh":      func() { rownorm.OnlineSoftmaxColumns(floats(), floats(), floats(), floats(), 3) },
		"sort keys":  func() { sorting.SortKeys(vectest.Operand[uint32](f, n), floats(), 0) },
	}
	for u := range maths.Function(maths.FunctionCount) {
		calls[u.String()] = func() { u.Row(floats(), floats()) }
	}
	for b := range arith.Bitwise(arith.BitwiseCount) {
		calls[b.String()] = func() { b.Row(bytes(), bytes(), bytes()) }
	}
	for b := range arith.Binary(arith.BinaryCount) {
		calls[b.String()] = func() { arith.RowsOf[float32](b).VV(floats(), floats(), floats()) }
		calls[b.String()+" scalar"] = func() { arith.RowsOf[float32](b).VS(floats(), floats(), 2) }
		calls["scalar "+b.String()] = func() { arith.RowsOf[float32](b).SV(floats(), 2, floats()) }
		calls[b.String()+" float64"] = func() { arith.RowsOf[float64](b).VV(doubles(), doubles(), doubles()) }
	}
	return calls
}

// No function touches memory in front of its operands or behind them.
func TestRowsStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := vectest.NewFences(t)
		for _, high := range []bool{false, true} {
			f.High = high
			f.Floats()
			lengths := append([]int{0, 127, 128, 129, 200, 255, 256, 257, 300, 513, 1025}, vectest.Sizes...)
			for n := range vectest.MaxLength {
				lengths = append(lengths, n)
			}
			for _, n := range lengths {
				for name, call := range rowCalls(f, n) {
					f.Try(t, call, "%s of %d", name, n)
				}
			}
		}
	})
}

// Nor do those of several rows.
func TestColumnsStayInside(t *testing.T) {
	f := vectest.NewFences(t)
	vectest.EachStack(t, eachLevel, func(t *testing.T, _ *rand.Rand, n, stride, rows int) {
		all := max(rows-1, 0)*stride + n
		for _, high := range []bool{false, true} {
			f.High = high
			f.Try(t, func() {
				reduction.SumColumns(vectest.Operand[float64](f, n), vectest.Operand[float32](f, all), stride, rows)
			}, "sums of %d, %d, %d", n, stride, rows)
			f.Try(t, func() {
				reduction.MaxColumns(vectest.Operand[float32](f, n), vectest.Operand[float32](f, all), stride, rows)
			}, "max of %d, %d, %d", n, stride, rows)
			f.Try(t, func() {
				reduction.MinColumns(vectest.Operand[float32](f, n), vectest.Operand[float32](f, all), stride, rows)
			}, "min of %d, %d, %d", n, stride, rows)
			f.Try(t, func() {
				reduction.OrColumns(vectest.Operand[uint8](f, n), vectest.Operand[uint8](f, all), stride, rows)
			}, "or of %d, %d, %d", n, stride, rows)
			f.Try(t, func() {
				reduction.AndColumns(vectest.Operand[uint8](f, n), vectest.Operand[uint8](f, all), stride, rows)
			}, "and of %d, %d, %d", n, stride, rows)
		}
	})
}

// Nor do products, whose matrices end with their last element and not with its row.
func TestProductsStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := vectest.NewFences(t)
		productsStayInside[float32](t, f)
		productsStayInside[float64](t, f)
	})
}

// packedStayInside is productsStayInside for a packed right operand.
func packedStayInside(t *testing.T, f *vectest.Fences, matrix func(rows, cols int) []float32, m, n, k, more int) {
	f.Try(t, func() {
		right := packedRight(matrix(k, n), k, n, n+more)
		require.True(t, right.MatMul(matrix(m, n), matrix(m, k), m, 0, n, k+more, n+more))
	}, "packed product %d x %d x %d, %d more", m, n, k, more)
}

func productsStayInside[T vec.Real](t *testing.T, f *vectest.Fences) {
	for _, m := range []int{1, 2, 5, 6, 7, 11, 12, 13, 25} {
		for _, n := range []int{1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65, 129} {
			for _, k := range []int{0, 1, 2, 3, 4, 5, 9, 257} {
				for _, more := range []int{0, 3} {
					f.High = (m+n+k)%2 == 0
					matrix := func(rows, cols int) []T { return vectest.Operand[T](f, max(rows-1, 0)*(cols+more)+cols*min(rows, 1)) }
					what := []any{m, n, k, more}
					f.Try(t, func() {
						require.True(t, gemm.MatMul(matrix(m, n), matrix(m, k), matrix(k, n), m, n, k, k+more, n+more, n+more))
					}, "product %v", what)
					f.Try(t, func() {
						require.True(t, gemm.AddMatMul(matrix(m, n), matrix(m, k), matrix(k, n), m, n, k, k+more, n+more, n+more))
					}, "added product %v", what)
					if f32, ok := any(matrix).(func(rows, cols int) []float32); ok {
						packedStayInside(t, f, f32, m, n, k, more)
					}
					f.Try(t, func() {
						c, b, offsets := matrix(m, n), vectest.Operand[T](f, n+k), make([]int, k)
						for i := range offsets {
							offsets[i] = (i * 7) % (k + 1)
						}
						a := vectest.Operand[T](f, m*k)
						if m >= gemm.LeastTileRows[T]() {
							packed := vectest.Operand[T](f, gemm.LeftSize[T](m, k))
							require.True(t, gemm.PackLeft(packed, a, m, k, k))
							a = packed
						}
						for _, set := range []bool{true, false} {
							require.True(t, gemm.AddAtOffsets(c, a, b, offsets, m, n, k, n+more, set))
						}
					}, "taps %v", what)
					if width := 5 + k%9; gemm.HasGrid[T](m, width) {
						f.Try(t, func() {
							lines, offsets := (n-1)/width, make([]int, k)
							for i := range offsets {
								offsets[i] = (i * 7) % (k + 1)
							}
							b := vectest.Operand[T](f, k+lines*(width+more)+n-lines*width)
							require.True(t, gemm.AddGridAtOffsets(matrix(m, n), vectest.Operand[T](f, gemm.LeftSize[T](m, k)), b, offsets, m, n, k, n+more, width, width+more, true))
						}, "grid %v", what)
					}
					f.Try(t, func() { dots.AddTransposed(matrix(m, n), matrix(m, k), matrix(n, k), m, n, k, k+more, k+more, n+more) }, "dots %v", what)
				}
			}
		}
	}
}

// Nor do copies of planes, and sums of lines of them.
func TestPlanesStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := vectest.NewFences(t)
		for _, lines := range []int{1, 2, 7, 8, 9} {
			for width := 1; width < 70; width += 1 + width/8 {
				for _, more := range []int{0, 3} {
					f.High = (lines+width+more)%2 == 0
					f.Try(t, func() {
						require.True(t, stencil.EvenElements(vectest.Operand[float32](f, width), vectest.Operand[float32](f, 2*width-1)))
					}, "evens %d", width)
					for _, halves := range []bool{false, true} {
						f.Try(t, func() {
							to, x := vectest.Operand[float32](f, lines*(width+2+more)-more), vectest.Operand[float32](f, (lines-1)*(width+more)+width)
							require.True(t, stencil.PadPlane(to, x, lines, width, width+more, width+2+more, 0, width/2+2, halves))
						}, "copy %d x %d, %d, %v", lines, width, more, halves)
					}
					f.Try(t, func() {
						to, x := vectest.Operand[float32](f, (lines-1)*(width+more)+width), vectest.Operand[float32](f, 3+(lines-1)*(width+2)+width+stencil.WindowLanes)
						require.True(t, stencil.DepthwisePlane(to, x, vectest.Operand[float32](f, 3), []int{0, 2, 3}, lines, width, width+more, width+2))
					}, "sums %d x %d, %d", lines, width, more)
				}
			}
		}
	})
}

// Nor do products of 8-bit integers.
func TestProducts8StayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := vectest.NewFences(t)
		for _, m := range []int{1, 2, 5, 6, 11, 12, 13, 25} {
			for _, n := range []int{1, 15, 16, 17, 31, 32, 33, 65, 129} {
				for _, k := range []int{0, 1, 2, 3, 4, 5, 17, 513} {
					for _, more := range []int{0, 3} {
						f.High = (m+n+k)%2 == 0
						room := func(rows, cols int) int { return max(rows-1, 0)*(cols+more) + cols*min(rows, 1) }
						f.Try(t, func() {
							a := lowprec.Bytes{Data: vectest.Operand[uint8](f, room(m, k)), Step: k + more}
							b := lowprec.Bytes{Data: vectest.Operand[uint8](f, room(k, n)), Step: n + more, Signed: m%2 == 0}
							wide, low := lowprec.Sums{Wide: vectest.Operand[int32](f, room(m, n)), Step: n + more}, lowprec.Sums{Low: vectest.Operand[uint8](f, room(m, n)), Step: n + more}
							right := lowprec.NewPackedRight8(&b, k, n)
							for _, c := range []*lowprec.Sums{&wide, &low} {
								require.True(t, lowprec.MatMul8(c, &a, &b, m, n, k))
								require.True(t, right.MatMul(c, &a, m, 0, n))
							}
						}, "product of %d, %d, %d, gaps of %d", m, n, k, more)
					}
				}
			}
		}
	})
}

// Nor do windows and lines, whose vectors read what is beside them as long as it is inside.
func TestWindowsAndLinesStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := vectest.NewFences(t)
		for _, n := range vectest.Sizes {
			f.High = n%2 == 0
			for step := 1; step <= 2 && stencil.HasMaxPoolRow(); step++ {
				f.Try(t, func() {
					room := (n + stencil.WindowLanes - 1) &^ (stencil.WindowLanes - 1)
					x := vectest.Operand[float32](f, 5+(n-1)*step+1)
					require.True(t, stencil.MaxPoolRow(vectest.Operand[float32](f, room), vectest.Operand[int32](f, room), x, []stencil.Tap{{}, {Offset: 5, Number: 1}}, n, step, 0))
				}, "windows of %d, %d", n, step)
			}
			if dots.HasLines() {
				f.Try(t, func() {
					l := dots.Lines{Width: n, Count: 2, StepA: n, StepB: n + 3, Images: 2, NextA: 14 * n, NextB: 2*n + 9, Row: 2 * n}
					a, b := vectest.Operand[float32](f, 2*14*n), vectest.Operand[float32](f, l.NextB+l.StepB+n+4)
					require.True(t, dots.AddLines(vectest.Operand[float32](f, 7*3), a, b, []int{0, 4, 1}, 7, 3, &l))
				}, "lines of %d", n)
			}
		}
	})
}

// Nor do loops that write past the caches.
func TestStreamsStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if !nontemporal.Available() {
			t.Skip("there are none")
		}
		f := vectest.NewFences(t)
		address := func(bytes int64) unsafe.Pointer { return unsafe.Pointer(&vectest.Operand[byte](f, int(bytes))[0]) }
		for lines := int64(1); lines < 6; lines++ {
			for _, high := range []bool{false, true} {
				f.High = high
				n := lines * nontemporal.LineBytes
				for s := range nontemporal.Loop(nontemporal.LoopCount) {
					to, from := s.Sizes()
					f.Try(t, func() { s.Lines(address(n), address(n/to*from), address(n/to*from), n, false, false) }, "stream %d of %d lines", s, lines)
				}
				for _, size := range []int64{1, 2, 4, 8} {
					for _, past := range []bool{false, true} {
						f.Try(t, func() { nontemporal.Choose(size, past, address(n), address(n/size), address(n), address(n), n) }, "choose of %d bytes, %d lines", size, lines)
					}
				}
			}
		}
	})
}

// packedRight is b (k x n, leading dimension ldb) as a right operand.
func packedRight(b []float32, k, n, ldb int) *gemm.PackedRight {
	r := gemm.NewPackedRight(k, n)
	panels, cols := r.Panels()
	for j := range n {
		for l := range k {
			panels[j/cols*cols*k+l*cols+j%cols] = b[l*ldb+j]
		}
	}
	return r
}
