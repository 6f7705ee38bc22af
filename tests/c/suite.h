/* suite.h - the groups of tests that suite.c runs in one process. */
#ifndef SUITE_H
#define SUITE_H

void errors_suite(void);
void devices_suite(void);
void streams_suite(void);
void tensors_suite(void);
void dlpack_suite(void);
void operators_suite(void);
void fast_suite(void);
void gradients_suite(void);
void traces_suite(void);
void models_suite(void);
void triton_suite(void);
void profile_suite(void);
void handles_suite(void);

#endif
