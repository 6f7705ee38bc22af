//go:build linux || darwin

package vec

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// fences is memory for the operands of one call. Each lies between two pages that may be neither read nor written, directly behind the
// first or directly in front of the second.
type fences struct {
	regions [][]byte
	used    int
	high    bool // operands end where the second page begins
}

const fenced = 1 << 19 // bytes of a region

func newFences(t *testing.T) *fences {
	f := &fences{}
	page := os.Getpagesize()
	for range 5 {
		whole, err := syscall.Mmap(-1, 0, fenced+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, syscall.Munmap(whole)) })
		require.NoError(t, syscall.Mprotect(whole[:page], syscall.PROT_NONE))
		require.NoError(t, syscall.Mprotect(whole[page+fenced:], syscall.PROT_NONE))
		f.regions = append(f.regions, whole[page:page+fenced])
	}
	return f
}

// operand is the next operand of a call.
func operand[T any](f *fences, n int) []T {
	region := f.regions[f.used]
	f.used++
	if n == 0 {
		return nil
	}
	size, at := n*int(unsafe.Sizeof(*new(T))), 0
	if f.high {
		at = fenced - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&region[at])), n)
}

// try calls f and reports a read or write outside of its operands.
func (f *fences) try(t *testing.T, call func(), what string, at ...any) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s, operands at the end %v: %v", fmt.Sprintf(what, at...), f.high, r)
		}
	}()
	f.used = 0
	call()
}

// floats fills every region with numbers as float32.
func (f *fences) floats() {
	r := rand.New(rand.NewPCG(17, 18))
	for _, region := range f.regions {
		x := unsafe.Slice((*float32)(unsafe.Pointer(&region[0])), fenced/4)
		copy(x, specials32(r, len(x)))
	}
}

