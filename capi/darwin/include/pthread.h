#ifndef PMPS_DARWIN_PTHREAD_H
#define PMPS_DARWIN_PTHREAD_H

#include <signal.h>
#include <time.h>

typedef struct pmps_darwin_thread *pthread_t;
typedef unsigned long pthread_key_t;

/* Sizes and signatures are part of Darwin's ABI: programs hold these by value. */
typedef struct { long signature; char opaque[56]; } pthread_attr_t;
typedef struct { long signature; char opaque[56]; } pthread_mutex_t;
typedef struct { long signature; char opaque[40]; } pthread_cond_t;
typedef struct { long signature; char opaque[8]; } pthread_mutexattr_t;
typedef struct { long signature; char opaque[8]; } pthread_condattr_t;
typedef struct { long signature; char opaque[8]; } pthread_once_t;

#define PTHREAD_MUTEX_INITIALIZER {0x32AAABA7, {0}}
#define PTHREAD_COND_INITIALIZER {0x3CB0B1BB, {0}}
#define PTHREAD_ONCE_INIT {0x30B1BCBA, {0}}
#define PTHREAD_CREATE_DETACHED 2

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *user);
int pthread_join(pthread_t thread, void **result);
int pthread_detach(pthread_t thread);
pthread_t pthread_self(void);
int pthread_threadid_np(pthread_t thread, __UINT64_TYPE__ *id);
int pthread_kill(pthread_t thread, int signal);
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int pthread_once(pthread_once_t *once, void (*start)(void));

int pthread_attr_init(pthread_attr_t *attr);
int pthread_attr_destroy(pthread_attr_t *attr);
int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *size);
int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size);
int pthread_attr_setdetachstate(pthread_attr_t *attr, int state);
void *pthread_get_stackaddr_np(pthread_t thread);
size_t pthread_get_stacksize_np(pthread_t thread);

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int pthread_cond_destroy(pthread_cond_t *cond);
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until);
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *));
int pthread_setspecific(pthread_key_t key, const void *value);
void *pthread_getspecific(pthread_key_t key);

#endif
