//go:build goexperiment.simd && !race

#include "textflag.h"

// Tiles of products of 8-bit integers: see tile8 in matmul8.go. A group is four bytes of a row of a, or of a column of b:
// four integers, or two that were widened to 16 bits. Sums are of 32 bits and wrap around, and no instruction here saturates.
//
// AX is at a, a group of each row of the panel a step; BX at b, a group of each column; DI is at c, whose rows are DX bytes
// apart; CX is the number of groups that are left. The sums begin with R10, a row of the tile; where R9 is 0 they are
// added to c.

#define ARGUMENTS \
	MOVQ c+0(FP), DI; \
	MOVQ ldc+8(FP), DX; \
	MOVQ a+16(FP), AX; \
	MOVQ b+24(FP), BX; \
	MOVQ groups+32(FP), CX; \
	MOVQ first+40(FP), R10; \
	MOVBLZX set+48(FP), R9; \
	SHLQ $2, DX; \
	MOVQ DI, SI

// EACH512 does something with each row of a tile of AVX-512, of which EACH256 has half.
#define EACH512(DO) \
	DO(Z8, Z9); \
	DO(Z10, Z11); \
	DO(Z12, Z13); \
	DO(Z14, Z15); \
	DO(Z16, Z17); \
	DO(Z18, Z19); \
	DO(Z20, Z21); \
	DO(Z22, Z23); \
	DO(Z24, Z25); \
	DO(Z26, Z27); \
	DO(Z28, Z29); \
	DO(Z30, Z31)

#define BEGIN512(c0, c1) \
	VMOVDQU32 (R10), c0; \
	VMOVDQU32 64(R10), c1

#define ADD512(c0, c1) \
	VPADDD (SI), c0, c0; \
	VPADDD 64(SI), c1, c1; \
	ADDQ DX, SI

#define STORE512(c0, c1) \
	VMOVDQU32 c0, (DI); \
	VMOVDQU32 c1, 64(DI); \
	ADDQ DX, DI

// UNSIGNED and SIGNED add a group of a row, whose bytes are unsigned or signed, times the groups of the columns, which are
// the other way round.
#define UNSIGNED(a, x, c0, c1) \
	VPBROADCASTD a, x; \
	VPDPBUSD Z0, x, c0; \
	VPDPBUSD Z1, x, c1

#define SIGNED(a, x, c0, c1) \
	VPBROADCASTD a, x; \
	VPDPBUSD x, Z0, c0; \
	VPDPBUSD x, Z1, c1

// STEP512 adds a group of each row.
#define STEP512(ROW) \
	VMOVDQU32 (BX), Z0; \
	VMOVDQU32 64(BX), Z1; \
	ROW((AX), Z2, Z8, Z9); \
	ROW(4(AX), Z3, Z10, Z11); \
	ROW(8(AX), Z4, Z12, Z13); \
	ROW(12(AX), Z5, Z14, Z15); \
	ROW(16(AX), Z6, Z16, Z17); \
	ROW(20(AX), Z7, Z18, Z19); \
	ROW(24(AX), Z2, Z20, Z21); \
	ROW(28(AX), Z3, Z22, Z23); \
	ROW(32(AX), Z4, Z24, Z25); \
	ROW(36(AX), Z5, Z26, Z27); \
	ROW(40(AX), Z6, Z28, Z29); \
	ROW(44(AX), Z7, Z30, Z31)

// TILE512 is a whole tile of 12 x 32.
#define TILE512(ROW) \
	ARGUMENTS; \
	EACH512(BEGIN512); \
	TESTL R9, R9; \
	JNE  begin; \
	EACH512(ADD512); \
begin: \
	TESTQ CX, CX; \
	JLE  done; \
loop: \
	STEP512(ROW); \
	ADDQ $48, AX; \
	ADDQ $128, BX; \
	DECQ CX; \
	JNZ  loop; \
done: \
	EACH512(STORE512); \
	VZEROUPPER; \
	RET

// func tileUnsigned12x32(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)
TEXT ·tileUnsigned12x32(SB), NOSPLIT, $0-49
	TILE512(UNSIGNED)

