/*
 * shader_source.c - turns Metal's shading language into C++ that the headers in shader/ complete.
 *
 * The languages are close: what has to change is what C++ has no words for. Address spaces become
 * const (constant), static (a threadgroup variable) or nothing; attributes go, after the arguments of
 * kernels have been noted; a function constant gets its value. Everything else is left as it is, in its
 * line, so that the compiler's messages name the lines of the source. At the end stand the entries:
 * functions with one signature, which take the arguments of a kernel from where a dispatch has them.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shader_internal.h"

typedef enum { SPACE, WORD, NUMBER, STRING, MARK } token_kind;

typedef struct {
  token_kind kind;
  const char *text;
  int length, line;
} token;

typedef struct {
  shader_library *library;
  const shader_constant *constants;
  token *tokens;
  int count;
  shader_text out, entries;
  char *error;
  int entry_count, braces, parens;
} translator;

/* A kernel as the source defines it; templates are instantiated later under other names. */
typedef struct kernel {
  struct kernel *next;
  char *name, *arguments; /* of the call in an entry */
  bool template;
  shader_slot buffers[SHADER_BUFFERS];
  bool threadgroup[SHADER_BUFFERS];
} kernel;

static void complain(translator *t, int at, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void complain(translator *t, int at, const char *format, ...) {
  if (t->error) return;
  char words[400];
  va_list list;
  va_start(list, format);
  vsnprintf(words, sizeof words, format, list);
  va_end(list);
  t->error = shader_format("program_source:%d: error: %s", t->tokens[at].line, words);
}

/* ---- Tokens. */

static int measure(const char *s, token_kind *kind, bool line_start) {
  const char *p = s;
  if (isspace((unsigned char)*p)) {
    *kind = SPACE;
    return 1;
  }
  if (*p == '#' && line_start) { /* what is left of preprocessing: line markers, pragmas, includes */
    *kind = SPACE;
    while (*p && *p != '\n') p += p[0] == '\\' && p[1] ? 2 : 1;
    return p - s;
  }
  if (p[0] == '/' && (p[1] == '/' || p[1] == '*')) {
    *kind = SPACE;
    const char *end = strstr(p, p[1] == '/' ? "\n" : "*/");
    return end ? end - s + (p[1] == '*' ? 2 : 0) : (int)strlen(s);
  }
  if (isalpha((unsigned char)*p) || *p == '_') {
    *kind = WORD;
    while (isalnum((unsigned char)*p) || *p == '_') p++;
    return p - s;
  }
  if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
    *kind = NUMBER;
    while (isalnum((unsigned char)*p) || *p == '.' || ((*p == '+' || *p == '-') && strchr("eEpP", p[-1]) && p[0])) p++;
    return p - s;
  }
  if (*p == '"' || *p == '\'') {
    *kind = STRING;
    char quote = *p++;
    while (*p && *p != quote) p += *p == '\\' && p[1] ? 2 : 1;
    return p - s + (*p != 0);
  }
  *kind = MARK;
  return 1;
}

static void split(translator *t, const char *s) {
  int room = 0, line = 1;
  bool start = true;
  while (*s) {
    if (t->count == room) t->tokens = realloc(t->tokens, (room = room ? 2 * room : 1024) * sizeof *t->tokens);
    token *k = &t->tokens[t->count++];
    *k = (token){.text = s, .line = line};
    k->length = measure(s, &k->kind, start);
    for (int i = 0; i < k->length; i++) line += s[i] == '\n';
    if (k->kind != SPACE) start = false;
    if (memchr(s, '\n', k->length)) start = true;
    s += k->length;
  }
}

static bool is(const translator *t, int i, const char *text) {
  return i >= 0 && i < t->count && t->tokens[i].length == (int)strlen(text) && !memcmp(t->tokens[i].text, text, t->tokens[i].length);
}

