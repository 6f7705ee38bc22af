/*
 * collection.c - NSArray and NSDictionary with their mutable forms. What Foundation answers with an
 * exception, which nothing in a C or Go program can catch, ends the process with the same words.
 */
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "foundation.h"

typedef struct {
  object head;
  id *items;
  size_t count, room;
} array;

typedef struct {
  object head;
  id *keys, *values;
  size_t count, room;
} dictionary;

/* ---- NSArray. */

static void array_dealloc(id self) {
  array *a = (array *)self;
  for (size_t i = 0; i < a->count; i++) release(a->items[i]);
  free(a->items);
}

static void array_append(array *a, id item) {
  if (a->count == a->room) {
    a->room = a->room ? a->room * 2 : 4;
    a->items = realloc(a->items, a->room * sizeof *a->items);
  }
  a->items[a->count++] = retain(item);
}

static id array_fill(id self, const id *items, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!items || !items[i]) misuse("attempt to insert nil object from objects[%zu] (NSInvalidArgumentException)", i);
    check_live(items[i], "an item");
    array_append((array *)self, items[i]);
  }
  return self;
}

id array_new(const id *items, size_t count) { return array_fill(object_new("NSArray"), items, count); }
size_t array_count(id self) { return self ? ((array *)self)->count : 0; }

id array_at(id self, size_t index) {
  array *a = (array *)self;
  if (index >= a->count)
    misuse("index %zu beyond bounds of an array of %zu (NSRangeException)", index, a->count);
  return a->items[index];
}

void array_add(id self, id item) { array_append((array *)self, item); }

static id array_with(class_ *self, SEL cmd, const id *items, uint64_t count) {
  (void)cmd;
  return autorelease(array_fill(object_make(self), items, count));
}

static id array_with_object(class_ *self, SEL cmd, id item) { return array_with(self, cmd, &item, 1); }
static id array_with_array(class_ *self, SEL cmd, id other) { return array_with(self, cmd, ((array *)other)->items, array_count(other)); }
static id array_empty(class_ *self) { return autorelease(object_make(self)); }
static id array_with_room(class_ *self, SEL cmd, uint64_t room) { return (void)cmd, (void)room, array_empty(self); }
static id array_init(id self, SEL cmd, const id *items, uint64_t count) { return (void)cmd, array_fill(self, items, count); }
static uint64_t array_get_count(id self) { return array_count(self); }
static id array_object_at(id self, SEL cmd, uint64_t index) { return (void)cmd, array_at(self, index); }
static id array_first(id self) { return array_count(self) ? array_at(self, 0) : NULL; }
static id array_last(id self) { return array_count(self) ? array_at(self, array_count(self) - 1) : NULL; }
static void array_add_object(id self, SEL cmd, id item) { (void)cmd, array_add(self, item); }

static BOOL array_contains(id self, SEL cmd, id item) {
  (void)cmd;
  for (size_t i = 0; i < array_count(self); i++)
    if (object_equal(array_at(self, i), item)) return true;
  return false;
}

static void array_clear(id self) {
  array *a = (array *)self;
  while (a->count > 0) release(a->items[--a->count]);
}

static const method array_methods[] = {
    CLASS("arrayWithObjects:count:", array_with),
    CLASS("arrayWithObject:", array_with_object),
    CLASS("arrayWithArray:", array_with_array),
    CLASS("array", array_empty),
    INSTANCE("initWithObjects:count:", array_init),
    INSTANCE("count", array_get_count),
    INSTANCE("objectAtIndex:", array_object_at),
    INSTANCE("objectAtIndexedSubscript:", array_object_at),
    INSTANCE("firstObject", array_first),
    INSTANCE("lastObject", array_last),
    INSTANCE("containsObject:", array_contains),
};

static const method mutable_array_methods[] = {
    CLASS("arrayWithCapacity:", array_with_room),
    INSTANCE("addObject:", array_add_object),
    INSTANCE("removeAllObjects", array_clear),
};

/* ---- NSDictionary: a list of pairs, since ours are short. */

static void dictionary_dealloc(id self) {
  dictionary *d = (dictionary *)self;
  for (size_t i = 0; i < d->count; i++) release(d->keys[i]), release(d->values[i]);
  free(d->keys), free(d->values);
}

static size_t dictionary_find(id self, id key) {
  dictionary *d = (dictionary *)self;
  size_t i = 0;
  while (i < d->count && !object_equal(d->keys[i], key)) i++;
  return i;
}

size_t dictionary_count(id self) { return self ? ((dictionary *)self)->count : 0; }

void dictionary_at(id self, size_t index, id *key, id *value) {
  dictionary *d = (dictionary *)self;
  *key = d->keys[index], *value = d->values[index];
}

id dictionary_get(id self, id key) {
  size_t i = self ? dictionary_find(self, key) : 0;
  return i < dictionary_count(self) ? ((dictionary *)self)->values[i] : NULL;
}

void dictionary_set(id self, id key, id value) {
  dictionary *d = (dictionary *)self;
  size_t i = dictionary_find(self, key);
  retain(value);
  if (i < d->count) {
    release(d->values[i]);
    d->values[i] = value;
    return;
  }
  if (d->count == d->room) {
    d->room = d->room ? d->room * 2 : 4;
    d->keys = realloc(d->keys, d->room * sizeof *d->keys);
    d->values = realloc(d->values, d->room * sizeof *d->values);
  }
  d->keys[d->count] = retain(key), d->values[d->count++] = value;
}

static id dictionary_fill(id self, const id *keys, const id *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!values || !values[i]) misuse("attempt to insert nil object from objects[%zu] (NSInvalidArgumentException)", i);
    if (!keys || !keys[i]) misuse("attempt to insert nil key from keys[%zu] (NSInvalidArgumentException)", i);
    check_live(values[i], "a value");
    check_live(keys[i], "a key");
    dictionary_set(self, keys[i], values[i]);
  }
  return self;
}

id dictionary_new(const id *keys, const id *values, size_t count) {
  return dictionary_fill(object_new("NSDictionary"), keys, values, count);
}

id mutable_dictionary_new(void) { return object_new("NSMutableDictionary"); }

static id dictionary_with(class_ *self, SEL cmd, const id *values, const id *keys, uint64_t count) {
  (void)cmd;
  return autorelease(dictionary_fill(object_make(self), keys, values, count));
}

static id dictionary_with_object(class_ *self, SEL cmd, id value, id key) { return dictionary_with(self, cmd, &value, &key, 1); }
static id dictionary_with_room(class_ *self, SEL cmd, uint64_t room) { return (void)cmd, (void)room, array_empty(self); }
static uint64_t dictionary_get_count(id self) { return dictionary_count(self); }
static id dictionary_object_for(id self, SEL cmd, id key) { return (void)cmd, dictionary_get(self, key); }
static void dictionary_set_object(id self, SEL cmd, id value, id key) { (void)cmd, dictionary_set(self, key, value); }

/* shuffled is an array of the items in a random order, because none is specified. */
static id shuffled(const id *items, size_t count) {
  id made = array_new(items, count);
  array *a = (array *)made;
  for (size_t i = count; i > 1; i--) {
    size_t j = random_bits() % i;
    id swap = a->items[i - 1];
    a->items[i - 1] = a->items[j], a->items[j] = swap;
  }
  return autorelease(made);
}

static id dictionary_keys(id self) { return shuffled(((dictionary *)self)->keys, dictionary_count(self)); }
static id dictionary_values(id self) { return shuffled(((dictionary *)self)->values, dictionary_count(self)); }

static void dictionary_remove(id self, SEL cmd, id key) {
  (void)cmd;
  dictionary *d = (dictionary *)self;
  size_t i = dictionary_find(self, key);
  if (i == d->count) return;
  release(d->keys[i]), release(d->values[i]);
  d->count--;
  memmove(d->keys + i, d->keys + i + 1, (d->count - i) * sizeof *d->keys);
  memmove(d->values + i, d->values + i + 1, (d->count - i) * sizeof *d->values);
}

static void dictionary_clear(id self) {
  dictionary *d = (dictionary *)self;
  for (size_t i = 0; i < d->count; i++) release(d->keys[i]), release(d->values[i]);
  d->count = 0;
}

static const method dictionary_methods[] = {
    CLASS("dictionaryWithObjects:forKeys:count:", dictionary_with),
    CLASS("dictionaryWithObject:forKey:", dictionary_with_object),
    CLASS("dictionary", array_empty),
    INSTANCE("count", dictionary_get_count),
    INSTANCE("objectForKey:", dictionary_object_for),
    INSTANCE("objectForKeyedSubscript:", dictionary_object_for),
    INSTANCE("allKeys", dictionary_keys),
    INSTANCE("allValues", dictionary_values),
};

static const method mutable_dictionary_methods[] = {
    CLASS("dictionaryWithCapacity:", dictionary_with_room),
    INSTANCE("setObject:forKey:", dictionary_set_object),
    INSTANCE("removeObjectForKey:", dictionary_remove),
    INSTANCE("removeAllObjects", dictionary_clear),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"NSArray", "NSObject", NULL, sizeof(array), array_dealloc, METHODS(array_methods)},
      {"NSMutableArray", "NSArray", NULL, sizeof(array), NULL, METHODS(mutable_array_methods)},
      {"NSDictionary", "NSObject", NULL, sizeof(dictionary), dictionary_dealloc, METHODS(dictionary_methods)},
      {"NSMutableDictionary", "NSDictionary", NULL, sizeof(dictionary), NULL, METHODS(mutable_dictionary_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
