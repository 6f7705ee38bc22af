package vec

// Level names a set of loops by the instructions that it needs.
type Level uint8

// The levels.
const (
	Portable Level = iota // plain Go
	AVX2                  // 256-bit vectors with fused multiply-add
	AVX512                // 512-bit vectors (F, BW, CD, DQ, VL)
	NEON                  // 128-bit vectors of arm64
)

// String gives the level as reports print it.
func (l Level) String() string {
	return [...]string{"portable", "avx2", "avx512", "neon"}[l]
}

// Levels lists the levels that this CPU and build can run, slowest first.
func Levels() []Level { return append([]Level{Portable}, vectorLevels()...) }

// active is chosen once, before main; only tests choose another.
var active = Levels()[len(Levels())-1]

// Active is the level at which all rooms run.
func Active() Level { return active }

// UpTo lists the levels of [Levels] above Portable, up to one of them. A set of loops for it begins with the portable ones, and takes in
// turn what each of these levels speeds up, so that the rest is inherited.
//
// A set selects instructions, once for the process and the same for every operator. It is no registry of kernels: which kernel runs a
// call is decided in package host, which neither knows nor asks what processor there is.
//
//go:noinline
func UpTo(level Level) []Level {
	levels := vectorLevels()
	for i, l := range levels {
		if l == level {
			return levels[:i+1]
		}
	}
	return nil
}

// UseLevel makes a level [Active]. It is for tests, which have each room that they run use the level too.
func UseLevel(level Level) { active = level }
