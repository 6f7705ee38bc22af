// Package environment reads the environment variables of the library and opens the devices that they ask for, for the
// shared library and for the command-line tool.
//
// docs/environment.md describes the variables. They are read once, when the devices are opened; a variable that is set
// later has no effect.
package environment

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

// Config is what the environment asks for.
type Config struct {
	Device  string        // PADDLE_MPS_DEVICE: auto, metal or host
	Metal   metal.Config  // PADDLE_MPS_METAL_LIBRARY: loaded in place of Apple's; PADDLE_MPS_PREFER: msl or mpsgraph; PADDLE_MPS_CPU_OPS; PADDLE_MPS_CONCURRENT=0; PADDLE_MPS_CACHE_DIR and PADDLE_MPS_CACHE_DIR_BYTES: compiled graphs on disk
	Threads int           // PADDLE_MPS_NUM_THREADS: of one call; 0: all CPUs
	Verbose int32         // MPS_VERBOSE: messages above this level are dropped
	Pool    int64         // MPS_MAX_POOL_SIZE: bytes that each device may reserve; 0: the runtime's choice
	Age     time.Duration // MPS_MAX_BUFFER_AGE: how long an idle heap is kept; 0: the runtime's choice
	Alone   bool          // PADDLE_MPS_FALLBACK=0: operators that the device lacks fail instead of running on the CPU
	Plain   bool          // PADDLE_MPS_PASSES=0: programs run call by call as they are, neither rewritten nor fused
	Entries int64         // PADDLE_MPS_PROGRAM_CACHE_ENTRIES: compiled programs that each device keeps; 0: its choice
	Bytes   int64         // PADDLE_MPS_PROGRAM_CACHE_BYTES: how much of them, likewise
	Own     bool          // PADDLE_MPS_ACCELERATE=0: the CPU computes without Apple's Accelerate
	Terms   bool          // PADDLE_MPS_WINOGRAD=0: the CPU computes convolutions term by term
	Inline  int64         // PADDLE_MPS_INLINE: largest work that the emulated device runs on the caller; 0: its choice, -1: none
}

// DefaultVerbose passes errors and warnings.
const DefaultVerbose = 1

// Read reads the environment; status.Invalid names a variable with a value that it cannot have.
func Read(getenv func(string) string) (c Config, err error) {
	// A value that is not known is refused rather than taken for the default: who sets a variable means it.
	c.Device = getenv("PADDLE_MPS_DEVICE")
	switch c.Device {
	case "":
		c.Device = "auto"
	case "auto", "metal", "host":
	default:
		return c, status.Errorf(status.Invalid, "[start] PADDLE_MPS_DEVICE is %q; want 'auto', 'metal' or 'host'", c.Device)
	}
	c.Metal.Library = getenv("PADDLE_MPS_METAL_LIBRARY")
	switch prefer := getenv("PADDLE_MPS_PREFER"); prefer {
	case "", "msl":
	case "mpsgraph":
		c.Metal.Prefer = metal.PreferGraphs
	default:
		return c, status.Errorf(status.Invalid, "[start] PADDLE_MPS_PREFER is %q; want 'msl' or 'mpsgraph'", prefer)
	}
	if c.Metal.Leave, err = operators("PADDLE_MPS_CPU_OPS", getenv("PADDLE_MPS_CPU_OPS")); err != nil {
		return c, err
	}
	c.Metal.Folder = getenv("PADDLE_MPS_CACHE_DIR")
	if c.Metal.Folder != "" && !filepath.IsAbs(c.Metal.Folder) {
		// The working folder of a program changes.
		return c, status.Errorf(status.Invalid, "[start] PADDLE_MPS_CACHE_DIR is %q; want an absolute path", c.Metal.Folder)
	}
	// Both names are in use; the first one wins.
	verbose := "MPS_VERBOSE"
	if getenv(verbose) == "" {
		verbose = "TRITON_MPS_VERBOSE"
	}
	// Numbers have limits of their own, so that a slip of the hand is an error here and not later in an allocator. The first error
	// is the one that is returned.
	read := func(name string, absent, low, high int64) (n int64) {
		if err == nil {
			n, err = number(name, getenv(name), absent, low, high)
		}
		return n
	}
	c.Verbose = int32(read(verbose, DefaultVerbose, 0, math.MaxInt32))
	c.Threads = int(read("PADDLE_MPS_NUM_THREADS", 0, 1, 4096))
	// The variables say what is allowed; the fields say what is not, so that their zero values are the usual case.
	c.Alone = read("PADDLE_MPS_FALLBACK", 1, 0, 1) == 0
	c.Metal.Serial = read("PADDLE_MPS_CONCURRENT", 1, 0, 1) == 0
	c.Plain = read("PADDLE_MPS_PASSES", 1, 0, 1) == 0
	c.Own = read("PADDLE_MPS_ACCELERATE", 1, 0, 1) == 0
	c.Terms = read("PADDLE_MPS_WINOGRAD", 1, 0, 1) == 0
	c.Pool = read("MPS_MAX_POOL_SIZE", 0, 1, math.MaxInt64)
	c.Age = time.Duration(read("MPS_MAX_BUFFER_AGE", 0, 1, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	c.Entries = read("PADDLE_MPS_PROGRAM_CACHE_ENTRIES", 0, 1, math.MaxInt64)
	c.Bytes = read("PADDLE_MPS_PROGRAM_CACHE_BYTES", 0, 1, math.MaxInt64)
	c.Metal.FolderBytes = read("PADDLE_MPS_CACHE_DIR_BYTES", 0, 1, math.MaxInt64)
	c.Inline = read("PADDLE_MPS_INLINE", 0, -1, math.MaxInt64)
	if err != nil {
		return c, err
	}
	// A limit of 0 elements is one that nothing is below.
	if c.Inline == 0 && getenv("PADDLE_MPS_INLINE") != "" {
		c.Inline = -1 // nothing is below 0 elements
	}
	return c, nil
}

// operators reads a variable that lists operators, with commas between.
func operators(name, text string) (ids []op.ID, err error) {
	// Blanks around names and a comma at the end do no harm.
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		// An unknown operator is a mistake too.
		row, err := op.ByName(word)
		if err != nil {
			return nil, status.Errorf(status.Invalid, "[start] %s is %q; want operators of docs/ops.md, but there is no %s", name, text, word)
		}
		ids = append(ids, row.ID)
	}
	return ids, nil
}

// number reads a variable that holds a whole number; "" is the value that an absent one has.
func number(name, text string, absent, low, high int64) (int64, error) {
	if text == "" {
		return absent, nil
	}
	// Blanks and units are refused: 8G would be read as 8.
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		return 0, status.Errorf(status.Invalid, "[start] %s is %q; want a whole number of %d or more", name, text, low)
	}
	return n, nil
}

// noMPS says why a machine has no mps device; why is the error of opening one, nil if that was not tried.
func noMPS(goos, goarch string, why error) string {
	// The text names the machine as its owner would, and not as Go does.
	system, processor := goos, goarch
	switch goos {
	case "linux":
		system = "Linux"
	case "darwin":
		system = "macOS"
	case "freebsd":
		system = "FreeBSD"
	}
	if goarch == "amd64" {
		processor = "x86-64"
	}
	reason := "without Metal"
	if why != nil {
		reason = "and " + strings.TrimPrefix(why.Error(), "[metal] ")
	}
	return fmt.Sprintf("mps is not available: this is %s %s %s. Use place='cpu', or PADDLE_MPS_DEVICE=host for an emulated mps (CPU speed).", system, processor, reason)
}
