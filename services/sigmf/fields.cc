#include "services/sigmf/fields.h"

#include <utility>

namespace tapedeck::services::sigmf {
namespace {

constexpr size_t kMaxSigmfDepth = 32;

}  // namespace

bool SigmfFields::Read(absl::string_view text) {
  nlohmann::json_sax<nlohmann::json>* const events = this;  // they are nobody else's
  return nlohmann::json::sax_parse(text.begin(), text.end(), events);
}

bool SigmfFields::key(std::string& name) {
  if (levels_.size() == 1) section_ = name;
  key_ = name;
  return true;
}

bool SigmfFields::Begin(Level level) {
  if (levels_.empty() && level != Level::kObject) return false;
  if (!Put({.kind = SigmfValue::Kind::kOther}) || levels_.size() == kMaxSigmfDepth) return false;
  if (levels_.size() == 1 && section_ == "global") has_global = level == Level::kObject;
  levels_.push_back(level);
  return true;
}

bool SigmfFields::End() {
  levels_.pop_back();
  return true;
}

SigmfValue* SigmfFields::Wanted() {
  if (key_ == "core:datatype") return &datatype;
  if (key_ == "core:num_channels") return &channels;
  if (key_ == "core:metadata_only") return &metadata_only;
  if (key_ == "core:dataset") return &dataset;
  if (key_ == "core:trailing_bytes") return &trailing_bytes;
  return nullptr;
}

bool SigmfFields::Put(SigmfValue value) {
  if (levels_.empty()) return value.kind == SigmfValue::Kind::kOther;
  if (levels_.size() == 2 && section_ == "global" && levels_[1] == Level::kObject) {
    if (SigmfValue* wanted = Wanted(); wanted != nullptr) *wanted = std::move(value);
  } else if (levels_.size() == 3 && section_ == "captures" && levels_[1] == Level::kList &&
             levels_[2] == Level::kObject && key_ == "core:header_bytes") {
    captures_have_headers = captures_have_headers || value.is_positive();
  }
  return true;
}

}  // namespace tapedeck::services::sigmf
