// SPDX-License-Identifier: MIT
#pragma once

namespace tierlimit {

/// Products of two 64-bit numbers. Every compiler we build with has it, though ISO C++ does not.
__extension__ using Wide = unsigned __int128;

}  // namespace tierlimit
