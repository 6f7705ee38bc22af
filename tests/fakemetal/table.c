/*
 * table.c - finds methods in the table of Apple's interface, and works out from their type encodings in
 * which register or stack slot each object among the arguments is.
 */
#include "table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"

static const row rows[] = {
#include "selectors.inc"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Which protocol inherits from which, and which class conforms to one. */
static const char *const inherits[][2] = {
    {"MTLBuffer", "MTLResource"},
    {"MTLResource", "MTLAllocation"},
    {"MTLHeap", "MTLAllocation"},
    {"MTLComputePipelineState", "MTLAllocation"},
    {"MTLComputeCommandEncoder", "MTLCommandEncoder"},
    {"MTLBlitCommandEncoder", "MTLCommandEncoder"},
    {"MTLSharedEvent", "MTLEvent"},
    {"MPSCommandBuffer", "MTLCommandBuffer"},
};
enum { INHERITS = sizeof inherits / sizeof *inherits };

static const char *parent(const char *protocol) {
  for (int i = 0; i < INHERITS; i++)
    if (strcmp(inherits[i][0], protocol) == 0) return inherits[i][1];
  return NULL;
}

bool protocol_conforms(const char *protocol, const char *wanted) {
  for (; protocol; protocol = parent(protocol))
    if (strcmp(protocol, wanted) == 0) return true;
  return false;
}

/* The first row of a class; the rows of a class stand together. */
static int first_row(const char *class_name) {
  for (int i = 0; i < ROWS; i++)
    if (strcmp(rows[i].class_name, class_name) == 0) return i;
  return ROWS;
}

static const row *own_row(const char *class_name, const char *selector, char kind) {
  for (int i = first_row(class_name); i < ROWS && strcmp(rows[i].class_name, class_name) == 0; i++)
    if (rows[i].kind == kind && strcmp(rows[i].selector, selector) == 0) return &rows[i];
  return NULL;
}

const row *row_find(const char *class_name, const char *protocol, const char *selector, char kind) {
  const row *r = NULL;
  for (const char *c = class_name; c && !r; c = parent(c)) r = own_row(c, selector, kind);
  for (const char *p = protocol; p && !r; p = parent(p)) r = own_row(p, selector, kind);
  return r ? r : own_row("NSObject", selector, kind);
}

const row *row_of_selector(const char *selector) {
  for (int i = 0; i < ROWS; i++)
    if (strcmp(rows[i].selector, selector) == 0) return &rows[i];
  return NULL;
}

bool row_available(const row *r) {
  int major = 0, minor = 0;
  if (strcmp(r->since, "UNAVAILABLE") == 0) return false;
  return sscanf(r->since, "%d.%d", &major, &minor) < 1 || macos_at_least(major, minor);
}

bool class_available(const char *class_name) {
  int i = first_row(class_name);
  if (i == ROWS) return true;
  for (; i < ROWS && strcmp(rows[i].class_name, class_name) == 0; i++)
    if (row_available(&rows[i])) return true;
  return false;
}

/* ---- Encodings. */

typedef struct {
  size_t size, align;
  bool floats, memory; /* all of it floating point; too large for registers */
} layout;

static const char *type_layout(const char *at, layout *l);

static const char *struct_layout(const char *at, layout *l) {
  *l = (layout){0, 1, true, false};
  for (at = strchr(at, '=') + 1; *at != '}';) {
    layout field;
    at = type_layout(at, &field);
    if (field.align > l->align) l->align = field.align;
    l->size = (l->size + field.align - 1) / field.align * field.align + field.size;
    l->floats &= field.floats;
  }
  l->size = (l->size + l->align - 1) / l->align * l->align;
  l->memory = l->size > 16;
  return at + 1;
}

/* Skips what a pointer points to; only its extent matters. */
static const char *skip_type(const char *at) {
  int depth = 0;
  do {
    while (strchr("rnNoORV^", *at)) at++;
    if (*at == '{' || *at == '[' || *at == '(') depth++;
    if (*at == '}' || *at == ']' || *at == ')') depth--;
    at += *at == '@' && at[1] == '?' ? 2 : 1;
  } while (depth > 0 && *at);
  return at;
}

static const char *type_layout(const char *at, layout *l) {
  while (strchr("rnNoORV", *at)) at++;
  *l = (layout){8, 8, false, false};
  switch (*at) {
  case '{': return struct_layout(at, l);
  case '^': return skip_type(at + 1);
  case 'v': l->size = 0; return at + 1;
  case 'B': case 'c': case 'C': l->size = l->align = 1; return at + 1;
  case 's': case 'S': l->size = l->align = 2; return at + 1;
  case 'i': case 'I': case 'l': case 'L': l->size = l->align = 4; return at + 1;
  case 'f': l->size = l->align = 4, l->floats = true; return at + 1;
  case 'd': l->floats = true; return at + 1;
  default: return skip_type(at);
  }
}

/* Where the next argument of a call goes. */
typedef struct {
  int ints, floats;
  size_t stack;
} cursor;

#if defined(__aarch64__)
enum { INTEGER_REGISTERS = 8, FLOAT_REGISTERS = 8 };
enum { BY_REFERENCE = 1 }; /* a large struct is a pointer to a copy */
#else
enum { INTEGER_REGISTERS = 6, FLOAT_REGISTERS = 8 };
enum { BY_REFERENCE = 0 };
#endif

/* place moves the cursor past an argument and says where that is, as in argument.slot. */
static int place(cursor *c, layout l) {
  if (l.memory && BY_REFERENCE) l = (layout){8, 8, false, false};
  int words = (int)((l.size + 7) / 8);
  if (!l.memory && l.floats && c->floats + words <= FLOAT_REGISTERS) return c->floats += words, 0;
  if (!l.memory && !l.floats && c->ints + words <= INTEGER_REGISTERS) return c->ints += words, c->ints - words;
  size_t align = 8, size = (l.size + 7) / 8 * 8;
#if defined(__APPLE__) && defined(__aarch64__)
  align = l.align, size = l.size;
#endif
#if defined(__aarch64__)
  if (!l.floats) c->ints = INTEGER_REGISTERS;
#endif
  size_t offset = (c->stack + align - 1) / align * align;
  c->stack = offset + size;
  return -1 - (int)offset;
}

/* ---- Types. */

/* Arguments that Apple's headers mark nullable, by the word of the selector in front of them. A class
 * that is stricter checks by itself. */
static const char *const nullable[] = {
    "name", "setLabel", "options", "setBuffer", "deallocator", "isEqual", "userInfo",
    "executionDescriptor", "compilationDescriptor", "compileWithDevice", "specializeWithDevice",
    "targetOperations", "resultsArray", "resultsDictionary", "setCallables",
    "axes", "placeholderWithShape", "gammaTensor", "betaTensor", "maskTensor", "gammaGradientTensor",
    "betaGradientTensor", "maximumVelocityTensor",
    "setLibraries", "setPreprocessorMacros", "setInstallName",
    "setCaptureObject", "setOutputURL", "setDefaultCaptureScope",
};
enum { NULLABLE = sizeof nullable / sizeof *nullable };

static const struct {
  const char *name, *type, *element, *value;
} aliases[] = {
    {"MPSShape *", "NSArray", "NSNumber", ""},
    {"MPSGraphTensorDataDictionary *", "NSDictionary", "MPSGraphTensor", "MPSGraphTensorData"},
    {"MPSGraphTensorShapedTypeDictionary *", "NSDictionary", "MPSGraphTensor", "MPSGraphShapedType"},
    {"NSErrorDomain", "NSString", "", ""},
};

/* word copies the identifier at text, cut to the room. */
static void word(char *to, size_t room, const char *text) {
  size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  if (n >= room) n = room - 1;
  memcpy(to, text, n);
  to[n] = 0;
}

/* name_class fills in the classes that a type such as `NSArray<MPSGraphTensor *> *` names. */
static void name_class(argument *a, const char *type) {
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
    if (strcmp(type, aliases[i].name) != 0) continue;
    word(a->type, sizeof a->type, aliases[i].type);
    word(a->element, sizeof a->element, aliases[i].element);
    word(a->value, sizeof a->value, aliases[i].value);
    return;
  }
  if (strncmp(type, "const ", 6) == 0) type += 6;
  const char *inner = strchr(type, '<');
  if (strncmp(type, "id<", 3) == 0) return word(a->type, sizeof a->type, type + 3);
  if (!strchr(type, '*')) return;
  word(a->type, sizeof a->type, type);
  if (inner && strcmp(a->type, "NSArray") == 0) {
    word(a->element, sizeof a->element, strncmp(inner + 1, "id<", 3) == 0 ? inner + 4 : inner + 1);
    if (strcmp(a->element, "id") == 0) a->element[0] = 0;
  }
}

