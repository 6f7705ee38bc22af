/*
 * shader_source.c - turns Metal's shading language into C++ that the headers in shader/ complete.
 *
 * The languages are close: what has to change is what C++ has no words for. Address spaces become
 * const (constant), static (a threadgroup variable) or nothing; attributes go, after the arguments of
 * kernels have been noted; a function constant gets its value. Everything else is left as it is, in its
 * line, so that the compiler's messages name the lines of the source. At the end stand the entries:
 * functions with one signature, which take the arguments of a kernel from where a dispatch has them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harsh.h"
#include "shader_internal.h"
#include "shader_token.h"

enum { MOST_SPACES = 16 };

typedef struct {
  shader_library *library;
  const shader_constant *constants;
  token_list tokens;
  shader_text out, entries;
  shader_text shared; /* the sizes of the threadgroup variables of the function so far, as a sum */
  char *error;
  int entry_count, braces, parens; /* braces of namespaces are not counted */
  int spaces[MOST_SPACES], space_count; /* the tokens that name the namespaces that are open, 0 for one without a name */
  int most_threads; /* that an attribute says of the next kernel; 0: none has */
  int host_name;    /* the string that an attribute gives to the next kernel; 0: none does */
  bool divides;     /* divisions become those of shader/divide.h */
} translator;

/* A kernel as the source defines it; templates are instantiated later under other names. */
typedef struct kernel {
  struct kernel *next;
  char *name, *arguments; /* of the call in an entry */
  char *full;             /* the name with its namespaces */
  bool template;
  int most_threads;
  shader_slot buffers[SHADER_BUFFERS];
  bool threadgroup[SHADER_BUFFERS];
} kernel;

static void complain(translator *t, int at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void word(translator *t, int i);

static void complain(translator *t, int at, const char *format, ...) {
  if (t->error) return;
  char words[400];
  va_list list;
  va_start(list, format);
  vsnprintf(words, sizeof words, format, list);
  va_end(list);
  const token *k = &t->tokens.list[at];
  t->error = shader_format("program_source:%d:%d: error: %s", k->line, k->column, words);
}

/* ---- Arguments of kernels. */

static const struct {
  const char *attribute, *value;
} positions[] = {
    {"thread_position_in_grid", "shader::index3{shader_t->grid}"},
    {"thread_position_in_threadgroup", "shader::index3{shader_t->in_group}"},
    {"threadgroup_position_in_grid", "shader::index3{shader_t->group}"},
    {"threads_per_grid", "shader::index3{shader_t->grid_size}"},
    {"grid_origin", "shader::index3{shader::origin}"},
    {"grid_size", "shader::index3{shader_t->grid_size}"},
    {"threads_per_threadgroup", "shader::index3{shader_t->group_size}"},
    {"dispatch_threads_per_threadgroup", "shader::index3{shader_t->nominal_size}"},
    {"threadgroups_per_grid", "shader::index3{shader_t->groups}"},
    {"thread_index_in_threadgroup", "shader_t->index"},
    {"thread_index_in_simdgroup", "shader_t->lane"},
    {"thread_index_in_quadgroup", "shader_t->lane % 4"},
    {"quadgroup_index_in_threadgroup", "shader_t->index / 4"},
    {"quadgroups_per_threadgroup", "shader::quads(shader_t->group_size)"},
    {"dispatch_quadgroups_per_threadgroup", "shader::quads(shader_t->nominal_size)"},
    {"dispatch_simdgroups_per_threadgroup", "(shader::quads(shader_t->nominal_size) + 7) / 8"},
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
    if (token_attribute(&t->tokens, i)) {
      p.attribute = token_next(&t->tokens, i + 1);
      return p;
    }
    if (t->tokens.list[i].kind == WORD) p.name = i;
    p.pointer |= token_is(&t->tokens, i, "*");
    p.reference |= token_is(&t->tokens, i, "&");
    p.constant |= token_is(&t->tokens, i, "constant") || token_is(&t->tokens, i, "const");
    p.device |= token_is(&t->tokens, i, "device") || token_is(&t->tokens, i, "constant");
    p.threadgroup |= token_is(&t->tokens, i, "threadgroup");
    p.thread |= token_is(&t->tokens, i, "thread");
  }
  return p;
}

