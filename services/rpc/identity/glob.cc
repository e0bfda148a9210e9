#include "services/rpc/identity/glob.h"

#include <vector>

namespace tapedeck::services::identity {

// `at[i]`: what of the pattern has been looked at can be the first i characters of the text.
bool Matches(absl::string_view pattern, absl::string_view text) {
  std::vector<bool> at(text.size() + 1, false);
  at[0] = true;
  for (size_t p = 0; p < pattern.size(); ++p) {
    if (pattern[p] != '*') {
      for (size_t i = text.size(); i > 0; --i) at[i] = at[i - 1] && text[i - 1] == pattern[p];
      at[0] = false;
      continue;
    }
    const bool across = pattern.substr(p, 2) == "**";
    if (across) ++p;
    for (size_t i = 1; i <= text.size(); ++i) {
      if (at[i - 1] && (across || text[i - 1] != '/')) at[i] = true;
    }
  }
  return at[text.size()];
}

}  // namespace tapedeck::services::identity
