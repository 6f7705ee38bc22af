//go:build goexperiment.simd && !race

#include "textflag.h"

// Tiles of AVX-512 that read rows of a where they lie: see rowTile in windows_amd64.go. Fourteen rows of two vectors leave four registers
// of 32 for two vectors of b and two elements of a.
//
// DI is at the rowTile, whose fields have these offsets.

#define TILE_A0 0
#define TILE_A1 8
#define TILE_C0 16
#define TILE_C1 24
#define TILE_B 32
#define TILE_LDA 40
#define TILE_LDC 48
#define TILE_RUN 56
#define TILE_RUNS 64
#define TILE_SKIP 72
#define TILE_COLS 80
#define TILE_SET 88
#define TILE_A 96
#define TILE_C 152
#define TILE_AHEAD 208
#define TILE_FROM 216
#define TILE_LDB 224

// BX is at b, a row of the panel a step; CX is the number of steps that are left of a run. Of c there are the first columns, as
// many 4-byte words as there are bits in K1 and K2.

#define COLUMNMASKS \
	MOVQ TILE_COLS(DI), SI; \
	MOVL $-1, CX; \
	BZHIL SI, CX, CX; \
	KMOVW CX, K1; \
	SHRL $16, CX; \
	KMOVW CX, K2

// ROWOF32 adds one element of a times the row of b to a row of the tile.
#define ROWOF32(a, x, c0, c1) \
	VBROADCASTSS a, x; \
	VFMADD231PS Z0, x, c0; \
	VFMADD231PS Z1, x, c1

// LOADLINE and STORELINE move a row of the tile and go to the next.
#define LOADLINE(c0, c1) \
	VMOVUPS.Z (SI), K1, c0; \
	VMOVUPS.Z 64(SI), K2, c1; \
	ADDQ DX, SI

#define STORELINE(c0, c1) \
	VMOVUPS c0, K1, (SI); \
	VMOVUPS c1, K2, 64(SI); \
	ADDQ DX, SI

#define LOADHALFLINE(c0) \
	VMOVUPS.Z (SI), K1, c0; \
	ADDQ DX, SI

#define STOREHALFLINE(c0) \
	VMOVUPS c0, K1, (SI); \
	ADDQ DX, SI

// EXPECTLINE asks for the lines of the cache that STORELINE will write, so that they are there when it does.
#define EXPECTLINE \
	PREFETCHT0 (SI); \
	PREFETCHT0 64(SI); \
	ADDQ DX, SI
#define EXPECTHALFLINE \
	PREFETCHT0 (SI); \
	ADDQ DX, SI

// The rows of a are two groups of seven neighbours: AX and R10 are at the first of each, R8 is their distance, R9 three and R11 five
// times that.
#define GROUPPOINTERS \
	MOVQ TILE_A0(DI), AX; \
	MOVQ TILE_A1(DI), R10; \
	MOVQ TILE_B(DI), BX; \
	MOVQ TILE_LDA(DI), R8; \
	LEAQ (R8)(R8*2), R9; \
	LEAQ (R8)(R8*4), R11; \
	MOVQ TILE_LDC(DI), DX; \
	MOVQ TILE_RUNS(DI), R13; \
	COLUMNMASKS

// LOADGROUPS, ZEROGROUPS, EXPECTGROUPS and STOREGROUPS move the whole tile of two groups, begin all sums with 0, or ask for the lines.
#define LOADGROUPS \
	MOVQ TILE_C0(DI), SI; \
	LOADLINE(Z4, Z5); \
	LOADLINE(Z6, Z7); \
	LOADLINE(Z8, Z9); \
	LOADLINE(Z10, Z11); \
	LOADLINE(Z12, Z13); \
	LOADLINE(Z14, Z15); \
	LOADLINE(Z16, Z17); \
	MOVQ TILE_C1(DI), SI; \
	LOADLINE(Z18, Z19); \
	LOADLINE(Z20, Z21); \
	LOADLINE(Z22, Z23); \
	LOADLINE(Z24, Z25); \
	LOADLINE(Z26, Z27); \
	LOADLINE(Z28, Z29); \
	LOADLINE(Z30, Z31)