// rowCalls are the functions of rows, on operands of n elements each.
func rowCalls(f *fences, n int) map[string]func() {
	floats := func() []float32 { return operand[float32](f, n) }
	doubles := func() []float64 { return operand[float64](f, n) }
	halves := func() []uint16 { return operand[uint16](f, n) }
	bytes := func() []uint8 { return operand[uint8](f, n) }
	words := func() []int32 { return operand[int32](f, n) }
	calls := map[string]func(){
		"f16 to f32":   func() { F16ToF32Row(floats(), halves()) },
		"bf16 to f32":  func() { BF16ToF32Row(floats(), halves()) },
		"f32 to f16":   func() { F32ToF16Row(halves(), floats()) },
		"f32 to bf16":  func() { F32ToBF16Row(halves(), floats()) },
		"to int32":     func() { ToInt32(words(), floats()) },
		"to float32":   func() { ToFloat32(floats(), doubles()) },
		"less":         func() { Less(bytes(), floats(), floats()) },
		"less equal":   func() { LessEqual(bytes(), floats(), floats()) },
		"equal":        func() { Equal(bytes(), floats(), floats()) },
		"not equal":    func() { NotEqual(bytes(), floats(), floats()) },
		"atan2":        func() { Atan2(floats(), floats(), floats()) },
		"pow":          func() { Pow(floats(), floats(), floats()) },
		"exp2":         func() { Exp2(floats(), floats()) },
		"less int32":   func() { LessInt32(bytes(), words(), words()) },
		"leaky relu":   func() { LeakyRelu(floats(), floats(), 0.5) },
		"softplus":     func() { Softplus(floats(), floats(), 1, 20) },
		"softmax":      func() { Softmax(floats(), floats(), n) },
		"log_softmax":  func() { LogSoftmax(floats(), floats(), n) },
		"normalize":    func() { Normalize(floats(), floats(), floats(), floats(), 1, true) },
		"rows of 9":    func() { NormalizeRows(floats(), floats(), nil, nil, 9, 1, true, func(float64) {}) },
		"rms":          func() { Normalize(floats(), floats(), nil, nil, 1, false) },
		"weight":       func() { Normalize(floats(), floats(), floats(), nil, 1, false) },
		"bias":         func() { Normalize(floats(), floats(), nil, floats(), 1, false) },
		"sum":          func() { Sum(floats()) },
		"sum64":        func() { Sum64(doubles()) },
		"squares":      func() { SumSquares(floats()) },
		"product":      func() { Product(floats()) },
		"count":        func() { CountTrue(bytes()) },
		"max":          func() { MaxRow(floats()) },
		"min":          func() { MinRow(floats()) },
		"any":          func() { AnyByte(bytes()) },
		"all":          func() { AllBytes(bytes()) },
		"or":           func() { Or(bytes(), bytes()) },
		"and":          func() { AndTrue(bytes(), bytes()) },
		"logical not":  func() { LogicalNot(bytes(), bytes()) },
		"largest":      func() { Largest(floats(), Descending) },
		"find":         func() { Find(floats(), 1234, 0) },
		"beyond":       func() { Beyond(floats(), 1e38, 0) },
		"arg columns":  func() { ArgColumns(floats(), words(), floats(), 0, 3) },
		"running sums": func() { RunningSums(doubles(), floats(), floats()) },
		"running sum":  func() { RunningSum(floats(), floats()) },
		"bf16 row":     func() { AddBF16Rows(floats(), operand[float32](f, 1), halves(), n) },
		"bf16 rows":    func() { AddBF16Rows(operand[float32](f, n/4), operand[float32](f, 4), halves(), n/4) },
		"to columns":   func() { Transpose(floats(), floats(), n, 1, n, 1) },
		"to rows":      func() { Transpose(floats(), floats(), 1, n, 1, n) },
		"weigh":        func() { WeighColumns(floats(), floats(), floats(), floats(), 3) },
		"sort keys":    func() { SortKeys(operand[uint32](f, n), floats(), 0) },
	}
	for u := range Unary(unaryCount) {
		calls[u.String()] = func() { u.Row(floats(), floats()) }
	}
	for b := range Bitwise(bitwiseCount) {
		calls[b.String()] = func() { b.Row(bytes(), bytes(), bytes()) }
	}
	for b := range Binary(binaryCount) {
		calls[b.String()] = func() { RowsOf[float32](b).VV(floats(), floats(), floats()) }
		calls[b.String()+" scalar"] = func() { RowsOf[float32](b).VS(floats(), floats(), 2) }
		calls["scalar "+b.String()] = func() { RowsOf[float32](b).SV(floats(), 2, floats()) }
		calls[b.String()+" float64"] = func() { RowsOf[float64](b).VV(doubles(), doubles(), doubles()) }
	}
	return calls
}

// No function touches memory in front of its operands or behind them.
func TestRowsStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := newFences(t)
		for _, high := range []bool{false, true} {
			f.high = high
			f.floats()
			lengths := append([]int{0, 127, 128, 129, 200, 255, 256, 257, 300, 513, 1025}, sizes...)
			for n := range maxLength {
				lengths = append(lengths, n)
			}
			for _, n := range lengths {
				for name, call := range rowCalls(f, n) {
					f.try(t, call, "%s of %d", name, n)
				}
			}
		}
	})
}

// Nor do those of several rows.
func TestColumnsStayInside(t *testing.T) {
	f := newFences(t)
	eachStack(t, func(t *testing.T, _ *rand.Rand, n, stride, rows int) {
		all := max(rows-1, 0)*stride + n
		for _, high := range []bool{false, true} {
			f.high = high
			f.try(t, func() { SumColumns(operand[float64](f, n), operand[float32](f, all), stride, rows) }, "sums of %d, %d, %d", n, stride, rows)
			f.try(t, func() { MaxColumns(operand[float32](f, n), operand[float32](f, all), stride, rows) }, "max of %d, %d, %d", n, stride, rows)
			f.try(t, func() { MinColumns(operand[float32](f, n), operand[float32](f, all), stride, rows) }, "min of %d, %d, %d", n, stride, rows)
			f.try(t, func() { OrColumns(operand[uint8](f, n), operand[uint8](f, all), stride, rows) }, "or of %d, %d, %d", n, stride, rows)
			f.try(t, func() { AndColumns(operand[uint8](f, n), operand[uint8](f, all), stride, rows) }, "and of %d, %d, %d", n, stride, rows)
		}
	})
}

