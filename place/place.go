// Package place names where a tensor lives: the CPU, or the n-th mps device. It parses and prints
// places the way Paddle does and knows nothing of what is behind them.
package place

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// Kind is the sort of a place. The numbers are part of the C ABI.
type Kind int32

// The kinds.
const (
	CPUKind Kind = 0
	MPSKind Kind = 1
)

// Place is a kind and, for mps, the index of the device. The zero value is the CPU.
type Place struct {
	Kind  Kind
	Index int32
}

// CPU is the place of the processor that runs this program.
var CPU = Place{}

// MPS is the place of the mps device with an index.
func MPS(index int32) Place { return Place{MPSKind, index} }

// String prints a place as get_device does: "cpu", "mps:0".
func (p Place) String() string {
	if p.Kind == CPUKind {
		return "cpu"
	}
	return fmt.Sprintf("mps:%d", p.Index)
}

// Parse reads "cpu", "mps" or "mps:N" (0 <= N < 2^31); anything else is status.Invalid.
func Parse(s string) (Place, error) {
	name, digits, indexed := strings.Cut(s, ":")
	switch {
	case s == "cpu":
		return CPU, nil
	case name == "mps" && !indexed:
		return MPS(0), nil
	case name == "mps" && digits != "" && digits[0] != '+' && digits[0] != '-':
		if n, err := strconv.ParseInt(digits, 10, 32); err == nil {
			return MPS(int32(n)), nil
		}
	}
	return CPU, status.Errorf(status.Invalid, "[place] got %q; want 'cpu', 'mps' or 'mps:N'", s)
}
