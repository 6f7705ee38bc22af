//go:build goexperiment.simd && !race

#include "textflag.h"

// Transforms of Winograd's F(2x2, 3x3), sixteen kernels or tiles at once: see winograd.go.

// kernelLanes says where lanes of kernels are, whose element 0 lies at 0, 9, 18 and so on of nine vectors, once those are in one; and
// pairLanes are the lanes of two vectors in turn.
DATA kernelLanes<>+0(SB)/8, $0x0000000900000000
DATA kernelLanes<>+8(SB)/8, $0x0000000b00000002
DATA kernelLanes<>+16(SB)/8, $0x0000000d00000004
DATA kernelLanes<>+24(SB)/8, $0x0000000f00000006
DATA kernelLanes<>+32(SB)/8, $0x0000000100000008
DATA kernelLanes<>+40(SB)/8, $0x000000030000000a
DATA kernelLanes<>+48(SB)/8, $0x000000050000000c
DATA kernelLanes<>+56(SB)/8, $0x000000070000000e
GLOBL kernelLanes<>(SB), RODATA|NOPTR, $64

DATA pairLanes<>+0(SB)/8, $0x0000001000000000
DATA pairLanes<>+8(SB)/8, $0x0000001100000001
DATA pairLanes<>+16(SB)/8, $0x0000001200000002
DATA pairLanes<>+24(SB)/8, $0x0000001300000003
DATA pairLanes<>+32(SB)/8, $0x0000001400000004
DATA pairLanes<>+40(SB)/8, $0x0000001500000005
DATA pairLanes<>+48(SB)/8, $0x0000001600000006
DATA pairLanes<>+56(SB)/8, $0x0000001700000007
DATA pairLanes<>+64(SB)/8, $0x0000001800000008
DATA pairLanes<>+72(SB)/8, $0x0000001900000009
DATA pairLanes<>+80(SB)/8, $0x0000001a0000000a
DATA pairLanes<>+88(SB)/8, $0x0000001b0000000b
DATA pairLanes<>+96(SB)/8, $0x0000001c0000000c
DATA pairLanes<>+104(SB)/8, $0x0000001d0000000d
DATA pairLanes<>+112(SB)/8, $0x0000001e0000000e
DATA pairLanes<>+120(SB)/8, $0x0000001f0000000f
GLOBL pairLanes<>(SB), RODATA|NOPTR, $128

// STORECELLS stores four cells and goes to the next four. R8 is their distance, and R9 three times that.
#define STORECELLS(a, b, c, d) \
	VMOVUPS a, (AX); \
	VMOVUPS b, (AX)(R8*1); \
	VMOVUPS c, (AX)(R8*2); \
	VMOVUPS d, (AX)(R9*1); \
	LEAQ (AX)(R8*4), AX

// Sixteen kernels are nine vectors. Element i of all of them has a lane of its own each, in different vectors: lane p is in vector
// (p-i)*5 mod 9. Masks take them to one vector, in which they are brought in order. Mask K1 is the lanes p with p mod 9 = 0, and so on to
// K7; a whole vector serves p = 7, and a quarter p = 8.
#define ELEMENT(v0, v1, v2, v3, v4, v5, v6, v7, v8, z) \
	VMOVUPS (v7*64)(SI), z; \
	VINSERTF32X4 $2, (v8*64+32)(SI), z, z; \
	VMOVUPS (v0*64)(SI), K1, z; \
	VMOVUPS (v1*64)(SI), K2, z; \
	VMOVUPS (v2*64)(SI), K3, z; \
	VMOVUPS (v3*64)(SI), K4, z; \
	VMOVUPS (v4*64)(SI), K5, z; \
	VMOVUPS (v5*64)(SI), K6, z; \
	VMOVUPS (v6*64)(SI), K7, z; \
	VPERMPS z, Z31, z; \
	VPADDD Z30, Z31, Z31

