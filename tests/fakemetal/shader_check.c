/*
 * shader_check.c - reads the declarations of a program and applies the rules of shader_check.h to them.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shader_check.h"

void check_fail(checker *c, int at, const char *format, ...) {
  if (c->error) return;
  char words[400];
  va_list list;
  va_start(list, format);
  vsnprintf(words, sizeof words, format, list);
  va_end(list);
  const token *k = &c->code.list[at < c->code.count ? at : c->code.count - 1];
  c->error = shader_format("program_source:%d:%d: error: %s", k->line, k->column, words);
}

static bool is(const checker *c, int i, const char *text) { return token_is(&c->code, i, text); }
static bool word(const checker *c, int i) { return i >= 0 && i < c->code.count && c->code.list[i].kind == WORD; }

static bool one_of(const checker *c, int i, const char *const *list) {
  for (; *list; list++)
    if (is(c, i, *list)) return true;
  return false;
}

static const char *const space_names[] = {"", "thread", "device", "constant", "threadgroup"};

const char *check_space_name(space s) { return space_names[s]; }

space check_space(const checker *c, int i) {
  for (space s = SPACE_THREAD; s <= SPACE_THREADGROUP; s++)
    if (is(c, i, space_names[s])) return s;
  return is(c, i, "ray_data") || is(c, i, "object_data") || is(c, i, "threadgroup_imageblock") ? SPACE_THREAD : NO_SPACE;
}

/* ---- Names. */

static void name_type(checker *c, int i) {
  if (c->type_count == c->type_room) c->types = realloc(c->types, (c->type_room = 2 * c->type_room + 64) * sizeof *c->types);
  c->types[c->type_count++] = i;
}

static bool same(const checker *c, int a, int b) {
  const token *x = &c->code.list[a], *y = &c->code.list[b];
  return x->length == y->length && !memcmp(x->text, y->text, x->length);
}

bool check_is_type(const checker *c, int i) {
  static const char *const scalars[] = {"void", "bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float",
                                        "bfloat", "unsigned", "signed", "size_t", "ptrdiff_t", "auto", "int8_t", "uint8_t", "int16_t",
                                        "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", NULL};
  if (!word(c, i)) return false;
  if (one_of(c, i, scalars)) return true;
  token vector = c->code.list[i];
  char last = vector.text[vector.length - 1];
  if (last >= '2' && last <= '4') {
    vector.length--;
    checker one = {.code = {&vector, 1}};
    if (one_of(&one, 0, scalars)) return true;
  }
  for (int t = 0; t < c->type_count; t++)
    if (same(c, c->types[t], i)) return true;
  return false;
}

void check_declare(checker *c, symbol s) {
  if (s.name < 0) return;
  if (c->symbol_count == c->symbol_room) c->symbols = realloc(c->symbols, (c->symbol_room = 2 * c->symbol_room + 64) * sizeof *c->symbols);
  c->symbols[c->symbol_count++] = s;
}

/* ---- Declarations. */

/* arguments skips the <...> of a template at i, whose pointers have address spaces too. */
static int arguments(checker *c, int i) {
  int end = token_closing(&c->code, i);
  for (int from = i + 1, at = from; at <= end; at++) {
    if (at < end && !is(c, at, ",")) continue;
    if (word(c, from) && check_is_type(c, from)) check_declarator(c, from, at, NO_SPACE);
    from = at + 1;
  }
  return end;
}

/* check_points_to_function reports whether the type at i is a pointer to a function: (*name)(parameters). */
bool check_points_to_function(const checker *c, int i) {
  if (!is(c, i, "(") || !is(c, i + 1, "*")) return false;
  int end = token_closing(&c->code, i);
  for (int at = i + 2; at < end; at++)
    if (!word(c, at) && !is(c, at, "[") && !is(c, at, "]") && c->code.list[at].kind != NUMBER) return false;
  return is(c, end + 1, "(");
}

