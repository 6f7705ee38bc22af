// Package nontemporal has loops of arith, and a copy, whose stores are non-temporal: they write past the caches.
//
// The invariant: the bits are those of the ordinary loops. Where results are large enough for these loops to pay off is the caller's
// business, and so is [Fence] before another thread reads them. They exist with AVX2 only: see [Available]. [Choose] exists on
// arm64 too, with ordinary stores.
package nontemporal
