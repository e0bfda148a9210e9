// A file that somebody writes in place may be read in the middle of that: a new text of it counts
// once two looks, some time apart, found the same bytes.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace tapedeck::services::identity {

// One thread.
class TwoLooks {
 public:
  // Whether the look before found the same, or failed for the same reason.
  bool Agree(const absl::StatusOr<std::string>& text) {
    const bool same =
        seen_.has_value() && seen_->status() == text.status() && (!text.ok() || **seen_ == *text);
    seen_ = text;
    return same;
  }

  // The next look is the first again.
  void Forget() { seen_.reset(); }

 private:
  std::optional<absl::StatusOr<std::string>> seen_;
};

}  // namespace tapedeck::services::identity
