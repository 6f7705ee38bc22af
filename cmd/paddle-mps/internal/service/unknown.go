package service

import (
	"fmt"
	"slices"
	"strings"
)

// tuning are options of tritonserver that say how it is to use threads, memory and plug-ins which this server does not
// have. They change no answer: they are accepted, so that a command line moves over, and named in the log.
var tuning = []string{
	"http-thread-count", "grpc-infer-thread-count", "grpc-infer-allocation-pool-size", "grpc-max-response-pool-size",
	"buffer-manager-thread-count", "pinned-memory-pool-byte-size", "cuda-memory-pool-byte-size", "min-supported-compute-capability",
	"backend-directory", "repoagent-directory", "cache-directory", "metrics-interval-ms", "enable-peer-access",
	"cuda-virtual-address-size",
}

// lacking are the options of tritonserver 2.73 that this server lacks.
var lacking = strings.Fields(`model-load-retry-count model-namespacing
	reuse-http-port http-header-forward-pattern reuse-grpc-port grpc-header-forward-pattern
	grpc-infer-response-compression-level grpc-keepalive-time grpc-keepalive-timeout grpc-keepalive-permit-without-calls
	grpc-http2-max-pings-without-data grpc-http2-min-recv-ping-interval-without-data grpc-http2-max-ping-strikes
	grpc-max-connection-age grpc-max-connection-age-grace allow-sagemaker sagemaker-port sagemaker-safe-port-range
	sagemaker-thread-count allow-vertex-ai vertex-ai-port vertex-ai-thread-count vertex-ai-default-model
	host-policy model-load-gpu-limit`)

// isOff reports whether an option that is lacking asks for what is so anyhow.
func isOff(name, value string) bool {
	switch name {
	case "allow-sagemaker", "allow-vertex-ai", "model-namespacing", "reuse-http-port", "reuse-grpc-port":
		on, known := booleans[strings.ToLower(value)]
		return known && !on
	case "model-load-retry-count":
		return value == "0"
	case "grpc-infer-response-compression-level":
		return value == "none"
	}
	return false
}

// unknown looks at an option that the server does not have: it is skipped with its value where that changes nothing, and
// refused with its name otherwise.
// The rest of the line is returned without the value of the option.
func unknown(name, value string, hasValue bool, args []string) (rest []string, err error) {
	// A value may be the next word, unless that is an option.
	if !hasValue && len(args) > 0 && !strings.HasPrefix(args[0], "--") {
		value, args = args[0], args[1:]
	}
	switch {
	case slices.Contains(tuning, name), isOff(name, value):
		return args, nil
	case slices.Contains(lacking, name):
		return nil, fmt.Errorf("option --%s of tritonserver is not supported", name)
	}
	return nil, fmt.Errorf("there is no option --%s; paddle-mps serve --help lists them", name)
}
