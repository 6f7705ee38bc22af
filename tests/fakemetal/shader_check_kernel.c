/*
 * shader_check_kernel.c - what the parameters of a kernel may be: section 5.2 of the specification.
 */
#include <stdlib.h>
#include <string.h>

#include "shader_check.h"

static bool is(const checker *c, int i, const char *text) { return token_is(&c->code, i, text); }

/* Values that a kernel is given, and whether they are positions or sizes, which have up to three components. */
static const struct {
  const char *name;
  bool position;
} inputs[] = {
    {"thread_position_in_grid", true},
    {"thread_position_in_threadgroup", true},
    {"threadgroup_position_in_grid", true},
    {"threads_per_grid", true},
    {"grid_size", true},
    {"grid_origin", true},
    {"threads_per_threadgroup", true},
    {"dispatch_threads_per_threadgroup", true},
    {"threadgroups_per_grid", true},
    {"thread_index_in_threadgroup", false},
    {"thread_index_in_simdgroup", false},
    {"thread_index_in_quadgroup", false},
    {"simdgroup_index_in_threadgroup", false},
    {"simdgroups_per_threadgroup", false},
    {"dispatch_simdgroups_per_threadgroup", false},
    {"threads_per_simdgroup", false},
    {"thread_execution_width", false},
    {"quadgroup_index_in_threadgroup", false},
    {"quadgroups_per_threadgroup", false},
};

/* components is 1 to 3 for ushort, uint and their vectors, 0 for any other type. */
static int components(const checker *c, const symbol *p) {
  static const char *const types[][2] = {{"uint", "ushort"}, {"uint2", "ushort2"}, {"uint3", "ushort3"}};
  for (int i = p->from; i < p->to; i++)
    for (int n = 0; n < 3; n++)
      if (is(c, i, types[n][0]) || is(c, i, types[n][1])) return n + 1;
  return 0;
}

/* input checks a value that is no buffer, and that all positions of a kernel have as many components. */
static void input(checker *c, const symbol *p, int attribute, int *rank) {
  const token *name = &c->code.list[attribute];
  size_t i = 0;
  while (i < sizeof inputs / sizeof *inputs && !is(c, attribute, inputs[i].name)) i++;
  if (i == sizeof inputs / sizeof *inputs) return check_fail(c, attribute, "unknown attribute '%.*s' of an input of a kernel", name->length, name->text);
  int n = components(c, p);
  if (n == 0 || (n > 1 && !inputs[i].position))
    return check_fail(c, p->from, "type of an input declared with attribute '%.*s' must be %s", name->length, name->text,
                      inputs[i].position ? "ushort, uint or a vector of 2 or 3 of them" : "ushort or uint");
  if (!inputs[i].position) return;
  if (*rank && *rank != n)
    check_fail(c, p->from, "'%.*s' has %d components and another position %d; the types of all positions must match", name->length, name->text, n, *rank);
  *rank = n;
}

/* index is the number in the parentheses behind an attribute, -1 if that is none. */
static int index_of(const checker *c, int attribute) {
  if (!is(c, attribute + 1, "(") || c->code.list[attribute + 2].kind != NUMBER) return -1;
  return atoi(c->code.list[attribute + 2].text);
}

/* memory checks a pointer or reference; used has a bit for each index that is taken. */
static void memory(checker *c, const symbol *p, int attribute, uint32_t *used) {
  bool shared = p->space == SPACE_THREADGROUP;
  const char *wanted = shared ? "threadgroup" : "buffer";
  if (p->space == SPACE_THREAD) return check_fail(c, p->from, "a pointer or reference in a kernel's parameters may not be in address space 'thread'");
  if (attribute < 0 || is(c, attribute, "id")) return;
  if (!is(c, attribute, wanted)) return check_fail(c, attribute, "a parameter in address space '%s' takes attribute '%s'", check_space_name(p->space), wanted);
  int i = index_of(c, attribute);
  if (i < 0 || i >= SHADER_BUFFERS) return check_fail(c, attribute, "'%s' attribute parameter is out of bounds: must be between 0 and %d", wanted, SHADER_BUFFERS - 1);
  if (*used >> i & 1) check_fail(c, attribute, "'%s' attribute parameter %d is used more than once", wanted, i);
  *used |= 1u << i;
}

void check_kernel(checker *c, const function *f) {
  int rank = 0, before = f->name - 1;
  uint32_t buffers = 0, shared = 0;
  if (!is(c, before, "void")) check_fail(c, f->name, "kernel function must have void return type");
  if (f->method) check_fail(c, f->name, "a member function cannot be a kernel");
  for (int i = 0; i < f->arity && !c->error; i++) {
    const symbol *p = &f->parameters[i];
    int attribute = -1;
    for (int at = p->from; at < p->to && attribute < 0; at++)
      if (token_attribute(&c->code, at)) attribute = at + 2;
    if (p->pointers || p->reference)
      memory(c, p, attribute, p->space == SPACE_THREADGROUP ? &shared : &buffers);
    else if (attribute < 0)
      check_fail(c, p->from, "an input of a kernel must be a buffer or have an attribute");
    else if (is(c, attribute, "buffer") || is(c, attribute, "threadgroup"))
      check_fail(c, p->from, "a parameter with attribute '%s' must be a pointer or a reference", is(c, attribute, "buffer") ? "buffer" : "threadgroup");
    else if (!is(c, attribute, "texture") && !is(c, attribute, "sampler"))
      input(c, p, attribute, &rank);
  }
}