#define ZEROGROUPS \
	VPXORQ Z4, Z4, Z4; \
	VPXORQ Z5, Z5, Z5; \
	VPXORQ Z6, Z6, Z6; \
	VPXORQ Z7, Z7, Z7; \
	VPXORQ Z8, Z8, Z8; \
	VPXORQ Z9, Z9, Z9; \
	VPXORQ Z10, Z10, Z10; \
	VPXORQ Z11, Z11, Z11; \
	VPXORQ Z12, Z12, Z12; \
	VPXORQ Z13, Z13, Z13; \
	VPXORQ Z14, Z14, Z14; \
	VPXORQ Z15, Z15, Z15; \
	VPXORQ Z16, Z16, Z16; \
	VPXORQ Z17, Z17, Z17; \
	VPXORQ Z18, Z18, Z18; \
	VPXORQ Z19, Z19, Z19; \
	VPXORQ Z20, Z20, Z20; \
	VPXORQ Z21, Z21, Z21; \
	VPXORQ Z22, Z22, Z22; \
	VPXORQ Z23, Z23, Z23; \
	VPXORQ Z24, Z24, Z24; \
	VPXORQ Z25, Z25, Z25; \
	VPXORQ Z26, Z26, Z26; \
	VPXORQ Z27, Z27, Z27; \
	VPXORQ Z28, Z28, Z28; \
	VPXORQ Z29, Z29, Z29; \
	VPXORQ Z30, Z30, Z30; \
	VPXORQ Z31, Z31, Z31

#define EXPECTGROUPS \
	MOVQ TILE_C0(DI), SI; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE; \
	MOVQ TILE_C1(DI), SI; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE; \
	EXPECTLINE

#define STOREGROUPS \
	MOVQ TILE_C0(DI), SI; \
	STORELINE(Z4, Z5); \
	STORELINE(Z6, Z7); \
	STORELINE(Z8, Z9); \
	STORELINE(Z10, Z11); \
	STORELINE(Z12, Z13); \
	STORELINE(Z14, Z15); \
	STORELINE(Z16, Z17); \
	MOVQ TILE_C1(DI), SI; \
	STORELINE(Z18, Z19); \
	STORELINE(Z20, Z21); \
	STORELINE(Z22, Z23); \
	STORELINE(Z24, Z25); \
	STORELINE(Z26, Z27); \
	STORELINE(Z28, Z29); \
	STORELINE(Z30, Z31)

// BEGINGROUPS is how tiles of two groups begin.
#define BEGINGROUPS \
	MOVQ t+0(FP), DI; \
	GROUPPOINTERS; \
	CMPB TILE_SET(DI), $0; \
	JNE  zero; \
	LOADGROUPS; \
	JMP  begin; \
zero: \
	ZEROGROUPS; \
	EXPECTGROUPS; \
begin:

// GROUPROWS does a step for all rows of the groups: row adds to one of them, and at is how many bytes further in it the element of a is.
#define GROUPROWS(row, at) \
	row((at)(AX), Z2, Z4, Z5); \
	row((at)(AX)(R8*1), Z3, Z6, Z7); \
	row((at)(AX)(R8*2), Z2, Z8, Z9); \
	row((at)(AX)(R9*1), Z3, Z10, Z11); \
	row((at)(AX)(R8*4), Z2, Z12, Z13); \
	row((at)(AX)(R11*1), Z3, Z14, Z15); \
	row((at)(AX)(R9*2), Z2, Z16, Z17); \
	row((at)(R10), Z3, Z18, Z19); \
	row((at)(R10)(R8*1), Z2, Z20, Z21); \
	row((at)(R10)(R8*2), Z3, Z22, Z23); \
	row((at)(R10)(R9*1), Z2, Z24, Z25); \
	row((at)(R10)(R8*4), Z3, Z26, Z27); \
	row((at)(R10)(R11*1), Z2, Z28, Z29); \
	row((at)(R10)(R9*2), Z3, Z30, Z31)

#define STEP14X32(i) \
	VMOVUPS (i*128)(BX), Z0; \
	VMOVUPS (i*128+64)(BX), Z1; \
	GROUPROWS(ROWOF32, i*4)

