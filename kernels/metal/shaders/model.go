package shaders

// The model of the slowest GPU, an M1: bytes of memory and operations of floats a second, of which half is what kernels
// that compute much are expected to reach; no GPU has confirmed it.
const (
	m1Bytes = 68e9
	reached = 0.5
)

// m1Operations is the other number of the model; tests lower it.
var m1Operations = 2.6e12

// longest is how long a dispatch may take by the model, in seconds: a GPU that also draws the screen must not be kept
// from it for 50 ms, and the model may be wrong by half.
const longest = 25e-3
