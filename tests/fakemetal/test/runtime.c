/*
 * runtime.c - tests of the runtime and of Foundation: messages, ownership, pools, collections; and what
 * each misuse of them is answered with.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static id class_of(const char *name) { return objc_getClass(name); }
static const char *utf8(id string) { return (const char *)send0(string, "UTF8String"); }
static id integer(int64_t v) { return SEND(id, (id, SEL, int64_t), class_of("NSNumber"), "numberWithLongLong:", v); }
static id array(const id *items, uint64_t n) { return SEND(id, (id, SEL, const id *, uint64_t), class_of("NSArray"), "arrayWithObjects:count:", items, n); }
static int64_t value(id n) { return SEND(int64_t, (id, SEL), n, "longLongValue"); }
static id made(const char *name) { return send0(class_of(name), "new"); }

/* ---- What has to work. */

static void try_values(void) {
  void *pool = objc_autoreleasePoolPush();
  expect(strcmp(utf8(text("naïve")), "naïve") == 0, "a string gives its text back");
  expect(number(text("naïve"), "length") == 5, "the length of a string is in characters");
  expect(value(integer(INT64_MIN)) == INT64_MIN, "a number gives its integer back");
  id half = SEND(id, (id, SEL, double), class_of("NSNumber"), "numberWithDouble:", 0.5);
  expect(SEND(double, (id, SEL), half, "doubleValue") == 0.5, "a double comes through and back");
  id quarter = SEND(id, (id, SEL, float), class_of("NSNumber"), "numberWithFloat:", 0.25F);
  expect(SEND(float, (id, SEL), quarter, "floatValue") == 0.25F, "a float comes through and back");
  id data = send2(class_of("NSData"), "dataWithBytes:length:", "abc", 3);
  expect(number(data, "length") == 3 && memcmp(send0(data, "bytes"), "abc", 3) == 0, "data holds bytes");
  expect(strcmp(utf8(send0(send1(class_of("NSURL"), "fileURLWithPath:", text("/a b")), "path")), "/a b") == 0, "a URL holds a path");
  objc_autoreleasePoolPop(pool);
}

static void try_messages(void) {
  void *pool = objc_autoreleasePoolPush();
  int64_t before = fakemetal_count("sends");
  expect(number(NULL, "length") == 0 && SEND(double, (id, SEL), NULL, "doubleValue") == 0, "nil answers 0");
  expect(fakemetal_count("sends") == before + 2, "messages are counted");
  expect(class_of("NSNothing") == NULL, "a class that is not there is nil");
  SEL length = sel_registerName("length");
  expect(((signed char (*)(id, SEL, SEL))message)(text(""), sel_registerName("respondsToSelector:"), length) == 1, "respondsToSelector: says yes");
  expect(((signed char (*)(id, SEL, SEL))message)(class_of("NSNumber"), sel_registerName("instancesRespondToSelector:"), length) == 0,
         "instancesRespondToSelector: says no");
  objc_autoreleasePoolPop(pool);
}

typedef struct {
  int64_t major, minor, patch;
} version;

static void try_structs(void) {
  void *pool = objc_autoreleasePoolPush();
  id info = send0(class_of("NSProcessInfo"), "processInfo");
  version v = ((version(*)(id, SEL))message_stret)(info, sel_registerName("operatingSystemVersion"));
  expect(v.major == 15 && v.minor == 0 && v.patch == 0, "a struct of 24 bytes is answered");
  signed char (*at_least)(id, SEL, version) = (signed char (*)(id, SEL, version))message;
  SEL asked = sel_registerName("isOperatingSystemAtLeastVersion:");
  expect(at_least(info, asked, (version){14, 9, 0}) && !at_least(info, asked, (version){15, 1, 0}), "a struct of 24 bytes is taken");
  objc_autoreleasePoolPop(pool);
}

