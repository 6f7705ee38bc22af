/* foundation.h - what foundation.c and collection.c share. */
#ifndef FAKEMETAL_FOUNDATION_H
#define FAKEMETAL_FOUNDATION_H

#include "objc.h"

/* isEqual: for strings and numbers by value, for anything else by identity. */
bool object_equal(id a, id b);

#endif
