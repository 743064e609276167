// SPDX-License-Identifier: MIT
#include "tierlimit/bucket_table.hpp"

namespace tierlimit {

// Compiled here alone, for size in the WebAssembly module; what finds a slot is inline where it is used.
template class FingerprintTable<Slot>;

}  // namespace tierlimit
