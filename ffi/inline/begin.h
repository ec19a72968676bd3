/* Begins what is compiled in every program: the rest of the header, which TIMELINE_NO_INLINE leaves out. */
#ifndef TIMELINE_NO_INLINE
#define TIMELINE_NO_INLINE

#if defined(__GNUC__)
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif
