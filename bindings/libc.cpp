// SPDX-License-Identifier: MIT
// What would be large of the C library and is used for next to nothing.

// A trap, which JavaScript sees as a WebAssembly.RuntimeError. The library's raises a signal first.
extern "C" void abort() { __builtin_trap(); }
