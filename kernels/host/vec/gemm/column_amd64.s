//go:build goexperiment.simd && !race

#include "textflag.h"

// Products of a few columns: see narrow in matmul.go. The sums of eight rows are scalars, because the elements of a that are
// needed together are a row apart; together they hide the latency of an addition.
//
// R9, R10 and R11 are at the first, fourth and seventh row of a, which are R8 bytes apart; R12 is at b, whose rows are SI
// bytes apart; DI is at c, whose rows are DX bytes apart. CX is the number of steps that are left, and R13 that of rows.

#define STEP \
	VMOVSS (R12), X8; \
	VFMADD231SS (R9), X8, X0; \
	VFMADD231SS (R9)(R8*1), X8, X1; \
	VFMADD231SS (R9)(R8*2), X8, X2; \
	VFMADD231SS (R10), X8, X3; \
	VFMADD231SS (R10)(R8*1), X8, X4; \
	VFMADD231SS (R10)(R8*2), X8, X5; \
	VFMADD231SS (R11), X8, X6; \
	VFMADD231SS (R11)(R8*1), X8, X7; \
	ADDQ SI, R12; \
	ADDQ $4, R9; \
	ADDQ $4, R10; \
	ADDQ $4, R11

#define LOAD(x) \
	VMOVSS (BX), x; \
	ADDQ DX, BX

#define STORE(x) \
	VMOVSS x, (DI); \
	ADDQ DX, DI

// func column8(c *float32, ldc int, a *float32, lda int, b *float32, ldb, k, rows int, set bool)
TEXT ·column8(SB), NOSPLIT, $0-65
	MOVQ c+0(FP), DI
	MOVQ ldc+8(FP), DX
	MOVQ a+16(FP), AX
	MOVQ lda+24(FP), R8
	MOVQ ldb+40(FP), SI
	MOVQ rows+56(FP), R13
	SHLQ $2, DX
	SHLQ $2, R8
	SHLQ $2, SI

rows:
	VXORPS X0, X0, X0
	VXORPS X1, X1, X1
	VXORPS X2, X2, X2
	VXORPS X3, X3, X3
	VXORPS X4, X4, X4
	VXORPS X5, X5, X5
	VXORPS X6, X6, X6
	VXORPS X7, X7, X7
	MOVBLZX set+64(FP), CX
	TESTL CX, CX
	JNE  begin
	MOVQ DI, BX
	LOAD(X0)
	LOAD(X1)
	LOAD(X2)
	LOAD(X3)
	LOAD(X4)
	LOAD(X5)
	LOAD(X6)
	LOAD(X7)

begin:
	MOVQ AX, R9
	LEAQ (R8)(R8*2), BX
	LEAQ (R9)(BX*1), R10
	LEAQ (R10)(BX*1), R11
	MOVQ b+32(FP), R12
	MOVQ k+48(FP), CX

step:
	STEP
	DECQ CX
	JNZ  step

	STORE(X0)
	STORE(X1)
	STORE(X2)
	STORE(X3)
	STORE(X4)
	STORE(X5)
	STORE(X6)
	STORE(X7)
	LEAQ (AX)(R8*8), AX
	SUBQ $8, R13
	JNZ  rows
	VZEROUPPER
	RET
