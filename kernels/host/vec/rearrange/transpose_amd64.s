//go:build goexperiment.simd && !race

#include "textflag.h"

// Squares of a transposition, in registers. Rows of the square are loaded, and pairs of them interleaved by elements, then by pairs
// of elements: after that a lane of 128 bits has four rows of one column. What is left is to gather the lanes of each column.
//
// SI is at a row of from, of which R9 are left, and R8 is the distance of rows in bytes. When no row is left R8 becomes 0, so that
// the last one is loaded again, and what that gives is not stored. DI is at a row of to, of which DX are left, and R10 is their
// distance.

#define OPERANDS \
	MOVQ to+0(FP), DI        \
	MOVQ from+8(FP), SI      \
	MOVQ toStep+16(FP), R10  \
	MOVQ fromStep+24(FP), R8 \
	MOVQ rows+32(FP), R9     \
	MOVQ cols+40(FP), DX     \
	SHLQ $2, R10             \
	SHLQ $2, R8              \
	XORL R11, R11

#define NEXTROW \
	DECQ    R9      \
	CMOVQEQ R11, R8 \
	ADDQ    R8, SI

// A pair of rows gives the interleaved elements of the lower and the upper half of each lane.
#define INTERLEAVE(a, b, low, high) \
	VUNPCKLPS b, a, low  \
	VUNPCKHPS b, a, high

// Four rows, interleaved in pairs, give their columns, one of each lane.
#define COLUMNS(low0, high0, low1, high1, c0, c1, c2, c3) \
	VUNPCKLPD low1, low0, c0   \
	VUNPCKHPD low1, low0, c1   \
	VUNPCKLPD high1, high0, c2 \
	VUNPCKHPD high1, high0, c3

// Lanes 0 and 2, and lanes 1 and 3, of two vectors.
#define LANES(a, b, even, odd) \
	VSHUFF32X4 $0x88, b, a, even \
	VSHUFF32X4 $0xdd, b, a, odd

#define LOAD16(z) \
	VMOVUPS.Z (SI), K1, z \
	NEXTROW

#define STORE16(z) \
	VMOVUPS z, K2, (DI) \
	ADDQ    R10, DI     \
	DECQ    DX          \
	JEQ     done

// func square16(to, from *float32, toStep, fromStep, rows, cols int)
TEXT ·square16(SB), NOSPLIT, $0-48
	OPERANDS
	MOVL  $1, AX
	MOVQ  DX, CX
	SHLL  CX, AX
	DECL  AX
	KMOVW AX, K1
	MOVL  $1, AX
	MOVQ  R9, CX
	SHLL  CX, AX
	DECL  AX
	KMOVW AX, K2

	LOAD16(Z0)
	LOAD16(Z1)
	LOAD16(Z2)
	LOAD16(Z3)
	LOAD16(Z4)
	LOAD16(Z5)
	LOAD16(Z6)
	LOAD16(Z7)
	LOAD16(Z8)
	LOAD16(Z9)
	LOAD16(Z10)
	LOAD16(Z11)
	LOAD16(Z12)
	LOAD16(Z13)
	LOAD16(Z14)
	LOAD16(Z15)

	INTERLEAVE(Z0, Z1, Z16, Z17)
	INTERLEAVE(Z2, Z3, Z18, Z19)
	INTERLEAVE(Z4, Z5, Z20, Z21)
	INTERLEAVE(Z6, Z7, Z22, Z23)
	INTERLEAVE(Z8, Z9, Z24, Z25)
	INTERLEAVE(Z10, Z11, Z26, Z27)
	INTERLEAVE(Z12, Z13, Z28, Z29)
	INTERLEAVE(Z14, Z15, Z30, Z31)

	COLUMNS(Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3)
	COLUMNS(Z20, Z21, Z22, Z23, Z4, Z5, Z6, Z7)
	COLUMNS(Z24, Z25, Z26, Z27, Z8, Z9, Z10, Z11)
	COLUMNS(Z28, Z29, Z30, Z31, Z12, Z13, Z14, Z15)

	LANES(Z0, Z4, Z16, Z20)
	LANES(Z1, Z5, Z17, Z21)
	LANES(Z2, Z6, Z18, Z22)
	LANES(Z3, Z7, Z19, Z23)
	LANES(Z8, Z12, Z24, Z28)
	LANES(Z9, Z13, Z25, Z29)
	LANES(Z10, Z14, Z26, Z30)
	LANES(Z11, Z15, Z27, Z31)

	LANES(Z16, Z24, Z0, Z8)
	LANES(Z17, Z25, Z1, Z9)
	LANES(Z18, Z26, Z2, Z10)
	LANES(Z19, Z27, Z3, Z11)
	LANES(Z20, Z28, Z4, Z12)
	LANES(Z21, Z29, Z5, Z13)
	LANES(Z22, Z30, Z6, Z14)
	LANES(Z23, Z31, Z7, Z15)

	STORE16(Z0)
	STORE16(Z1)
	STORE16(Z2)
	STORE16(Z3)
	STORE16(Z4)
	STORE16(Z5)
	STORE16(Z6)
	STORE16(Z7)
	STORE16(Z8)
	STORE16(Z9)
	STORE16(Z10)
	STORE16(Z11)
	STORE16(Z12)
	STORE16(Z13)
	STORE16(Z14)
	STORE16(Z15)