/* next is the first token after i that is no space; previous the last before it. */
static int next(const translator *t, int i) {
  do i++;
  while (i < t->count && t->tokens[i].kind == SPACE);
  return i;
}

static int previous(const translator *t, int i) {
  do i--;
  while (i >= 0 && t->tokens[i].kind == SPACE);
  return i;
}

static char *copy(const translator *t, int i) { return shader_format("%.*s", t->tokens[i].length, t->tokens[i].text); }

/* closing is the index of what closes the bracket at i. */
static int closing(const translator *t, int i) {
  char open = *t->tokens[i].text, close = open == '(' ? ')' : open == '[' ? ']' : open == '<' ? '>' : '}';
  int depth = 0;
  for (; i < t->count; i++) {
    if (t->tokens[i].kind != MARK) continue;
    depth += *t->tokens[i].text == open;
    depth -= *t->tokens[i].text == close;
    if (depth == 0) return i;
  }
  return t->count - 1;
}

static bool attribute(const translator *t, int i) { return is(t, i, "[") && is(t, i + 1, "[") && t->tokens[i].kind == MARK; }

/* ---- Arguments of kernels. */

static const struct {
  const char *attribute, *value;
} positions[] = {
    {"thread_position_in_grid", "shader::index3{shader_t->grid}"},
    {"thread_position_in_threadgroup", "shader::index3{shader_t->in_group}"},
    {"threadgroup_position_in_grid", "shader::index3{shader_t->group}"},
    {"threads_per_grid", "shader::index3{shader_t->grid_size}"},
    {"grid_size", "shader::index3{shader_t->grid_size}"},
    {"threads_per_threadgroup", "shader::index3{shader_t->group_size}"},
    {"dispatch_threads_per_threadgroup", "shader::index3{shader_t->nominal_size}"},
    {"threadgroups_per_grid", "shader::index3{shader_t->groups}"},
    {"thread_index_in_threadgroup", "shader_t->index"},
    {"thread_index_in_simdgroup", "shader_t->lane"},
    {"simdgroup_index_in_threadgroup", "shader_t->simd"},
    {"simdgroups_per_threadgroup", "shader_t->simds"},
    {"threads_per_simdgroup", "32u"},
    {"thread_execution_width", "32u"},
};

/* What stands in a parameter. */
typedef struct {
  bool pointer, reference, constant, device, threadgroup, thread;
  int name;      /* token before the attribute, or the last */
  int attribute; /* token of the attribute's name, -1 for none */
} parameter;

static parameter read_parameter(const translator *t, int from, int to) {
  parameter p = {.name = from, .attribute = -1};
  for (int i = from; i < to; i++) {
    if (attribute(t, i)) {
      p.attribute = next(t, i + 1);
      return p;
    }
    if (t->tokens[i].kind == WORD) p.name = i;
    p.pointer |= is(t, i, "*");
    p.reference |= is(t, i, "&");
    p.constant |= is(t, i, "constant") || is(t, i, "const");
    p.device |= is(t, i, "device") || is(t, i, "constant");
    p.threadgroup |= is(t, i, "threadgroup");
    p.thread |= is(t, i, "thread");
  }
  return p;
}

/* number reads the argument of an attribute, -1 if there is none that is a number. */
static int number(const translator *t, int name) {
  int open = next(t, name), i = next(t, open);
  if (!is(t, open, "(") || t->tokens[i].kind != NUMBER) return -1;
  return atoi(t->tokens[i].text);
}

static void name_slot(shader_slot *s, bool writable, const token *name) {
  *s = (shader_slot){SHADER_BUFFER, writable, ""};
  snprintf(s->name, sizeof s->name, "%.*s", name->length, name->text);
}