/* number reads the argument of an attribute, -1 if there is none that is a number. */
static int number(const translator *t, int name) {
  int open = token_next(&t->tokens, name), i = token_next(&t->tokens, open);
  if (!token_is(&t->tokens, open, "(") || t->tokens.list[i].kind != NUMBER) return -1;
  return atoi(t->tokens.list[i].text);
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
    name_slot(&k->buffers[index], !p->constant, &t->tokens.list[p->name]);
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
    if (token_is(&t->tokens, p.attribute, positions[i].attribute)) {
      shader_append(call, "%s", positions[i].value);
      return;
    }
  if (p.attribute < 0)
    complain(t, from, "an argument of kernel '%s' is neither memory nor has it an attribute", k->name);
  else
    complain(t, from, "attribute '%.*s' of an argument is unknown here", t->tokens.list[p.attribute].length, t->tokens.list[p.attribute].text);
}

/* qualified is the name at a token behind those of the namespaces that are open. */
static char *qualified(const translator *t, int name) {
  shader_text full = {0};
  for (int n = 0; n < t->space_count; n++)
    if (t->spaces[n]) shader_append(&full, "%.*s::", t->tokens.list[t->spaces[n]].length, t->tokens.list[t->spaces[n]].text);
  shader_append(&full, "%.*s", t->tokens.list[name].length, t->tokens.list[name].text);
  return full.text;
}

/* define notes the kernel whose name is at i. */
static kernel *define(translator *t, int i, bool template) {
  kernel *k = calloc(1, sizeof *k);
  k->name = token_copy(&t->tokens, i);
  k->full = qualified(t, i);
  k->template = template;
  k->most_threads = t->most_threads, t->most_threads = 0;
  shader_text call = {0};
  int open = token_next(&t->tokens, i), end = token_closing(&t->tokens, open), depth = 0;
  for (int from = token_next(&t->tokens, open), at = from; at <= end && !t->error; at++) {
    if (t->tokens.list[at].kind == MARK) {
      depth += strchr("([{<", *t->tokens.list[at].text) != NULL;
      depth -= strchr(")]}>", *t->tokens.list[at].text) != NULL;
    }
    if (at < end && !(token_is(&t->tokens, at, ",") && depth == 0)) continue;
    if (from < at) bind(t, k, from, at, &call);
    from = token_next(&t->tokens, at);
  }
  k->arguments = call.text ? call.text : shader_format("%s", "");
  return k;
}

/* enter writes the entry of a kernel and adds the function. */
static void enter(translator *t, const kernel *k, char *name, const char *called) {
  shader_function *f = calloc(1, sizeof *f), **last = &t->library->functions;
  f->library = t->library;
  f->name = name;
  f->most_threads = k->most_threads;
  f->symbol = shader_format("shader_entry_%d", t->entry_count++);
  memcpy(f->buffers, k->buffers, sizeof f->buffers);
  memcpy(f->threadgroup, k->threadgroup, sizeof f->threadgroup);
  while (*last) last = &(*last)->next;
  *last = f;
  shader_append(&t->entries, "extern \"C\" void %s(const shader::frame *shader_f, const shader::thread *shader_t) { %s(%s); }\n",
                f->symbol, called, k->arguments);
}

/* ---- The translation. */

static void emit(translator *t, int i) { shader_append_bytes(&t->out, t->tokens.list[i].text, t->tokens.list[i].length); }

/* variable reports whether the threadgroup word at i begins a declaration in a body, and where it ends. */
static bool variable(const translator *t, int i, int *end) {
  int before = token_previous(&t->tokens, i), square = 0;
  if (t->braces == 0 || t->parens > 0) return false;
  if (!token_is(&t->tokens, before, "{") && !token_is(&t->tokens, before, "}") && !token_is(&t->tokens, before, ";")) return false;
  for (int at = i + 1; at < t->tokens.count; at++) {
    square += token_is(&t->tokens, at, "[");
    square -= token_is(&t->tokens, at, "]");
    if (square == 0 && (token_is(&t->tokens, at, "*") || token_is(&t->tokens, at, "&") || token_is(&t->tokens, at, "(") || token_is(&t->tokens, at, "="))) return false;
    if (token_is(&t->tokens, at, ";")) {
      *end = at;
      return true;
    }
  }
  return false;
}