symbol check_declarator(checker *c, int from, int to, space base) {
  symbol s = {.name = -1, .from = from, .to = to};
  space now = base;
  bool deduced = false;
  for (int i = from; i < to && !is(c, i, "="); i++) {
    bool star = is(c, i, "*"), reference = is(c, i, "&");
    if (token_attribute(&c->code, i) || is(c, i, "[")) {
      s.array |= !token_attribute(&c->code, i);
      i = token_closing(&c->code, i);
    } else if (is(c, i, "<") && word(c, i - 1)) {
      i = arguments(c, i);
    } else if (check_points_to_function(c, i)) {
      s.name = word(c, i + 2) ? i + 2 : s.name; /* (*name)(parameters): functions have no address space */
      s.space = NO_SPACE, s.function = true;
      break;
    } else if (star || reference) {
      if (!now && !deduced) check_fail(c, i, "%s type must have explicit address space qualifier", star ? "pointer" : "reference");
      s.space = now, now = NO_SPACE, deduced = false;
      s.pointers += star, s.reference |= reference;
      if (reference && is(c, i + 1, "&")) i++;
    } else if (check_space(c, i)) {
      if (now && now != check_space(c, i) && !(s.pointers || s.reference)) check_fail(c, i, "multiple address spaces specified for type");
      now = check_space(c, i);
    } else if (word(c, i)) {
      deduced |= is(c, i, "auto");
      s.readonly |= is(c, i, "const") || is(c, i, "constexpr");
      s.name = i;
    }
  }
  if (!s.pointers && !s.reference) s.space = now;
  return s;
}

/* parameters reads those between the parentheses at open. */
static void parameters(checker *c, function *f, int open) {
  int end = token_closing(&c->code, open), depth = 0;
  if (is(c, open + 1, "void") && open + 2 == end) return;
  for (int from = open + 1, at = from; at <= end && from < end; at++) {
    if (at < end && c->code.list[at].kind == MARK) {
      depth += strchr("([{<", *c->code.list[at].text) != NULL;
      depth -= strchr(")]}>", *c->code.list[at].text) != NULL;
    }
    if (at < end && !(is(c, at, ",") && depth == 0)) continue;
    if (is(c, from, ".") && at == end) check_fail(c, from, "variadic functions are not supported");
    bool optional = false;
    for (int i = from; i < at; i++) optional |= is(c, i, "=");
    if (f->arity < MOST_PARAMETERS) f->parameters[f->arity++] = check_declarator(c, from, at, NO_SPACE);
    const symbol *p = &f->parameters[f->arity - 1];
    if (!p->pointers && !p->reference && !p->function && p->space > SPACE_THREAD && !p->array)
      check_fail(c, from, "parameter may not be qualified with an address space");
    f->least += !optional;
    from = at + 1;
  }
}

/* function_at reads the function whose parameters open at a parenthesis; the token behind it. */
static int function_at(checker *c, int from, int name, int open, int record) {
  c->functions = realloc(c->functions, (c->function_count + 1) * sizeof *c->functions);
  function *f = &c->functions[c->function_count++];
  *f = (function){.begin = c->template_begin >= 0 ? c->template_begin : from, .from = from, .name = name, .record = record, .method = record >= 0, .nested = c->namespaces > 0};
  if (record < 0 || !same(c, record, name)) {
    symbol result = check_declarator(c, from, name, NO_SPACE);
    f->result = result.pointers || result.reference ? result.space : NO_SPACE;
  }
  for (int i = from; i < name; i++) f->kernel |= is(c, i, "kernel");
  if (record < 0 && is(c, name, "main")) check_fail(c, name, "a function cannot be called 'main'");
  parameters(c, f, open);
  int i = token_closing(&c->code, open) + 1;
  bool list = false; /* of what a constructor initialises */
  for (; i < c->code.count && !is(c, i, ";"); i++) {
    if (is(c, i, ":")) list = true;
    if (check_space(c, i)) f->spaces |= 1u << check_space(c, i);
    if (is(c, i, "(") || (list && is(c, i, "{") && word(c, i - 1))) i = token_closing(&c->code, i);
    else if (is(c, i, "{")) break;
  }
  f->end = i;
  if (!is(c, i, "{")) return i + 1;
  f->body = i;
  f->end = token_closing(&c->code, i);
  return f->end + 1;
}

