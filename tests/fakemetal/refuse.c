/* refuse.c - FAKEMETAL_REFUSE, and the names of what has been compiled. */
#include "refuse.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"

static const char *const kinds[REFUSABLE] = {"library", "pipeline", "threads", "executable"};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;
static char *patterns; /* of what is to be refused, with commas; NULL for nothing */

/* What has been compiled, a line each: "pipeline run#1f3a09bc". */
static char *used;
static size_t used_length, used_room;

/* matches is a glob with * alone; the pattern ends at end. */
static bool matches(const char *pattern, const char *end, const char *name) {
  for (; pattern < end && *pattern != '*'; pattern++, name++)
    if (*pattern != *name || !*name) return false;
  if (pattern == end) return !*name;
  for (;; name++) {
    if (matches(pattern + 1, end, name)) return true;
    if (!*name) return false;
  }
}

/* A pattern without a kind is for all that is compiled. */
static bool wanted(refusable kind, const char *name) {
  for (const char *at = patterns; at && *at;) {
    const char *end = at + strcspn(at, ","), *colon = memchr(at, ':', (size_t)(end - at));
    size_t length = colon ? (size_t)(colon - at) : 0;
    bool right = colon ? strlen(kinds[kind]) == length && memcmp(kinds[kind], at, length) == 0 : kind != REFUSE_THREADS;
    if (right && matches(colon ? colon + 1 : at, end, name)) return true;
    at = *end ? end + 1 : end;
  }
  return false;
}

static void note(refusable kind, const char *name) {
  char line[256];
  size_t length = (size_t)snprintf(line, sizeof line, "%s %s\n", kinds[kind], name);
  for (char *at = used; at && (at = strstr(at, line)); at++)
    if (at == used || at[-1] == '\n') return;
  if (used_length + length + 1 > used_room) used = realloc(used, used_room = 2 * used_room + length + 1);
  memcpy(used + used_length, line, length + 1);
  used_length += length;
}

static void set(const char *wanted_patterns) {
  free(patterns);
  patterns = wanted_patterns && *wanted_patterns ? strdup(wanted_patterns) : NULL;
  loaded = true;
}

bool refused(refusable kind, const char *name) {
  pthread_mutex_lock(&lock);
  if (!loaded) set(getenv("FAKEMETAL_REFUSE"));
  if (kind != REFUSE_THREADS) note(kind, name);
  bool yes = wanted(kind, name);
  pthread_mutex_unlock(&lock);
  if (yes) count(COUNT_REFUSED, 1);
  return yes;
}

/* FNV-1a (Fowler, Noll, Vo), 32 bits. */
uint32_t source_number(const char *source) {
  uint32_t n = 2166136261u;
  for (; *source; source++) n = (n ^ (unsigned char)*source) * 16777619u;
  return n;
}

bool refused_source(const char *source, char *first, int size, int *line) {
  static const char begin[] = "\nkernel void ";
  uint32_t number = source_number(source);
  bool yes = false;
  for (const char *at = source; (at = strstr(at, begin));) {
    at += sizeof begin - 1;
    int length = (int)strcspn(at, "( \n");
    char name[128];
    snprintf(name, sizeof name, "%.*s#%08x", length, at, (unsigned)number);
    if (!refused(REFUSE_LIBRARY, name) || yes) continue;
    snprintf(first, (size_t)size, "%.*s", length, at);
    *line = 1;
    for (const char *c = source; c < at; c++) *line += *c == '\n';
    yes = true;
  }
  return yes;
}

void fakemetal_refuse(const char *wanted_patterns) {
  pthread_mutex_lock(&lock);
  set(wanted_patterns);
  used_length = 0;
  if (used) *used = 0;
  pthread_mutex_unlock(&lock);
}

int64_t fakemetal_used(char *text, int64_t size) {
  pthread_mutex_lock(&lock);
  if (size > 0) snprintf(text, (size_t)size, "%s", used ? used : "");
  int64_t length = (int64_t)used_length;
  pthread_mutex_unlock(&lock);
  return length;
}
