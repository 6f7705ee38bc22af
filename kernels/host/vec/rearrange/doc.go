// Package rearrange moves elements of 32 bits without changing them: it transposes matrices and interleaves rows.
//
// Operands must not overlap. Copies of any layout are the business of package engine.
package rearrange
