// SPDX-License-Identifier: MIT
// embind names a type that was never registered by its address, through sprintf: nobody else here prints, and the C
// library's is 1.9 kB gzipped. Without this the name is empty instead.
extern "C" int sprintf(char* to, const char*, ...) { return *to = '\0'; }
extern "C" int siprintf(char* to, const char*, ...) { return *to = '\0'; }  // what the compiler makes of it
