package main

import (
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/sample"
)

// shares are the turns in which all programs are compiled; check compiles all of them each time.
const shares = 3

// TestPrograms gives the tables to the front end and to the mock's compiler: both refuse every invalid program, for the
// reason that the table has, and take every valid one.
func TestPrograms(t *testing.T) {
	f, err := open("../..")
	if err != nil {
		t.Skip(err)
	}
	for name, verdicts := range map[string]func([]program) iter.Seq2[*program, string]{"front end": f.verdicts, "mock": f.compiled(t)} {
		for share := range shares {
			t.Run(fmt.Sprintf("%s %d", name, share), func(t *testing.T) {
				sample.Skip(t, shares, "programs", share)
				var some []program
				for i, p := range programs() {
					if i%shares == share {
						some = append(some, p)
					}
				}
				counts := map[bool]int{}
				for p, got := range verdicts(some) {
					assert.Equal(t, p.refused(), got != "", "%s: %s\n%s", p.name, got, p.text)
					assert.Contains(t, got, p.words, "%s:\n%s", p.name, p.text)
					counts[p.refused()]++
				}
				t.Logf("%d invalid programs, %d valid ones", counts[true], counts[false])
			})
		}
	}
}

// compiled has programs compiled as newLibraryWithSource: of the mock does.
func (f *front) compiled(t *testing.T) func([]program) iter.Seq2[*program, string] {
	return func(all []program) iter.Seq2[*program, string] {
		return func(yield func(*program, string) bool) {
			for i := range all {
				wrong, err := f.read([]source{all[i].source}, "compile")
				require.NoError(t, err)
				got := ""
				if len(wrong) > 0 {
					got = wrong[0].Words
				}
				if !yield(&all[i], got) {
					return
				}
			}
		}
	}
}

// The constructors of vectors, and what must fit, are written otherwise for clang.
func TestTranslation(t *testing.T) {
	for from, to := range map[string]string{
		"constant uint2 x = uint4(1, 2, 3, 4).xy;":                  "constant uint2 x = ((uint4)(1, 2, 3, 4)).xy;",
		"{ x = uint2(uint3(1).x, f(2)); }":                          "{ x = _many<uint2>(_one<uint3>(1).x, f(2)); }",
		"{ using V = vec<half, 2>; V(a, 1); V(a); }":                "{ using V = vec<half, 2>; _many<V>(a, 1); _one<V>(a); }",
		"template <typename T> T f(T x) { return T(x, x) + T(x); }": "template <typename T> T f(T x) { return _many<T>(x, x) + T(x); }",
		"uint3 tile, float2 f(int x)":                               "uint3 tile, float2 f(int x)",
		"my_uint2(1)":                                               "my_uint2(1)",
		"constant bool b [[function_constant(0)]];":                 "constant bool b [[function_constant(0)]] = {};",
	} {
		assert.Equal(t, to, translate(from))
	}
	assert.Contains(t, translate("{ threadgroup A a[2][K], b; }"), "static_assert(0 + sizeof(a) + sizeof(b) <= 32768")
	assert.Contains(t, translate("kernel void f(constant Walk<I> &w [[buffer(0)]]) {}"), "static_assert(sizeof(Walk<I>) <= 4096")
}

// The list has every shader of the kind that the review of the generator knew, and each once.
func TestList(t *testing.T) {
	all, err := list()
	require.NoError(t, err)
	names, texts := map[string]bool{}, map[string]bool{}
	for i := range all {
		require.False(t, names[all[i].name], all[i].name)
		require.False(t, texts[all[i].text], all[i].name)
		names[all[i].name], texts[all[i].text] = true, true
	}
	require.Greater(t, len(all), 1844)
}

// Sources that are compiled together are still held to the names of the headers, and to address spaces, each for itself.
func TestBatches(t *testing.T) {
	f, err := open("../..")
	if err != nil {
		t.Skip(err)
	}
	const begin, end = "#include <metal_stdlib>\nusing namespace metal;\n", "kernel void f(device float *x [[buffer(0)]]) { x[0] = two(x[0], x[1]); }\n"
	wrong, err := f.check([]source{
		{name: "good", text: begin + "inline float two(float x, float y) { return x + y; }\n" + end},
		{name: "clash", text: begin + "inline float plus(float x, float y) { return x + y; }\n#define two plus\n" + end},
		{name: "space", text: begin + "inline float two(const float &x, float y) { return x + y; }\n" + end},
		{name: "fine", text: begin + "inline float two(float x, float y) { return x * y; }\n" + end},
	})
	require.NoError(t, err)
	found := map[string]string{}
	for _, w := range wrong {
		found[w.Name] += w.Words
	}
	require.Contains(t, found["clash"], "ambiguous")
	require.Contains(t, found["space"], "no address space: ParmVarDecl x")
	require.Len(t, found, 2, "%v", wrong)
}
