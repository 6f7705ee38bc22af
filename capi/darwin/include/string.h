#ifndef PMPS_DARWIN_STRING_H
#define PMPS_DARWIN_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *memory, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t size);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t size);
char *strchr(const char *text, int character);
char *strstr(const char *text, const char *part);
char *strdup(const char *text);
char *strerror(int number);
void *memchr(const void *memory, int byte, size_t size);
char *strrchr(const char *text, int character);
size_t strspn(const char *text, const char *set);
size_t strcspn(const char *text, const char *set);

#endif
