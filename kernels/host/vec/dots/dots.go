package dots

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// dots adds up products along rows: number 4*i+j of to is row i of a times row j of b. The operands have three and four
// rows of len(a) elements, lda and ldb apart; those are 0 where all rows of an operand are one. The sum of an element is
// in an order that depends on the number of elements alone.
type dots[T vec.Real] func(to *[dotRows * dotCols]T, a, b []T, lda, ldb, k int)

const (
	dotRows = 3
	dotCols = 4
)

// dotsOf are the active dots of a type.
func dotsOf[T vec.Real]() dots[T] {
	if d, ok := any(active.dots32).(dots[T]); ok {
		return d
	}
	return any(active.dots64).(dots[T])
}

// Operands whose rows are both contiguous are not packed: each vector that is loaded is used three or four times, from the
// first-level cache. Rows that are left over are multiplied as three rows that are one, whose sums are the same: all lanes
// of a sum are added in one order.

// AddTransposed adds a (m x k) times the transpose of b (n x k) to c (m x n), all row-major with leading dimensions lda, ldb and
// ldc: what is added to an element is one sum along two rows. It reports false and leaves c alone where [gemm.MatMul] would,
// runs on the calling thread, and no split of c changes a bit of the result.
func AddTransposed[T vec.Real](c, a, b []T, m, n, k, lda, ldb, ldc int) bool {
	if !vec.MatrixFits(len(c), m, n, ldc) || !vec.MatrixFits(len(a), m, k, lda) || !vec.MatrixFits(len(b), n, k, ldb) {
		return false
	}
	if k == 0 {
		return true
	}
	run := dotsOf[T]()
	var sums [dotRows * dotCols]T
	for j := 0; j < n; {
		cols, stepB := dotCols, ldb
		if n-j < dotCols {
			cols, stepB = 1, 0
		}
		for i := 0; i < m; {
			rows, stepA := dotRows, lda
			if m-i < dotRows {
				rows, stepA = 1, 0
			}
			run(&sums, a[i*lda:], b[j*ldb:], stepA, stepB, k)
			for r := range rows {
				for s := range cols {
					c[(i+r)*ldc+j+s] += sums[r*dotCols+s]
				}
			}
			i += rows
		}
		j += cols
	}
	return true
}

// dotsPortable is dots, portable.
func dotsPortable[T vec.Real](to *[dotRows * dotCols]T, a, b []T, lda, ldb, k int) {
	for i := range dotRows {
		for j := range dotCols {
			sum, y := T(0), b[j*ldb:][:k]
			for l, x := range a[i*lda:][:k] {
				sum += T(x * y[l])
			}
			to[i*dotCols+j] = sum
		}
	}
}
