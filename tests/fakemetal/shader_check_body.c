/*
 * shader_check_body.c - the statements of functions: what may be declared in them, and which address space goes where.
 *
 * The address space of an expression is known where it is a name, an element or a member of one, or an address of
 * these. Of all others it is NO_SPACE, and then nothing is refused.
 */
#include <string.h>

#include "shader_check.h"

static bool is(const checker *c, int i, const char *text) { return token_is(&c->code, i, text); }
static bool word(const checker *c, int i) { return i >= 0 && i < c->code.count && c->code.list[i].kind == WORD; }
static bool arrow(const checker *c, int i) { return is(c, i, "-") && is(c, i + 1, ">"); }

static bool same(const checker *c, int a, int b) {
  const token *x = &c->code.list[a], *y = &c->code.list[b];
  return x->length == y->length && !memcmp(x->text, y->text, x->length);
}

/* find is the innermost variable of a name; NULL if it is not known. */
static const symbol *find(const checker *c, int name) {
  for (int i = c->symbol_count - 1; word(c, name) && i >= 0; i--)
    if (same(c, c->symbols[i].name, name)) return &c->symbols[i];
  return NULL;
}

/* ---- Address spaces of expressions. */

static space own_space(const symbol *s) { return s->space ? s->space : SPACE_THREAD; }

/* element_space is the address space of a variable's elements; NO_SPACE where they are pointers themselves. */
static space element_space(const symbol *s) {
  if (s->pointers + s->array > 1 || s->pointers > 1) return NO_SPACE;
  return s->pointers ? s->space : own_space(s);
}

/* object_space is where an object lies that an expression names. */
static space object_space(const checker *c, int from, int to) {
  const symbol *s = find(c, from);
  if (!s) return NO_SPACE;
  space here = s->pointers ? NO_SPACE : own_space(s);
  for (int i = from + 1; i < to; i++) {
    if (is(c, i, "[")) {
      if (i == from + 1) here = element_space(s);
      i = token_closing(&c->code, i);
    } else if (arrow(c, i) && i == from + 1 && s->pointers == 1 && !s->array) {
      here = s->space;
      i += 2;
    } else if (is(c, i, ".") && word(c, i + 1) && !is(c, i + 2, "(")) {
      i++;
    } else {
      return NO_SPACE;
    }
  }
  return here;
}

/* cast_space is the address space of the pointer type in the parentheses at open; NO_SPACE if there is none. */
static space cast_space(const checker *c, int open) {
  space s = NO_SPACE;
  int end = token_closing(&c->code, open), stars = 0;
  for (int i = open + 1; i < end; i++) {
    if (check_space(c, i) && !stars) s = check_space(c, i);
    stars += is(c, i, "*");
  }
  return stars == 1 && is(c, end - 1, "*") ? s : NO_SPACE;
}

/* pointer_space is where the pointer points to that an expression is. */
static space pointer_space(const checker *c, int from, int to) {
  if (is(c, from, "&")) return object_space(c, from + 1, to);
  if (is(c, from, "(") && token_closing(&c->code, from) == to - 1) return pointer_space(c, from + 1, to - 1);
  if (is(c, from, "(")) return cast_space(c, from);
  const symbol *s = find(c, from);
  if (!s || s->pointers + s->array != 1) return NO_SPACE;
  if (from + 1 < to && !is(c, from + 1, "+") && (!is(c, from + 1, "-") || arrow(c, from + 1))) return NO_SPACE;
  for (int i = from + 1; i < to; i++) /* sums of a pointer, and nothing that makes another value of them */
    if (is(c, i, "?") || is(c, i, "<") || is(c, i, ">") || is(c, i, "=") || is(c, i, "!")) return NO_SPACE;
  return s->pointers ? s->space : own_space(s);
}

/* kind is the type that a variable's declaration names, -1 if none is known. */
static int kind(const checker *c, const symbol *s) {
  for (int i = s->from; i < s->name; i++)
    if (check_is_type(c, i)) return i;
  return -1;
}

/* copied reports whether a constant reference may refer to a copy of an expression, which a thread makes: of another type. An
 * object of the same type is no copy. */
