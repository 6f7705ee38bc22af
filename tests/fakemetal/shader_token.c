/*
 * shader_token.c - splits source into tokens; see shader_token.h.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "shader_internal.h"
#include "shader_token.h"

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

/* marked is the line that a marker of the preprocessor gives the one behind it, 0 for another line. */
static int marked(const char *s) {
  if (!strncmp(s, "#line ", 6)) return atoi(s + 6);
  return s[0] == '#' && s[1] == ' ' && isdigit((unsigned char)s[2]) ? atoi(s + 2) : 0;
}

void token_end(token_list *t) {
  t->list = realloc(t->list, (t->count + TOKENS_BEHIND) * sizeof *t->list);
  for (int i = 0; i < TOKENS_BEHIND; i++) t->list[t->count + i] = (token){.kind = MARK, .text = " ", .length = 1, .line = 1, .column = 1};
}

void token_split(token_list *t, const char *s) {
  int room = 0, line = 1;
  bool start = true;
  const char *first = s; /* of the line */
  while (*s) {
    if (t->count == room) t->list = realloc(t->list, (room = room ? 2 * room : 1024) * sizeof *t->list);
    token *k = &t->list[t->count++];
    *k = (token){.text = s, .line = line, .column = s - first + 1};
    k->length = measure(s, &k->kind, start);
    if (start && marked(s)) line = marked(s) - 1;
    for (int i = 0; i < k->length; i++)
      if (s[i] == '\n') line++, first = s + i + 1;
    if (k->kind != SPACE) start = false;
    if (memchr(s, '\n', k->length)) start = true;
    s += k->length;
  }
  token_end(t);
}

bool token_is(const token_list *t, int i, const char *text) {
  return i >= 0 && i < t->count && t->list[i].length == (int)strlen(text) && !memcmp(t->list[i].text, text, t->list[i].length);
}

/* next is the first token after i that is no space; previous the last before it. */
int token_next(const token_list *t, int i) {
  do i++;
  while (i < t->count && t->list[i].kind == SPACE);
  return i;
}

int token_previous(const token_list *t, int i) {
  do i--;
  while (i >= 0 && t->list[i].kind == SPACE);
  return i;
}

char *token_copy(const token_list *t, int i) { return shader_format("%.*s", t->list[i].length, t->list[i].text); }

/* closing is the index of what closes the bracket at i. */
int token_closing(const token_list *t, int i) {
  char open = *t->list[i].text, close = open == '(' ? ')' : open == '[' ? ']' : open == '<' ? '>' : '}';
  int depth = 0;
  for (; i < t->count; i++) {
    if (t->list[i].kind != MARK) continue;
    depth += *t->list[i].text == open;
    depth -= *t->list[i].text == close;
    if (depth == 0) return i;
  }
  return t->count - 1;
}

bool token_attribute(const token_list *t, int i) { return token_is(t, i, "[") && token_is(t, i + 1, "[") && t->list[i].kind == MARK; }