/* bind_memory adds a pointer or reference to buffers or threadgroup memory. */
static void bind_memory(translator *t, kernel *k, const parameter *p, int at, shader_text *call) {
  if (!p->device && !p->threadgroup) {
    complain(t, at, "pointer and reference arguments of kernels must have an address space: device, constant or threadgroup");
    return;
  }
  int index = p->attribute < 0 ? -1 : number(t, p->attribute);
  if (p->attribute < 0)
    for (index = 0; index < SHADER_BUFFERS && k->buffers[index].kind; index++) {
    }
  if (index < 0 || index >= SHADER_BUFFERS) {
    complain(t, at, "the index of a buffer must be a number from 0 to %d", SHADER_BUFFERS - 1);
    return;
  }
  bool twice = p->threadgroup ? k->threadgroup[index] : k->buffers[index].kind != SHADER_UNUSED;
  if (twice) complain(t, at, "index %d is used twice in kernel '%s'", index, k->name);
  if (p->threadgroup)
    k->threadgroup[index] = true;
  else
    name_slot(&k->buffers[index], !p->constant, &t->tokens[p->name]);
  shader_append(call, "shader::%s{shader_f->%s[%d]}", p->pointer ? "pointer" : "reference", p->threadgroup ? "threadgroup" : "buffers", index);
}

static void bind(translator *t, kernel *k, int from, int to, shader_text *call) {
  parameter p = read_parameter(t, from, to);
  if (call->length) shader_append(call, ", ");
  if (p.pointer || p.reference) {
    bind_memory(t, k, &p, from, call);
    return;
  }
  for (size_t i = 0; p.attribute >= 0 && i < sizeof positions / sizeof *positions; i++)
    if (is(t, p.attribute, positions[i].attribute)) {
      shader_append(call, "%s", positions[i].value);
      return;
    }
  if (p.attribute < 0)
    complain(t, from, "an argument of kernel '%s' is neither memory nor has it an attribute", k->name);
  else
    complain(t, from, "attribute '%.*s' of an argument is unknown here", t->tokens[p.attribute].length, t->tokens[p.attribute].text);
}

/* define notes the kernel whose name is at i. */
static kernel *define(translator *t, int i, bool template) {
  kernel *k = calloc(1, sizeof *k);
  k->name = copy(t, i);
  k->template = template;
  shader_text call = {0};
  int open = next(t, i), end = closing(t, open), depth = 0;
  for (int from = next(t, open), at = from; at <= end && !t->error; at++) {
    if (t->tokens[at].kind == MARK) {
      depth += strchr("([{<", *t->tokens[at].text) != NULL;
      depth -= strchr(")]}>", *t->tokens[at].text) != NULL;
    }
    if (at < end && !(is(t, at, ",") && depth == 0)) continue;
    if (from < at) bind(t, k, from, at, &call);
    from = next(t, at);
  }
  k->arguments = call.text ? call.text : shader_format("%s", "");
  return k;
}

/* enter writes the entry of a kernel and adds the function. */
static void enter(translator *t, const kernel *k, char *name, const char *called) {
  shader_function *f = calloc(1, sizeof *f), **last = &t->library->functions;
  f->library = t->library;
  f->name = name;
  f->symbol = shader_format("shader_entry_%d", t->entry_count++);
  memcpy(f->buffers, k->buffers, sizeof f->buffers);
  memcpy(f->threadgroup, k->threadgroup, sizeof f->threadgroup);
  while (*last) last = &(*last)->next;
  *last = f;
  shader_append(&t->entries, "extern \"C\" void %s(const shader::frame *shader_f, const shader::thread *shader_t) { ::%s(%s); }\n",
                f->symbol, called, k->arguments);
}

/* ---- The translation. */

static void emit(translator *t, int i) { shader_append_bytes(&t->out, t->tokens[i].text, t->tokens[i].length); }

/* variable reports whether the threadgroup word at i begins a declaration in a body, and where it ends. */
static bool variable(const translator *t, int i, int *end) {
  int before = previous(t, i), square = 0;
  if (t->braces == 0 || t->parens > 0) return false;
  if (!is(t, before, "{") && !is(t, before, "}") && !is(t, before, ";")) return false;
  for (int at = i + 1; at < t->count; at++) {
    square += is(t, at, "[");
    square -= is(t, at, "]");
    if (square == 0 && (is(t, at, "*") || is(t, at, "&") || is(t, at, "(") || is(t, at, "="))) return false;
    if (is(t, at, ";")) {
      *end = at;
      return true;
    }
  }
  return false;
}

