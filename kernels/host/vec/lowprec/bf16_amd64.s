//go:build goexperiment.simd && !race

#include "textflag.h"

// Tiles of products of bfloat16: see bf16.go. Go's assembler lacks VDPBF16PS, so PRODUCT writes its bytes.
//
// AX, R10, R11 and R12 are at rows 0, 3, 6 and 9 of a, and rows are R8 bytes apart. BX is at the panel of b, CX is the number of
// pairs that are left, DI is at the sums.

#define ARGUMENTS \
	MOVQ c+0(FP), DI; \
	MOVQ a+8(FP), AX; \
	MOVQ lda+16(FP), R8; \
	MOVQ b+24(FP), BX; \
	MOVQ pairs+32(FP), CX; \
	SHLQ $1, R8

// PRODUCT adds products of pairs of elements to a register of sums. The bytes are EVEX.512.F3.0F38.W0 52: prefix is that of the
// sums, of which it holds the upper bits of the number, factor that of the pair of a, in Z2 (0x6E) or Z3 (0x66), and registers the
// lower bits of the sums' number and the register of b, Z0 or Z1.
#define PRODUCT(prefix, factor, registers) \
	BYTE $0x62; BYTE $prefix; BYTE $factor; BYTE $0x48; BYTE $0x52; BYTE $registers

#define ROWIN2(a, prefix, sums0, sums1) \
	VBROADCASTSS a, Z2; \
	PRODUCT(prefix, 0x6E, sums0); \
	PRODUCT(prefix, 0x6E, sums1)

#define ROWIN3(a, prefix, sums0, sums1) \
	VBROADCASTSS a, Z3; \
	PRODUCT(prefix, 0x66, sums0); \
	PRODUCT(prefix, 0x66, sums1)

// The first four rows have their sums in Z8 to Z15, the next in Z16 to Z23, the last in Z24 to Z31.
#define FOURROWS \
	VMOVUPS (BX), Z0; \
	VMOVUPS 64(BX), Z1; \
	ROWIN2((AX), 0x72, 0xC0, 0xC9); \
	ROWIN3((AX)(R8*1), 0x72, 0xD0, 0xD9); \
	ROWIN2((AX)(R8*2), 0x72, 0xE0, 0xE9); \
	ROWIN3((R10), 0x72, 0xF0, 0xF9)

#define TWELVEROWS \
	FOURROWS; \
	ROWIN2((R10)(R8*1), 0xE2, 0xC0, 0xC9); \
	ROWIN3((R10)(R8*2), 0xE2, 0xD0, 0xD9); \
	ROWIN2((R11), 0xE2, 0xE0, 0xE9); \
	ROWIN3((R11)(R8*1), 0xE2, 0xF0, 0xF9); \
	ROWIN2((R11)(R8*2), 0x62, 0xC0, 0xC9); \
	ROWIN3((R12), 0x62, 0xD0, 0xD9); \
	ROWIN2((R12)(R8*1), 0x62, 0xE0, 0xE9); \
	ROWIN3((R12)(R8*2), 0x62, 0xF0, 0xF9)

#define ZERO(sums0, sums1) \
	VPXORD sums0, sums0, sums0; \
	VPXORD sums1, sums1, sums1

#define STORE(sums0, sums1) \
	VMOVUPS sums0, (DI); \
	VMOVUPS sums1, 64(DI); \
	ADDQ $128, DI

// func pairs4x32(c *float32, a *uint16, lda int, b *uint32, pairs int)
TEXT ·pairs4x32(SB), NOSPLIT, $0-40
	ARGUMENTS
	LEAQ (R8)(R8*2), R13
	LEAQ (AX)(R13*1), R10
	ZERO(Z8, Z9)
	ZERO(Z10, Z11)
	ZERO(Z12, Z13)
	ZERO(Z14, Z15)

four:
	FOURROWS
	ADDQ $4, AX
	ADDQ $4, R10
	ADDQ $128, BX
	DECQ CX
	JNZ  four

	STORE(Z8, Z9)
	STORE(Z10, Z11)
	STORE(Z12, Z13)
	STORE(Z14, Z15)
	VZEROUPPER
	RET

// func pairs12x32(c *float32, a *uint16, lda int, b *uint32, pairs int)
TEXT ·pairs12x32(SB), NOSPLIT, $0-40
	ARGUMENTS
	LEAQ (R8)(R8*2), R13
	LEAQ (AX)(R13*1), R10
	LEAQ (R10)(R13*1), R11
	LEAQ (R11)(R13*1), R12
	ZERO(Z8, Z9)
	ZERO(Z10, Z11)
	ZERO(Z12, Z13)
	ZERO(Z14, Z15)
	ZERO(Z16, Z17)
	ZERO(Z18, Z19)
	ZERO(Z20, Z21)
	ZERO(Z22, Z23)
	ZERO(Z24, Z25)
	ZERO(Z26, Z27)
	ZERO(Z28, Z29)
	ZERO(Z30, Z31)

twelve:
	TWELVEROWS
	ADDQ $4, AX
	ADDQ $4, R10
	ADDQ $4, R11
	ADDQ $4, R12
	ADDQ $128, BX
	DECQ CX
	JNZ  twelve

	STORE(Z8, Z9)
	STORE(Z10, Z11)
	STORE(Z12, Z13)
	STORE(Z14, Z15)
	STORE(Z16, Z17)
	STORE(Z18, Z19)
	STORE(Z20, Z21)
	STORE(Z22, Z23)
	STORE(Z24, Z25)
	STORE(Z26, Z27)
	STORE(Z28, Z29)
	STORE(Z30, Z31)
	VZEROUPPER
	RET

// AVX512_BF16 is bit 5 of AX in part 1 of leaf 7, where the leaf has such a part.

// func multipliesPairs() bool
TEXT ·multipliesPairs(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	MOVL $7, AX
	XORL CX, CX
	CPUID
	TESTL AX, AX
	JEQ  none
	MOVL $7, AX
	MOVL $1, CX
	CPUID
	SHRL $5, AX
	ANDL $1, AX
	MOVB AX, ret+0(FP)

none:
	RET