// Of columns that fill half of a panel at most, the second vector is left out.
#define STEP14X16(i) \
	VMOVUPS (i*128)(BX), Z0; \
	VFMADD231PS.BCST (i*4)(AX), Z0, Z4; \
	VFMADD231PS.BCST (i*4)(AX)(R8*1), Z0, Z6; \
	VFMADD231PS.BCST (i*4)(AX)(R8*2), Z0, Z8; \
	VFMADD231PS.BCST (i*4)(AX)(R9*1), Z0, Z10; \
	VFMADD231PS.BCST (i*4)(AX)(R8*4), Z0, Z12; \
	VFMADD231PS.BCST (i*4)(AX)(R11*1), Z0, Z14; \
	VFMADD231PS.BCST (i*4)(AX)(R9*2), Z0, Z16; \
	VFMADD231PS.BCST (i*4)(R10), Z0, Z18; \
	VFMADD231PS.BCST (i*4)(R10)(R8*1), Z0, Z20; \
	VFMADD231PS.BCST (i*4)(R10)(R8*2), Z0, Z22; \
	VFMADD231PS.BCST (i*4)(R10)(R9*1), Z0, Z24; \
	VFMADD231PS.BCST (i*4)(R10)(R8*4), Z0, Z26; \
	VFMADD231PS.BCST (i*4)(R10)(R11*1), Z0, Z28; \
	VFMADD231PS.BCST (i*4)(R10)(R9*2), Z0, Z30

// func rows14x32(t *rowTile)
TEXT ·rows14x32(SB), NOSPLIT, $0-8
	BEGINGROUPS
	MOVQ TILE_AHEAD(DI), SI

run:
	MOVQ TILE_RUN(DI), CX
	SUBQ $4, CX
	JLT  rest

four:
	STEP14X32(0)
	STEP14X32(1)
	STEP14X32(2)
	STEP14X32(3)
	PREFETCHT1 (SI)
	PREFETCHT1 64(SI)
	PREFETCHT1 128(SI)
	ADDQ $192, SI
	ADDQ $16, AX
	ADDQ $16, R10
	ADDQ $512, BX
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JLE  next

one:
	STEP14X32(0)
	ADDQ $4, AX
	ADDQ $4, R10
	ADDQ $128, BX
	DECQ CX
	JNZ  one

next:
	ADDQ TILE_SKIP(DI), AX
	ADDQ TILE_SKIP(DI), R10
	DECQ R13
	JNZ  run

	STOREGROUPS
	VZEROUPPER
	RET

// func rows14x16(t *rowTile)
TEXT ·rows14x16(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), DI
	GROUPPOINTERS
	CMPB TILE_SET(DI), $0
	JNE  zero
	MOVQ TILE_C0(DI), SI
	LOADHALFLINE(Z4)
	LOADHALFLINE(Z6)
	LOADHALFLINE(Z8)
	LOADHALFLINE(Z10)
	LOADHALFLINE(Z12)
	LOADHALFLINE(Z14)
	LOADHALFLINE(Z16)
	MOVQ TILE_C1(DI), SI
	LOADHALFLINE(Z18)
	LOADHALFLINE(Z20)
	LOADHALFLINE(Z22)
	LOADHALFLINE(Z24)
	LOADHALFLINE(Z26)
	LOADHALFLINE(Z28)
	LOADHALFLINE(Z30)
	JMP  begin

zero:
	VPXORQ Z4, Z4, Z4
	VPXORQ Z6, Z6, Z6
	VPXORQ Z8, Z8, Z8
	VPXORQ Z10, Z10, Z10
	VPXORQ Z12, Z12, Z12
	VPXORQ Z14, Z14, Z14
	VPXORQ Z16, Z16, Z16
	VPXORQ Z18, Z18, Z18
	VPXORQ Z20, Z20, Z20
	VPXORQ Z22, Z22, Z22
	VPXORQ Z24, Z24, Z24
	VPXORQ Z26, Z26, Z26
	VPXORQ Z28, Z28, Z28
	VPXORQ Z30, Z30, Z30
	MOVQ TILE_C0(DI), SI
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE
	MOVQ TILE_C1(DI), SI
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE
	EXPECTHALFLINE

begin:
	MOVQ TILE_AHEAD(DI), SI

run:
	MOVQ TILE_RUN(DI), CX
	SUBQ $4, CX
	JLT  rest

four:
	STEP14X16(0)
	STEP14X16(1)
	STEP14X16(2)
	STEP14X16(3)
	PREFETCHT1 (SI)
	PREFETCHT1 64(SI)
	PREFETCHT1 128(SI)
	ADDQ $192, SI
	ADDQ $16, AX
	ADDQ $16, R10
	ADDQ $512, BX
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JLE  next

