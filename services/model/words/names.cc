#include "services/model/words/names.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/printable.h"

namespace tapedeck::services::model {
namespace {

constexpr size_t kMaxShown = 32;

}  // namespace

absl::Status UnknownName(absl::string_view text, absl::string_view what,
                         const std::vector<absl::string_view>& names) {
  const std::vector<absl::string_view> first(names.begin(), names.end() - 1);
  return absl::InvalidArgumentError(
      absl::StrCat("\"", dataplane::Printable(std::string(text), kMaxShown), "\" is not a ", what,
                   ": use ", absl::StrJoin(first, ", "), " or ", names.back()));
}

}  // namespace tapedeck::services::model