// HALVES sets s to (x+z)/2 + y/2 and d to (x+z)/2 - y/2. Z29 is 0.5.
#define HALVES(x, y, z, s, d) \
	VADDPS z, x, s; \
	VMULPS Z29, s, s; \
	VMULPS Z29, y, Z28; \
	VSUBPS Z28, s, d; \
	VADDPS Z28, s, s

// func kernelCells(to, w *float32, groups, cell int)
//
// SI is at sixteen kernels, DI at where their first cells go.
TEXT ·kernelCells(SB), NOSPLIT, $0-32
	MOVQ to+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ cell+24(FP), R8
	LEAQ (R8)(R8*2), R9
	MOVL $0x201, AX
	KMOVW AX, K1
	MOVL $0x402, AX
	KMOVW AX, K2
	MOVL $0x804, AX
	KMOVW AX, K3
	MOVL $0x1008, AX
	KMOVW AX, K4
	MOVL $0x2010, AX
	KMOVW AX, K5
	MOVL $0x4020, AX
	KMOVW AX, K6
	MOVL $0x8040, AX
	KMOVW AX, K7
	MOVL $1, AX
	VPBROADCASTD AX, Z30
	MOVL $0x3f000000, AX
	VPBROADCASTD AX, Z29
	VMOVDQU32 kernelLanes<>(SB), Z27

group:
	VMOVDQA64 Z27, Z31
	PREFETCHT0 2304(SI)
	PREFETCHT0 2368(SI)
	PREFETCHT0 2432(SI)
	PREFETCHT0 2496(SI)
	PREFETCHT0 2560(SI)
	PREFETCHT0 2624(SI)
	PREFETCHT0 2688(SI)
	PREFETCHT0 2752(SI)
	PREFETCHT0 2816(SI)
	ELEMENT(0, 5, 1, 6, 2, 7, 3, 8, 4, Z0)
	ELEMENT(4, 0, 5, 1, 6, 2, 7, 3, 8, Z1)
	ELEMENT(8, 4, 0, 5, 1, 6, 2, 7, 3, Z2)
	ELEMENT(3, 8, 4, 0, 5, 1, 6, 2, 7, Z3)
	ELEMENT(7, 3, 8, 4, 0, 5, 1, 6, 2, Z4)
	ELEMENT(2, 7, 3, 8, 4, 0, 5, 1, 6, Z5)
	ELEMENT(6, 2, 7, 3, 8, 4, 0, 5, 1, Z6)
	ELEMENT(1, 6, 2, 7, 3, 8, 4, 0, 5, Z7)
	ELEMENT(5, 1, 6, 2, 7, 3, 8, 4, 0, Z8)
	HALVES(Z0, Z3, Z6, Z10, Z13)
	HALVES(Z1, Z4, Z7, Z11, Z14)
	HALVES(Z2, Z5, Z8, Z12, Z15)
	MOVQ DI, AX
	HALVES(Z0, Z1, Z2, Z16, Z17)
	STORECELLS(Z0, Z16, Z17, Z2)
	HALVES(Z10, Z11, Z12, Z16, Z17)
	STORECELLS(Z10, Z16, Z17, Z12)
	HALVES(Z13, Z14, Z15, Z16, Z17)
	STORECELLS(Z13, Z16, Z17, Z15)
	HALVES(Z6, Z7, Z8, Z16, Z17)
	STORECELLS(Z6, Z16, Z17, Z8)
	ADDQ $576, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  group
	VZEROUPPER
	RET

#define VECTOR_OUT 32
#define VECTOR_LANES 64
#define VECTOR_MASKS 72
#define VECTOR_PANEL 104
#define VECTOR_PIECES 112
#define VECTOR_VALID 120
#define VECTOR_SIZE 128

// A line of the four that tiles see: AX is at its elements with even numbers, BX at the others. A tile sees two of each. PIECE loads those of
// one more piece of the vector.
#define FIRSTPIECE \
	VMOVUPS.Z (AX)(R8*1), K1, Z16; \
	VMOVUPS.Z (BX)(R8*1), K1, Z17; \
	VMOVUPS.Z 4(AX)(R8*1), K1, Z18; \
	VMOVUPS.Z 4(BX)(R8*1), K1, Z19