/* tell_of tells the runtime of a variable, and adds its size to a sum. */
static void tell_of(translator *t, shader_text *sizes, const token *name) {
  shader_append(&t->out, " shader::declare(%.*s);", name->length, name->text);
  shader_append(sizes, " + sizeof(%.*s)", name->length, name->text);
}

/* announce tells the runtime of the variables that a declaration makes, and has the compiler check that they fit: with
 * those before them, unless these are of a block that has ended. */
static void announce(translator *t, int from, int end) {
  enum { MOST_THREADGROUP = 32768 }; /* of every GPU from family Apple7 on */
  shader_text sizes = {0};
  int square = 0;
  for (int i = from; i < end; i++) {
    square += token_is(&t->tokens, i, "[");
    square -= token_is(&t->tokens, i, "]");
    int after = token_next(&t->tokens, i);
    if (t->tokens.list[i].kind == WORD && square == 0 && (token_is(&t->tokens, after, "[") || token_is(&t->tokens, after, ",") || token_is(&t->tokens, after, ";")))
      tell_of(t, &sizes, &t->tokens.list[i]);
  }
  shader_append(&t->out, " static_assert(0%s%s <= %d, \"threadgroup memory exceeds %d bytes\");", t->shared.text ? t->shared.text : "",
                sizes.text ? sizes.text : "", MOST_THREADGROUP, MOST_THREADGROUP);
  if (t->braces == 1 && sizes.text) shader_append(&t->shared, "%s", sizes.text);
  free(sizes.text);
}

static const shader_constant *constant_at(const translator *t, int index) {
  static const shader_constant unset;
  return t->constants && index >= 0 && index < SHADER_CONSTANTS ? &t->constants[index] : &unset;
}

/* constant_named finds the function constant of a name, for is_function_constant_defined. */
static const shader_constant *constant_named(const translator *t, int name) {
  for (int i = 0; i < t->tokens.count; i++) {
    if (!token_attribute(&t->tokens, i) || !token_is(&t->tokens, token_next(&t->tokens, i + 1), "function_constant")) continue;
    int declared = token_previous(&t->tokens, i);
    if (t->tokens.list[declared].length == t->tokens.list[name].length && !memcmp(t->tokens.list[declared].text, t->tokens.list[name].text, t->tokens.list[name].length))
      return constant_at(t, number(t, token_next(&t->tokens, i + 1)));
  }
  return constant_at(t, -1);
}

/* drop_attribute leaves an attribute out, except that a function constant gets its value. The threads that
 * one allows a kernel are noted. */
static int drop_attribute(translator *t, int i) {
  int name = token_next(&t->tokens, i + 1);
  if (token_is(&t->tokens, name, "function_constant")) {
    const shader_constant *c = constant_at(t, number(t, name));
    shader_append(&t->out, c->set ? "= %s" : "{}%s", c->text);
  }
  for (int at = name; at < token_closing(&t->tokens, i); at = token_next(&t->tokens, at))
    if (token_is(&t->tokens, at, "max_total_threads_per_threadgroup")) t->most_threads = number(t, at);
    else if (token_is(&t->tokens, at, "host_name")) t->host_name = token_next(&t->tokens, token_next(&t->tokens, at));
  return token_closing(&t->tokens, i);
}

/* signature is a pointer to the instance of a template that the parameters between parentheses are of. */
static char *signature(translator *t, const kernel *k, int open) {
  shader_text kept = t->out;
  t->out = (shader_text){0};
  for (int i = open, end = token_closing(&t->tokens, open); i <= end; i++) {
    if (token_attribute(&t->tokens, i)) i = token_closing(&t->tokens, i);
    else if (t->tokens.list[i].kind == WORD) word(t, i);
    else emit(t, i);
  }
  char *called = shader_format("static_cast<void (*)%s>(::%s)", t->out.text, k->full);
  free(t->out.text);
  t->out = kept;
  return called;
}

