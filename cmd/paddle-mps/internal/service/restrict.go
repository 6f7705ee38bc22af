package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
)

// restrictHTTP is the option --http-restricted-api.
func restrictHTTP(o *options, value string) error {
	return restrict(o.httpRestricted, value, "api", "")
}

// restrictGRPC is the option --grpc-restricted-protocol. gRPC's headers have a prefix there, as in tritonserver.
func restrictGRPC(o *options, value string) error {
	return restrict(o.grpcRestricted, value, "protocol", "triton-grpc-protocol-")
}

// restrict reads <apis>:<key>=<value>.
// Several groups can share a header, and an option can be given several times.
func restrict(to map[string]httpapi.Restriction, value, what, prefix string) error {
	// The value may have an equals sign and a colon: the first of each divides.
	groups, header, ok := strings.Cut(value, ":")
	key, secret, ok2 := strings.Cut(header, "=")
	if !ok || !ok2 || key == "" {
		return fmt.Errorf("want <%ss>:<key>=<value>", what)
	}
	for group := range strings.SplitSeq(groups, ",") {
		if !slices.Contains(httpapi.Groups, group) {
			return fmt.Errorf("unknown restricted %s '%s'", what, group)
		}
		// A group with two headers would be ambiguous about which one is asked for.
		if _, twice := to[group]; twice {
			return fmt.Errorf("restricted %s '%s' can not be specified in multiple config groups", what, group)
		}
		to[group] = httpapi.Restriction{Header: prefix + key, Value: secret}
	}
	return nil
}
