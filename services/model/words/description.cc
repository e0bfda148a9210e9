#include "services/model/words/description.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "services/model/words/invalid.h"

namespace tapedeck::services::model {

size_t WrittenBytes(const std::string& text) {
  size_t bytes = 0;
  for (const unsigned char c : text) bytes += c < 0x20 || c == '"' || c == '\\' ? 6 : 1;
  return bytes;
}

size_t WrittenBytes(const std::string& description, const Labels& labels) {
  size_t bytes = WrittenBytes(description);
  for (const auto& [name, value] : labels) bytes += 16 + WrittenBytes(name) + WrittenBytes(value);
  return bytes;
}

std::string LabelsProblem(const Labels& labels, const LabelLimits& limits) {
  if (labels.size() > limits.labels) return absl::StrCat("are more than ", limits.labels);
  size_t bytes = 0;
  for (const auto& [name, value] : labels) {
    bytes += name.size() + value.size();
    if (name.empty()) return "have one without a name";
    if (name.size() > kMaxLabelNameBytes) {
      return absl::StrCat("have a name longer than ", kMaxLabelNameBytes, " bytes");
    }
    if (absl::c_any_of(name, [](unsigned char c) { return absl::ascii_iscntrl(c); })) {
      return "have a name with control characters";
    }
    if (value.size() > kMaxLabelValueBytes) {
      return absl::StrCat("have one longer than ", kMaxLabelValueBytes, " bytes");
    }
  }
  return bytes > limits.bytes ? absl::StrCat("are longer than ", limits.bytes, " bytes together")
                              : "";
}

absl::Status CheckDescription(const std::string& description, const Labels& labels,
                              const LabelLimits& limits) {
  if (description.size() > kMaxDescriptionBytes) {
    return Invalid("description", absl::StrCat("is longer than ", kMaxDescriptionBytes, " bytes"));
  }
  const std::string problem = LabelsProblem(labels, limits);
  return problem.empty() ? absl::OkStatus() : Invalid("labels", problem);
}

}  // namespace tapedeck::services::model
