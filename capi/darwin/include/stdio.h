#ifndef PMPS_DARWIN_STDIO_H
#define PMPS_DARWIN_STDIO_H

#include <stdarg.h>
#include <stddef.h>

#include <sys/types.h>

typedef struct pmps_darwin_file FILE;

extern FILE *__stdoutp, *__stderrp;
#define stdout __stdoutp
#define stderr __stderrp

int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int vfprintf(FILE *file, const char *format, va_list arguments);
int snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *text, size_t size, const char *format, va_list arguments);
int putchar(int character);
int puts(const char *text);
int remove(const char *path);
int fputc(int character, FILE *file);
int fputs(const char *text, FILE *file);
size_t fwrite(const void *data, size_t size, size_t count, FILE *file);
int fflush(FILE *file);
int sprintf(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int sscanf(const char *text, const char *format, ...) __attribute__((format(scanf, 2, 3)));
FILE *fopen(const char *path, const char *mode);
FILE *open_memstream(char **text, size_t *size);
int fclose(FILE *file);
size_t fread(void *data, size_t size, size_t count, FILE *file);
char *fgets(char *line, int room, FILE *file);
ssize_t getdelim(char **line, size_t *room, int delimiter, FILE *file);
int rename(const char *from, const char *to);

#endif
