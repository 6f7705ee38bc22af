package environment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestRead(t *testing.T) {
	plain := Config{Device: "auto", Verbose: DefaultVerbose}
	for name, c := range map[string]struct {
		env  []string
		want func(*Config)
	}{
		"nothing":       {nil, func(*Config) {}},
		"device":        {[]string{"PADDLE_MPS_DEVICE", "host"}, func(c *Config) { c.Device = "host" }},
		"metal":         {[]string{"PADDLE_MPS_DEVICE", "metal"}, func(c *Config) { c.Device = "metal" }},
		"library":       {[]string{"PADDLE_MPS_METAL_LIBRARY", "/lib/x.so"}, func(c *Config) { c.Metal.Library = "/lib/x.so" }},
		"shaders first": {[]string{"PADDLE_MPS_PREFER", "msl"}, func(*Config) {}},
		"graphs first":  {[]string{"PADDLE_MPS_PREFER", "mpsgraph"}, func(c *Config) { c.Metal.Prefer = metal.PreferGraphs }},
		"left to the CPU": {[]string{"PADDLE_MPS_CPU_OPS", "matmul, exp,"}, func(c *Config) {
			c.Metal.Leave = []op.ID{op.MustByName("matmul").ID, op.MustByName("exp").ID}
		}},
		"no fallback":     {[]string{"PADDLE_MPS_FALLBACK", "0"}, func(c *Config) { c.Alone = true }},
		"in order":        {[]string{"PADDLE_MPS_CONCURRENT", "0"}, func(c *Config) { c.Metal.Serial = true }},
		"no passes":       {[]string{"PADDLE_MPS_PASSES", "0"}, func(c *Config) { c.Plain = true }},
		"own kernels":     {[]string{"PADDLE_MPS_ACCELERATE", "0"}, func(c *Config) { c.Own = true }},
		"term by term":    {[]string{"PADDLE_MPS_WINOGRAD", "0"}, func(c *Config) { c.Terms = true }},
		"threads":         {[]string{"PADDLE_MPS_NUM_THREADS", "3"}, func(c *Config) { c.Threads = 3 }},
		"verbose":         {[]string{"MPS_VERBOSE", "3"}, func(c *Config) { c.Verbose = 3 }},
		"alias":           {[]string{"TRITON_MPS_VERBOSE", "0"}, func(c *Config) { c.Verbose = 0 }},
		"name over alias": {[]string{"MPS_VERBOSE", "2", "TRITON_MPS_VERBOSE", "3"}, func(c *Config) { c.Verbose = 2 }},
		"pool":            {[]string{"MPS_MAX_POOL_SIZE", "1073741824"}, func(c *Config) { c.Pool = 1 << 30 }},
		"age":             {[]string{"MPS_MAX_BUFFER_AGE", "1500"}, func(c *Config) { c.Age = 1500 * time.Millisecond }},
		"programs":        {[]string{"PADDLE_MPS_PROGRAM_CACHE_ENTRIES", "64"}, func(c *Config) { c.Entries = 64 }},
		"program bytes":   {[]string{"PADDLE_MPS_PROGRAM_CACHE_BYTES", "65536"}, func(c *Config) { c.Bytes = 65536 }},
		"graphs on disk": {[]string{"PADDLE_MPS_CACHE_DIR", "/a/b", "PADDLE_MPS_CACHE_DIR_BYTES", "1000"}, func(c *Config) {
			c.Metal.Folder, c.Metal.FolderBytes = "/a/b", 1000
		}},
		"inline":         {[]string{"PADDLE_MPS_INLINE", "100"}, func(c *Config) { c.Inline = 100 }},
		"nothing inline": {[]string{"PADDLE_MPS_INLINE", "-1"}, func(c *Config) { c.Inline = -1 }},
		"below nothing":  {[]string{"PADDLE_MPS_INLINE", "0"}, func(c *Config) { c.Inline = -1 }},
	} {
		t.Run(name, func(t *testing.T) {
			want := plain
			c.want(&want)
			got, err := Read(environment(c.env...))
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestReadNamesWhatIsWrong(t *testing.T) {
	for name, values := range map[string][]string{
		"PADDLE_MPS_DEVICE":      {"cuda", "HOST", " "},
		"PADDLE_MPS_FALLBACK":    {"2", "yes"},
		"PADDLE_MPS_CONCURRENT":  {"2", "no"},
		"PADDLE_MPS_PASSES":      {"2", "no"},
		"PADDLE_MPS_ACCELERATE":  {"2", "off", "-1"},
		"PADDLE_MPS_WINOGRAD":    {"2", "off", "-1"},
		"PADDLE_MPS_PREFER":      {"MSL", "host"},
		"PADDLE_MPS_CPU_OPS":     {"gemm", "exp;log"},
		"PADDLE_MPS_NUM_THREADS": {"0", "-1", "two", "1.5", "99999"},
		"MPS_VERBOSE":            {"-1", "loud"},
		"TRITON_MPS_VERBOSE":     {"yes"},
		"MPS_MAX_POOL_SIZE":      {"0", "1GB", "9223372036854775808"},
		"MPS_MAX_BUFFER_AGE":     {"0", "-5", "9223372036854775807"},
		"PADDLE_MPS_INLINE":      {"-2", "never"},

		"PADDLE_MPS_PROGRAM_CACHE_ENTRIES": {"0", "-1", "many"},
		"PADDLE_MPS_PROGRAM_CACHE_BYTES":   {"0", "1MB"},
		"PADDLE_MPS_CACHE_DIR":             {"here", "~/cache", "./x"},
		"PADDLE_MPS_CACHE_DIR_BYTES":       {"0", "1MB"},
	} {
		for _, value := range values {
			_, err := Read(environment(name, value))
			require.Equalf(t, status.Invalid, status.CodeOf(err), "%s=%s", name, value)
			require.Contains(t, err.Error(), "[start] "+name+" is \""+value+"\"; want ")
		}
	}
}

func TestNoMPS(t *testing.T) {
	require.Equal(t, "mps is not available: this is Linux x86-64 without Metal. Use place='cpu', or PADDLE_MPS_DEVICE=host for an emulated mps (CPU speed).",
		noMPS("linux", "amd64", nil))
	require.Contains(t, noMPS("darwin", "arm64", status.Errorf(status.Unavailable, "[metal] the system shows no GPU")),
		"this is macOS arm64 and the system shows no GPU. Use place='cpu'")
}

// TestNoGPU tries to open one only where there may be one, and says why there is none.
func TestNoGPU(t *testing.T) {
	for _, c := range []struct {
		device, library, goos, want string
	}{
		{"auto", "", "linux", "without Metal"},
		{"metal", "", "linux", "without Metal"},
		{"auto", "nowhere.so", "linux", "and nowhere.so does not load"},
		{"metal", "nowhere.so", "linux", "and nowhere.so does not load"},
	} {
		gpu, err := openMetal(Config{Device: c.device, Metal: metal.Config{Library: c.library}}, c.goos)
		require.Nil(t, gpu)
		require.Contains(t, noMPS(c.goos, "arm64", err), c.want)
	}
}

func TestIdentitiesAreUUIDs(t *testing.T) {
	require.NotEqual(t, identity(0), identity(1))
	require.EqualValues(t, 0x80, identity(1)[6]&0xf0) // version 8
	require.EqualValues(t, 0x80, identity(1)[8]&0xc0) // variant of RFC 9562
}
