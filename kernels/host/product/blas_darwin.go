//go:build cgo

package product

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/kernels/host/blas"
)

// Accelerate computes large products. It is loaded by the first of them, and where it does not load, or lacks a function, our own
// kernels compute all.
func init() {
	RegisterBLAS(sync.OnceValue(func() BLASLibrary {
		l, err := blas.Open(blas.Accelerate)
		if err != nil {
			return nil
		}
		return l
	}))
}
