//go:build goexperiment.simd && !race

#include "textflag.h"

// A tile of six rows and four vectors: see gridTile in gridlines_amd64.go, whose fields have these offsets.

#define LINE_A 0
#define LINE_C 8
#define LINE_LDA 16
#define LINE_LDC 24
#define LINE_OFFSETS 32
#define LINE_STEPS 40
#define LINE_B 48
#define LINE_TO 80
#define LINE_LANES 112
#define LINE_SET 120

// ROWOF64 adds one element of a times the four vectors of b to a row of the tile.
#define ROWOF64(a, x, c0, c1, c2, c3) \
	VBROADCASTSS a, x; \
	VFMADD231PS Z0, x, c0; \
	VFMADD231PS Z1, x, c1; \
	VFMADD231PS Z2, x, c2; \
	VFMADD231PS Z3, x, c3

// LOAD64, STORE64 and ZERO64 are for a row of the tile. SI is at the row of c, R10, R12, R13 and CX say where the vectors are in it.
#define LOAD64(c0, c1, c2, c3) \
	VMOVUPS.Z (SI)(R10*1), K1, c0; \
	VMOVUPS.Z (SI)(R12*1), K2, c1; \
	VMOVUPS.Z (SI)(R13*1), K3, c2; \
	VMOVUPS.Z (SI)(CX*1), K4, c3; \
	ADDQ DX, SI

#define STORE64(c0, c1, c2, c3) \
	VMOVUPS c0, K1, (SI)(R10*1); \
	VMOVUPS c1, K2, (SI)(R12*1); \
	VMOVUPS c2, K3, (SI)(R13*1); \
	VMOVUPS c3, K4, (SI)(CX*1); \
	ADDQ DX, SI

#define ZERO64(c0, c1, c2, c3) \
	VPXORQ c0, c0, c0; \
	VPXORQ c1, c1, c1; \
	VPXORQ c2, c2, c2; \
	VPXORQ c3, c3, c3

#define ROWSOFC \
	MOVQ LINE_C(DI), SI; \
	MOVQ LINE_LDC(DI), DX; \
	MOVQ (LINE_TO+0)(DI), R10; \
	MOVQ (LINE_TO+8)(DI), R12; \
	MOVQ (LINE_TO+16)(DI), R13; \
	MOVQ (LINE_TO+24)(DI), CX

// func grid6x64(t *gridTile)
TEXT ·grid6x64(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), DI
	KMOVW (LINE_LANES+0)(DI), K1
	KMOVW (LINE_LANES+2)(DI), K2
	KMOVW (LINE_LANES+4)(DI), K3
	KMOVW (LINE_LANES+6)(DI), K4
	CMPB LINE_SET(DI), $0
	JNE  zero
	ROWSOFC
	LOAD64(Z8, Z9, Z10, Z11)
	LOAD64(Z12, Z13, Z14, Z15)
	LOAD64(Z16, Z17, Z18, Z19)
	LOAD64(Z20, Z21, Z22, Z23)
	LOAD64(Z24, Z25, Z26, Z27)
	LOAD64(Z28, Z29, Z30, Z31)
	JMP  begin

zero:
	ZERO64(Z8, Z9, Z10, Z11)
	ZERO64(Z12, Z13, Z14, Z15)
	ZERO64(Z16, Z17, Z18, Z19)
	ZERO64(Z20, Z21, Z22, Z23)
	ZERO64(Z24, Z25, Z26, Z27)
	ZERO64(Z28, Z29, Z30, Z31)

begin:
	MOVQ LINE_A(DI), AX
	MOVQ LINE_LDA(DI), R8
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R11
	MOVQ LINE_OFFSETS(DI), DX
	MOVQ LINE_STEPS(DI), CX
	MOVQ (LINE_B+0)(DI), R10
	MOVQ (LINE_B+8)(DI), R12
	MOVQ (LINE_B+16)(DI), R13
	MOVQ (LINE_B+24)(DI), SI

term:
	MOVQ (DX), BX
	VMOVUPS.Z (R10)(BX*4), K1, Z0
	VMOVUPS.Z (R12)(BX*4), K2, Z1
	VMOVUPS.Z (R13)(BX*4), K3, Z2
	VMOVUPS.Z (SI)(BX*4), K4, Z3
	ROWOF64((AX), Z4, Z8, Z9, Z10, Z11)
	ROWOF64((AX)(R8*1), Z5, Z12, Z13, Z14, Z15)
	ROWOF64((AX)(R8*2), Z6, Z16, Z17, Z18, Z19)
	ROWOF64((AX)(R9*1), Z7, Z20, Z21, Z22, Z23)
	ROWOF64((AX)(R8*4), Z4, Z24, Z25, Z26, Z27)
	ROWOF64((AX)(R11*1), Z5, Z28, Z29, Z30, Z31)
	ADDQ $8, DX
	ADDQ $4, AX
	DECQ CX
	JNZ  term

	ROWSOFC
	STORE64(Z8, Z9, Z10, Z11)
	STORE64(Z12, Z13, Z14, Z15)
	STORE64(Z16, Z17, Z18, Z19)
	STORE64(Z20, Z21, Z22, Z23)
	STORE64(Z24, Z25, Z26, Z27)
	STORE64(Z28, Z29, Z30, Z31)
	VZEROUPPER
	RET
