package msl

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// TestEveryFunctionHasAUsing reads the expressions of the tables: each function that one calls is defined in the prelude, is a type
// that a value is converted to, or has a using there.
func TestEveryFunctionHasAUsing(t *testing.T) {
	called := regexp.MustCompile(`(metal::)?\b([a-z]\w*)(?:<[^()]*>)?\(`)
	known := regexp.MustCompile(`(?m)^using metal::(\w+);|^(?:template <[^>]*> )?(?:inline|constexpr|static) [\w<> ]+?\b(\w+)\(`)
	names := map[string]bool{}
	for _, m := range known.FindAllStringSubmatch(prelude+file("special"), -1) {
		names[m[1]], names[m[2]] = true, true
	}
	for _, conversion := range strings.Fields("bool char uchar short ushort int uint long ulong half bfloat float as_type sizeof if") {
		names[conversion] = true
	}
	require.True(t, names["fabs"] && names["power"], "the prelude is written in another way; want the pattern changed with it")
	for id, r := range table {
		for _, expression := range []string{r.float, r.integer, r.boolean} {
			for _, m := range called.FindAllStringSubmatch(expression, -1) {
				require.True(t, m[1] != "" || names[m[2]], "%s calls %s; want `using metal::%[2]s;` in prelude.metal, or a function of that name there",
					op.ByID(id).Name, m[2])
			}
		}
	}
}
