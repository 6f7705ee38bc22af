package host

// The families of kernels register themselves when they are imported.
import (
	_ "github.com/paddle-mps/paddle-mps/kernels/host/attention"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/conv"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/create"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/elem"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/index"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/pool"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/product"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/reduce"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/rnn"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/scan"
	_ "github.com/paddle-mps/paddle-mps/kernels/host/sort"
)
