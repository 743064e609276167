// SPDX-License-Identifier: MIT
// What would be large of the C library and is used for next to nothing.
#include <cstdlib>

// embind names a type that was never registered by its address. Nobody else prints, and a name may as well be empty:
// 2.4 kB gzipped less. (siprintf is what the compiler makes of sprintf.)
extern "C" int sprintf(char* to, const char*, ...) { return *to = '\0'; }
extern "C" int siprintf(char* to, const char*, ...) { return *to = '\0'; }

// A trap, which JavaScript sees as a WebAssembly.RuntimeError. The library's raises a signal first.
extern "C" void abort() { __builtin_trap(); }
