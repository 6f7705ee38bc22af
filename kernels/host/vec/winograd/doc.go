// Package winograd has the transforms of Winograd's convolutions of 3 x 3 in tiles of 2 x 2, and the products of their cells.
//
// The invariant: a tile's bits do not depend on the tiles beside it. Rounding errors are about three times those of the sums by
// definition, and tiles that see infinities or NaN have to be computed again; which convolutions take this way, and that repair, is the
// business of kernels/host/conv.
package winograd