one:
	STEP14X16(0)
	ADDQ $4, AX
	ADDQ $4, R10
	ADDQ $128, BX
	DECQ CX
	JNZ  one

next:
	ADDQ TILE_SKIP(DI), AX
	ADDQ TILE_SKIP(DI), R10
	DECQ R13
	JNZ  run

	MOVQ TILE_C0(DI), SI
	STOREHALFLINE(Z4)
	STOREHALFLINE(Z6)
	STOREHALFLINE(Z8)
	STOREHALFLINE(Z10)
	STOREHALFLINE(Z12)
	STOREHALFLINE(Z14)
	STOREHALFLINE(Z16)
	MOVQ TILE_C1(DI), SI
	STOREHALFLINE(Z18)
	STOREHALFLINE(Z20)
	STOREHALFLINE(Z22)
	STOREHALFLINE(Z24)
	STOREHALFLINE(Z26)
	STOREHALFLINE(Z28)
	STOREHALFLINE(Z30)
	VZEROUPPER
	RET

// LOADROW and STOREROW move a row of the result, whose columns K1 and K2 choose.

#define LOADROW(at, x, y) \
	MOVQ (TILE_C+at)(DI), SI; \
	VMOVUPS.Z (SI), K1, x; \
	VMOVUPS.Z 64(SI), K2, y

#define STOREROW(at, x, y) \
	MOVQ (TILE_C+at)(DI), SI; \
	VMOVUPS x, K1, (SI); \
	VMOVUPS y, K2, 64(SI)

// BEGINROWS is how these tiles begin, and ALLRUNS goes through all runs, two steps at a time: a step advances in the rows by so many bytes.
#define BEGINROWS \
	MOVQ t+0(FP), DI; \
	MOVQ TILE_B(DI), BX; \
	MOVQ TILE_RUNS(DI), DX; \
	COLUMNMASKS; \
	CMPB TILE_SET(DI), $0; \
	JNE  zero

#define ALLRUNS(step, bytes) \
	XORL SI, SI; \
run: \
	MOVQ TILE_RUN(DI), CX; \
	SUBQ $2, CX; \
	JLT  rest; \
two: \
	step(0); \
	step(1); \
	ADDQ $(2*bytes), SI; \
	ADDQ $256, BX; \
	SUBQ $2, CX; \
	JGE  two; \
rest: \
	ADDQ $2, CX; \
	JLE  next; \
	step(0); \
	ADDQ $bytes, SI; \
	ADDQ $128, BX; \
next: \
	ADDQ TILE_SKIP(DI), SI; \
	DECQ DX; \
	JNZ  run

#define FOURPOINTERS \
	MOVQ (TILE_A+0)(DI), AX; \
	MOVQ (TILE_A+8)(DI), R8; \
	MOVQ (TILE_A+16)(DI), R9; \
	MOVQ (TILE_A+24)(DI), R10

#define SEVENPOINTERS \
	FOURPOINTERS; \
	MOVQ (TILE_A+32)(DI), R11; \
	MOVQ (TILE_A+40)(DI), R12; \
	MOVQ (TILE_A+48)(DI), R13

#define LOADFOUR \
	LOADROW(0, Z4, Z5); \
	LOADROW(8, Z6, Z7); \
	LOADROW(16, Z8, Z9); \
	LOADROW(24, Z10, Z11)

#define STOREFOUR \
	STOREROW(0, Z4, Z5); \
	STOREROW(8, Z6, Z7); \
	STOREROW(16, Z8, Z9); \
	STOREROW(24, Z10, Z11)

#define ZEROFOUR \
	VPXORQ Z4, Z4, Z4; \
	VPXORQ Z5, Z5, Z5; \
	VPXORQ Z6, Z6, Z6; \
	VPXORQ Z7, Z7, Z7; \
	VPXORQ Z8, Z8, Z8; \
	VPXORQ Z9, Z9, Z9; \
	VPXORQ Z10, Z10, Z10; \
	VPXORQ Z11, Z11, Z11

// Seven rows anywhere are what is left over. SI is what has been read of each; DX is the number of runs.

