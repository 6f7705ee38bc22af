/*
 * shader_check.h - the rules of Metal's shading language that C++ has not: what the files shader_check*.c share.
 *
 * A C++ compiler that gets the source without its address spaces cannot see them broken. So the source is read here
 * first, by its declarations: which function, parameter and variable there is, and where it lies. What is
 * refused follows the specification, 3.2: address spaces (chapter 4), restrictions of C++ (1.4), functions and
 * attributes (chapter 5). Expressions are followed as far as their address spaces are plain from names; the types of
 * everything else are the C++ compiler's to check. Text in doubt is accepted.
 */
#ifndef FAKEMETAL_SHADER_CHECK_H
#define FAKEMETAL_SHADER_CHECK_H

#include "shader_internal.h"
#include "shader_token.h"

typedef enum { NO_SPACE, SPACE_THREAD, SPACE_DEVICE, SPACE_CONSTANT, SPACE_THREADGROUP } space;

/* A variable or parameter. */
typedef struct {
  int name;                       /* token, -1 for none */
  int from, to;                   /* tokens of the declaration */
  space space;                    /* of what it points or refers to, else its own; NO_SPACE where none is written */
  int pointers;                   /* how many stars */
  bool reference, array, readonly, function;
  int depth;                      /* of braces */
} symbol;

enum { MOST_PARAMETERS = 40 };

typedef struct {
  int begin, from, name, body, end; /* tokens, with the template's parameters and without; body is 0 for a declaration */
  int record;                     /* the name of the struct that it is in, -1 for none */
  int arity, least;               /* parameters, and those without a default */
  bool kernel, method, found, nested; /* in a namespace */
  unsigned spaces;                /* of a method: a bit for each address space of *this */
  space result;                   /* where the result points to */
  symbol parameters[MOST_PARAMETERS];
} function;

typedef struct {
  token_list code;                /* without SPACE */
  uint32_t language;              /* version: major << 16 | minor */
  bool recurses;                  /* a function calls itself, directly or not */
  function *functions;
  int function_count;
  symbol *symbols;                /* of the program, then of the function that is looked at */
  int symbol_count, symbol_room;
  int *types;                     /* names of types of the source */
  int type_count, type_room;
  int namespaces;                 /* that are open where a declaration is being read */
  int template_begin;             /* of the declaration that is being read, -1 for no template */
  unsigned char *calls;           /* function_count squared: who calls whom */
  char *error;
} checker;

/* Notes an error at a token, unless there is one. */
void check_fail(checker *c, int at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The address space that a token names. */
space check_space(const checker *c, int i);
const char *check_space_name(space s);

/* Whether the type at i is a pointer to a function, with or without a name. */
bool check_points_to_function(const checker *c, int i);

/* Reads a declaration of one name from its specifiers on; base is the address space of specifiers before them. */
symbol check_declarator(checker *c, int from, int to, space base);

void check_declare(checker *c, symbol s);
bool check_is_type(const checker *c, int i);

/* shader_check_kernel.c: attributes and types of a kernel's parameters. */
void check_kernel(checker *c, const function *f);

/* shader_check_body.c: the statements of a function, and who calls whom. */
void check_body(checker *c, const function *f);
void check_recursion(checker *c);

#endif
