//go:build cgo && !darwin

package host

import (
	"os"
	"sync"

	"github.com/paddle-mps/paddle-mps/internal/fakeaccelerate"
	"github.com/paddle-mps/paddle-mps/kernels/host/blas"
	"github.com/paddle-mps/paddle-mps/kernels/host/product"
)

// mockAccelerate is the mock, which stays loaded; nil without a C compiler.
var mockAccelerate = sync.OnceValue(func() product.BLASLibrary {
	if !fakeaccelerate.CanBuild() {
		return nil
	}
	folder := must(os.MkdirTemp("", "fakeaccelerate"))
	defer func() { _ = os.RemoveAll(folder) }() // a library that is loaded needs its file no more
	return must(blas.Open(must(fakeaccelerate.Build(folder))))
})

// The variants that macOS has. Only devices with Accelerate in their Config ask for the library.
func init() { product.RegisterBLAS(mockAccelerate) }