#define STEP7X32(i) \
	VMOVUPS (i*128)(BX), Z0; \
	VMOVUPS (i*128+64)(BX), Z1; \
	ROWOF32((i*4)(AX)(SI*1), Z2, Z4, Z5); \
	ROWOF32((i*4)(R8)(SI*1), Z3, Z6, Z7); \
	ROWOF32((i*4)(R9)(SI*1), Z2, Z8, Z9); \
	ROWOF32((i*4)(R10)(SI*1), Z3, Z10, Z11); \
	ROWOF32((i*4)(R11)(SI*1), Z2, Z12, Z13); \
	ROWOF32((i*4)(R12)(SI*1), Z3, Z14, Z15); \
	ROWOF32((i*4)(R13)(SI*1), Z2, Z16, Z17)

// func rows7x32(t *rowTile)
TEXT ·rows7x32(SB), NOSPLIT, $0-8
	BEGINROWS
	LOADFOUR
	LOADROW(32, Z12, Z13)
	LOADROW(40, Z14, Z15)
	LOADROW(48, Z16, Z17)
	JMP  begin

zero:
	ZEROFOUR
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	VPXORQ Z16, Z16, Z16
	VPXORQ Z17, Z17, Z17

begin:
	SEVENPOINTERS
	ALLRUNS(STEP7X32, 4)

	STOREFOUR
	STOREROW(32, Z12, Z13)
	STOREROW(40, Z14, Z15)
	STOREROW(48, Z16, Z17)
	VZEROUPPER
	RET

// Of columns that fill half of a panel at most, the second vector is left out here, too.

#define LOADHALFROW(at, x) \
	MOVQ (TILE_C+at)(DI), SI; \
	VMOVUPS.Z (SI), K1, x

#define STOREHALFROW(at, x) \
	MOVQ (TILE_C+at)(DI), SI; \
	VMOVUPS x, K1, (SI)

#define STEP7X16(i) \
	VMOVUPS (i*128)(BX), Z0; \
	VFMADD231PS.BCST (i*4)(AX)(SI*1), Z0, Z4; \
	VFMADD231PS.BCST (i*4)(R8)(SI*1), Z0, Z6; \
	VFMADD231PS.BCST (i*4)(R9)(SI*1), Z0, Z8; \
	VFMADD231PS.BCST (i*4)(R10)(SI*1), Z0, Z10; \
	VFMADD231PS.BCST (i*4)(R11)(SI*1), Z0, Z12; \
	VFMADD231PS.BCST (i*4)(R12)(SI*1), Z0, Z14; \
	VFMADD231PS.BCST (i*4)(R13)(SI*1), Z0, Z16

// func rows7x16(t *rowTile)
TEXT ·rows7x16(SB), NOSPLIT, $0-8
	BEGINROWS
	LOADHALFROW(0, Z4)
	LOADHALFROW(8, Z6)
	LOADHALFROW(16, Z8)
	LOADHALFROW(24, Z10)
	LOADHALFROW(32, Z12)
	LOADHALFROW(40, Z14)
	LOADHALFROW(48, Z16)
	JMP  begin

zero:
	VPXORQ Z4, Z4, Z4
	VPXORQ Z6, Z6, Z6
	VPXORQ Z8, Z8, Z8
	VPXORQ Z10, Z10, Z10
	VPXORQ Z12, Z12, Z12
	VPXORQ Z14, Z14, Z14
	VPXORQ Z16, Z16, Z16

begin:
	SEVENPOINTERS
	ALLRUNS(STEP7X16, 4)

	STOREHALFROW(0, Z4)
	STOREHALFROW(8, Z6)
	STOREHALFROW(16, Z8)
	STOREHALFROW(24, Z10)
	STOREHALFROW(32, Z12)
	STOREHALFROW(40, Z14)
	STOREHALFROW(48, Z16)
	VZEROUPPER
	RET

// Four rows are enough for what is left over of many products.

#define STEP4X32(i) \
	VMOVUPS (i*128)(BX), Z0; \
	VMOVUPS (i*128+64)(BX), Z1; \
	ROWOF32((i*4)(AX)(SI*1), Z2, Z4, Z5); \
	ROWOF32((i*4)(R8)(SI*1), Z3, Z6, Z7); \
	ROWOF32((i*4)(R9)(SI*1), Z2, Z8, Z9); \
	ROWOF32((i*4)(R10)(SI*1), Z3, Z10, Z11)

// func rows4x32(t *rowTile)
TEXT ·rows4x32(SB), NOSPLIT, $0-8
	BEGINROWS
	LOADFOUR
	JMP  begin

