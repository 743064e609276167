// SPDX-License-Identifier: MIT
/// \file
/// `PolicySet::from_json` into what there is, without a Result: moving a whole set in and out of one is code too.
#pragma once

#include <string_view>

#include "tierlimit/policy_set.hpp"

namespace tierlimit {

/// Reads a document into `set`, which is empty, and whose names are views of the text afterwards. False when it is
/// refused, for the reasons in `errors`, empty before.
[[nodiscard]] bool read_policies(std::string_view text, bool strict, PolicySet& set, List<Error>& errors);

/// The reason of a document for which there is no memory.
void add_document_too_large(List<Error>& errors);

}  // namespace tierlimit
