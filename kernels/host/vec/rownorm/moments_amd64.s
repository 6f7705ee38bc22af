//go:build goexperiment.simd && !race

#include "textflag.h"

// The two passes of layer_norm over rows of float32: see moments512.go. Each also asks the cache for what the other pass waits for, a line
// at a time: asked for all at once, lines would fill the queue of loads, and the arithmetic would wait.

// Go's assembler lacks PREFETCHW, which asks for a line to write to. These are the bytes of it for DI.
#define PREFETCHWDI BYTE $0x0F; BYTE $0x0D; BYTE $0x0F

// ADD adds a vector, less the origin in Z1, to sums of its elements and of their squares.
#define ADD(v, sums, squares) \
	VSUBPD Z1, v, v; \
	VADDPD v, sums, sums; \
	VFMADD231PD v, v, squares

// func addMoments(s *momentsState512, to, x *float32, length, rows int)
//
// AX is at a row's origin, and R9 at its vector of origins; those of sums and squares are 1 and 2 KiB behind. SI is in x, DI in to. R10 is
// how many elements the last vector of a row has, K1 which, and 0 is for a whole one.
TEXT ·addMoments(SB), NOSPLIT, $0-40
	MOVQ s+0(FP), AX
	MOVQ to+8(FP), DI
	MOVQ x+16(FP), SI
	MOVQ length+24(FP), BX
	MOVQ rows+32(FP), R8
	LEAQ 64(AX), R9
	MOVQ BX, R10
	ANDQ $15, R10
	MOVL $-1, DX
	BZHIL R10, DX, DX
	KMOVW DX, K1

row:
	VBROADCASTSS (AX), Z0
	VCVTPS2PD Y0, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	MOVQ BX, CX
	SUBQ $16, CX
	JLT  ending

vector:
	PREFETCHWDI
	VCVTPS2PD (SI), Z6
	VCVTPS2PD 32(SI), Z7
	ADD(Z6, Z2, Z4)
	ADD(Z7, Z3, Z5)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JGE  vector

ending:
	TESTQ R10, R10
	JEQ  sums
	PREFETCHWDI
	VMOVUPS (SI), K1, Z0
	VEXTRACTF64X4 $1, Z0, Y7
	VCVTPS2PD Y0, Z6
	VCVTPS2PD Y7, Z7
	ADD(Z6, Z2, Z4)
	ADD(Z7, Z3, Z5)
	LEAQ (SI)(R10*4), SI
	LEAQ (DI)(R10*4), DI

sums:
	VADDPD Z3, Z2, Z2
	VADDPD Z5, Z4, Z4
	VMOVUPD Z1, (R9)
	VMOVUPD Z2, 1024(R9)
	VMOVUPD Z4, 2048(R9)
	ADDQ $4, AX
	ADDQ $64, R9
	DECQ R8
	JNZ  row
	VZEROUPPER
	RET

// ROW computes a vector of a row from its mean and scale.
#define ROW(x, next, mean, scale, v, y) \
	VCVTPS2PD x, v; \
	PREFETCHT0 next; \
	VSUBPD mean, v, v; \
	VMULPD scale, v, v; \
	VFMADD213PD Z9, Z8, v; \
	VCVTPD2PS v, y

// func standardizeFour512(s *standardizing, y, x unsafe.Pointer, n, step int, means, scales *[4]float64)
//
// SI, R11, DI and R12 are at the first and the third row of x and of y, and R13 and R15 at rows of x that are wanted next.
TEXT ·standardizeFour512(SB), NOSPLIT, $0-56
	MOVQ s+0(FP), AX
	MOVQ y+8(FP), DI
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ step+32(FP), R10
	MOVQ 0(AX), R8
	MOVQ 8(AX), R9
	MOVQ 16(AX), BX
	MOVQ 24(AX), DX
	ANDQ $32, BX
	ANDQ $32, DX
	MOVQ 32(AX), R13
	ADDQ SI, R13
	LEAQ (R13)(R10*2), R15
	LEAQ (SI)(R10*2), R11
	LEAQ (DI)(R10*2), R12
	MOVQ means+40(FP), AX
	VBROADCASTSD 0(AX), Z0
	VBROADCASTSD 8(AX), Z1
	VBROADCASTSD 16(AX), Z2
	VBROADCASTSD 24(AX), Z3
	MOVQ scales+48(FP), AX
	VBROADCASTSD 0(AX), Z4
	VBROADCASTSD 8(AX), Z5
	VBROADCASTSD 16(AX), Z6
	VBROADCASTSD 24(AX), Z7

columns:
	VCVTPS2PD (R8), Z8
	VCVTPS2PD (R9), Z9
	ROW((SI), (R13), Z0, Z4, Z10, Y10)
	ROW((SI)(R10*1), (R13)(R10*1), Z1, Z5, Z11, Y11)
	VMOVUPS Y10, (DI)
	VMOVUPS Y11, (DI)(R10*1)
	ROW((R11), (R15), Z2, Z6, Z12, Y12)
	ROW((R11)(R10*1), (R15)(R10*1), Z3, Z7, Z13, Y13)
	VMOVUPS Y12, (R12)
	VMOVUPS Y13, (R12)(R10*1)
	ADDQ BX, R8
	ADDQ DX, R9
	ADDQ $32, SI
	ADDQ $32, R11
	ADDQ $32, R13
	ADDQ $32, R15
	ADDQ $32, DI
	ADDQ $32, R12
	SUBQ $8, CX
	JG   columns
	VZEROUPPER
	RET