zero:
	ZEROFOUR

begin:
	FOURPOINTERS
	ALLRUNS(STEP4X32, 4)

	STOREFOUR
	VZEROUPPER
	RET

// The first tile of a panel lays it out: it reads rows of b where they lie, TILE_LDB apart, and R12 is at the panel. It asks for the
// row that comes sixteen rows later, SI.

#define PACK14X32(i) \
	VMOVUPS (BX), Z0; \
	VMOVUPS 64(BX), Z1; \
	PREFETCHT0 (SI); \
	PREFETCHT0 64(SI); \
	VMOVUPS Z0, (i*128)(R12); \
	VMOVUPS Z1, (i*128+64)(R12); \
	ADDQ DX, BX; \
	ADDQ DX, SI; \
	GROUPROWS(ROWOF32, i*4)

// func pack14x32(t *rowTile)
TEXT ·pack14x32(SB), NOSPLIT, $0-8
	BEGINGROUPS
	MOVQ BX, R12
	MOVQ TILE_FROM(DI), BX
	MOVQ TILE_LDB(DI), DX
	MOVQ DX, SI
	SHLQ $4, SI
	ADDQ BX, SI

run:
	MOVQ TILE_RUN(DI), CX
	SUBQ $2, CX
	JLT  rest

two:
	PACK14X32(0)
	PACK14X32(1)
	ADDQ $8, AX
	ADDQ $8, R10
	ADDQ $256, R12
	SUBQ $2, CX
	JGE  two

rest:
	ADDQ $2, CX
	JLE  next
	PACK14X32(0)
	ADDQ $4, AX
	ADDQ $4, R10
	ADDQ $128, R12

next:
	ADDQ TILE_SKIP(DI), AX
	ADDQ TILE_SKIP(DI), R10
	DECQ R13
	JNZ  run

	MOVQ TILE_LDC(DI), DX
	STOREGROUPS
	VZEROUPPER
	RET

// Tiles of float64 have half as many columns, in the same memory.

#define ROWOF16(a, x, c0, c1) \
	VBROADCASTSD a, x; \
	VFMADD231PD Z0, x, c0; \
	VFMADD231PD Z1, x, c1

#define STEP14X16D(i) \
	VMOVUPS (i*128)(BX), Z0; \
	VMOVUPS (i*128+64)(BX), Z1; \
	GROUPROWS(ROWOF16, i*8)

// func doubles14x16(t *rowTile)
TEXT ·doubles14x16(SB), NOSPLIT, $0-8
	BEGINGROUPS
	MOVQ TILE_AHEAD(DI), SI

run:
	MOVQ TILE_RUN(DI), CX
	SUBQ $2, CX
	JLT  rest

two:
	STEP14X16D(0)
	STEP14X16D(1)
	PREFETCHT1 (SI)
	PREFETCHT1 64(SI)
	ADDQ $96, SI
	ADDQ $16, AX
	ADDQ $16, R10
	ADDQ $256, BX
	SUBQ $2, CX
	JGE  two

rest:
	ADDQ $2, CX
	JLE  next
	STEP14X16D(0)
	ADDQ $8, AX
	ADDQ $8, R10
	ADDQ $128, BX

next:
	ADDQ TILE_SKIP(DI), AX
	ADDQ TILE_SKIP(DI), R10
	DECQ R13
	JNZ  run

	STOREGROUPS
	VZEROUPPER
	RET

#define STEP4X16D(i) \
	VMOVUPS (i*128)(BX), Z0; \
	VMOVUPS (i*128+64)(BX), Z1; \
	ROWOF16((i*8)(AX)(SI*1), Z2, Z4, Z5); \
	ROWOF16((i*8)(R8)(SI*1), Z3, Z6, Z7); \
	ROWOF16((i*8)(R9)(SI*1), Z2, Z8, Z9); \
	ROWOF16((i*8)(R10)(SI*1), Z3, Z10, Z11)

// func doubles4x16(t *rowTile)
TEXT ·doubles4x16(SB), NOSPLIT, $0-8
	BEGINROWS
	LOADFOUR
	JMP  begin

zero:
	ZEROFOUR

begin:
	FOURPOINTERS
	ALLRUNS(STEP4X16D, 8)

	STOREFOUR
	VZEROUPPER
	RET