/* announce tells the runtime of the variables that a declaration makes. */
static void announce(translator *t, int from, int end) {
  int square = 0;
  for (int i = from; i < end; i++) {
    square += is(t, i, "[");
    square -= is(t, i, "]");
    int after = next(t, i);
    if (t->tokens[i].kind == WORD && square == 0 && (is(t, after, "[") || is(t, after, ",") || is(t, after, ";")))
      shader_append(&t->out, " shader::declare(%.*s);", t->tokens[i].length, t->tokens[i].text);
  }
}

static const shader_constant *constant_at(const translator *t, int index) {
  static const shader_constant unset;
  return t->constants && index >= 0 && index < SHADER_CONSTANTS ? &t->constants[index] : &unset;
}

/* constant_named finds the function constant of a name, for is_function_constant_defined. */
static const shader_constant *constant_named(const translator *t, int name) {
  for (int i = 0; i < t->count; i++) {
    if (!attribute(t, i) || !is(t, next(t, i + 1), "function_constant")) continue;
    int declared = previous(t, i);
    if (t->tokens[declared].length == t->tokens[name].length && !memcmp(t->tokens[declared].text, t->tokens[name].text, t->tokens[name].length))
      return constant_at(t, number(t, next(t, i + 1)));
  }
  return constant_at(t, -1);
}

/* drop_attribute leaves an attribute out, except that a function constant gets its value. */
static int drop_attribute(translator *t, int i) {
  int name = next(t, i + 1);
  if (is(t, name, "function_constant")) {
    const shader_constant *c = constant_at(t, number(t, name));
    shader_append(&t->out, c->set ? "= %s" : "{}%s", c->text);
  }
  return closing(t, i);
}

/* instantiate reads "template [[host_name("n")]] ... name<arguments>" from the attribute at i. */
static void instantiate(translator *t, kernel *kernels, int i) {
  int host = next(t, i + 1), at = closing(t, i), string = next(t, next(t, host));
  if (!is(t, host, "host_name") || t->tokens[string].kind != STRING) return;
  for (at = next(t, at); at < t->count && !is(t, at, ";"); at = next(t, at)) {
    if (is(t, at, "decltype")) at = closing(t, next(t, at));
    if (t->tokens[at].kind != WORD || !is(t, next(t, at), "<")) continue;
    for (kernel *k = kernels; k; k = k->next) {
      if (!is(t, at, k->name)) continue;
      shader_text called = {0};
      for (int j = at, end = closing(t, next(t, at)); j <= end; j++) shader_append_bytes(&called, t->tokens[j].text, t->tokens[j].length);
      enter(t, k, shader_format("%.*s", t->tokens[string].length - 2, t->tokens[string].text + 1), called.text);
      free(called.text);
      return;
    }
  }
  complain(t, i, "host_name stands before something that is no kernel template");
}

/* named is the name of the function that a kernel word begins: the word before its parameters. */
static int named(const translator *t, int i) {
  while (i < t->count && !is(t, next(t, i), "(")) i = next(t, i);
  return i;
}

static bool is_template(const translator *t, int i) {
  for (i = previous(t, i); i >= 0 && !is(t, i, ";") && !is(t, i, "}"); i = previous(t, i))
    if (is(t, i, "template")) return true;
  return false;
}

static void word(translator *t, int i) {
  static const char *const spaces[] = {"device", "thread", "threadgroup", "kernel", "ray_data", "object_data"};
  if (is(t, i, "constant")) {
    if (!is(t, next(t, i), "const") && !is(t, previous(t, i), "const")) shader_append(&t->out, "const");
    return;
  }
  for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
    if (is(t, i, spaces[s])) return;
  emit(t, i);
}