static bool copied(const checker *c, const symbol *to, int from, int end) {
  const symbol *s = find(c, from);
  if (!to->readonly) return false;
  if (!s || from + 1 != end) return true;
  int mine = kind(c, to), other = kind(c, s);
  return mine < 0 || other < 0 || !same(c, mine, other);
}

/* mismatch reports whether a pointer or reference cannot be made from an expression, and the two address spaces. */
static bool mismatch(const checker *c, const symbol *to, int from, int end, space *got) {
  *got = NO_SPACE;
  if (to->pointers == 1 && !to->reference && !to->array) *got = pointer_space(c, from, end);
  if (to->reference && !to->pointers && !copied(c, to, from, end)) *got = object_space(c, from, end);
  return *got && to->space && *got != to->space;
}

/* ---- Declarations. */

/* behind is the end of an expression that begins at i: a comma, semicolon or bracket outside of its own. */
static int behind(const checker *c, int i) {
  while (i < c->code.count && !is(c, i, ",") && !is(c, i, ";") && !is(c, i, ")") && !is(c, i, "}"))
    i = is(c, i, "(") || is(c, i, "[") || is(c, i, "{") ? token_closing(&c->code, i) + 1 : i + 1;
  return i;
}

static void initialise(checker *c, const symbol *s, int from, int to) {
  space got;
  if (mismatch(c, s, from, to, &got))
    check_fail(c, from, "cannot initialize a %s to address space '%s' with one to address space '%s'", s->reference ? "reference" : "pointer",
               check_space_name(s->space), check_space_name(got));
}

/* local holds a variable of a function to the rules of its address space. */
static void local(checker *c, const function *f, const symbol *s, bool fixed, bool constant, bool initialised) {
  if (fixed && s->space != SPACE_CONSTANT) check_fail(c, s->from, "static variable of a function must reside in constant address space");
  if (s->pointers || s->reference) return;
  if (s->space == SPACE_DEVICE || (s->space == SPACE_CONSTANT && !fixed && !constant))
    check_fail(c, s->from, "automatic variable qualified with an address space");
  if (s->space != SPACE_THREADGROUP) return;
  if (!f->kernel) check_fail(c, s->from, "variable in threadgroup address space may only be declared in a kernel");
  if (initialised) check_fail(c, s->from, "variable in threadgroup address space cannot have an initializer");
}

/* starts reports whether a declaration begins at i, and where the name that it declares is. */
static bool starts(const checker *c, int i, int *name) {
  static const char *const qualifiers[] = {"const", "volatile", "constexpr", "static", "struct", "typename", "unsigned", "signed", "long", "short", NULL};
  static const char *const keywords[] = {"return", "case", "else", "using", "typedef", "break", "continue", "if", "for", "while", "do", "switch",
                                         "default", "sizeof", "static_assert", "operator", "public", "private", NULL};
  bool known = false, type = false, star = false;
  for (;; i++) {
    bool qualifier = check_space(c, i) != NO_SPACE;
    for (int q = 0; qualifiers[q]; q++) qualifier |= is(c, i, qualifiers[q]);
    for (int k = 0; keywords[k]; k++)
      if (is(c, i, keywords[k])) return false;
    if (is(c, i, "*") || is(c, i, "&")) {
      if (!known) return false;
      star = true;
    } else if (qualifier) {
      known = true;
    } else if (word(c, i) && !type && !star && (word(c, i + 1) || strchr("<*&:", *c->code.list[i + 1].text))) {
      type = true;
      known |= check_is_type(c, i) || word(c, i + 1);
      while (is(c, i + 1, ":") && is(c, i + 2, ":")) i += 3;
      if (is(c, i + 1, "<") && known) i = token_closing(&c->code, i + 1);
      else if (is(c, i + 1, "<")) return false;
    } else {
      break;
    }
  }
  *name = i;
  return known && word(c, i) && c->code.list[i + 1].kind == MARK && strchr("=;[,({:", *c->code.list[i + 1].text);
}

/* length refuses the length of an array, in the brackets at open, that is not known when the program is compiled. */
static void length(checker *c, int open) {
  if (is(c, open + 1, "0") && is(c, open + 2, "]")) check_fail(c, open, "zero-length arrays are not permitted");
  for (int i = open + 1, end = token_closing(&c->code, open); i < end; i++) {
    const symbol *s = is(c, i - 1, ".") || is(c, i - 1, ":") ? NULL : find(c, i);
    if (s && (s->reference || (!s->readonly && s->space != SPACE_CONSTANT))) check_fail(c, open, "variable length arrays are not supported");
  }
}