// func tileSigned12x32(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)
TEXT ·tileSigned12x32(SB), NOSPLIT, $0-49
	TILE512(SIGNED)

// LINE512 is one row of 32 columns. Two pairs of sums hide the latency of an instruction.
#define LINE512(ROW) \
	ARGUMENTS; \
	BEGIN512(Z8, Z9); \
	VPXORQ Z10, Z10, Z10; \
	VPXORQ Z11, Z11, Z11; \
	TESTL R9, R9; \
	JNE  begin; \
	ADD512(Z8, Z9); \
begin: \
	SUBQ $2, CX; \
	JLT  rest; \
two: \
	VMOVDQU32 (BX), Z0; \
	VMOVDQU32 64(BX), Z1; \
	ROW((AX), Z2, Z8, Z9); \
	VMOVDQU32 128(BX), Z0; \
	VMOVDQU32 192(BX), Z1; \
	ROW(4(AX), Z3, Z10, Z11); \
	ADDQ $8, AX; \
	ADDQ $256, BX; \
	SUBQ $2, CX; \
	JGE  two; \
rest: \
	ADDQ $2, CX; \
	JLE  done; \
	VMOVDQU32 (BX), Z0; \
	VMOVDQU32 64(BX), Z1; \
	ROW((AX), Z2, Z8, Z9); \
done: \
	VPADDD Z10, Z8, Z8; \
	VPADDD Z11, Z9, Z9; \
	STORE512(Z8, Z9); \
	VZEROUPPER; \
	RET

// func lineUnsigned32(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)
TEXT ·lineUnsigned32(SB), NOSPLIT, $0-49
	LINE512(UNSIGNED)

// func lineSigned32(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)
TEXT ·lineSigned32(SB), NOSPLIT, $0-49
	LINE512(SIGNED)

// func packQuads32(to *uint32, b *uint8, ldb, groups int)
//
// It interleaves the bytes of four rows of 32 columns at a time. The unpacking instructions work on halves of a register: the
// lower has columns 0 to 15.
TEXT ·packQuads32(SB), NOSPLIT, $0-32
	MOVQ to+0(FP), DI
	MOVQ b+8(FP), BX
	MOVQ ldb+16(FP), DX
	MOVQ groups+24(FP), CX
	LEAQ (DX)(DX*2), SI
	TESTQ CX, CX
	JLE  done

loop:
	VMOVDQU (BX), Y0
	VMOVDQU (BX)(DX*1), Y1
	VMOVDQU (BX)(DX*2), Y2
	VMOVDQU (BX)(SI*1), Y3
	VPUNPCKLBW Y1, Y0, Y4
	VPUNPCKHBW Y1, Y0, Y5
	VPUNPCKLBW Y3, Y2, Y6
	VPUNPCKHBW Y3, Y2, Y7
	VPUNPCKLWD Y6, Y4, Y0
	VPUNPCKHWD Y6, Y4, Y1
	VPUNPCKLWD Y7, Y5, Y2
	VPUNPCKHWD Y7, Y5, Y3
	VMOVDQU X0, (DI)
	VMOVDQU X1, 16(DI)
	VMOVDQU X2, 32(DI)
	VMOVDQU X3, 48(DI)
	VEXTRACTI128 $1, Y0, 64(DI)
	VEXTRACTI128 $1, Y1, 80(DI)
	VEXTRACTI128 $1, Y2, 96(DI)
	VEXTRACTI128 $1, Y3, 112(DI)
	LEAQ (BX)(DX*4), BX
	ADDQ $128, DI
	DECQ CX
	JNZ  loop

done:
	VZEROUPPER
	RET

// func lowBytes512(to *uint8, from *int32, vectors int)
TEXT ·lowBytes512(SB), NOSPLIT, $0-24
	MOVQ to+0(FP), DI
	MOVQ from+8(FP), SI
	MOVQ vectors+16(FP), CX
	TESTQ CX, CX
	JLE  done

loop:
	VMOVDQU32 (SI), Z0
	VPMOVDB Z0, X0
	VMOVDQU X0, (DI)
	ADDQ $64, SI
	ADDQ $16, DI
	DECQ CX
	JNZ  loop

done:
	VZEROUPPER
	RET