// Nor do products, whose matrices end with their last element and not with its row.
func TestProductsStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := newFences(t)
		productsStayInside[float32](t, f)
		productsStayInside[float64](t, f)
	})
}

// packedStayInside is productsStayInside for a packed right operand.
func packedStayInside(t *testing.T, f *fences, matrix func(rows, cols int) []float32, m, n, k, more int) {
	f.try(t, func() {
		right := rightOf(matrix(k, n), k, n, n+more)
		require.True(t, right.MatMul(matrix(m, n), matrix(m, k), m, 0, n, k+more, n+more))
	}, "packed product %d x %d x %d, %d more", m, n, k, more)
}

func productsStayInside[T Real](t *testing.T, f *fences) {
	for _, m := range []int{1, 2, 5, 6, 7, 11, 12, 13, 25} {
		for _, n := range []int{1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65, 129} {
			for _, k := range []int{0, 1, 2, 3, 4, 5, 9, 257} {
				for _, more := range []int{0, 3} {
					f.high = (m+n+k)%2 == 0
					matrix := func(rows, cols int) []T { return operand[T](f, max(rows-1, 0)*(cols+more)+cols*min(rows, 1)) }
					what := []any{m, n, k, more}
					f.try(t, func() {
						require.True(t, MatMul(matrix(m, n), matrix(m, k), matrix(k, n), m, n, k, k+more, n+more, n+more))
					}, "product %v", what)
					f.try(t, func() {
						require.True(t, AddMatMul(matrix(m, n), matrix(m, k), matrix(k, n), m, n, k, k+more, n+more, n+more))
					}, "added product %v", what)
					if f32, ok := any(matrix).(func(rows, cols int) []float32); ok {
						packedStayInside(t, f, f32, m, n, k, more)
					}
					f.try(t, func() {
						c, b, offsets := matrix(m, n), operand[T](f, n+k), make([]int, k)
						for i := range offsets {
							offsets[i] = (i * 7) % (k + 1)
						}
						a := operand[T](f, m*k)
						if m >= FewRows[T]() {
							packed := operand[T](f, LeftSize[T](m, k))
							require.True(t, PackLeft(packed, a, m, k, k))
							a = packed
						}
						for _, set := range []bool{true, false} {
							require.True(t, AddTaps(c, a, b, offsets, m, n, k, n+more, set))
						}
					}, "taps %v", what)
					if width := 5 + k%9; HasGrid[T](m, width) {
						f.try(t, func() {
							lines, offsets := (n-1)/width, make([]int, k)
							for i := range offsets {
								offsets[i] = (i * 7) % (k + 1)
							}
							b := operand[T](f, k+lines*(width+more)+n-lines*width)
							require.True(t, AddGrid(matrix(m, n), operand[T](f, m*k), b, offsets, m, n, k, n+more, width, width+more, true))
						}, "grid %v", what)
					}
					f.try(t, func() { AddDots(matrix(m, n), matrix(m, k), matrix(n, k), m, n, k, k+more, k+more, n+more) }, "dots %v", what)
				}
			}
		}
	}
}

