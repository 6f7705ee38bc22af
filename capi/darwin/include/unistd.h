#ifndef PMPS_DARWIN_UNISTD_H
#define PMPS_DARWIN_UNISTD_H

#include <sys/types.h>

#define R_OK 4
#define _SC_PAGESIZE 29
#define _SC_NPROCESSORS_ONLN 58

int chdir(const char *path);
int close(int file);
char *getcwd(char *path, size_t size);
int usleep(useconds_t microseconds);
ssize_t write(int file, const void *data, size_t size);
int access(const char *path, int mode);
pid_t getpid(void);
ssize_t read(int file, void *data, size_t size);
long sysconf(int name);
int unlink(const char *path);
unsigned alarm(unsigned seconds);
int dup2(int file, int as);
void _exit(int status) __attribute__((noreturn));
pid_t fork(void);
int pipe(int files[2]);

#endif