/* variable holds what is declared outside of functions to the rules of its place. */
static void variable(checker *c, int from, int to, int record) {
  symbol s = check_declarator(c, from, to, NO_SPACE);
  bool fixed = false, sampler = false;
  for (int i = from; i < to; i++) fixed |= is(c, i, "static"), sampler |= is(c, i, "sampler");
  if (s.name < 0) return;
  space own = s.pointers || s.reference ? NO_SPACE : s.space;
  for (int i = s.to - 1; (s.pointers || s.reference) && i > from && !is(c, i, "*") && !is(c, i, "&"); i--)
    if (check_space(c, i)) own = check_space(c, i);
  if (record >= 0 && !fixed) {
    if (!s.pointers && !s.reference && own) check_fail(c, from, "field may not be qualified with an address space");
    return;
  }
  if (own != SPACE_CONSTANT && !sampler) check_fail(c, s.name, "program scope variable must reside in constant address space");
  check_declare(c, s);
}

/* host_name is the string of an attribute between two tokens, -1 for none. */
static int host_name(const checker *c, int from, int to) {
  for (int i = from; i < to; i++)
    if (is(c, i, "host_name") && is(c, i + 1, "(") && c->code.list[i + 2].kind == STRING) return i + 2;
  return -1;
}

/* api_name is what the API finds a kernel by that is no template; NULL for other functions. */
static const token *api_name(const checker *c, const function *f) {
  if (!f->kernel || f->begin != f->from || !f->body || f->nested) return NULL;
  int given = host_name(c, f->from, f->name);
  return &c->code.list[given >= 0 ? given : f->name];
}

/* unique refuses two functions that the API finds by one name. */
static void unique(checker *c) {
  for (int i = 0; i < c->function_count && !c->error; i++) {
    const function *f = &c->functions[i];
    const token *name = api_name(c, f);
    for (int j = 0; name && j < i; j++) {
      const token *other = api_name(c, &c->functions[j]);
      bool quoted = name->kind == STRING, also = other && other->kind == STRING;
      if (other && name->length - 2 * quoted == other->length - 2 * also && !memcmp(name->text + quoted, other->text + also, name->length - 2 * quoted))
        check_fail(c, f->name, "kernel '%.*s' has the same name as another", name->length - 2 * quoted, name->text + quoted);
    }
  }
}

/* initializer refuses the value of a constant, between two tokens, that calls a function of the source without constexpr, or
 * one of Metal's library. */