static void numeral(translator *t, int i) {
  const token *k = &t->tokens[i];
  bool hex = k->length > 1 && (k->text[1] == 'x' || k->text[1] == 'X');
  if (!hex && (k->text[k->length - 1] == 'h' || k->text[k->length - 1] == 'H'))
    shader_append(&t->out, "half(%.*sf)", k->length - 1, k->text);
  else
    emit(t, i);
}

/* token_at translates the token at i and answers the last one that is done with. */
static int token_at(translator *t, kernel **kernels, int i) {
  int end;
  if (t->tokens[i].kind == MARK) {
    t->braces += is(t, i, "{") - is(t, i, "}");
    t->parens += is(t, i, "(") - is(t, i, ")");
    if (!attribute(t, i)) return emit(t, i), i;
    if (is(t, previous(t, i), "template")) instantiate(t, *kernels, i);
    return drop_attribute(t, i);
  }
  if (t->tokens[i].kind == NUMBER) return numeral(t, i), i;
  if (is(t, i, "is_function_constant_defined")) {
    int open = next(t, i);
    shader_append(&t->out, "%s", constant_named(t, next(t, open))->set ? "true" : "false");
    return closing(t, open);
  }
  if (is(t, i, "threadgroup") && variable(t, i, &end)) {
    shader_append(&t->out, "static thread_local");
    for (int j = i + 1; j <= end; j++) t->tokens[j].kind == WORD ? word(t, j) : emit(t, j);
    announce(t, i + 1, end);
    return end;
  }
  if ((is(t, i, "kernel") || is(t, i, "compute")) && t->parens == 0 && !is(t, previous(t, i), "]") && t->tokens[named(t, i)].kind == WORD) {
    kernel *k = define(t, named(t, i), is_template(t, i));
    k->next = *kernels, *kernels = k;
    if (!k->template) enter(t, k, shader_format("%s", k->name), k->name);
    return i;
  }
  if (t->tokens[i].kind == WORD) return word(t, i), i;
  return emit(t, i), i;
}

/* Threads that meet need fibers; a library is looked at as a whole. */
static bool meets(const translator *t) {
  for (int i = 0; i < t->count; i++) {
    const token *k = &t->tokens[i];
    if (k->kind != WORD) continue;
    if (!strncmp(k->text, "simd_", 5) || !strncmp(k->text, "quad_", 5)) return true;
    if (is(t, i, "threadgroup_barrier") || is(t, i, "simdgroup_barrier")) return true;
  }
  return false;
}

static void forget(kernel *k) {
  while (k) {
    kernel *rest = k->next;
    free(k->name);
    free(k->arguments);
    free(k);
    k = rest;
  }
}

/* Words of C++ that Metal's language has not; each becomes a name that the compiler complains of. */
static const char *const missing[] = {"double", "new", "delete", "virtual", "try", "catch", "throw", "goto", "dynamic_cast", "typeid", "asm"};

char *shader_translate(shader_library *library, const char *source, const shader_constant *constants, char **error) {
  translator t = {.library = library, .constants = constants};
  kernel *kernels = NULL;
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
    shader_append(&t.out, "#define %s metal_does_not_have_%s\n", missing[i], missing[i]);
  shader_append(&t.out, "#line 1 \"program_source\"\n");
  split(&t, source);
  for (int i = 0; i < t.count && !t.error; i++) i = token_at(&t, &kernels, i);
  shader_append(&t.out, "\n#line 1 \"entries\"\n%s", t.entries.text ? t.entries.text : "");
  bool fibers = meets(&t);
  for (shader_function *f = library->functions; f; f = f->next) f->meets = fibers;
  forget(kernels);
  free(t.tokens);
  free(t.entries.text);
  if (!t.error) return t.out.text;
  free(t.out.text);
  *error = t.error;
  return NULL;
}