done:
	VZEROUPPER
	RET

// Eight lanes of which all bits are set, and eight of which none is.
DATA lanes<>+0(SB)/8, $-1
DATA lanes<>+8(SB)/8, $-1
DATA lanes<>+16(SB)/8, $-1
DATA lanes<>+24(SB)/8, $-1
DATA lanes<>+32(SB)/8, $0
DATA lanes<>+40(SB)/8, $0
DATA lanes<>+48(SB)/8, $0
DATA lanes<>+56(SB)/8, $0
GLOBL lanes<>(SB), RODATA|NOPTR, $64

// The mask of the first n lanes.
#define FIRST(n, y) \
	LEAQ    lanes<>+32(SB), AX \
	MOVQ    n, CX              \
	SHLQ    $2, CX             \
	SUBQ    CX, AX             \
	VMOVUPS (AX), y

#define LOAD8(y) \
	VMASKMOVPS (SI), Y15, y \
	NEXTROW

#define STORE8(y) \
	VMASKMOVPS y, Y0, (DI) \
	ADDQ       R10, DI     \
	DECQ       DX          \
	JEQ        done

// The lower and the upper halves of two vectors.
#define HALVES(a, b, low, high) \
	VPERM2F128 $0x20, b, a, low \
	VPERM2F128 $0x31, b, a, high

// func square8(to, from *float32, toStep, fromStep, rows, cols int)
TEXT ·square8(SB), NOSPLIT, $0-48
	OPERANDS
	MOVQ R9, BX
	FIRST(DX, Y15)

	LOAD8(Y0)
	LOAD8(Y1)
	LOAD8(Y2)
	LOAD8(Y3)
	LOAD8(Y4)
	LOAD8(Y5)
	LOAD8(Y6)
	LOAD8(Y7)

	INTERLEAVE(Y0, Y1, Y8, Y9)
	INTERLEAVE(Y2, Y3, Y10, Y11)
	INTERLEAVE(Y4, Y5, Y12, Y13)
	INTERLEAVE(Y6, Y7, Y14, Y15)

	COLUMNS(Y8, Y9, Y10, Y11, Y0, Y1, Y2, Y3)
	COLUMNS(Y12, Y13, Y14, Y15, Y4, Y5, Y6, Y7)

	HALVES(Y0, Y4, Y8, Y12)
	HALVES(Y1, Y5, Y9, Y13)
	HALVES(Y2, Y6, Y10, Y14)
	HALVES(Y3, Y7, Y11, Y15)

	FIRST(BX, Y0)

	STORE8(Y8)
	STORE8(Y9)
	STORE8(Y10)
	STORE8(Y11)
	STORE8(Y12)
	STORE8(Y13)
	STORE8(Y14)
	STORE8(Y15)

done:
	VZEROUPPER
	RET
