//go:build goexperiment.simd && !race

#include "textflag.h"

// A bitonic network that sorts up to 128 keys in Z0 to Z7: see quicksort_simd.go. It is written here because its speed depends on all
// vectors being in registers, of which the Go compiler uses half for this.
//
// A step compares each lane of a vector with another lane: that whose number has some bits inverted. The lane with the larger number
// takes the larger key: K1 to K4 are the lanes that have bit 0, 1, 2 and 3 in their numbers. Steps read one half of the registers and
// write the other, so that no vector is moved.

// NEAR inverts two bits at the bottom, as the selector of a shuffle within groups of four says.
#define NEAR(selector, larger, x, y) \
	VPSHUFD $selector, x, Z16; \
	VPMINUD Z16, x, y; \
	VPMAXUD Z16, x, larger, y

// FAR inverts the two bits above.
#define FAR(selector, larger, x, y) \
	VSHUFI32X4 $selector, x, x, Z16; \
	VPMINUD Z16, x, y; \
	VPMAXUD Z16, x, larger, y

// REVERSED inverts both at the bottom and what the selector says above.
#define REVERSED(selector, larger, x, y) \
	VSHUFI32X4 $selector, x, x, Z16; \
	VPSHUFD $0x1B, Z16, Z16; \
	VPMINUD Z16, x, y; \
	VPMAXUD Z16, x, larger, y

// THERE and BACK take a step with all eight vectors.
#define THERE(step, selector, larger) \
	step(selector, larger, Z0, Z8); \
	step(selector, larger, Z1, Z9); \
	step(selector, larger, Z2, Z10); \
	step(selector, larger, Z3, Z11); \
	step(selector, larger, Z4, Z12); \
	step(selector, larger, Z5, Z13); \
	step(selector, larger, Z6, Z14); \
	step(selector, larger, Z7, Z15)

#define BACK(step, selector, larger) \
	step(selector, larger, Z8, Z0); \
	step(selector, larger, Z9, Z1); \
	step(selector, larger, Z10, Z2); \
	step(selector, larger, Z11, Z3); \
	step(selector, larger, Z12, Z4); \
	step(selector, larger, Z13, Z5); \
	step(selector, larger, Z14, Z6); \
	step(selector, larger, Z15, Z7)

// COMPARE leaves the smaller keys of two vectors in the first and the larger ones in the second.
#define COMPARE(x, y) \
	VPMINUD y, x, Z16; \
	VPMAXUD y, x, y; \
	VMOVDQA32 Z16, x

#define REVERSE(x) \
	VSHUFI32X4 $0x1B, x, x, x; \
	VPSHUFD $0x1B, x, x

// PART makes K5 of the lanes that the next vector has keys for, of which R8 are left. AX has sixteen bits.
#define PART \
	BZHIL R8, AX, DX; \
	KMOVW DX, K5; \
	SUBQ $16, R8; \
	CMOVQLT R9, R8

// READ loads a vector, whose other lanes have the largest key: all ones, as Z31.
#define READ(at, x) \
	PART; \
	VMOVDQA32 Z31, x; \
	VMOVDQU32 at(DI), K5, x

#define WRITE(at, x) \
	PART; \
	VMOVDQU32 x, K5, at(DI)

// func bitonicLeaf(keys unsafe.Pointer, n int)
TEXT ·bitonicLeaf(SB), NOSPLIT, $8-16
	MOVQ keys+0(FP), DI
	MOVQ n+8(FP), R8
	MOVL $0xFFFF, AX
	XORL R9, R9
	VPTERNLOGD $0xFF, Z31, Z31, Z31
	READ(0, Z0)
	READ(64, Z1)
	READ(128, Z2)
	READ(192, Z3)
	READ(256, Z4)
	READ(320, Z5)
	READ(384, Z6)
	READ(448, Z7)
	MOVL $0xAAAA, DX
	KMOVW DX, K1
	MOVL $0xCCCC, DX
	KMOVW DX, K2
	MOVL $0xF0F0, DX
	KMOVW DX, K3
	MOVL $0xFF00, DX
	KMOVW DX, K4

	// Each vector by itself: runs of two, four, eight and sixteen lanes.
	THERE(NEAR, 0xB1, K1)
	BACK(NEAR, 0x1B, K2)
	THERE(NEAR, 0xB1, K1)
	BACK(REVERSED, 0xB1, K3)
	THERE(NEAR, 0x4E, K2)
	BACK(NEAR, 0xB1, K1)
	THERE(REVERSED, 0x1B, K4)
	CALL bitonicQuarters<>(SB)

	// Two vectors, of which the second is reversed: the smaller keys of both, in a row that falls and rises, and the larger ones.
	REVERSE(Z1)
	REVERSE(Z3)
	REVERSE(Z5)
	REVERSE(Z7)
	COMPARE(Z0, Z1)
	COMPARE(Z2, Z3)
	COMPARE(Z4, Z5)
	COMPARE(Z6, Z7)
	CALL bitonicHalves<>(SB)

	// Four vectors. The larger keys stay in the order of the reversed ones, which the next comparison does not mind.
	REVERSE(Z2)
	REVERSE(Z3)
	REVERSE(Z6)
	REVERSE(Z7)
	COMPARE(Z0, Z3)
	COMPARE(Z1, Z2)
	COMPARE(Z4, Z7)
	COMPARE(Z5, Z6)
	COMPARE(Z0, Z1)
	COMPARE(Z2, Z3)
	COMPARE(Z4, Z5)
	COMPARE(Z6, Z7)
	CALL bitonicHalves<>(SB)

	// All eight.
	REVERSE(Z4)
	REVERSE(Z5)
	REVERSE(Z6)
	REVERSE(Z7)
	COMPARE(Z0, Z7)
	COMPARE(Z1, Z6)
	COMPARE(Z2, Z5)
	COMPARE(Z3, Z4)
	COMPARE(Z0, Z2)
	COMPARE(Z1, Z3)
	COMPARE(Z5, Z7)
	COMPARE(Z4, Z6)
	COMPARE(Z0, Z1)
	COMPARE(Z2, Z3)
	COMPARE(Z4, Z5)
	COMPARE(Z6, Z7)
	CALL bitonicHalves<>(SB)

	MOVQ n+8(FP), R8
	WRITE(0, Z0)
	WRITE(64, Z1)
	WRITE(128, Z2)
	WRITE(192, Z3)
	WRITE(256, Z4)
	WRITE(320, Z5)
	WRITE(384, Z6)
	WRITE(448, Z7)
	VZEROUPPER
	RET

// bitonicHalves sorts each vector, whose lanes fall and rise.
TEXT bitonicHalves<>(SB), NOSPLIT, $0-0
	THERE(FAR, 0x4E, K4)
	JMP bitonicQuarters<>(SB)

// bitonicQuarters is the rest of it, when halves of a vector have been compared.
TEXT bitonicQuarters<>(SB), NOSPLIT, $0-0
	BACK(FAR, 0xB1, K3)
	THERE(NEAR, 0x4E, K2)
	BACK(NEAR, 0xB1, K1)
	RET
