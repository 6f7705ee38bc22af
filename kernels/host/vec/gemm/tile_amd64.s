//go:build goexperiment.simd && !race

#include "textflag.h"

// Tiles of float32 products: see tile in matmul.go. All elements of the tile stay in registers while k runs. The Go
// compiler keeps eleven vectors at most, which is two thirds of a tile of vec.AVX2 and a third of one of AVX-512.
//
// AX is at a, a column of the panel a step; BX at b, a row of the panel a step; DI is at c, whose rows are DX bytes
// apart; CX is the number of steps that are left. R9 is not 0 where c is set rather than added to: the sums begin with 0.

#define ARGUMENTS \
	MOVQ c+0(FP), DI; \
	MOVQ ldc+8(FP), DX; \
	MOVQ a+16(FP), AX; \
	MOVQ b+24(FP), BX; \
	MOVQ steps+32(FP), CX; \
	MOVBLZX set+40(FP), R9

// ROW256 adds one element of a times the row of b to a row of the tile.
#define ROW256(a, x, c0, c1) \
	VBROADCASTSS a, x; \
	VFMADD231PS Y0, x, c0; \
	VFMADD231PS Y1, x, c1

// STEP256 is one step of k.
#define STEP256(i) \
	VMOVUPS (i*64)(BX), Y0; \
	VMOVUPS (i*64+32)(BX), Y1; \
	ROW256((i*24)(AX), Y2, Y4, Y5); \
	ROW256((i*24+4)(AX), Y3, Y6, Y7); \
	ROW256((i*24+8)(AX), Y2, Y8, Y9); \
	ROW256((i*24+12)(AX), Y3, Y10, Y11); \
	ROW256((i*24+16)(AX), Y2, Y12, Y13); \
	ROW256((i*24+20)(AX), Y3, Y14, Y15)

// LOAD256 and STORE256 move a row of the tile and go to the next.
#define LOAD256(c0, c1) \
	VMOVUPS (SI), c0; \
	VMOVUPS 32(SI), c1; \
	ADDQ DX, SI

#define STORE256(c0, c1) \
	VMOVUPS c0, (SI); \
	VMOVUPS c1, 32(SI); \
	ADDQ DX, SI

// LOADTILE256 and STORETILE256 move a whole tile.
#define LOADTILE256 \
	MOVQ DI, SI; \
	LOAD256(Y4, Y5); \
	LOAD256(Y6, Y7); \
	LOAD256(Y8, Y9); \
	LOAD256(Y10, Y11); \
	LOAD256(Y12, Y13); \
	LOAD256(Y14, Y15)

// ZEROTILE256 begins all sums with 0.
#define ZEROTILE256 \
	VXORPS Y4, Y4, Y4; \
	VXORPS Y5, Y5, Y5; \
	VXORPS Y6, Y6, Y6; \
	VXORPS Y7, Y7, Y7; \
	VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; \
	VXORPS Y10, Y10, Y10; \
	VXORPS Y11, Y11, Y11; \
	VXORPS Y12, Y12, Y12; \
	VXORPS Y13, Y13, Y13; \
	VXORPS Y14, Y14, Y14; \
	VXORPS Y15, Y15, Y15

#define STORETILE256 \
	MOVQ DI, SI; \
	STORE256(Y4, Y5); \
	STORE256(Y6, Y7); \
	STORE256(Y8, Y9); \
	STORE256(Y10, Y11); \
	STORE256(Y12, Y13); \
	STORE256(Y14, Y15)

// func tile6x16(c *float32, ldc int, a, b *float32, steps int)
TEXT ·tile6x16(SB), NOSPLIT, $0-41
	ARGUMENTS
	SHLQ $2, DX
	TESTL R9, R9
	JNE  zero
	LOADTILE256
	JMP  begin

zero:
	ZEROTILE256

begin:
	SUBQ $4, CX
	JLT  rest

four:
	STEP256(0)
	STEP256(1)
	STEP256(2)
	STEP256(3)
	ADDQ $96, AX
	ADDQ $256, BX
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JLE  done

one:
	STEP256(0)
	ADDQ $24, AX
	ADDQ $64, BX
	DECQ CX
	JNZ  one

done:
	STORETILE256
	VZEROUPPER
	RET

