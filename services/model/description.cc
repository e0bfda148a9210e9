#include "services/model/description.h"

#include "absl/strings/str_cat.h"
#include "services/model/invalid.h"

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

absl::Status CheckDescription(const std::string& description, const Labels& labels,
                              const LabelLimits& limits) {
  if (description.size() > kMaxDescriptionBytes) {
    return Invalid("description", absl::StrCat("is longer than ", kMaxDescriptionBytes, " bytes"));
  }
  if (labels.contains("")) return Invalid("labels", "have one without a name");
  if (labels.size() > limits.labels) {
    return Invalid("labels", absl::StrCat("are more than ", limits.labels));
  }
  if (LabelBytes(labels) > limits.bytes) {
    return Invalid("labels", absl::StrCat("are longer than ", limits.bytes, " bytes together"));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::model