// vec.AVX2 multiplies pairs of 16 bits, which are exact.
#define EACH256(DO) \
	DO(Y4, Y5); \
	DO(Y6, Y7); \
	DO(Y8, Y9); \
	DO(Y10, Y11); \
	DO(Y12, Y13); \
	DO(Y14, Y15)

#define BEGIN256(c0, c1) \
	VMOVDQU (R10), c0; \
	VMOVDQU 32(R10), c1

#define ADD256(c0, c1) \
	VPADDD (SI), c0, c0; \
	VPADDD 32(SI), c1, c1; \
	ADDQ DX, SI

#define STORE256(c0, c1) \
	VMOVDQU c0, (DI); \
	VMOVDQU c1, 32(DI); \
	ADDQ DX, DI

#define PAIRS(a, c0, c1) \
	VPBROADCASTD a, Y2; \
	VPMADDWD Y0, Y2, Y3; \
	VPMADDWD Y1, Y2, Y2; \
	VPADDD Y3, c0, c0; \
	VPADDD Y2, c1, c1

// func tilePairs6x16(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)
TEXT ·tilePairs6x16(SB), NOSPLIT, $0-49
	ARGUMENTS
	EACH256(BEGIN256)
	TESTL R9, R9
	JNE  begin
	EACH256(ADD256)

begin:
	TESTQ CX, CX
	JLE  done

loop:
	VMOVDQU (BX), Y0
	VMOVDQU 32(BX), Y1
	PAIRS((AX), Y4, Y5)
	PAIRS(4(AX), Y6, Y7)
	PAIRS(8(AX), Y8, Y9)
	PAIRS(12(AX), Y10, Y11)
	PAIRS(16(AX), Y12, Y13)
	PAIRS(20(AX), Y14, Y15)
	ADDQ $24, AX
	ADDQ $64, BX
	DECQ CX
	JNZ  loop

done:
	EACH256(STORE256)
	VZEROUPPER
	RET

// func linePairs16(c *int32, ldc int, a, b *uint32, groups int, first *int32, set bool)
TEXT ·linePairs16(SB), NOSPLIT, $0-49
	ARGUMENTS
	BEGIN256(Y4, Y5)
	TESTL R9, R9
	JNE  begin
	ADD256(Y4, Y5)

begin:
	TESTQ CX, CX
	JLE  done

loop:
	VMOVDQU (BX), Y0
	VMOVDQU 32(BX), Y1
	PAIRS((AX), Y4, Y5)
	ADDQ $4, AX
	ADDQ $64, BX
	DECQ CX
	JNZ  loop

done:
	STORE256(Y4, Y5)
	VZEROUPPER
	RET

// PACKPAIRS widens and interleaves two rows of 16 columns at a time.
#define PACKPAIRS(WIDEN) \
	TESTQ CX, CX; \
	JLE  done; \
loop: \
	WIDEN (BX), Y0; \
	WIDEN (BX)(DX*1), Y1; \
	VPUNPCKLWD Y1, Y0, Y2; \
	VPUNPCKHWD Y1, Y0, Y3; \
	VMOVDQU X2, (DI); \
	VMOVDQU X3, 16(DI); \
	VEXTRACTI128 $1, Y2, 32(DI); \
	VEXTRACTI128 $1, Y3, 48(DI); \
	LEAQ (BX)(DX*2), BX; \
	ADDQ $64, DI; \
	DECQ CX; \
	JNZ  loop; \
done: \
	VZEROUPPER; \
	RET

// func packUnsigned16(to *uint32, b *uint8, ldb, groups int)
TEXT ·packUnsigned16(SB), NOSPLIT, $0-32
	MOVQ to+0(FP), DI
	MOVQ b+8(FP), BX
	MOVQ ldb+16(FP), DX
	MOVQ groups+24(FP), CX
	PACKPAIRS(VPMOVZXBW)

// func packSigned16(to *uint32, b *uint8, ldb, groups int)
TEXT ·packSigned16(SB), NOSPLIT, $0-32
	MOVQ to+0(FP), DI
	MOVQ b+8(FP), BX
	MOVQ ldb+16(FP), DX
	MOVQ groups+24(FP), CX
	PACKPAIRS(VPMOVSXBW)
