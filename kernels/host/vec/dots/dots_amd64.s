//go:build goexperiment.simd && !race

#include "textflag.h"

// Sums of products along rows of both operands: see dots in dots.go. The twelve sums of three rows of a and four of b stay
// in registers, eight lanes of float32 or four of float64 each, and are added up at the end, always in one order.
//
// AX, R8 and R9 are at the rows of a; BX, R10, R11 and R12 at those of b; CX is the number of vectors that are left.

#define ARGUMENTS(shift) \
	MOVQ to+0(FP), DI; \
	MOVQ a+8(FP), AX; \
	MOVQ lda+16(FP), DX; \
	MOVQ b+24(FP), BX; \
	MOVQ ldb+32(FP), SI; \
	MOVQ vectors+40(FP), CX; \
	SHLQ $shift, DX; \
	SHLQ $shift, SI; \
	LEAQ (AX)(DX*1), R8; \
	LEAQ (R8)(DX*1), R9; \
	LEAQ (BX)(SI*1), R10; \
	LEAQ (R10)(SI*1), R11; \
	LEAQ (R11)(SI*1), R12; \
	VXORPS Y4, Y4, Y4; \
	VXORPS Y5, Y5, Y5; \
	VXORPS Y6, Y6, Y6; \
	VXORPS Y7, Y7, Y7; \
	VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; \
	VXORPS Y10, Y10, Y10; \
	VXORPS Y11, Y11, Y11; \
	VXORPS Y12, Y12, Y12; \
	VXORPS Y13, Y13, Y13; \
	VXORPS Y14, Y14, Y14; \
	VXORPS Y15, Y15, Y15

// NEXT goes to the next vectors.
#define NEXT \
	ADDQ $32, AX; \
	ADDQ $32, R8; \
	ADDQ $32, R9; \
	ADDQ $32, BX; \
	ADDQ $32, R10; \
	ADDQ $32, R11; \
	ADDQ $32, R12

// COLUMN multiplies a vector of a row of b by those of the rows of a.
#define COLUMN32(at, c0, c1, c2) \
	VMOVUPS at, Y3; \
	VFMADD231PS Y0, Y3, c0; \
	VFMADD231PS Y1, Y3, c1; \
	VFMADD231PS Y2, Y3, c2

#define COLUMN64(at, c0, c1, c2) \
	VMOVUPS at, Y3; \
	VFMADD231PD Y0, Y3, c0; \
	VFMADD231PD Y1, Y3, c1; \
	VFMADD231PD Y2, Y3, c2

// SUM adds the lanes of y, whose lower half is x, and stores the sum: first those of both halves, then those at a distance
// of two, then neighbours.
#define SUM32(y, x, at) \
	VEXTRACTF128 $1, y, X0; \
	VADDPS X0, x, x; \
	VMOVHLPS x, x, X0; \
	VADDPS X0, x, x; \
	VMOVSHDUP x, X0; \
	VADDSS X0, x, x; \
	VMOVSS x, at(DI)

#define SUM64(y, x, at) \
	VEXTRACTF128 $1, y, X0; \
	VADDPD X0, x, x; \
	VUNPCKHPD x, x, X0; \
	VADDSD X0, x, x; \
	VMOVSD x, at(DI)

// func dots32(to *[12]float32, a *float32, lda int, b *float32, ldb, vectors int)
TEXT ·dots32(SB), NOSPLIT, $0-48
	ARGUMENTS(2)
	TESTQ CX, CX
	JLE  done

loop:
	VMOVUPS (AX), Y0
	VMOVUPS (R8), Y1
	VMOVUPS (R9), Y2
	COLUMN32((BX), Y4, Y8, Y12)
	COLUMN32((R10), Y5, Y9, Y13)
	COLUMN32((R11), Y6, Y10, Y14)
	COLUMN32((R12), Y7, Y11, Y15)
	NEXT
	DECQ CX
	JNZ  loop

done:
	SUM32(Y4, X4, 0)
	SUM32(Y5, X5, 4)
	SUM32(Y6, X6, 8)
	SUM32(Y7, X7, 12)
	SUM32(Y8, X8, 16)
	SUM32(Y9, X9, 20)
	SUM32(Y10, X10, 24)
	SUM32(Y11, X11, 28)
	SUM32(Y12, X12, 32)
	SUM32(Y13, X13, 36)
	SUM32(Y14, X14, 40)
	SUM32(Y15, X15, 44)
	VZEROUPPER
	RET

// func dots64(to *[12]float64, a *float64, lda int, b *float64, ldb, vectors int)
TEXT ·dots64(SB), NOSPLIT, $0-48
	ARGUMENTS(3)
	TESTQ CX, CX
	JLE  done

loop:
	VMOVUPS (AX), Y0
	VMOVUPS (R8), Y1
	VMOVUPS (R9), Y2
	COLUMN64((BX), Y4, Y8, Y12)
	COLUMN64((R10), Y5, Y9, Y13)
	COLUMN64((R11), Y6, Y10, Y14)
	COLUMN64((R12), Y7, Y11, Y15)
	NEXT
	DECQ CX
	JNZ  loop

done:
	SUM64(Y4, X4, 0)
	SUM64(Y5, X5, 8)
	SUM64(Y6, X6, 16)
	SUM64(Y7, X7, 24)
	SUM64(Y8, X8, 32)
	SUM64(Y9, X9, 40)
	SUM64(Y10, X10, 48)
	SUM64(Y11, X11, 56)
	SUM64(Y12, X12, 64)
	SUM64(Y13, X13, 72)
	SUM64(Y14, X14, 80)
	SUM64(Y15, X15, 88)
	VZEROUPPER
	RET
