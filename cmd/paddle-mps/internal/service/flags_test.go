package service

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestValues: booleans and words are read as tritonserver reads them.
func TestValues(t *testing.T) {
	for line, want := range map[string]bool{
		"--allow-grpc=on": true, "--allow-grpc=TRUE": true, "--allow-grpc=1": true, "--allow-grpc": true,
		"--allow-grpc=off": false, "--allow-grpc=False": false, "--allow-grpc=0": false,
	} {
		o, err := parse([]string{"models", line})
		require.NoError(t, err, line)
		require.Equal(t, want, o.grpc, line)
	}
	for _, line := range []string{"--allow-grpc=yes", "--allow-grpc=", "--allow-grpc=t", "--allow-grpc=2", "--model-control-mode=all", "--log-format=iso8601"} {
		_, err := parse([]string{"models", line})
		require.ErrorContains(t, err, "want ", line)
	}
	// A boolean may be the next word; another word is a repository.
	o, err := parse([]string{"--allow-grpc", "off", "--allow-metrics", "models", "--log-verbose=true", "--rate-limit=OFF", "--model-control-mode=Poll"})
	require.NoError(t, err)
	require.Equal(t, []any{false, true, []string{"models"}, uint32(1), "off", "poll"}, []any{o.grpc, o.metrics, o.repositories, o.log.Verbose, o.rateLimit, o.control})
}

// TestOptionsThatExcludeEachOther: the texts are those of tritonserver.
func TestOptionsThatExcludeEachOther(t *testing.T) {
	for want, line := range map[string][]string{
		"Use of '--load-model' requires setting '--model-control-mode=explicit' as well.":                                  {"--load-model=m"},
		"Wildcard model name '*' must be the ONLY startup model if specified at all.":                                      {"--model-control-mode=explicit", "--load-model=*", "--load-model=m"},
		"Incompatible flags --response-cache-byte-size and --cache-config both provided. Please provide one or the other.": {"--response-cache-byte-size=1", "--cache-config=local,size=2"},
		"option --response-cache-byte-size is \"0\"; want a whole number of bytes from 1 on":                               {"--response-cache-byte-size=0"},
		"option --cache-config is \"local,size=x\"; want local,size=<integer>: no other cache is supported":                {"--cache-config=local,size=x"},
		"got no model repository; want a folder of models or an ONNX file (--help describes the options)":                  nil,
		"option --load-model has no value; want <string>":                                                                  {"--load-model"},
	} {
		if line != nil {
			line = append([]string{"models"}, line...)
		}
		_, err := parse(line)
		require.EqualError(t, err, want)
	}
	o, err := parse([]string{"models", "--load-model=*", "--model-control-mode=EXPLICIT", "--load-model=*"})
	require.NoError(t, err, "the order does not matter, and a model may be named twice")
	require.Equal(t, []string{"*"}, o.load)
}

// TestConfigurations: options about config.pbtxt. The old name counts unless the new one is there, as in tritonserver.
func TestConfigurations(t *testing.T) {
	for _, c := range []struct {
		line []string
		want bool
	}{
		{nil, false},
		{[]string{"--disable-auto-complete-config"}, true},
		{[]string{"--strict-model-config=true"}, true},
		{[]string{"--strict-model-config=true", "--strict-model-config", "false"}, false},
		{[]string{"--disable-auto-complete-config", "--strict-model-config=false"}, true},
	} {
		o, err := parse(append([]string{"models"}, c.line...))
		require.NoError(t, err, c.line)
		require.Equal(t, c.want, o.server(nil, nil).NoComplete, c.line)
	}
	o, err := parse([]string{"models", "--model-config-name=h100"})
	require.NoError(t, err)
	require.Equal(t, "h100", o.server(nil, nil).ConfigName)
	for _, line := range []string{"--model-config-name=", "--model-config-name=../h100", "--disable-auto-complete-config=true", "--strict-model-config=maybe"} {
		_, err := parse([]string{"models", line})
		require.Error(t, err, line)
	}
}

// TestOptionsThatAreLacking: an option that asks for what is so anyhow is taken, any other is refused with its name.
func TestOptionsThatAreLacking(t *testing.T) {
	for line, want := range map[string]string{
		"--model-load-retry-count=0": "", "--grpc-infer-response-compression-level=none": "", "--reuse-http-port=false": "", "--http-thread-count=4": "",
		"--model-load-retry-count=1":                    "option --model-load-retry-count of tritonserver is not supported",
		"--grpc-infer-response-compression-level=high":  "option --grpc-infer-response-compression-level of tritonserver is not supported",
		"--grpc-infer-response-compression-levels=none": "there is no option --grpc-infer-response-compression-levels; paddle-mps serve --help lists them",
	} {
		_, err := parse([]string{"models", line})
		if want == "" {
			require.NoError(t, err, line)
			continue
		}
		require.EqualError(t, err, want)
	}
}

// TestAllowedHosts: an option names hosts and nothing else.
func TestAllowedHosts(t *testing.T) {
	o, err := parse([]string{"models", "--http-allowed-host=Models.example.", "--http-allowed-host", "[::1]:3000"})
	require.NoError(t, err)
	var names []string
	for _, h := range o.allowedHosts {
		names = append(names, h.String())
	}
	require.Equal(t, []string{"models.example", "[::1]:3000"}, names)
	for _, value := range []string{"", "null", "*", "http://models.example", "models.example/", "a b", "a:port"} {
		_, err := parse([]string{"models", "--http-allowed-host=" + value})
		require.ErrorContains(t, err, "want the name or IP address of a host", value)
	}
}
