//go:build !race

#include "textflag.h"

// Tiles of products for vec.NEON: see tile in matmul.go. All elements of the tile stay in V8 to V31 while k runs: rows of three
// vectors each.
//
// R0 is at c, whose rows are R1 bytes apart; R2 at a, a column of the panel a step; R3 at b, a row of the panel a step; R4
// is the number of steps that are left.

#define ARGUMENTS(shift) \
	MOVD c+0(FP), R0; \
	MOVD ldc+8(FP), R1; \
	MOVD a+16(FP), R2; \
	MOVD b+24(FP), R3; \
	MOVD steps+32(FP), R4; \
	LSL $shift, R1, R1

// FMLA32 and FMLA64 are "fmla Vd, Vn, Vm[i]", which Go's assembler lacks: d += n * lane i of m. The number of a lane is h:l
// of float32, and h of float64.
#define FMLA32(d, n, m, h, l) WORD $(0x4F801000 | (l << 21) | (m << 16) | (h << 11) | (n << 5) | d)
#define FMLA64(d, n, m, h) WORD $(0x4FC01000 | (m << 16) | (h << 11) | (n << 5) | d)

// ROW32 and ROW64 add an element of a times the row of b, which is in V0 to V2, to a row of the tile.
#define ROW32(d0, d1, d2, m, h, l) \
	FMLA32(d0, 0, m, h, l); \
	FMLA32(d1, 1, m, h, l); \
	FMLA32(d2, 2, m, h, l)

#define ROW64(d0, d1, d2, m, h) \
	FMLA64(d0, 0, m, h); \
	FMLA64(d1, 1, m, h); \
	FMLA64(d2, 2, m, h)

// LOAD and STORE move the rows of the tile, 48 bytes each of either type.
#define LOAD \
	MOVD R0, R5; \
	VLD1 (R5), [V8.S4, V9.S4, V10.S4]; \
	ADD R1, R5; \
	VLD1 (R5), [V11.S4, V12.S4, V13.S4]; \
	ADD R1, R5; \
	VLD1 (R5), [V14.S4, V15.S4, V16.S4]; \
	ADD R1, R5; \
	VLD1 (R5), [V17.S4, V18.S4, V19.S4]; \
	ADD R1, R5; \
	VLD1 (R5), [V20.S4, V21.S4, V22.S4]; \
	ADD R1, R5; \
	VLD1 (R5), [V23.S4, V24.S4, V25.S4]; \
	ADD R1, R5; \
	VLD1 (R5), [V26.S4, V27.S4, V28.S4]; \
	ADD R1, R5; \
	VLD1 (R5), [V29.S4, V30.S4, V31.S4]

#define STORE \
	MOVD R0, R5; \
	VST1 [V8.S4, V9.S4, V10.S4], (R5); \
	ADD R1, R5; \
	VST1 [V11.S4, V12.S4, V13.S4], (R5); \
	ADD R1, R5; \
	VST1 [V14.S4, V15.S4, V16.S4], (R5); \
	ADD R1, R5; \
	VST1 [V17.S4, V18.S4, V19.S4], (R5); \
	ADD R1, R5; \
	VST1 [V20.S4, V21.S4, V22.S4], (R5); \
	ADD R1, R5; \
	VST1 [V23.S4, V24.S4, V25.S4], (R5); \
	ADD R1, R5; \
	VST1 [V26.S4, V27.S4, V28.S4], (R5); \
	ADD R1, R5; \
	VST1 [V29.S4, V30.S4, V31.S4], (R5)

// func tile8x12(c *float32, ldc int, a, b *float32, steps int)
TEXT ·tile8x12(SB), NOSPLIT, $0-40
	ARGUMENTS(2)
	LOAD

step:
	VLD1.P 48(R3), [V0.S4, V1.S4, V2.S4]
	VLD1.P 32(R2), [V4.S4, V5.S4]
	ROW32(8, 9, 10, 4, 0, 0)
	ROW32(11, 12, 13, 4, 0, 1)
	ROW32(14, 15, 16, 4, 1, 0)
	ROW32(17, 18, 19, 4, 1, 1)
	ROW32(20, 21, 22, 5, 0, 0)
	ROW32(23, 24, 25, 5, 0, 1)
	ROW32(26, 27, 28, 5, 1, 0)
	ROW32(29, 30, 31, 5, 1, 1)
	SUBS $1, R4
	BGT  step
	STORE
	RET

// func tile8x6(c *float64, ldc int, a, b *float64, steps int)
TEXT ·tile8x6(SB), NOSPLIT, $0-40
	ARGUMENTS(3)
	LOAD

step:
	VLD1.P 48(R3), [V0.D2, V1.D2, V2.D2]
	VLD1.P 64(R2), [V4.D2, V5.D2, V6.D2, V7.D2]
	ROW64(8, 9, 10, 4, 0)
	ROW64(11, 12, 13, 4, 1)
	ROW64(14, 15, 16, 5, 0)
	ROW64(17, 18, 19, 5, 1)
	ROW64(20, 21, 22, 6, 0)
	ROW64(23, 24, 25, 6, 1)
	ROW64(26, 27, 28, 7, 0)
	ROW64(29, 30, 31, 7, 1)
	SUBS $1, R4
	BGT  step
	STORE
	RET

// func addRow32(c *float32, x float32, b *float32, n int)
TEXT ·addRow32(SB), NOSPLIT, $0-32
	MOVD  c+0(FP), R0
	FMOVS x+8(FP), F0
	MOVD  b+16(FP), R1
	MOVD  n+24(FP), R2
	VDUP  V0.S[0], V3.S4
	SUBS  $4, R2
	BLT   rest

four:
	VLD1.P 16(R1), [V1.S4]
	VLD1   (R0), [V2.S4]
	VFMLA  V1.S4, V3.S4, V2.S4
	VST1.P [V2.S4], 16(R0)
	SUBS   $4, R2
	BGE    four

rest:
	ADDS $4, R2
	BEQ  done

one:
	FMOVS  (R1), F1
	FMOVS  (R0), F2
	FMADDS F1, F2, F0, F2
	FMOVS  F2, (R0)
	ADD    $4, R0
	ADD    $4, R1
	SUBS   $1, R2
	BGT    one

done:
	RET

// func addRow64(c *float64, x float64, b *float64, n int)
TEXT ·addRow64(SB), NOSPLIT, $0-32
	MOVD  c+0(FP), R0
	FMOVD x+8(FP), F0
	MOVD  b+16(FP), R1
	MOVD  n+24(FP), R2
	VDUP  V0.D[0], V3.D2
	SUBS  $2, R2
	BLT   rest

two:
	VLD1.P 16(R1), [V1.D2]
	VLD1   (R0), [V2.D2]
	VFMLA  V1.D2, V3.D2, V2.D2
	VST1.P [V2.D2], 16(R0)
	SUBS   $2, R2
	BGE    two

rest:
	ADDS $2, R2
	BEQ  done
	FMOVD  (R1), F1
	FMOVD  (R0), F2
	FMADDD F1, F2, F0, F2
	FMOVD  F2, (R0)

done:
	RET
