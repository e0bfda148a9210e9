#include "services/rpc/convert/remedies.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tapedeck/v1/errors.pb.h"
#include "tapedeck/v1/reason_option.pb.h"

namespace tapedeck::services::convert {
namespace {

// Markdown without its marks: `code` is code, [words](address) are words.
std::string Plain(absl::string_view markdown) {
  std::string text;
  for (size_t open = markdown.find("]("); open != markdown.npos; open = markdown.find("](")) {
    absl::StrAppend(&text, markdown.substr(0, open));
    markdown.remove_prefix(markdown.find(')', open) + 1);
  }
  absl::StrAppend(&text, markdown);
  return absl::StrReplaceAll(text, {{"`", ""}, {"[", ""}});
}

std::vector<Remedy> ReadRemedies() {
  std::vector<Remedy> remedies;
  const auto* reasons = v1::ErrorReason_descriptor();
  for (int i = 1; i < reasons->value_count(); ++i) {
    const auto& reason = reasons->value(i)->options().GetExtension(v1::reason);
    const std::string name(absl::StripPrefix(reasons->value(i)->name(), "ERROR_REASON_"));
    for (const v1::RemedyCase& one : reason.cases()) {
      remedies.push_back({.reason = name,
                          .commands = {one.commands().begin(), one.commands().end()},
                          .side = static_cast<Side>(one.side()),
                          .metadata = one.metadata(),
                          .text = Plain(one.text())});
    }
    if (!reason.in_text()) remedies.push_back({.reason = name, .text = Plain(reason.remedy())});
  }
  return remedies;
}

}  // namespace

const std::vector<Remedy>& Remedies() {
  static const auto* const kAll = new std::vector<Remedy>(ReadRemedies());
  return *kAll;
}

}  // namespace tapedeck::services::convert
