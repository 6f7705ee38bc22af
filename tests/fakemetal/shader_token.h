/*
 * shader_token.h - the tokens of Metal's shading language, for the files that read source.
 *
 * Tokens point into the source, which has to outlive them. Comments, blanks and what is left of preprocessing are tokens
 * too, so that source is what its tokens are, one behind the other.
 */
#ifndef FAKEMETAL_SHADER_TOKEN_H
#define FAKEMETAL_SHADER_TOKEN_H

#include <stdbool.h>

typedef enum { SPACE, WORD, NUMBER, STRING, MARK } token_kind;

typedef struct {
  token_kind kind;
  const char *text;
  int length, line, column;
} token;

typedef struct {
  token *list;
  int count;
} token_list;

/* So many tokens behind the last one are marks that are no mark of the language: a source may end anywhere, and what reads a
 * list looks a few tokens ahead. */
enum { TOKENS_BEHIND = 16 };

/* Adds them to a list. */
void token_end(token_list *tokens);

/* Splits source; the list is the caller's to free. */
void token_split(token_list *tokens, const char *source);

/* Whether a token, which there may not be, is some text. */
bool token_is(const token_list *tokens, int i, const char *text);

/* The first token after i that is no space, and the last before it. */
int token_next(const token_list *tokens, int i);
int token_previous(const token_list *tokens, int i);

/* The index of what closes the bracket at i; the last token where nothing does. */
int token_closing(const token_list *tokens, int i);

/* Whether an attribute begins at i. */
bool token_attribute(const token_list *tokens, int i);

/* The text of a token (malloc). */
char *token_copy(const token_list *tokens, int i);

#endif