// Nor do copies of planes, and sums of lines of them.
func TestPlanesStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := newFences(t)
		for _, lines := range []int{1, 2, 7, 8, 9} {
			for width := 1; width < 70; width += 1 + width/8 {
				for _, more := range []int{0, 3} {
					f.high = (lines+width+more)%2 == 0
					f.try(t, func() {
						require.True(t, Evens(operand[float32](f, width), operand[float32](f, 2*width-1)))
					}, "evens %d", width)
					for _, halves := range []bool{false, true} {
						f.try(t, func() {
							to, x := operand[float32](f, lines*(width+2+more)-more), operand[float32](f, (lines-1)*(width+more)+width)
							require.True(t, PadPlane(to, x, lines, width, width+more, width+2+more, 0, width/2+2, halves))
						}, "copy %d x %d, %d, %v", lines, width, more, halves)
					}
					f.try(t, func() {
						to, x := operand[float32](f, (lines-1)*(width+more)+width), operand[float32](f, 3+(lines-1)*(width+2)+width+WindowLanes)
						require.True(t, TapPlane(to, x, operand[float32](f, 3), []int{0, 2, 3}, lines, width, width+more, width+2))
					}, "sums %d x %d, %d", lines, width, more)
				}
			}
		}
	})
}

// Nor do products of 8-bit integers.
func TestProducts8StayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		f := newFences(t)
		for _, m := range []int{1, 2, 5, 6, 11, 12, 13, 25} {
			for _, n := range []int{1, 15, 16, 17, 31, 32, 33, 65, 129} {
				for _, k := range []int{0, 1, 2, 3, 4, 5, 17, 513} {
					for _, more := range []int{0, 3} {
						f.high = (m+n+k)%2 == 0
						room := func(rows, cols int) int { return max(rows-1, 0)*(cols+more) + cols*min(rows, 1) }
						f.try(t, func() {
							a := Bytes{Data: operand[uint8](f, room(m, k)), Step: k + more}
							b := Bytes{Data: operand[uint8](f, room(k, n)), Step: n + more, Signed: m%2 == 0}
							wide, low := Sums{Wide: operand[int32](f, room(m, n)), Step: n + more}, Sums{Low: operand[uint8](f, room(m, n)), Step: n + more}
							right := NewRight8(&b, k, n)
							for _, c := range []*Sums{&wide, &low} {
								require.True(t, MatMul8(c, &a, &b, m, n, k))
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
		f := newFences(t)
		for _, n := range sizes {
			f.high = n%2 == 0
			for step := 1; step <= 2 && HasWindowMax(); step++ {
				f.try(t, func() {
					room := (n + WindowLanes - 1) &^ (WindowLanes - 1)
					x := operand[float32](f, 5+(n-1)*step+1)
					require.True(t, WindowMax(operand[float32](f, room), operand[int32](f, room), x, []Tap{{0, 0}, {5, 1}}, n, step, 0))
				}, "windows of %d, %d", n, step)
			}
			if HasLineDots() {
				f.try(t, func() {
					l := Lines{Width: n, Count: 2, StepA: n, StepB: n + 3, Images: 2, NextA: 14 * n, NextB: 2*n + 9, Row: 2 * n}
					a, b := operand[float32](f, 2*14*n), operand[float32](f, l.NextB+l.StepB+n+4)
					require.True(t, AddLineDots(operand[float32](f, 7*3), a, b, []int{0, 4, 1}, 7, 3, &l))
				}, "lines of %d", n)
			}
		}
	})
}

// Nor do loops that write past the caches.
func TestStreamsStayInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if !HasStreams() {
			t.Skip("there are none")
		}
		f := newFences(t)
		address := func(bytes int64) unsafe.Pointer { return unsafe.Pointer(&operand[byte](f, int(bytes))[0]) }
		for lines := int64(1); lines < 6; lines++ {
			for _, high := range []bool{false, true} {
				f.high = high
				n := lines * StreamLine
				for s := range Stream(streamCount) {
					to, from := s.Sizes()
					f.try(t, func() { s.Lines(address(n), address(n/to*from), address(n/to*from), n, false, false) }, "stream %d of %d lines", s, lines)
				}
				for _, size := range []int64{1, 2, 4, 8} {
					for _, past := range []bool{false, true} {
						f.try(t, func() { Choose(size, past, address(n), address(n/size), address(n), address(n), n) }, "choose of %d bytes, %d lines", size, lines)
					}
				}
			}
		}
	})
}
