package gemm

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// A left operand that is stored transposed, as the transpose of a row-major matrix is, lies in memory almost as the tiles read it:
// one step of a panel is a few elements in a row. So it needs no transpose of its own, and no memory for one. Gradients of
// weights are such products: x' dy.

// MatMulTransposed is [MatMul] for a left operand that is stored as its transpose: a is k x m, row-major with leading dimension lda.
// The result is the same, bit for bit. To use several threads, c is split as for MatMul, into parts of a[i:].
func MatMulTransposed(c, a, b []float32, m, n, k, lda, ldb, ldc int) bool {
	if !vec.MatrixFits(len(c), m, n, ldc) || !vec.MatrixFits(len(a), k, m, lda) || !vec.MatrixFits(len(b), k, n, ldb) {
		return false
	}
	if k == 0 {
		vec.ZeroRows(c, m, n, ldc)
	}
	if m == 0 || n == 0 {
		return true
	}
	t := tileOf[float32]()
	switch {
	case k == 0:
	case t.windows != nil:
		inPlace(t, c, leftOperand{a, 1, lda, 1}, rightOperand{rows: b, ldb: ldb}, m, n, k, ldc, true)
	default:
		t.blocks(c, a, b, m, n, k, lda, ldb, ldc, true, true)
	}
	return true
}

// packTransposed lays out panels as packLeft does, high rows each, of rows that are stored as columns: a has as many rows as there are steps.
func packTransposed[T vec.Real](to, a []T, high, rows, steps, lda int) {
	for l := range steps {
		line := a[l*lda:][:rows]
		for at := l * high; len(line) > 0; at += high * steps {
			n := copy(to[at:][:high], line)
			clear(to[at+n : at+high])
			line = line[n:]
		}
	}
}