static void try_collections(void) {
  void *pool = objc_autoreleasePoolPush();
  const id items[] = {text("a"), integer(2), text("c")};
  id a = array(items, 3), m = send0(class_of("NSMutableArray"), "array");
  expect(number(a, "count") == 3 && send1(a, "objectAtIndex:", 2) == items[2], "an array holds what it was made of");
  send1(m, "addObject:", items[0]);
  expect(number(m, "count") == 1 && number(array(NULL, 0), "count") == 0, "arrays grow, or are empty");
  const id keys[] = {text("k"), integer(7)};
  id d = send3(class_of("NSDictionary"), "dictionaryWithObjects:forKeys:count:", items, keys, 2);
  expect(send1(d, "objectForKey:", text("k")) == items[0] && send1(d, "objectForKey:", integer(7)) == items[1], "keys are found by value");
  expect(send1(d, "objectForKey:", text("x")) == NULL, "a key that is missing gives nil");
  id e = send0(class_of("NSMutableDictionary"), "dictionary");
  send2(e, "setObject:forKey:", items[0], keys[0]);
  send2(e, "setObject:forKey:", items[1], keys[0]);
  expect(number(e, "count") == 1 && send1(e, "objectForKey:", keys[0]) == items[1], "a key has one value");
  objc_autoreleasePoolPop(pool);
}

static void try_ownership(void) {
  int64_t before = fakemetal_count("live_objects");
  void *outer = objc_autoreleasePoolPush();
  id kept = objc_retain(text("kept"));
  void *inner = objc_autoreleasePoolPush();
  for (int i = 0; i < 1000; i++) text("gone");
  expect(fakemetal_count("live_objects") == before + 1001, "live objects are counted");
  objc_autoreleasePoolPop(inner);
  expect(fakemetal_count("live:NSString") == 1, "a pool releases its objects");
  objc_autoreleasePoolPop(outer);
  expect(strcmp(utf8(kept), "kept") == 0, "what is retained outlives its pool");
  objc_release(kept);
  expect(fakemetal_leaks(false) == before, "nothing is left");
}

static void *hammer(void *shared) {
  for (int i = 0; i < 20000; i++) {
    void *pool = objc_autoreleasePoolPush();
    objc_retain(shared);
    text("mine");
    objc_release(shared);
    objc_autoreleasePoolPop(pool);
  }
  return NULL;
}

static void try_threads(void) {
  int64_t before = fakemetal_count("live_objects");
  void *pool = objc_autoreleasePoolPush();
  id shared = objc_retain(text("shared"));
  objc_autoreleasePoolPop(pool);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, hammer, shared);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  objc_release(shared);
  expect(fakemetal_count("live_objects") == before, "threads share objects and have pools of their own");
}

/* ---- What has to be refused. */

static void nil_in_array(void) { array((const id[]){NULL}, 1); }
static void beyond_array(void) { send1(array(NULL, 0), "objectAtIndex:", 0); }
static void nil_added(void) { send1(send0(class_of("NSMutableArray"), "array"), "addObject:", NULL); }
static void number_in_shape(void) { send1(class_of("NSURL"), "fileURLWithPath:", integer(1)); }
static void unknown_selector(void) { send0(text("a"), "fly"); }
static void lacking_selector(void) { send0(text("a"), "uppercaseString"); }
static void unregistered(void) { ((id(*)(id, SEL))message)(text("a"), "length"); }
static void newer_selector(void) { SEND(int64_t, (id, SEL), made("MTLCompileOptions"), "mathMode"); }
static void newer_class(void) { exit(class_of("MTLArchitecture") != NULL); }
static void null_text(void) { text(NULL); }

static void nil_in_dictionary(void) {
  const id nothing[] = {NULL}, keys[] = {text("k")};
  send3(class_of("NSDictionary"), "dictionaryWithObjects:forKeys:count:", nothing, keys, 1);
}

static void nil_key(void) {
  const id nothing[] = {NULL}, values[] = {text("v")};
  send3(class_of("NSDictionary"), "dictionaryWithObjects:forKeys:count:", values, nothing, 1);
}

static void released_twice(void) {
  id o = made("NSObject");
  objc_release(o);
  objc_release(o);
}

static void used_after_release(void) {
  id o = made("NSObject");
  objc_release(o);
  send0(o, "description");
}

static void passed_after_release(void) {
  id o = made("NSMutableArray"), all = send0(class_of("NSMutableArray"), "array");
  objc_release(o);
  send1(all, "addObject:", o);
}

static void autoreleased_and_released(void) {
  void *pool = objc_autoreleasePoolPush();
  objc_release(text("a"));
  objc_autoreleasePoolPop(pool);
}

