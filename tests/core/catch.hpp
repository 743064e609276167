// SPDX-License-Identifier: MIT
/// \file
/// Catch2, whichever of its two layouts is installed.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>  // 3
#else
#include <catch2/catch.hpp>  // 2
#endif