static bool may_be_nil(const char *keyword) {
  for (int i = 0; i < NULLABLE; i++)
    if (strcmp(nullable[i], keyword) == 0) return true;
  return false;
}

/* next_part copies the text up to a separator and answers what follows it. */
static const char *next_part(char *to, size_t room, const char *text, char separator) {
  size_t depth = 0, n = 0;
  for (; *text && (*text != separator || depth > 0); text++) {
    depth += (*text == '(') - (*text == ')');
    if (n + 1 < room) to[n++] = *text;
  }
  to[n] = 0;
  return *text ? text + 1 : text;
}

argument *row_arguments(const row *r, int *count, bool *stret) {
  argument *found = calloc(strlen(r->encoding) + 1, sizeof *found);
  layout l;
  const char *at = type_layout(r->encoding, &l);
  cursor c = {0, 0, 0};
  *stret = l.memory;
#if !defined(__aarch64__)
  if (l.memory) c.ints = 1;
#endif
  *count = 0;
  at = type_layout(type_layout(at, &l), &l); /* self and _cmd */
  c.ints += 2;
  const char *types = r->arguments, *keywords = r->selector;
  while (*at) {
    char type[256], keyword[64];
    types = next_part(type, sizeof type, types, ';');
    keywords = next_part(keyword, sizeof keyword, keywords, ':');
    bool is_object = *at == '@', block = is_object && at[1] == '?';
    at = type_layout(at, &l);
    int slot = place(&c, l);
    if (!is_object) continue;
    argument *a = &found[(*count)++];
    word(a->keyword, sizeof a->keyword, keyword);
    a->slot = slot, a->block = block;
    a->nullable = may_be_nil(keyword);
    if (!block) name_class(a, type);
  }
  return found;
}
