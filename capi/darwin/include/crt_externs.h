#ifndef PMPS_DARWIN_CRT_EXTERNS_H
#define PMPS_DARWIN_CRT_EXTERNS_H

char ***_NSGetEnviron(void);

#endif
