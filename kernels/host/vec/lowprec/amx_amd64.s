//go:build goexperiment.simd && !race

#include "textflag.h"

// Products of bfloat16 by AMX, the matrix unit of Intel's server processors: see amx_amd64.go. Go's assembler lacks its
// instructions, so the macros write their bytes. Registers T0 to T7 hold 16 rows of 64 bytes: T0 to T3 the sums, first those of
// 16 rows of a, T4 and T5 rows of a, T6 and T7 pairs of b.
//
// AX and R10 are at rows 0 and 16 of a, which are R8 bytes apart; BX is at the panel of b, and DI and DX are at rows 0 and 16 of the
// sums, both with rows R11 bytes apart. CX is the number of steps that are left, R13 the pairs of the last, shorter one.

#define ARGUMENTS \
	MOVQ c+0(FP), DI; \
	MOVQ a+8(FP), AX; \
	MOVQ lda+16(FP), R8; \
	MOVQ b+24(FP), BX; \
	MOVQ pairs+32(FP), CX; \
	SHLQ $1, R8; \
	MOVQ R8, R10; \
	SHLQ $4, R10; \
	ADDQ AX, R10; \
	LEAQ 2048(DI), DX; \
	MOVQ $128, R11; \
	MOVQ shapes+40(FP), R9; \
	MOVQ CX, R13; \
	ANDQ $15, R13; \
	SHRQ $4, CX

// SHAPE configures the registers for steps of so many pairs, by LDTILECFG (R9), which makes all of them 0; R9 changes.
#define SHAPE(pairs) \
	MOVQ pairs, R12; \
	SHLQ $6, R12; \
	ADDQ R12, R9; \
	BYTE $0xC4; BYTE $0xC2; BYTE $0x78; BYTE $0x49; BYTE $0x01

// RELEASE is TILERELEASE: the system need not save the registers any more.
#define RELEASE BYTE $0xC4; BYTE $0xE2; BYTE $0x78; BYTE $0x49; BYTE $0xC0

// LOAD and MULTIPLY are TILELOADD and TDPBF16PS; SUMS is TILESTORED with direction 0x7A and TILELOADD with 0x7B.
#define LOADA0 BYTE $0xC4; BYTE $0xA2; BYTE $0x7B; BYTE $0x4B; BYTE $0x24; BYTE $0x00
#define LOADA16 BYTE $0xC4; BYTE $0x82; BYTE $0x7B; BYTE $0x4B; BYTE $0x2C; BYTE $0x02
#define LOADB \
	BYTE $0xC4; BYTE $0xA2; BYTE $0x7B; BYTE $0x4B; BYTE $0x34; BYTE $0x1B; \
	BYTE $0xC4; BYTE $0xA2; BYTE $0x7B; BYTE $0x4B; BYTE $0x7C; BYTE $0x1B; BYTE $0x40
#define MULTIPLYA0 \
	BYTE $0xC4; BYTE $0xE2; BYTE $0x4A; BYTE $0x5C; BYTE $0xC4; \
	BYTE $0xC4; BYTE $0xE2; BYTE $0x42; BYTE $0x5C; BYTE $0xCC
#define MULTIPLYA16 \
	BYTE $0xC4; BYTE $0xE2; BYTE $0x4A; BYTE $0x5C; BYTE $0xD5; \
	BYTE $0xC4; BYTE $0xE2; BYTE $0x42; BYTE $0x5C; BYTE $0xDD
#define SUMS0(direction) \
	BYTE $0xC4; BYTE $0xA2; BYTE $direction; BYTE $0x4B; BYTE $0x04; BYTE $0x1F; \
	BYTE $0xC4; BYTE $0xA2; BYTE $direction; BYTE $0x4B; BYTE $0x4C; BYTE $0x1F; BYTE $0x40
#define SUMS16(direction) \
	BYTE $0xC4; BYTE $0xA2; BYTE $direction; BYTE $0x4B; BYTE $0x14; BYTE $0x1A; \
	BYTE $0xC4; BYTE $0xA2; BYTE $direction; BYTE $0x4B; BYTE $0x5C; BYTE $0x1A; BYTE $0x40


// STEP16 and STEP32 multiply 16 pairs, or those of the last step, of so many rows.
#define STEP16 \
	LOADB; \
	LOADA0; \
	MULTIPLYA0

#define STEP32 \
	LOADB; \
	LOADA0; \
	LOADA16; \
	MULTIPLYA0; \
	MULTIPLYA16

#define NEXT \
	ADDQ $64, AX; \
	ADDQ $64, R10; \
	ADDQ $2048, BX

// func amx16x32(c *float32, a *uint16, lda int, b *uint32, pairs int, shapes *[amxPairs + 1]amxShape)
TEXT ·amx16x32(SB), NOSPLIT, $0-48
	ARGUMENTS
	TESTQ CX, CX
	JEQ  short16
	SHAPE($16)

whole16:
	STEP16
	NEXT
	DECQ CX
	JNZ  whole16
	TESTQ R13, R13
	JEQ  done16
	SUMS0(0x7A)
	SUBQ $1024, R9
	SHAPE(R13)
	SUMS0(0x7B)
	JMP  last16

short16:
	SHAPE(R13)

last16:
	STEP16

done16:
	SUMS0(0x7A)
	RELEASE
	RET

// func amx32x32(c *float32, a *uint16, lda int, b *uint32, pairs int, shapes *[amxPairs + 1]amxShape)
TEXT ·amx32x32(SB), NOSPLIT, $0-48
	ARGUMENTS
	TESTQ CX, CX
	JEQ  short32
	SHAPE($16)

whole32:
	STEP32
	NEXT
	DECQ CX
	JNZ  whole32
	TESTQ R13, R13
	JEQ  done32
	SUMS0(0x7A)
	SUMS16(0x7A)
	SUBQ $1024, R9
	SHAPE(R13)
	SUMS0(0x7B)
	SUMS16(0x7B)
	JMP  last32

short32:
	SHAPE(R13)

last32:
	STEP32

done32:
	SUMS0(0x7A)
	SUMS16(0x7A)
	RELEASE
	RET

// AMX-TILE and AMX-BF16 are bits 24 and 22 of DX in leaf 7.

// func hasAMX() bool
TEXT ·hasAMX(SB), NOSPLIT, $0-1
	MOVL $7, AX
	XORL CX, CX
	CPUID
	ANDL $0x01400000, DX
	CMPL DX, $0x01400000
	SETEQ ret+0(FP)
	RET