/* instance is the kernel that is called for the name at i with the arguments behind it. */
static char *instance(translator *t, const kernel *k, int i) {
  int open = token_next(&t->tokens, i);
  if (token_is(&t->tokens, open, "(")) return signature(t, k, open);
  shader_text called = {0};
  shader_append(&called, "::%s", k->full);
  for (int j = open, end = token_closing(&t->tokens, open); j <= end; j++) shader_append_bytes(&called, t->tokens.list[j].text, t->tokens.list[j].length);
  return called.text;
}

/* instantiate reads "template [[host_name("n")]] kernel ... name<arguments>" from its first word on. */
static void instantiate(translator *t, kernel *kernels, int i) {
  int string = 0, is_kernel = false;
  for (int at = token_next(&t->tokens, i); at < t->tokens.count && !token_is(&t->tokens, at, ";"); at = token_next(&t->tokens, at)) {
    is_kernel |= token_is(&t->tokens, at, "kernel");
    if (token_is(&t->tokens, at, "host_name")) string = token_next(&t->tokens, token_next(&t->tokens, at));
    if (token_is(&t->tokens, at, "decltype")) at = token_closing(&t->tokens, token_next(&t->tokens, at));
    int after = token_next(&t->tokens, at);
    if (t->tokens.list[at].kind != WORD || (!token_is(&t->tokens, after, "<") && !token_is(&t->tokens, after, "("))) continue;
    for (kernel *k = kernels; k; k = k->next) {
      if (!k->template || !token_is(&t->tokens, at, k->name)) continue;
      char *called = instance(t, k, at);
      enter(t, k, string ? shader_format("%.*s", t->tokens.list[string].length - 2, t->tokens.list[string].text + 1) : shader_format("%s", k->full), called);
      free(called);
      return;
    }
  }
  if (string || is_kernel) complain(t, i, "an instance of something that is no kernel template");
}

/* named is the name of the function that a kernel word begins: the word before its parameters. */
static int named(const translator *t, int i) {
  while (i < t->tokens.count && !token_is(&t->tokens, token_next(&t->tokens, i), "(")) i = token_next(&t->tokens, i);
  return i;
}

static bool is_template(const translator *t, int i) {
  for (i = token_previous(&t->tokens, i); i >= 0 && !token_is(&t->tokens, i, ";") && !token_is(&t->tokens, i, "}"); i = token_previous(&t->tokens, i))
    if (token_is(&t->tokens, i, "template")) return true;
  return false;
}

static void word(translator *t, int i) {
  static const char *const spaces[] = {"device", "thread", "threadgroup", "kernel", "ray_data", "object_data"};
  if (token_is(&t->tokens, i, "constant")) {
    if (!token_is(&t->tokens, token_next(&t->tokens, i), "const") && !token_is(&t->tokens, token_previous(&t->tokens, i), "const")) shader_append(&t->out, "const");
    return;
  }
  for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
    if (token_is(&t->tokens, i, spaces[s])) return;
  emit(t, i);
}

static void numeral(translator *t, int i) {
  const token *k = &t->tokens.list[i];
  char last = k->text[k->length - 1];
  bool hex = k->length > 1 && (k->text[1] == 'x' || k->text[1] == 'X');
  bool floating = memchr(k->text, '.', k->length) || memchr(k->text, hex ? 'p' : 'e', k->length) || memchr(k->text, hex ? 'P' : 'E', k->length);
  if (floating && !strchr("fFhHlL", last)) /* one without a suffix is float, as there is no double */
    shader_append(&t->out, "%.*sf", k->length, k->text);
  else if (!hex && (k->text[k->length - 1] == 'h' || k->text[k->length - 1] == 'H'))
    shader_append(&t->out, "half(%.*sf)", k->length - 1, k->text);
  else
    emit(t, i);
}

/* divide writes the operator at i, and its = if it has one, so that divide.h computes it. */
static int divide(translator *t, int i) {
  bool assigns = token_is(&t->tokens, i + 1, "=");
  const char *equals = assigns ? "=" : "";
  shader_append(&t->out, "%c%s shader::divider() %c%s", *t->tokens.list[i].text, equals, *t->tokens.list[i].text, equals);
  return i + assigns;
}

/* instantiates reports whether the word kernel at i stands in the instance of a template: the kernel is known already. */
static bool instantiates(const translator *t, int i) {
  while (i > 0 && !token_is(&t->tokens, i, ";") && !token_is(&t->tokens, i, "}") && !token_is(&t->tokens, i, "template")) i--;
  return token_is(&t->tokens, i, "template") && !token_is(&t->tokens, token_next(&t->tokens, i), "<");
}