/* declare_at reads a declaration in a function. */
static void declare_at(checker *c, const function *f, int i, int name, int depth) {
  bool fixed = false, constant = false;
  space base = NO_SPACE;
  for (int at = i; at < name && !is(c, at, "*") && !is(c, at, "&"); at++) {
    fixed |= is(c, at, "static"), constant |= is(c, at, "constexpr");
    if (check_space(c, at)) base = check_space(c, at);
  }
  for (int from = i, at = name + 1; !c->error;) {
    for (; is(c, at, "["); at = token_closing(&c->code, at) + 1) length(c, at);
    symbol s = check_declarator(c, from, at, from == i ? NO_SPACE : base);
    int end = behind(c, at);
    local(c, f, &s, fixed, constant, is(c, at, "=") || is(c, at, "{") || is(c, at, "("));
    if (is(c, at, "=")) initialise(c, &s, at + 1, end);
    s.depth = depth;
    check_declare(c, s);
    if (!is(c, end, ",")) return;
    from = end + 1, at = from;
    while (at < c->code.count && (is(c, at, "*") || is(c, at, "&") || word(c, at))) at++;
  }
}

/* ---- Calls. */

/* is_vector reports whether a variable is a vector of the language, or a pointer to or an array of them. */
static bool is_vector(const symbol *s, const checker *c) {
  for (int i = s->from; i < s->name; i++) {
    token type = c->code.list[i];
    checker alone = {.code = {&type, 1}}; /* which knows no types of the program */
    if (strchr("234", type.text[type.length - 1]) && check_is_type(&alone, 0)) return true;
  }
  return false;
}

/* element reports whether an expression is one component of a vector by its name, to which no reference can refer. */
static bool element(const checker *c, int from, int end) {
  const symbol *s = find(c, from);
  if (!s || !is_vector(s, c)) return false;
  int at = from + 1, levels = s->pointers + s->array;
  for (; levels > 0 && is(c, at, "["); levels--) at = token_closing(&c->code, at) + 1;
  const token *k = &c->code.list[at + 1];
  return levels == 0 && is(c, at, ".") && at + 2 == end && k->kind == WORD && k->length == 1 && strchr("xyzwrgba", *k->text);
}

/* fits reports whether the arguments from open on may be those of a function. */
static bool fits(const checker *c, const function *f, int open, int *count) {
  int end = token_closing(&c->code, open), n = 0;
  bool good = true;
  for (int from = open + 1; from < end; n++) {
    int to = behind(c, from);
    space got;
    const symbol *p = n < f->arity ? &f->parameters[n] : NULL;
    if (p && (mismatch(c, p, from, to, &got) || (p->reference && !p->pointers && !p->readonly && element(c, from, to)))) good = false;
    from = to + 1;
  }
  *count = n;
  return good;
}

/* call checks a call of a function of the source, and notes it. */
static void call(checker *c, int caller, int name) {
  int known = 0, possible = 0, defined = 0, count;
  for (int i = 0; i < c->function_count; i++) {
    const function *f = &c->functions[i];
    if (f->method || !same(c, f->name, name)) continue;
    bool good = fits(c, f, name + 1, &count);
    if (count < f->least || count > f->arity) continue;
    known++, possible += good;
    if (f->body) defined++, c->calls[caller * c->function_count + i] = 1; /* of overloads, any */
    if (f->kernel) check_fail(c, name, "kernel '%.*s' cannot be called", c->code.list[name].length, c->code.list[name].text);
  }
  if (known && !possible)
    check_fail(c, name, "no matching function for call to '%.*s': an argument is in another address space, or a component of a vector", c->code.list[name].length, c->code.list[name].text);
  if (known && !defined)
    check_fail(c, name, "function '%.*s' is called but defined nowhere", c->code.list[name].length, c->code.list[name].text);
}

/* is_atomic reports whether a variable is declared as an atomic object, or as a pointer to one, with no other name for that type. */
static bool is_atomic(const symbol *s, const checker *c) {
  for (int i = s->from; i < s->name; i++)
    if (!strncmp(c->code.list[i].text, "atomic_", 7)) return true;
  return false;
}

