#include "gpu_worker/stages/file/sigmf.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/file/errors.h"
#include "gpu_worker/stages/file/input_file.h"

namespace tapedeck::gpu_worker::stages::file {
namespace {

using nlohmann::json;

// Hundreds of thousands of annotations.
constexpr uint64_t kMaxMetaBytes = 64 << 20;
constexpr char kMetaSuffix[] = ".sigmf-meta";

absl::StatusOr<json> ParseFile(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const std::string text, ReadText(path, kMaxMetaBytes));
  json parsed = json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded() || !parsed.is_object()) return Invalid(path, "not a JSON object");
  return parsed;
}

// The captures' entry `key` is a positive number somewhere.
bool AnyCaptureHas(const json& meta, const char* key) {
  const auto captures = meta.find("captures");
  if (captures == meta.end() || !captures->is_array()) return false;
  for (const json& capture : *captures) {
    if (!capture.is_object() || !capture.contains(key)) continue;
    const json& value = capture[key];
    if (value.is_number_unsigned() && value.get<uint64_t>() > 0) return true;
  }
  return false;
}

absl::StatusOr<std::string> DataPath(const std::string& path, const json& global) {
  if (!global.contains("core:dataset")) {
    return absl::StrCat(absl::StripSuffix(path, kMetaSuffix), ".sigmf-data");
  }
  const json& dataset = global["core:dataset"];
  if (!dataset.is_string()) return Invalid(path, "core:dataset is not a string");
  const std::string& name = dataset.get_ref<const std::string&>();
  // SigMF: a file name in the same directory. A path would read any file of the worker.
  if (name.empty() || name.find('/') != std::string::npos) {
    return Invalid(path, "core:dataset is not the name of a file beside it");
  }
  return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace

bool IsSigmfMeta(absl::string_view path) { return absl::EndsWith(path, kMetaSuffix); }

absl::StatusOr<SigmfRecording> ReadSigmfMeta(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const json meta, ParseFile(path));
  const auto global = meta.find("global");
  if (global == meta.end() || !global->is_object()) return Invalid(path, "no object \"global\"");
  const auto datatype = global->find("core:datatype");
  if (datatype == global->end() || !datatype->is_string()) {
    return Invalid(path, "no string core:datatype");
  }
  SigmfRecording out{.datatype = datatype->get<std::string>()};
  if (global->contains("core:num_channels")) {
    const json& channels = (*global)["core:num_channels"];
    if (!channels.is_number_unsigned() || channels.get<uint64_t>() == 0) {
      return Invalid(path, "core:num_channels is not a positive number");
    }
    out.channels = channels.get<uint64_t>();
  }
  const auto only = global->find("core:metadata_only");
  if (only != global->end() && only->is_boolean() && only->get<bool>()) {
    return Invalid(path, "core:metadata_only: there are no samples");
  }
  TD_ASSIGN_OR_RETURN(out.data_path, DataPath(path, *global));
  const auto trailing = global->find("core:trailing_bytes");
  out.has_foreign_bytes = AnyCaptureHas(meta, "core:header_bytes") ||
                          (trailing != global->end() && trailing->is_number_unsigned() &&
                           trailing->get<uint64_t>() > 0);
  return out;
}

}  // namespace tapedeck::gpu_worker::stages::file
