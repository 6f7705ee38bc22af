package vec

// Level names a set of loops by the instructions that it needs.
type Level uint8

const (
	Portable Level = iota // plain Go
	AVX2                  // 256-bit vectors with fused multiply-add
	AVX512                // 512-bit vectors (F, BW, CD, DQ, VL)
	NEON                  // 128-bit vectors of arm64
)

// String gives the level as reports print it.
func (l Level) String() string {
	return [...]string{"portable", "avx2", "avx512", "neon"}[l]
}

// table is one complete set of loops. It selects instructions, once for the process and the same for every
// operator, and is no registry of kernels: which kernel runs a call is decided in package host, which neither
// knows nor asks what processor there is. Slices given to its functions have equal
// lengths: the exported functions see to that once per row.
type table struct {
	level Level

	f16ToF32, bf16ToF32 func(dst []float32, src []uint16)
	f32ToF16, f32ToBF16 func(dst []uint16, src []float32)

	binary32 [binaryCount]Rows[float32]
	binary64 [binaryCount]Rows[float64]

	unary [unaryCount]func(dst, src []float32)
	atan2 func(dst, y, x []float32)
	pow   func(dst, x, y []float32)
	exp2  func(dst, src []float32)

	toInt32                          func(dst []int32, src []float32)
	toFloat32                        func(dst []float32, src []float64)
	less, lessEqual, equal, notEqual func(dst []uint8, a, b []float32)

	lessInt32 func(dst []uint8, a, b []int32)

	bitwise    [bitwiseCount]func(dst, a, b []uint8)
	logicalNot func(dst, src []uint8)

	softmax, logSoftmax func(dst, src []float32, length int)

	weigh     func(s, tops, sums, factors []float32, scaling int)
	leakyRelu func(dst, src []float32, slope float32)
	softplus  func(dst, src []float32, beta, threshold float32)

	sum        func(x []float32) float64
	sumSquares func(x []float32) float64
	product    func(x []float32) float64
	sumLines   func(sums []float64, x []float32, stride, length int)
	sumRows    func(sums []float64, x []float32, stride, length int) // or nil
	countTrue  func(x []uint8) int64
	sumBlock64 func(x []float64) float64
	max, min   func(x []float32) float32

	sumColumns             func(sums []float64, x []float32, stride, rows int)
	maxColumns, minColumns func(tops, x []float32, stride, rows int)
	orColumns, andColumns  func(as, x []uint8, stride, rows int)
	argColumns             func(best []float32, at []int32, x []float32, flip uint32, index int32)
	largest                func(x []float32, flip uint32) (top float32, from int)
	find                   func(x []float32, v float32, flip uint32) int
	anyByte, allBytes      func(x []uint8) bool
	runningSums            func(sums []float64, dst, src []float32)
	sortKeys               func(dst []uint32, src []float32, flip uint32) (some, all uint32, negativeZero bool)
	ofSortKeys             func(dst []float32, keys []uint32, flip uint32)
	sortUint32             func(keys, spare []uint32) bool
	beyond                 func(x []float32, v float32, flip uint32) int
	windowMax              func(best []float32, at []int32, x []float32, taps []Tap, n, step, reach int, first int32) // or nil

	depthwise func(to, x, w []float32, taps []Tap, n, step, channels int)
	maxDeep   func(to, x []float32, taps []Tap, n, step, channels int)

	interleave3 func(to, a, b, c []float32)
	transpose   func(to, from []float32, rows, cols, toStep, fromStep int)
	addBF16Rows func(sums, a []float32, b []uint16, step int)

	evens      func(to, x []float32)
	splitLines func(to, x *float32, lines, width, from, pitch, first, second int)      // of 1 to mostSplit elements; or nil
	tapPlane   func(to, x, w []float32, offsets []int, lines, width, apart, pitch int) // or nil

	// Of Winograd's convolutions, or nil; distances are bytes.
	kernelCells func(to, w *float32, groups, cell int)
	imageTiles  func(to, x *float32, t *tileVector, vectors, pitch, odd, cell int)
	tileSums    func(to, m *float32, t *tileVector, vectors, cell, apart int) uint64

	philox func(dst []uint32, key [2]uint32, first uint64)

	normalize   func(dst, src, weight, bias []float32, length int, epsilon float64, centered bool, next func(scale float64))
	standardize func(dst, src, weight, bias []float32, length int, means, scales []float64)

	tile32 tile[float32]
	tile64 tile[float64]
	dots32 dots[float32]
	dots64 dots[float64]
	tile8  tile8 // of 8-bit integers, or none
	pairs  pairTile
	amx    pairTile // of a processor's matrix unit, which comes before pairs

	lineDots func(to *[lineRows * lineCols]float32, a, b []float32, offsets *[lineCols]int, l *Lines) // or nil
}

// active is chosen once, before main; only tests of this package replace it.
var active = fastest()

// tables lists the sets that this CPU and build can run, slowest first. A
// later set starts as a copy of an earlier one, so that what it does not speed
// up is inherited.
func tables() []*table {
	p := portableTable()
	return append([]*table{p}, simdTables(*p)...)
}

func fastest() *table {
	all := tables()
	return all[len(all)-1]
}

func portableTable() *table {
	t := &table{
		level: Portable,

		interleave3: interleave3Row,
		transpose:   transposeRows,
		addBF16Rows: addBF16Rows,
		evens:       evensRow,

		f16ToF32:  f16ToF32Row,
		bf16ToF32: bf16ToF32Row,
		f32ToF16:  f32ToF16Row,
		f32ToBF16: f32ToBF16Row,
		binary32:  portableRows[float32](),
		binary64:  portableRows[float64](),
		atan2:     atan2Row,
		pow:       powRow,
		exp2:      exp2Row,
		toInt32:   toInt32Row,
		toFloat32: toFloat32Row,
		less:      lessRow,
		lessEqual: lessEqualRow,
		equal:     equalRow,
		notEqual:  notEqualRow,
		lessInt32: lessInt32Row,

		bitwise:    wordLoops,
		logicalNot: logicalNotRow,

		softmax: softmaxRows, logSoftmax: logSoftmaxRows,

		weigh:     weighColumns,
		leakyRelu: leakyReluRow[float32],
		softplus:  softplusRow,

		sum:        sumRow,
		sumSquares: sumSquaresRow,
		product:    productRow,
		sumLines:   sumLinesRow,
		countTrue:  countTrueRow,
		sumBlock64: sumBlock64,
		max:        maxRow,
		min:        minRow,

		philox: philoxRow,

		sumColumns:  sumColumnsRow,
		maxColumns:  maxColumnsRow,
		minColumns:  minColumnsRow,
		orColumns:   orColumnsRow,
		andColumns:  andColumnsRow,
		argColumns:  argColumnsRow,
		largest:     largestRow,
		find:        findRow,
		runningSums: runningSumsRow,
		sortKeys:    sortKeysRow,
		ofSortKeys:  ofSortKeysRow,
		sortUint32:  func(_, _ []uint32) bool { return false },
		depthwise:   depthwiseRow, maxDeep: maxDeepRow,
		beyond:   beyondRow,
		anyByte:  anyByteRow,
		allBytes: allBytesRow,

		normalize:   normalizeRows,
		standardize: standardizeRows,

		tile32: portableTile[float32](),
		tile64: portableTile[float64](),
		dots32: plainDots[float32],
		dots64: plainDots[float64],
	}
	for f, at := range scalars {
		t.unary[f] = throughFloat64(at)
	}
	t.unary[Lgamma], t.unary[Digamma] = throughFloat64(lgammaNarrow), throughFloat64(digammaNarrow)
	return t
}