// STEPAT256 is a step whose row of b begins at an offset: R8 is at the offsets, in elements, and the next is R10.
#define STEPAT256(i) \
	MOVQ (i*8)(R8), R10; \
	VMOVUPS (BX)(R10*4), Y0; \
	VMOVUPS 32(BX)(R10*4), Y1; \
	ROW256((i*24)(AX), Y2, Y4, Y5); \
	ROW256((i*24+4)(AX), Y3, Y6, Y7); \
	ROW256((i*24+8)(AX), Y2, Y8, Y9); \
	ROW256((i*24+12)(AX), Y3, Y10, Y11); \
	ROW256((i*24+16)(AX), Y2, Y12, Y13); \
	ROW256((i*24+20)(AX), Y3, Y14, Y15)

// func tileAt6x16(c *float32, ldc int, a, b *float32, steps int, set bool, offsets *int)
TEXT ·tileAt6x16(SB), NOSPLIT, $0-56
	ARGUMENTS
	MOVQ offsets+48(FP), R8
	SHLQ $2, DX
	TESTL R9, R9
	JNE  zero
	LOADTILE256
	JMP  begin

zero:
	ZEROTILE256

begin:
	SUBQ $2, CX
	JLT  rest

two:
	STEPAT256(0)
	STEPAT256(1)
	ADDQ $48, AX
	ADDQ $16, R8
	SUBQ $2, CX
	JGE  two

rest:
	ADDQ $2, CX
	JLE  done
	STEPAT256(0)

done:
	STORETILE256
	VZEROUPPER
	RET

// ROW256D and STEP256D are the same for float64, half as many a vector.
#define ROW256D(a, x, c0, c1) \
	VBROADCASTSD a, x; \
	VFMADD231PD Y0, x, c0; \
	VFMADD231PD Y1, x, c1

// STEP256D is one step of k.
#define STEP256D(i) \
	VMOVUPS (i*64)(BX), Y0; \
	VMOVUPS (i*64+32)(BX), Y1; \
	ROW256D((i*48)(AX), Y2, Y4, Y5); \
	ROW256D((i*48+8)(AX), Y3, Y6, Y7); \
	ROW256D((i*48+16)(AX), Y2, Y8, Y9); \
	ROW256D((i*48+24)(AX), Y3, Y10, Y11); \
	ROW256D((i*48+32)(AX), Y2, Y12, Y13); \
	ROW256D((i*48+40)(AX), Y3, Y14, Y15)

// func tile6x8(c *float64, ldc int, a, b *float64, steps int)
TEXT ·tile6x8(SB), NOSPLIT, $0-41
	ARGUMENTS
	SHLQ $3, DX
	TESTL R9, R9
	JNE  zero
	LOADTILE256
	JMP  begin

zero:
	ZEROTILE256

begin:
	SUBQ $4, CX
	JLT  rest

four:
	STEP256D(0)
	STEP256D(1)
	STEP256D(2)
	STEP256D(3)
	ADDQ $192, AX
	ADDQ $256, BX
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JLE  done

one:
	STEP256D(0)
	ADDQ $48, AX
	ADDQ $64, BX
	DECQ CX
	JNZ  one

done:
	STORETILE256
	VZEROUPPER
	RET

// ROW512, STEP512, LOAD512 and STORE512 are the same with twice the lanes and twice the rows.
#define ROW512(a, x, c0, c1) \
	VBROADCASTSS a, x; \
	VFMADD231PS Z0, x, c0; \
	VFMADD231PS Z1, x, c1

#define STEP512(i) \
	VMOVUPS (i*128)(BX), Z0; \
	VMOVUPS (i*128+64)(BX), Z1; \
	ROW512((i*48)(AX), Z2, Z8, Z9); \
	ROW512((i*48+4)(AX), Z3, Z10, Z11); \
	ROW512((i*48+8)(AX), Z4, Z12, Z13); \
	ROW512((i*48+12)(AX), Z5, Z14, Z15); \
	ROW512((i*48+16)(AX), Z6, Z16, Z17); \
	ROW512((i*48+20)(AX), Z7, Z18, Z19); \
	ROW512((i*48+24)(AX), Z2, Z20, Z21); \
	ROW512((i*48+28)(AX), Z3, Z22, Z23); \
	ROW512((i*48+32)(AX), Z4, Z24, Z25); \
	ROW512((i*48+36)(AX), Z5, Z26, Z27); \
	ROW512((i*48+40)(AX), Z6, Z28, Z29); \
	ROW512((i*48+44)(AX), Z7, Z30, Z31)

