//go:build goexperiment.simd && !race

#include "textflag.h"

// Sums of products along lines: see lines.go. The 24 sums of six rows of a and four lines of b stay in registers, sixteen
// lanes each, and are added up at the end, always in one order. What a line has behind its last whole vector is loaded with a
// mask: elements that belong to no line may be NaN, and would not become 0 by a product with 0.
//
// SI and DI are at the first elements of a line of a and of b, AX, R9 and BX at those of the next vector: R9 three rows behind
// AX. R8 is the distance of rows, R10 to R13 are the distances of the lines of b, and R14 is the argument.

#define PRODUCTS(c0, c1, c2, c3) \
	VFMADD231PS Z24, Z28, c0; \
	VFMADD231PS Z25, Z28, c1; \
	VFMADD231PS Z26, Z28, c2; \
	VFMADD231PS Z27, Z28, c3

// SUM adds the lanes of z, whose lower halves are y and x, and stores the sum: those of both halves each time.
#define SUM(z, y, x, at) \
	VEXTRACTF64X4 $1, z, Y24; \
	VADDPS Y24, y, y; \
	VEXTRACTF32X4 $1, y, X24; \
	VADDPS X24, x, x; \
	VMOVHLPS x, x, X24; \
	VADDPS X24, x, x; \
	VMOVSHDUP x, X24; \
	VADDSS X24, x, x; \
	VMOVSS x, at(CX)

#define ROW(at, c0, c1, c2, c3) \
	VMOVUPS at, Z28; \
	PRODUCTS(c0, c1, c2, c3)

#define MASKED(at, c0, c1, c2, c3) \
	VMOVUPS.Z at, K1, Z28; \
	PRODUCTS(c0, c1, c2, c3)

#define CLEAR(z) VPXORD z, z, z

// func lineDots512(to *[24]float32, a, b *float32, l *lineTile)
TEXT ·lineDots512(SB), NOSPLIT, $8-32
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ l+24(FP), R14
	MOVQ 0(R14), R8
	MOVQ 8(R14), R10
	MOVQ 16(R14), R11
	MOVQ 24(R14), R12
	MOVQ 32(R14), R13
	MOVQ 48(R14), CX
	KMOVW CX, K1
	MOVQ 80(R14), CX
	MOVQ CX, images-8(SP)
	CLEAR(Z0)
	CLEAR(Z1)
	CLEAR(Z2)
	CLEAR(Z3)
	CLEAR(Z4)
	CLEAR(Z5)
	CLEAR(Z6)
	CLEAR(Z7)
	CLEAR(Z8)
	CLEAR(Z9)
	CLEAR(Z10)
	CLEAR(Z11)
	CLEAR(Z12)
	CLEAR(Z13)
	CLEAR(Z14)
	CLEAR(Z15)
	CLEAR(Z16)
	CLEAR(Z17)
	CLEAR(Z18)
	CLEAR(Z19)
	CLEAR(Z20)
	CLEAR(Z21)
	CLEAR(Z22)
	CLEAR(Z23)

image:
	MOVQ 56(R14), DX

line:
	MOVQ SI, AX
	MOVQ DI, BX
	LEAQ (R8)(R8*2), R9
	ADDQ SI, R9
	MOVQ 40(R14), CX
	TESTQ CX, CX
	JLE  rest

whole:
	VMOVUPS (BX)(R10*1), Z24
	VMOVUPS (BX)(R11*1), Z25
	VMOVUPS (BX)(R12*1), Z26
	VMOVUPS (BX)(R13*1), Z27
	ROW((AX), Z0, Z1, Z2, Z3)
	ROW((AX)(R8*1), Z4, Z5, Z6, Z7)
	ROW((AX)(R8*2), Z8, Z9, Z10, Z11)
	ROW((R9), Z12, Z13, Z14, Z15)
	ROW((R9)(R8*1), Z16, Z17, Z18, Z19)
	ROW((R9)(R8*2), Z20, Z21, Z22, Z23)
	ADDQ $64, AX
	ADDQ $64, R9
	ADDQ $64, BX
	DECQ CX
	JNZ  whole

rest:
	CMPQ 48(R14), $0
	JEQ  next
	VMOVUPS.Z (BX)(R10*1), K1, Z24
	VMOVUPS.Z (BX)(R11*1), K1, Z25
	VMOVUPS.Z (BX)(R12*1), K1, Z26
	VMOVUPS.Z (BX)(R13*1), K1, Z27
	MASKED((AX), Z0, Z1, Z2, Z3)
	MASKED((AX)(R8*1), Z4, Z5, Z6, Z7)
	MASKED((AX)(R8*2), Z8, Z9, Z10, Z11)
	MASKED((R9), Z12, Z13, Z14, Z15)
	MASKED((R9)(R8*1), Z16, Z17, Z18, Z19)
	MASKED((R9)(R8*2), Z20, Z21, Z22, Z23)

next:
	ADDQ 64(R14), SI
	ADDQ 72(R14), DI
	DECQ DX
	JNZ  line
	ADDQ 88(R14), SI
	ADDQ 96(R14), DI
	DECQ images-8(SP)
	JNZ  image

	MOVQ to+0(FP), CX
	SUM(Z0, Y0, X0, 0)
	SUM(Z1, Y1, X1, 4)
	SUM(Z2, Y2, X2, 8)
	SUM(Z3, Y3, X3, 12)
	SUM(Z4, Y4, X4, 16)
	SUM(Z5, Y5, X5, 20)
	SUM(Z6, Y6, X6, 24)
	SUM(Z7, Y7, X7, 28)
	SUM(Z8, Y8, X8, 32)
	SUM(Z9, Y9, X9, 36)
	SUM(Z10, Y10, X10, 40)
	SUM(Z11, Y11, X11, 44)
	SUM(Z12, Y12, X12, 48)
	SUM(Z13, Y13, X13, 52)
	SUM(Z14, Y14, X14, 56)
	SUM(Z15, Y15, X15, 60)
	SUM(Z16, Y16, X16, 64)
	SUM(Z17, Y17, X17, 68)
	SUM(Z18, Y18, X18, 72)
	SUM(Z19, Y19, X19, 76)
	SUM(Z20, Y20, X20, 80)
	SUM(Z21, Y21, X21, 84)
	SUM(Z22, Y22, X22, 88)
	SUM(Z23, Y23, X23, 92)
	VZEROUPPER
	RET