/* api_name is the name that a program finds a kernel by: that of its attribute, if it has one. */
static char *api_name(const translator *t, const kernel *k) {
  const token *s = &t->tokens.list[t->host_name];
  if (!t->host_name || s->kind != STRING) return shader_format("%s", k->full);
  return shader_format("%.*s", s->length - 2, s->text + 1);
}

/* components is how many components of a vector a word may name, all of one set; 0 if it may not. */
static int components(const token *k) {
  static const char *const sets[] = {"xyzw", "rgba"};
  for (int s = 0; s < 2 && k->length >= 2 && k->length <= 4; s++) {
    int n = 0;
    while (n < k->length && memchr(sets[s], k->text[n], 4)) n++;
    if (n == k->length) return n;
  }
  return 0;
}

/* member reports whether the word at i stands behind a dot or an arrow. */
static bool member(const translator *t, int i) {
  int before = token_previous(&t->tokens, i);
  return token_is(&t->tokens, before, ".") || (token_is(&t->tokens, before, ">") && token_is(&t->tokens, before - 1, "-"));
}

/* swizzle reports whether the word at i names components of a vector, and no member of a type of the source. */
static bool swizzle(const translator *t, int i) {
  const token *k = &t->tokens.list[i];
  if (!components(k) || !member(t, i)) return false;
  for (int n = 0, end = 0; n < t->tokens.count; n++) {
    int open = n;
    if (token_is(&t->tokens, n, "struct") || token_is(&t->tokens, n, "class") || token_is(&t->tokens, n, "union")) {
      while (open < t->tokens.count && !strchr("{;()", *t->tokens.list[open].text)) open++;
      if (token_is(&t->tokens, open, "{") && token_closing(&t->tokens, open) > end) end = token_closing(&t->tokens, open);
    }
    if (n < end && t->tokens.list[n].length == k->length && !memcmp(t->tokens.list[n].text, k->text, k->length) && !member(t, n)) return false;
  }
  return true;
}

/* assigned reports whether an assignment operator stands behind the token at i. */
static bool assigned(const translator *t, int i) {
  int at = token_next(&t->tokens, i);
  if (t->tokens.list[at].kind != MARK) return false;
  if (token_is(&t->tokens, at, "=")) return !token_is(&t->tokens, at + 1, "=");
  if ((token_is(&t->tokens, at, "<") || token_is(&t->tokens, at, ">")) && token_is(&t->tokens, at + 1, t->tokens.list[at].text[0] == '<' ? "<" : ">")) at++;
  else if (!strchr("+-*/%&|^", *t->tokens.list[at].text)) return false;
  return token_is(&t->tokens, at + 1, "=");
}

/* choose writes the components that the word at i names as a call. */
static void choose(translator *t, int i) {
  const token *k = &t->tokens.list[i];
  shader_append(&t->out, "template shader_%s<", assigned(t, i) ? "set" : "get");
  for (int n = 0; n < k->length; n++) {
    const char *set = memchr("xyzw", k->text[n], 4) ? "xyzw" : "rgba";
    shader_append(&t->out, "%s%d", n ? ", " : "", (int)(strchr(set, k->text[n]) - set));
  }
  shader_append(&t->out, ">()");
}

/* enters_namespace reports whether the brace at i opens a namespace, and notes its name. */
static bool enters_namespace(translator *t, int i) {
  int before = token_previous(&t->tokens, i), name = 0;
  if (!token_is(&t->tokens, i, "{") || t->braces > 0 || t->space_count == MOST_SPACES) return false;
  if (before >= 0 && t->tokens.list[before].kind == WORD && !token_is(&t->tokens, before, "namespace")) name = before, before = token_previous(&t->tokens, before);
  if (!token_is(&t->tokens, before, "namespace")) return false;
  t->spaces[t->space_count++] = name;
  return true;
}

/* leaves_namespace reports whether the brace at i closes the innermost namespace. */
static bool leaves_namespace(translator *t, int i) {
  if (!token_is(&t->tokens, i, "}") || t->braces > 0 || t->space_count == 0) return false;
  t->space_count--;
  return true;
}

