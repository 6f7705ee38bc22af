//go:build goexperiment.simd && !race

#include "textflag.h"

// func splitLines(to, x *float32, lines, width, from, pitch, first, second int)
//
// Lines of 32 elements at most: SI is at one of x, DI and DX are at what gets its elements with even numbers and with odd ones.
TEXT ·splitLines(SB), NOSPLIT, $0-64
	MOVQ to+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ lines+16(FP), CX
	MOVQ width+24(FP), AX
	MOVQ from+32(FP), R8
	MOVQ pitch+40(FP), R9
	MOVQ first+48(FP), R10
	MOVQ second+56(FP), R11
	LEAQ (DI)(R11*4), DX
	LEAQ (DI)(R10*4), DI
	MOVL $-1, BX
	BZHIL AX, BX, R10
	KMOVW R10, K1
	SHRL $16, R10
	KMOVW R10, K2
	MOVQ AX, R11
	SHRQ $1, R11
	BZHIL R11, BX, R12
	KMOVW R12, K4
	INCQ AX
	SHRQ $1, AX
	BZHIL AX, BX, R12
	KMOVW R12, K3
	VMOVDQU32 ·evenLanes512(SB), Z4
	VMOVDQU32 ·oddLanes512(SB), Z5

line:
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z 64(SI), K2, Z1
	VMOVDQA64 Z4, Z2
	VMOVDQA64 Z5, Z3
	VPERMI2PS Z1, Z0, Z2
	VPERMI2PS Z1, Z0, Z3
	VMOVUPS Z2, K3, (DI)
	VMOVUPS Z3, K4, (DX)
	LEAQ (SI)(R8*4), SI
	LEAQ (DI)(R9*4), DI
	LEAQ (DX)(R9*4), DX
	DECQ CX
	JNZ  line
	VZEROUPPER
	RET

// func tapLines(t *planeTile, w *float32, offsets *int, taps int)
//
// The sums of a vector of each of eight lines stay in registers. R8 to R13, BX and DX are at the lines of x; AX is the offset of a tap.
TEXT ·tapLines(SB), NOSPLIT, $0-32
	MOVQ t+0(FP), AX
	MOVQ 0(AX), R8
	MOVQ 8(AX), R9
	MOVQ 16(AX), R10
	MOVQ 24(AX), R11
	MOVQ 32(AX), R12
	MOVQ 40(AX), R13
	MOVQ 48(AX), BX
	MOVQ 56(AX), DX
	MOVQ w+8(FP), DI
	MOVQ offsets+16(FP), SI
	MOVQ taps+24(FP), CX
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8

tap:
	MOVQ (SI), AX
	VBROADCASTSS (DI), Z0
	VFMADD231PS (R8)(AX*4), Z0, Z1
	VFMADD231PS (R9)(AX*4), Z0, Z2
	VFMADD231PS (R10)(AX*4), Z0, Z3
	VFMADD231PS (R11)(AX*4), Z0, Z4
	VFMADD231PS (R12)(AX*4), Z0, Z5
	VFMADD231PS (R13)(AX*4), Z0, Z6
	VFMADD231PS (BX)(AX*4), Z0, Z7
	VFMADD231PS (DX)(AX*4), Z0, Z8
	ADDQ $8, SI
	ADDQ $4, DI
	DECQ CX
	JNZ  tap

	MOVQ t+0(FP), AX
	KMOVW 128(AX), K1
	MOVQ 64(AX), R8
	MOVQ 72(AX), R9
	MOVQ 80(AX), R10
	MOVQ 88(AX), R11
	MOVQ 96(AX), R12
	MOVQ 104(AX), R13
	MOVQ 112(AX), BX
	MOVQ 120(AX), DX
	VMOVUPS Z1, K1, (R8)
	VMOVUPS Z2, K1, (R9)
	VMOVUPS Z3, K1, (R10)
	VMOVUPS Z4, K1, (R11)
	VMOVUPS Z5, K1, (R12)
	VMOVUPS Z6, K1, (R13)
	VMOVUPS Z7, K1, (BX)
	VMOVUPS Z8, K1, (DX)
	VZEROUPPER
	RET