#define PIECE(at, mask) \
	VMOVUPS (AX)(at*1), mask, Z16; \
	VMOVUPS (BX)(at*1), mask, Z17; \
	VMOVUPS 4(AX)(at*1), mask, Z18; \
	VMOVUPS 4(BX)(at*1), mask, Z19

#define LINE(a, b, c, d) \
	VSUBPS Z18, Z16, a; \
	VADDPS Z18, Z17, b; \
	VSUBPS Z17, Z18, c; \
	VSUBPS Z19, Z17, d; \
	ADDQ R12, AX; \
	ADDQ R12, BX

#define LINE1(a, b, c, d) \
	FIRSTPIECE; \
	LINE(a, b, c, d)

#define LINE2(a, b, c, d) \
	FIRSTPIECE; \
	PIECE(R9, K2); \
	LINE(a, b, c, d)

#define LINE4(a, b, c, d) \
	FIRSTPIECE; \
	PIECE(R9, K2); \
	PIECE(R10, K3); \
	PIECE(R11, K4); \
	LINE(a, b, c, d)

// func imageTiles(to, x *float32, t *tileVector, vectors, pitch, odd, cell int)
//
// DX is at the vector, of which CX are left.
TEXT ·imageTiles(SB), NOSPLIT, $0-56
	MOVQ t+16(FP), DX
	MOVQ vectors+24(FP), CX
	MOVQ pitch+32(FP), R12

vector:
	MOVQ  x+8(FP), AX
	MOVQ  odd+40(FP), BX
	ADDQ  AX, BX
	MOVQ  0(DX), R8
	KMOVW (VECTOR_LANES+0)(DX), K1
	MOVQ  VECTOR_PIECES(DX), SI
	CMPQ  SI, $1
	JEQ   one
	MOVQ  8(DX), R9
	KMOVW (VECTOR_LANES+2)(DX), K2
	CMPQ  SI, $2
	JEQ   two
	MOVQ  16(DX), R10
	KMOVW (VECTOR_LANES+4)(DX), K3
	MOVQ  24(DX), R11
	KMOVW (VECTOR_LANES+6)(DX), K4
	LINE4(Z0, Z1, Z2, Z3)
	LINE4(Z4, Z5, Z6, Z7)
	LINE4(Z8, Z9, Z10, Z11)
	LINE4(Z12, Z13, Z14, Z15)
	JMP   cells

two:
	LINE2(Z0, Z1, Z2, Z3)
	LINE2(Z4, Z5, Z6, Z7)
	LINE2(Z8, Z9, Z10, Z11)
	LINE2(Z12, Z13, Z14, Z15)
	JMP cells

one:
	LINE1(Z0, Z1, Z2, Z3)
	LINE1(Z4, Z5, Z6, Z7)
	LINE1(Z8, Z9, Z10, Z11)
	LINE1(Z12, Z13, Z14, Z15)

cells:
	MOVQ   to+0(FP), AX
	ADDQ   VECTOR_PANEL(DX), AX
	MOVQ   cell+48(FP), R8
	LEAQ   (R8)(R8*2), R9
	VSUBPS Z8, Z0, Z16
	VSUBPS Z9, Z1, Z17
	VSUBPS Z10, Z2, Z18
	VSUBPS Z11, Z3, Z19
	STORECELLS(Z16, Z17, Z18, Z19)
	VADDPS Z8, Z4, Z16
	VADDPS Z9, Z5, Z17
	VADDPS Z10, Z6, Z18
	VADDPS Z11, Z7, Z19
	STORECELLS(Z16, Z17, Z18, Z19)
	VSUBPS Z4, Z8, Z16
	VSUBPS Z5, Z9, Z17
	VSUBPS Z6, Z10, Z18
	VSUBPS Z7, Z11, Z19
	STORECELLS(Z16, Z17, Z18, Z19)
	VSUBPS Z12, Z4, Z16
	VSUBPS Z13, Z5, Z17
	VSUBPS Z14, Z6, Z18
	VSUBPS Z15, Z7, Z19
	STORECELLS(Z16, Z17, Z18, Z19)
	ADDQ   $VECTOR_SIZE, DX
	DECQ   CX
	JNZ    vector
	VZEROUPPER
	RET