/* token_at translates the token at i and answers the last one that is done with. */
static int token_at(translator *t, kernel **kernels, int i) {
  int end;
  if (t->tokens.list[i].kind == MARK) {
    if (enters_namespace(t, i) || leaves_namespace(t, i)) return emit(t, i), i;
    t->braces += token_is(&t->tokens, i, "{") - token_is(&t->tokens, i, "}");
    if (t->braces == 0) free(t->shared.text), t->shared = (shader_text){0};
    t->parens += token_is(&t->tokens, i, "(") - token_is(&t->tokens, i, ")");
    bool division = (token_is(&t->tokens, i, "/") || token_is(&t->tokens, i, "%")) && t->braces > 0 && !token_is(&t->tokens, token_previous(&t->tokens, i), "operator");
    if (division && t->divides) return divide(t, i);
    if (!token_attribute(&t->tokens, i)) return emit(t, i), i;
    return drop_attribute(t, i);
  }
  if (t->tokens.list[i].kind == NUMBER) return numeral(t, i), i;
  if (token_is(&t->tokens, i, "is_function_constant_defined")) {
    int open = token_next(&t->tokens, i);
    shader_append(&t->out, "%s", constant_named(t, token_next(&t->tokens, open))->set ? "true" : "false");
    return token_closing(&t->tokens, open);
  }
  if (token_is(&t->tokens, i, "template") && !member(t, i) && !token_is(&t->tokens, token_next(&t->tokens, i), "<")) instantiate(t, *kernels, i);
  if (token_is(&t->tokens, i, "threadgroup") && variable(t, i, &end)) {
    shader_append(&t->out, "static thread_local");
    for (int j = i + 1; j <= end; j++) t->tokens.list[j].kind == WORD ? word(t, j) : emit(t, j);
    announce(t, i + 1, end);
    return end;
  }
  if ((token_is(&t->tokens, i, "kernel") || token_is(&t->tokens, i, "compute")) && t->parens == 0 && !instantiates(t, i) && t->tokens.list[named(t, i)].kind == WORD) {
    kernel *k = define(t, named(t, i), is_template(t, i));
    k->next = *kernels, *kernels = k;
    char *own = shader_format("::%s", k->full);
    if (!k->template) enter(t, k, api_name(t, k), own);
    free(own);
    t->host_name = 0;
    return i;
  }
  if (t->tokens.list[i].kind == WORD && swizzle(t, i)) return choose(t, i), i;
  if (t->tokens.list[i].kind == WORD) return word(t, i), i;
  return emit(t, i), i;
}

/* Threads that meet need fibers; a library is looked at as a whole. */
static bool meets(const translator *t) {
  for (int i = 0; i < t->tokens.count; i++) {
    const token *k = &t->tokens.list[i];
    if (k->kind != WORD) continue;
    if (!strncmp(k->text, "simd_", 5) || !strncmp(k->text, "simdgroup_", 10) || !strncmp(k->text, "quad_", 5)) return true;
    if (token_is(&t->tokens, i, "threadgroup_barrier")) return true;
  }
  return false;
}

static void forget(kernel *k) {
  while (k) {
    kernel *rest = k->next;
    free(k->name);
    free(k->arguments);
    free(k->full);
    free(k);
    k = rest;
  }
}

char *shader_translate(shader_library *library, const char *source, const shader_constant *constants, char **error) {
  translator t = {.library = library, .constants = constants, .divides = harsh(WRONG_DIVISION)};
  kernel *kernels = NULL;
  shader_append(&t.out, "#line 1 \"program_source\"\n");
  token_split(&t.tokens, source);
  for (int i = 0; i < t.tokens.count && !t.error; i++) i = token_at(&t, &kernels, i);
  shader_append(&t.out, "\n#line 1 \"entries\"\n%s", t.entries.text ? t.entries.text : "");
  bool fibers = meets(&t);
  for (shader_function *f = library->functions; f; f = f->next) f->meets = fibers;
  forget(kernels);
  free(t.tokens.list);
  free(t.entries.text);
  free(t.shared.text);
  if (!t.error) return t.out.text;
  free(t.out.text);
  *error = t.error;
  return NULL;
}
