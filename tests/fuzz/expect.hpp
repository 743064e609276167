// SPDX-License-Identifier: MIT
/// \file
/// What must be true of every input: libFuzzer keeps the one for which it is not.
#pragma once

#include <cstdio>
#include <cstdlib>

#define EXPECT(condition)                                                           \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                 \
    }                                                                               \
  } while (false)