static void singleton_released(void) {
  id info = send0(class_of("NSProcessInfo"), "processInfo");
  objc_release(info);
}

static void *without_pool(void *unused) {
  text("a");
  return unused;
}

static void no_pool(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, without_pool, NULL);
  pthread_join(thread, NULL);
}

static void pools_out_of_order(void) {
  void *first = objc_autoreleasePoolPush();
  objc_autoreleasePoolPush();
  objc_autoreleasePoolPop(first);
}

static void pool_closed_twice(void) {
  void *pool = objc_autoreleasePoolPush();
  objc_autoreleasePoolPop(pool);
  objc_autoreleasePoolPop(pool);
}

static void *pop_here(void *pool) {
  objc_autoreleasePoolPop(objc_autoreleasePoolPush());
  objc_autoreleasePoolPop(pool);
  return NULL;
}

static void pool_of_another_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, pop_here, objc_autoreleasePoolPush());
  pthread_join(thread, NULL);
}

#if defined(__x86_64__) /* elsewhere one entry serves all results */
static void wrong_entry(void) { ((version(*)(id, SEL))message_stret)(text("a"), sel_registerName("length")); }
#endif

static const struct {
  const char *name, *environment, *want;
  void (*body)(void);
} rows[] = {
    {"nil in an array", NULL, "+[NSArray arrayWithObjects:count:]: attempt to insert nil object from objects[0] (NSInvalidArgumentException) (macOS 15.0, seed 1)", nil_in_array},
    {"an index beyond an array", NULL, "-[NSArray objectAtIndex:]: index 0 beyond bounds of an array of 0 (NSRangeException)", beyond_array},
    {"nil added to an array", NULL, "-[NSMutableArray addObject:]: argument addObject: is nil", nil_added},
    {"nil as a value", NULL, "attempt to insert nil object from objects[0]", nil_in_dictionary},
    {"nil as a key", NULL, "attempt to insert nil key from keys[0]", nil_key},
    {"an argument of another class", NULL, "+[NSURL fileURLWithPath:]: argument fileURLWithPath: is of class NSNumber; want NSString", number_in_shape},
    {"a selector that is not Apple's", NULL, "-[NSString fly]: unrecognized selector", unknown_selector},
    {"a selector that the fake lacks", NULL, "-[NSString uppercaseString]: Apple has such a method", lacking_selector},
    {"a selector newer than the system", "FAKEMETAL_MACOS=13.0", "-[MTLCompileOptions mathMode]: needs macOS 15.0 (macOS 13.0, seed 1)", newer_selector},
    {"a text that is NULL", NULL, "+[NSString stringWithUTF8String:]: *** NULL cString", null_text},
    {"a release too many", NULL, "objc_release: what is released is an object of class NSObject that has been released for the last time", released_twice},
    {"a message to a dead object", NULL, "description: the receiver is an object of class NSObject that has been released", used_after_release},
    {"a dead object as an argument", NULL, "argument addObject: is an object of class NSMutableArray that has been released", passed_after_release},
    {"an autoreleased object released", NULL, "objc_autoreleasePoolPop: what is released is an object of class NSString", autoreleased_and_released},
    {"a release of what belongs to Apple", NULL, "NSProcessInfo belongs to Metal and is released more often than retained", singleton_released},
    {"a thread without a pool", NULL, "an object of class NSString is autoreleased on a thread without a pool", no_pool},
    {"pools closed out of order", NULL, "objc_autoreleasePoolPop: 1 pools opened later are still open", pools_out_of_order},
    {"a pool closed twice", NULL, "the pool is closed already", pool_closed_twice},
    {"a pool of another thread", NULL, "the pool belongs to another thread", pool_of_another_thread},
    {"a selector that was not registered", NULL, "was not registered", unregistered},
#if defined(__x86_64__)
    {"objc_msgSend_stret for an integer", NULL, "-[NSString length]: answers NSUInteger; want objc_msgSend", wrong_entry},
#endif
};

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) misused(rows[i].name, rows[i].environment, rows[i].want, rows[i].body);
  lives("a class newer than the system is nil", "FAKEMETAL_MACOS=13.0", newer_class);
  try_values();
  try_messages();
  try_structs();
  try_collections();
  try_ownership();
  try_threads();
  return failures() != 0;
}
