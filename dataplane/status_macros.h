// The two error-propagation macros of the code base; Debian's Abseil ships none.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define TD_RETURN_IF_ERROR(expr)                                            \
  do {                                                                      \
    if (absl::Status td_status = (expr); !td_status.ok()) return td_status; \
  } while (false)

#define TD_CONCAT_INNER(a, b) a##b
#define TD_CONCAT(a, b) TD_CONCAT_INNER(a, b)

// TD_ASSIGN_OR_RETURN(auto file, OpenFile(path));
#define TD_ASSIGN_OR_RETURN(lhs, expr) \
  TD_ASSIGN_OR_RETURN_INNER(TD_CONCAT(td_result_, __LINE__), lhs, expr)
#define TD_ASSIGN_OR_RETURN_INNER(result, lhs, expr)   \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = std::move(result).value()
