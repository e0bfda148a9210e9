// Addresses that somebody outside may make this node call or send to, as its options have them:
// HOST:PORT, with * for any run of characters.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::identity {

// At most so many of one option.
inline constexpr size_t kMaxAddressPatterns = 64;

// A value. Any thread.
class AddressPatterns {
 public:
  // None.
  AddressPatterns() = default;
  static AddressPatterns Any();
  // Those of an option, which errors name. INVALID_ARGUMENT.
  static absl::StatusOr<AddressPatterns> Parse(absl::string_view option,
                                               const std::vector<std::string>& patterns);
  // One of them.
  static absl::Status CheckPattern(const std::string& pattern);

  // Whether one of them is `address`, HOST:PORT; letters of either case are the same, and no name
  // is looked up.
  bool Fit(const std::string& address) const;

  // "any", "none", or the patterns, for the log and for errors.
  std::string Described() const;
  bool any() const { return any_; }

 private:
  bool any_ = false;
  std::vector<std::string> patterns_;  // in small letters
};

// Whether a pattern fits a name: * is any run of characters but '/', ** any run of characters,
// everything else is itself. Takes at most the product of the lengths in steps, whatever the
// pattern is.
bool Matches(absl::string_view pattern, absl::string_view text);

}  // namespace tapedeck::services::identity