#define LOAD512(c0, c1) \
	VMOVUPS (SI), c0; \
	VMOVUPS 64(SI), c1; \
	ADDQ DX, SI

#define STORE512(c0, c1) \
	VMOVUPS c0, (SI); \
	VMOVUPS c1, 64(SI); \
	ADDQ DX, SI

// LOADTILE512 and STORETILE512 move a whole tile.
#define LOADTILE512 \
	MOVQ DI, SI; \
	LOAD512(Z8, Z9); \
	LOAD512(Z10, Z11); \
	LOAD512(Z12, Z13); \
	LOAD512(Z14, Z15); \
	LOAD512(Z16, Z17); \
	LOAD512(Z18, Z19); \
	LOAD512(Z20, Z21); \
	LOAD512(Z22, Z23); \
	LOAD512(Z24, Z25); \
	LOAD512(Z26, Z27); \
	LOAD512(Z28, Z29); \
	LOAD512(Z30, Z31)

// ZEROTILE512 begins all sums with 0.
#define ZEROTILE512 \
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

#define STORETILE512 \
	MOVQ DI, SI; \
	STORE512(Z8, Z9); \
	STORE512(Z10, Z11); \
	STORE512(Z12, Z13); \
	STORE512(Z14, Z15); \
	STORE512(Z16, Z17); \
	STORE512(Z18, Z19); \
	STORE512(Z20, Z21); \
	STORE512(Z22, Z23); \
	STORE512(Z24, Z25); \
	STORE512(Z26, Z27); \
	STORE512(Z28, Z29); \
	STORE512(Z30, Z31)

// func tile12x32(c *float32, ldc int, a, b *float32, steps int)
TEXT ·tile12x32(SB), NOSPLIT, $0-41
	ARGUMENTS
	SHLQ $2, DX
	TESTL R9, R9
	JNE  zero
	LOADTILE512
	JMP  begin

zero:
	ZEROTILE512

begin:
	SUBQ $2, CX
	JLT  rest

two:
	STEP512(0)
	STEP512(1)
	ADDQ $96, AX
	ADDQ $256, BX
	SUBQ $2, CX
	JGE  two

rest:
	ADDQ $2, CX
	JLE  done
	STEP512(0)

done:
	STORETILE512
	VZEROUPPER
	RET

// ROW512D and STEP512D are the same for float64.
#define ROW512D(a, x, c0, c1) \
	VBROADCASTSD a, x; \
	VFMADD231PD Z0, x, c0; \
	VFMADD231PD Z1, x, c1

#define STEP512D(i) \
	VMOVUPS (i*128)(BX), Z0; \
	VMOVUPS (i*128+64)(BX), Z1; \
	ROW512D((i*96)(AX), Z2, Z8, Z9); \
	ROW512D((i*96+8)(AX), Z3, Z10, Z11); \
	ROW512D((i*96+16)(AX), Z4, Z12, Z13); \
	ROW512D((i*96+24)(AX), Z5, Z14, Z15); \
	ROW512D((i*96+32)(AX), Z6, Z16, Z17); \
	ROW512D((i*96+40)(AX), Z7, Z18, Z19); \
	ROW512D((i*96+48)(AX), Z2, Z20, Z21); \
	ROW512D((i*96+56)(AX), Z3, Z22, Z23); \
	ROW512D((i*96+64)(AX), Z4, Z24, Z25); \
	ROW512D((i*96+72)(AX), Z5, Z26, Z27); \
	ROW512D((i*96+80)(AX), Z6, Z28, Z29); \
	ROW512D((i*96+88)(AX), Z7, Z30, Z31)

// func tile12x16(c *float64, ldc int, a, b *float64, steps int)
TEXT ·tile12x16(SB), NOSPLIT, $0-41
	ARGUMENTS
	SHLQ $3, DX
	TESTL R9, R9
	JNE  zero
	LOADTILE512
	JMP  begin

zero:
	ZEROTILE512

begin:
	SUBQ $2, CX
	JLT  rest

two:
	STEP512D(0)
	STEP512D(1)
	ADDQ $192, AX
	ADDQ $256, BX
	SUBQ $2, CX
	JGE  two

rest:
	ADDQ $2, CX
	JLE  done
	STEP512D(0)

done:
	STORETILE512
	VZEROUPPER
	RET