static void initializer(checker *c, int from, int to) {
  static const char *const library[] = {"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "pow", "floor", "ceil", "round", "fabs", NULL};
  for (int i = from; i < to; i++) {
    if (!word(c, i) || !is(c, i + 1, "(") || is(c, i - 1, ".")) continue;
    bool known = one_of(c, i, library), constant = false;
    for (int n = 0; n < c->function_count; n++) {
      const function *f = &c->functions[n];
      if (f->method || !same(c, f->name, i)) continue;
      known = true;
      for (int at = f->from; at < f->name; at++) constant |= is(c, at, "constexpr");
    }
    if (known && !constant)
      check_fail(c, i, "the initializer of a variable in constant address space is no constant expression: '%.*s' is not constexpr", c->code.list[i].length,
                 c->code.list[i].text);
  }
}

static int scope(checker *c, int i, int end, int record);

/* past is the token behind what ends a declaration: its semicolon, outside of braces. */
static int past(const checker *c, int i) {
  for (; i < c->code.count && !is(c, i, ";"); i++)
    if (is(c, i, "{") || is(c, i, "(")) i = token_closing(&c->code, i);
  return i + 1;
}

/* typedef_at reads a typedef. */
static int typedef_at(checker *c, int i) {
  int end = past(c, i);
  if (is(c, i + 1, "struct") || is(c, i + 1, "union") || is(c, i + 1, "enum")) return name_type(c, end - 2), end;
  symbol s = check_declarator(c, i + 1, end - 1, NO_SPACE);
  if (s.name >= 0) name_type(c, s.name);
  return end;
}

/* record_at reads a struct, class or union, and what is declared with it; -1 where only its name stands. */
static int record_at(checker *c, int i) {
  int name = word(c, i + 1) ? i + 1 : i, open = name;
  if (is(c, name + 1, ";")) return name_type(c, name), name + 2;
  while (open < c->code.count && !is(c, open, "{") && !is(c, open, ";") && !is(c, open, "(")) open++;
  if (!is(c, open, "{")) return -1;
  name_type(c, name);
  int end = token_closing(&c->code, open);
  scope(c, open + 1, end, name);
  if (word(c, end + 1)) variable(c, i, past(c, end) - 1, -1);
  return past(c, end);
}

/* template_at reads the parameters of a template; the token behind them. */
static int template_at(checker *c, int i) {
  if (!is(c, i + 1, "<")) return past(c, i);
  int end = token_closing(&c->code, i + 1);
  for (int at = i + 2; at < end; at++) {
    if (is(c, at, "auto")) check_fail(c, at, "'auto' not allowed in template parameter until C++17");
    if ((is(c, at - 1, "typename") || is(c, at - 1, "class")) && word(c, at)) name_type(c, at);
  }
  return end + 1;
}

/* declaration reads one that begins with neither a keyword of its own nor a template; the token behind it. */
static int declaration(checker *c, int from, int end, int record) {
  static const char *const bracketed[] = {"decltype", "alignas", "__attribute__", NULL};
  int i = from, name = -1;
  bool constant = false, indirect = false;
  for (; i < end && !is(c, i, ";") && !is(c, i, "=") && !is(c, i, "{"); i++) {
    if (token_attribute(&c->code, i) || is(c, i, "[")) i = token_closing(&c->code, i);
    else if (is(c, i, "<") && word(c, i - 1)) i = token_closing(&c->code, i);
    else if (one_of(c, i, bracketed)) i = token_closing(&c->code, i + 1);
    else if (is(c, i, "operator")) {
      name = i++;
      while (i + 1 < end && (!is(c, i + 1, "(") || (is(c, i, "(") && !is(c, i + 1, "(")))) i++;
      if (is(c, i, "(")) i++;
    } else if (name < 0 && check_points_to_function(c, i)) {
      i = token_closing(&c->code, token_closing(&c->code, i) + 1);
    } else if (is(c, i, "(") && name < 0 && (is(c, i + 1, "*") || (!word(c, i - 1) && !is(c, i - 1, ">")))) {
      check_declarator(c, from, i + 2, NO_SPACE);
      break;
    } else if (is(c, i, "(")) {
      int after = token_closing(&c->code, i) + 1;
      if (constant && !indirect && is(c, after, ";")) break;
      for (int at = i - 1; name < 0 && at >= from; at--)
        if (word(c, at) && (at == i - 1 || is(c, at + 1, "<"))) name = at;
      if (name < 0) break;
      return function_at(c, from, name, i, record);
    }
    constant |= is(c, i, "constant") || is(c, i, "sampler"), indirect |= is(c, i, "*") || is(c, i, "&");
  }
  if (i > from) variable(c, from, i, record);
  if (i > from && record < 0) initializer(c, i, past(c, i));
  return past(c, i);
}

/* scope reads what is declared between two tokens; record is the name of the struct that they are in, -1 for none. */
static int scope(checker *c, int i, int end, int record) {
  static const char *const skipped[] = {"static_assert", "friend", NULL};
  static const char *const records[] = {"struct", "class", "union", NULL};
  c->template_begin = -1;
  while (i < end && !c->error) {
    int begin = i;
    if (is(c, i, "template")) {
      i = template_at(c, i);
      c->template_begin = is(c, i - 1, ">") ? begin : -1;
      continue;
    }
    if (is(c, i, "namespace")) {
      while (i < end && !is(c, i, "{") && !is(c, i, ";")) i++;
      if (is(c, i, "{")) c->namespaces++, scope(c, i + 1, token_closing(&c->code, i), -1), c->namespaces--, i = token_closing(&c->code, i);
      i++;
    } else if (is(c, i, "typedef")) {
      i = typedef_at(c, i);
    } else if (is(c, i, "using")) {
      if (is(c, i + 2, "=")) name_type(c, i + 1), check_declarator(c, i + 3, past(c, i) - 1, NO_SPACE);
      i = past(c, i);
    } else if (is(c, i, "enum")) {
      name_type(c, is(c, i + 1, "class") ? i + 2 : i + 1);
      i = past(c, i);
    } else if (one_of(c, i, skipped)) {
      i = past(c, i);
    } else if (is(c, i, "extern")) {
      i = word(c, i + 1) ? i + 1 : past(c, i);
    } else if (is(c, i, ";") || (word(c, i) && is(c, i + 1, ":") && !is(c, i + 2, ":"))) {
      i += is(c, i, ";") ? 1 : 2;
    } else {
      int after = one_of(c, i, records) ? record_at(c, i) : -1;
      i = after >= 0 ? after : declaration(c, i, end, record);
    }
    c->template_begin = -1;
    if (i <= begin) i = begin + 1;
  }
  return i;
}

/* ---- Words. */

/* lambda reports whether a lambda expression begins at i: brackets that are neither an index nor an attribute. */
static bool lambda(const checker *c, int i) {
  if (!is(c, i, "[") || token_attribute(&c->code, i) || token_attribute(&c->code, i - 1)) return false;
  int end = token_closing(&c->code, i);
  bool begins = is(c, i - 1, "=") || is(c, i - 1, "(") || is(c, i - 1, ",") || is(c, i - 1, "return") || is(c, i - 1, "{") || is(c, i - 1, ";");
  return begins && (is(c, end + 1, "(") || is(c, end + 1, "{"));
}

/* words refuses what is no word of the language, wherever it stands. */
static void words(checker *c) {
  static const char *const missing[] = {"double", "new", "virtual", "try", "catch", "throw", "goto", "dynamic_cast", "typeid", "asm", "register",
                                        "thread_local", "noexcept", "__asm__", "__float128", NULL};
  static const char *const known[] = {"__attribute__", "__LINE__", "__FILE__", "__func__", "__FUNCTION__", "__restrict", "__restrict__", NULL};
  for (int i = 0; i < c->code.count; i++) {
    const token *k = &c->code.list[i];
    if (c->language < 0x30002 && lambda(c, i)) check_fail(c, i, "lambda expressions are not supported in Metal before version 3.2");
    if (k->kind != WORD) continue;
    if (one_of(c, i, missing) || (is(c, i, "delete") && !is(c, i - 1, "="))) {
      check_fail(c, i, "'%.*s' is not supported in Metal", k->length, k->text);
    } else if (is(c, i, "long") && is(c, i + 1, "long")) {
      check_fail(c, i, "'long long' is not supported in Metal");
    } else if (k->length > 2 && !strncmp(k->text, "__", 2) && strncmp(k->text, "__METAL", 7) && !one_of(c, i, known)) {
      check_fail(c, i, "use of undeclared identifier '%.*s'", k->length, k->text);
    }
  }
}

/* ---- Overloads by address space. */

/* qualifiers passes const and address spaces at *i, and reports whether they make what follows const in C++. */
static bool qualifiers(const checker *c, int *i, space *found) {
  bool constant = false;
  for (; check_space(c, *i) || is(c, *i, "const"); ++*i) {
    if (check_space(c, *i)) *found = check_space(c, *i);
    constant |= is(c, *i, "const") || is(c, *i, "constant");
  }
  return constant;
}

/* twins reports whether two functions are the same but for address spaces. */
static bool twins(const checker *c, const function *a, const function *b) {
  if (!a->body || !b->body || !same(c, a->name, b->name) || (a->record >= 0) != (b->record >= 0)) return false;
  if (a->record >= 0 && a->record != b->record) return false;
  int i = a->begin, j = b->begin;
  bool differ = false;
  for (; i <= a->end && j <= b->end; i++, j++) {
    space here = NO_SPACE, there = NO_SPACE;
    if (qualifiers(c, &i, &here) != qualifiers(c, &j, &there) || !same(c, i, j)) return false;
    differ |= here != there;
  }
  return differ && i > a->end && j > b->end;
}

/* without is the source without the twins of functions before them, which are one to a C++ compiler. */
static char *without(const checker *c, const char *source) {
  char *text = shader_format("%s", source);
  for (int n = 1; n < c->function_count; n++) {
    const function *f = &c->functions[n];
    bool twin = false;
    for (int m = 0; m < n && !twin; m++) twin = twins(c, &c->functions[m], f);
    if (!twin) continue;
    const token *first = &c->code.list[f->begin], *last = &c->code.list[f->end];
    for (const char *at = first->text; at < last->text + last->length; at++)
      if (*at != '\n') text[at - source] = ' ';
  }
  return text;
}

/* attributes_without writes the list of attributes between two ends, but for one name; whether that was among them. */
static bool attributes_without(shader_text *out, const char *from, const char *to, const char *name) {
  bool found = false, any = false;
  for (const char *at = from; at < to;) {
    const char *end = at;
    for (int depth = 0; end < to && (depth || *end != ','); end++) depth += (*end == '(') - (*end == ')');
    const char *first = at, *last = end;
    while (first < last && isspace((unsigned char)*first)) first++;
    while (last > first && isspace((unsigned char)last[-1])) last--;
    if ((size_t)(last - first) == strlen(name) && !memcmp(first, name, last - first)) found = true;
    else shader_append(out, "%s%.*s", any ? "," : "[[", (int)(end - at), at), any = true;
    at = end + 1;
  }
  if (any) shader_append(out, "]]");
  return found;
}

/* kernel_words is source with [[kernel]] written as kernel, behind what else is in the list of attributes. */
static char *kernel_words(const char *source) {
  shader_text out = {0};
  for (const char *open, *close; (open = strstr(source, "[[")) && (close = strstr(open, "]]")); source = close + 2) {
    shader_append_bytes(&out, source, open - source);
    size_t before = out.length;
    bool found = attributes_without(&out, open + 2, close, "kernel");
    if (found) shader_append(&out, out.length > before ? " kernel" : "kernel");
    else out.length = before, shader_append_bytes(&out, open, close + 2 - open);
  }
  shader_append(&out, "%s", source);
  return out.text;
}

char *shader_check(const char *given, uint32_t language, bool *recurses, char **error) {
  checker c = {.template_begin = -1, .language = language};
  char *source = kernel_words(given);
  token_list all = {0};
  token_split(&all, source);
  c.code.list = malloc((all.count + 1) * sizeof *all.list);
  for (int i = 0; i < all.count; i++)
    if (all.list[i].kind != SPACE) c.code.list[c.code.count++] = all.list[i];
  free(all.list);
  token_end(&c.code);
  words(&c);
  scope(&c, 0, c.code.count, -1);
  c.calls = calloc((size_t)c.function_count * c.function_count + 1, 1);
  for (int i = 0; i < c.function_count && !c.error; i++) {
    if (c.functions[i].kernel) check_kernel(&c, &c.functions[i]);
    if (c.functions[i].body) check_body(&c, &c.functions[i]);
  }
  check_recursion(&c);
  unique(&c);
  char *text = c.error ? NULL : without(&c, source);
  *recurses = c.recurses;
  *error = c.error;
  free(c.code.list);
  free(c.functions);
  free(c.symbols);
  free(c.types);
  free(c.calls);
  free(source);
  return text;
}
