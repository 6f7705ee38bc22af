// Package random fills rows with bits of Philox-4x32-10, a counter-based generator.
//
// The invariant: word i depends on the key and on i alone, so that any split of a row gives the same bits. Distributions are made of the
// bits elsewhere.
package random
