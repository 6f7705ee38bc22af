/*
 * shader_arithmetic.c - counts the arithmetic of a kernel in LLVM's language, where it has been optimised
 * and is still that of no machine.
 *
 * Each basic block gets a call of shader_arithmetic with the number of its instructions that compute: sums
 * to quotients, shifts, logic, comparisons, selections and conversions between integers and floats. So does
 * a call of a function of Metal's library, which counts as one whatever it costs on a GPU: exp as fma.
 * Loads, stores, branches, the addresses of elements (getelementptr), and changes of an integer's width
 * are not counted. What the mock's library does within its functions is not either.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shader_internal.h"

static const char *const computing[] = {"fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "add", "sub", "mul", "udiv", "sdiv", "urem", "srem",
                                        "shl", "lshr", "ashr", "and", "or", "xor", "icmp", "fcmp", "select", "sitofp", "uitofp", "fptosi", "fptoui"};
static const char *const leaving[] = {"br", "ret", "switch", "unreachable", "resume", "indirectbr"};

typedef struct {
  const char *at;
  int length;
} piece;

static bool is(piece p, const char *s) { return (size_t)p.length == strlen(s) && !strncmp(p.at, s, p.length); }
static bool begins(piece p, const char *s) { return (size_t)p.length >= strlen(s) && !strncmp(p.at, s, strlen(s)); }

/* word is the next word of a line from *at on. */
static piece word(const char **at, const char *end) {
  while (*at < end && **at == ' ') ++*at;
  piece p = {*at, 0};
  while (*at < end && **at != ' ' && **at != ',') ++*at, p.length++;
  return p;
}

/* opcode is that of an instruction, without the name of its result and words that go before a call. */
static piece opcode(const char *line, const char *end) {
  const char *at = line;
  piece p = word(&at, end);
  if (p.length > 0 && *p.at == '%') word(&at, end), p = word(&at, end);
  while (is(p, "tail") || is(p, "musttail") || is(p, "notail")) p = word(&at, end);
  return p;
}

/* called is the name of the function that a line defines or calls; empty where it calls through a pointer. */
static piece called(const char *line, const char *end) {
  piece p = {line, 0};
  for (const char *at = line; at < end; at++) {
    if (*at == '%' || *at == '#') break;
    if (*at != '@') continue;
    p.at = at + 1;
    while (p.at + p.length < end && (isalnum((unsigned char)p.at[p.length]) || strchr("_.$", p.at[p.length]))) p.length++;
    break;
  }
  return p;
}

/* ours is a function of the mock's headers. Those of metal:: are one instruction each, the others none. */
static bool metals(piece p) { return begins(p, "_ZN5metal") || begins(p, "_ZNK5metal"); }
static bool ours(piece p) {
  static const char *const names[] = {"_ZN6shader", "_ZNK6shader", "shader_start", "shader_move", "shader_mute", "shader_arithmetic", "__asan", "__ubsan"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (begins(p, names[i])) return true;
  return metals(p);
}

static int weight(piece operation, const char *line, const char *end) {
  for (size_t i = 0; i < sizeof computing / sizeof *computing; i++)
    if (is(operation, computing[i])) return 1;
  if (!is(operation, "call")) return 0;
  static const char *const none[] = {"llvm.lifetime", "llvm.mem", "llvm.dbg", "llvm.assume", "llvm.experimental", "llvm.stack", "llvm.threadlocal"};
  const char *result = strchr(line, '='); /* a result's name begins with % as an argument's does */
  piece name = called(result && result < end ? result : line, end);
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (begins(name, none[i])) return 0;
  return begins(name, "llvm.") || metals(name) || begins(name, "_ZN6shader10widen_half") || begins(name, "_ZN6shader11narrow_half") ||
         begins(name, "_ZN6shader12widen_bfloat") || begins(name, "_ZN6shader13narrow_bfloat");
}

static bool ends_block(piece operation) {
  for (size_t i = 0; i < sizeof leaving / sizeof *leaving; i++)
    if (is(operation, leaving[i])) return true;
  return false;
}

/* mutes reports whether a line calls shader_mute. */
static bool mutes(const char *line, const char *end) {
  static const char called[] = "@shader_mute(";
  for (; (line = memchr(line, '@', (size_t)(end - line))); line++)
    if (!strncmp(line, called, sizeof called - 1)) return true;
  return false;
}

char *shader_instrument(const char *text) {
  shader_text out = {0};
  bool inside = false;
  int count = 0;
  for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    if (!strncmp(line, "define ", 7)) inside = !ours(called(line, end)), count = 0;
    if (*line == '}') inside = false;
    if (inside && !strncmp(line, "  ", 2) && line[2] != ' ' && line[2] != ']') {
      piece operation = opcode(line, end);
      if (count > 0 && (mutes(line, end) || ends_block(operation))) {
        shader_append(&out, "  call void @shader_arithmetic(i32 %d)\n", count);
        count = 0;
      }
      count += weight(operation, line, end);
    }
    shader_append_bytes(&out, line, end - line + (*end != 0));
  }
  return out.text;
}
