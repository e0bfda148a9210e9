// Which words somebody may have meant who misspelt one. Any thread; nothing fails.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tapedeck::services::command_line {

// How many letters to add, leave out or exchange, or neighbours to swap, make one word the other;
// no letter is touched twice. Takes the product of their lengths in steps.
size_t EditDistance(absl::string_view one, absl::string_view other);

// Those of `words` that `typed` comes nearest to, at most three, in their order; none if more than
// a third of the letters would have to change. The beginning of a word is as near as one wrong
// letter. Capitals and the dashes of options make no difference. What is longer than any word of
// ours is not looked at.
std::vector<std::string> Nearest(absl::string_view typed, const std::vector<std::string>& words);

// `did you mean "a", "b" or "c"?`, or nothing for no words.
std::string DidYouMean(const std::vector<std::string>& words);

}  // namespace tapedeck::services::command_line