// SUMCELLS sets x and y to what four cells make of a line of a tile.
#define SUMCELLS(x, y) \
	VMOVUPS (AX), Z16; \
	VMOVUPS (AX)(R8*1), Z17; \
	VMOVUPS (AX)(R8*2), Z18; \
	VADDPS Z17, Z16, x; \
	VADDPS Z18, x, x; \
	VSUBPS Z18, Z17, y; \
	VSUBPS (AX)(R9*1), y, y; \
	LEAQ (AX)(R8*4), AX

// func tileSums(to, m *float32, t *tileVector, vectors, cell, apart int) uint64
//
// SI is at the first cells of the vector, K7 has the lanes whose tiles are not finite.
TEXT ·tileSums(SB), NOSPLIT, $0-56
	MOVQ  m+8(FP), SI
	MOVQ  t+16(FP), DX
	MOVQ  vectors+24(FP), CX
	MOVQ  cell+32(FP), R8
	MOVQ  apart+40(FP), R12
	LEAQ  (R8)(R8*2), R9
	KXORW K7, K7, K7
	VMOVDQU32 pairLanes<>(SB), Z30
	VMOVDQU32 pairLanes<>+64(SB), Z31

vector:
	MOVQ SI, AX
	SUMCELLS(Z0, Z1)
	SUMCELLS(Z2, Z3)
	SUMCELLS(Z4, Z5)
	SUMCELLS(Z6, Z7)
	VADDPS Z2, Z0, Z0
	VADDPS Z4, Z0, Z0
	VADDPS Z3, Z1, Z1
	VADDPS Z5, Z1, Z1
	VSUBPS Z4, Z2, Z2
	VSUBPS Z6, Z2, Z2
	VSUBPS Z5, Z3, Z3
	VSUBPS Z7, Z3, Z3

	// Infinities and NaN.
	VFPCLASSPSZ $0x99, Z0, K1
	VFPCLASSPSZ $0x99, Z1, K2
	VFPCLASSPSZ $0x99, Z2, K3
	VFPCLASSPSZ $0x99, Z3, K4
	KORW  K1, K2, K1
	KORW  K3, K4, K3
	KORW  K1, K3, K1
	KMOVW VECTOR_VALID(DX), K2
	KANDW K1, K2, K1
	KORW  K1, K7, K7

	VMOVDQA64 Z30, Z10
	VMOVDQA64 Z31, Z11
	VMOVDQA64 Z30, Z12
	VMOVDQA64 Z31, Z13
	VPERMI2PS Z1, Z0, Z10
	VPERMI2PS Z1, Z0, Z11
	VPERMI2PS Z3, Z2, Z12
	VPERMI2PS Z3, Z2, Z13
	XORL R11, R11

piece:
	MOVQ  VECTOR_OUT(DX)(R11*8), DI
	ADDQ  to+0(FP), DI
	KMOVW (VECTOR_MASKS+0)(DX)(R11*2), K1
	KMOVW (VECTOR_MASKS+8)(DX)(R11*2), K2
	KMOVW (VECTOR_MASKS+16)(DX)(R11*2), K3
	KMOVW (VECTOR_MASKS+24)(DX)(R11*2), K4
	VMOVUPS Z10, K1, (DI)
	VMOVUPS Z11, K2, 64(DI)
	VMOVUPS Z12, K3, (DI)(R12*1)
	VMOVUPS Z13, K4, 64(DI)(R12*1)
	INCQ  R11
	CMPQ  R11, VECTOR_PIECES(DX)
	JLT   piece

	ADDQ $64, SI
	ADDQ $VECTOR_SIZE, DX
	DECQ CX
	JNZ  vector
	KMOVW K7, AX
	MOVQ AX, ret+48(FP)
	VZEROUPPER
	RET