/* atomic checks that the object of an atomic function is in memory that threads share; objects elsewhere have no such functions. */
static void atomic(checker *c, int name) {
  const token *k = &c->code.list[name];
  if (k->length < 16 || strncmp(k->text, "atomic_", 7) || strncmp(k->text + k->length - 9, "_explicit", 9)) return;
  const symbol *s = find(c, is(c, name + 2, "&") ? name + 3 : name + 2);
  if (!s || !is_atomic(s, c)) return;
  space here = pointer_space(c, name + 2, behind(c, name + 2));
  if (here == SPACE_THREAD || here == SPACE_CONSTANT)
    check_fail(c, name, "no matching function for call to '%.*s': the object is in address space '%s'", k->length, k->text, check_space_name(here));
}

/* address refuses the address of a vector's component, where the & at i is no operator of two numbers. */
static void address(checker *c, int i) {
  const symbol *s = find(c, i + 1);
  if (c->code.list[i - 1].kind != MARK || is(c, i - 1, ")") || is(c, i - 1, "]") || is(c, i - 1, "&") || !s || !is_vector(s, c)) return;
  int at = i + 2, levels = s->pointers + s->array;
  for (; levels > 0 && is(c, at, "["); levels--) at = token_closing(&c->code, at) + 1;
  if (levels == 1 && arrow(c, at)) levels = 0, at++;
  if (levels || (!is(c, at, ".") && !is(c, at, ">"))) return;
  const token *k = &c->code.list[at + 1];
  if (k->kind == WORD && k->length == 1 && strchr("xyzwrgba", *k->text)) check_fail(c, i, "address of vector element requested");
}

/* member checks that a member function which is called may have its object in the address space that it is in. */
static void member(checker *c, int name, int dot, int begin) {
  space here = NO_SPACE;
  const symbol *s = find(c, begin);
  if (!s) return;
  if (is(c, dot, ".")) here = object_space(c, begin, dot);
  else if (dot == begin + 1 && s->pointers == 1) here = s->space;
  if (!here || here == SPACE_THREAD) return;
  bool known = false;
  for (int i = 0; i < c->function_count; i++) {
    const function *f = &c->functions[i];
    if (!f->method || !same(c, f->name, name)) continue;
    known = true;
    if (f->spaces >> here & 1) return;
  }
  if (known)
    check_fail(c, name, "'this' of member function '%.*s' is in address space '%s', which the function is not declared for", c->code.list[name].length,
               c->code.list[name].text, check_space_name(here));
}

/* beginning is the first token of the name, elements and members before a dot. */
static int beginning(const checker *c, int dot) {
  int i = dot - 1, depth = 0;
  for (; i >= 0; i--) {
    depth += is(c, i, "]"), depth -= is(c, i, "[");
    if (depth == 0 && word(c, i) && !is(c, i - 1, ".") && !(is(c, i - 1, ">") && is(c, i - 2, "-"))) return i;
    if (depth == 0 && !word(c, i) && !is(c, i, "[") && !is(c, i, ".") && !is(c, i, ">") && !is(c, i, "-")) return dot;
  }
  return dot;
}

/* cast checks a pointer type in parentheses, and that it keeps the address space. */
static void cast(checker *c, int open) {
  int end = token_closing(&c->code, open), i = open + 1;
  if ((!is(c, end - 1, "*") && !is(c, end - 1, "&")) || (!check_is_type(c, i) && !check_space(c, i) && !is(c, i, "const") && !is(c, i, "volatile"))) return;
  check_declarator(c, i, end, NO_SPACE);
  space to = cast_space(c, open), from = is(c, end + 1, "(") ? NO_SPACE : pointer_space(c, end + 1, is(c, end + 1, "&") ? behind(c, end + 1) : end + 2);
  if (to && from && to != from)
    check_fail(c, open, "C-style cast from address space '%s' to address space '%s' is not allowed", check_space_name(from), check_space_name(to));
}

/* ---- Bodies. */

/* statement reports whether a statement begins at i. */
static bool statement(const checker *c, int i) {
  if (is(c, i - 1, "{") || is(c, i - 1, "}") || is(c, i - 1, ";") || is(c, i - 1, "else") || is(c, i - 1, "do")) return true;
  if (is(c, i - 1, "(")) return is(c, i - 2, "for") || is(c, i - 2, "if") || is(c, i - 2, "while");
  if (!is(c, i - 1, ")")) return false;
  int depth = 0;
  for (i--; i >= 0; i--) {
    depth += is(c, i, ")"), depth -= is(c, i, "(");
    if (depth == 0) break;
  }
  return is(c, i - 1, "for") || is(c, i - 1, "if") || is(c, i - 1, "while") || is(c, i - 1, "switch");
}

/* begin looks at the beginning of a statement. */
static void begin(checker *c, const function *f, int i, int depth) {
  int name;
  space got;
  if (starts(c, i, &name)) return declare_at(c, f, i, name, depth);
  if (word(c, i) && is(c, i + 1, ":") && !is(c, i + 2, ":") && !is(c, i, "default") && !is(c, i, "public") && !is(c, i, "private") && !is(c, i, "protected"))
    check_fail(c, i, "labeled statements are not supported in Metal");
  const symbol *s = find(c, i);
  if (s && is(c, i + 1, "=") && !is(c, i + 2, "=") && !s->reference && mismatch(c, s, i + 2, behind(c, i + 2), &got))
    check_fail(c, i, "assigning a pointer to address space '%s' to one to address space '%s'", check_space_name(got), check_space_name(s->space));
  if (is(c, i, "return") && f->result && (got = pointer_space(c, i + 1, behind(c, i + 1))) && got != f->result)
    check_fail(c, i, "returning a pointer to address space '%s' from a function whose result points to address space '%s'", check_space_name(got),
               check_space_name(f->result));
}

/* use looks at a name or parenthesis, wherever it stands. */
static void use(checker *c, const function *f, int i) {
  if (is(c, i, "(")) return cast(c, i);
  if (is(c, i, "&")) return address(c, i);
  if (!word(c, i)) return;
  const token *k = &c->code.list[i];
  bool member_of = is(c, i - 1, ".") || (is(c, i - 1, ">") && is(c, i - 2, "-"));
  if (k->length > 5 && !strncmp(k->text + k->length - 5, "_cast", 5) && is(c, i + 1, "<"))
    check_declarator(c, i + 2, token_closing(&c->code, i + 1), NO_SPACE);
  if (!is(c, i + 1, "(")) {
    if (!is(c, i - 1, "&") && !is(c, i - 1, "=") && !is(c, i - 1, "*")) return;
    for (int n = 0; !find(c, i) && !member_of && n < c->function_count; n++)
      if (c->functions[n].kernel && same(c, c->functions[n].name, i)) check_fail(c, i, "kernel '%.*s' has no address", k->length, k->text);
    return;
  }
  atomic(c, i);
  int dot = is(c, i - 1, ".") ? i - 1 : i - 2;
  if (member_of) member(c, i, dot, beginning(c, dot));
  else if (!find(c, i)) call(c, f - c->functions, i);
}

void check_body(checker *c, const function *f) {
  int kept = c->symbol_count, depth = 0;
  for (int i = 0; i < f->arity; i++) check_declare(c, f->parameters[i]);
  for (int i = f->body + 1; i < f->end && !c->error; i++) {
    depth += is(c, i, "{");
    depth -= is(c, i, "}");
    while (c->symbol_count > kept && c->symbols[c->symbol_count - 1].depth > depth) c->symbol_count--;
    if (statement(c, i)) begin(c, f, i, depth);
    use(c, f, i);
  }
  c->symbol_count = kept;
}

/* ---- Recursion. */

/* reaches marks what a function calls, directly or not, and reports whether that is the function itself. */
static bool reaches(checker *c, int from, int target) {
  for (int i = 0; i < c->function_count; i++) {
    if (!c->calls[from * c->function_count + i]) continue;
    if (i == target) return true;
    if (c->functions[i].found) continue;
    c->functions[i].found = true;
    if (reaches(c, i, target)) return true;
  }
  return false;
}

void check_recursion(checker *c) {
  for (int i = 0; i < c->function_count && !c->recurses; i++) {
    for (int n = 0; n < c->function_count; n++) c->functions[n].found = false;
    c->recurses = reaches(c, i, i);
  }
}
