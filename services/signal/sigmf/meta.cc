#include "services/signal/sigmf/meta.h"

#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/signal/sigmf/core_keys.h"
#include "services/signal/sigmf/placed_json.h"

namespace tapedeck::services::sigmf {

using files::Invalid;

namespace {

absl::StatusOr<std::string> DataPath(const std::string& path, const nlohmann::json& global) {
  const auto name = TextIn(global, "core:dataset");
  if (!name.has_value()) return absl::StrCat(absl::StripSuffix(path, kMetaSuffix), kDataSuffix);
  // SigMF: a file name in the same directory. A path would read any file of the worker.
  if (name->empty() || *name == "." || *name == ".." ||
      name->find_first_of(std::string("/\0", 2)) != std::string::npos) {
    return Invalid(path, "global.core:dataset is not the name of a file beside it");
  }
  return path.substr(0, path.rfind('/') + 1) + *name;
}

}  // namespace

bool IsSigmfMeta(absl::string_view path) { return absl::EndsWith(path, kMetaSuffix); }

absl::StatusOr<SigmfRecording> ReadSigmfMeta(const files::InputFile& file) {
  TD_ASSIGN_OR_RETURN(const std::string text, files::ReadText(file, kMaxMetaBytes));
  return ParseSigmfMeta(file.path, text);
}

absl::StatusOr<SigmfRecording> ParseSigmfMeta(const std::string& path, const std::string& text) {
  SigmfRecording out{.path = path};
  TD_ASSIGN_OR_RETURN(out.object, ParsePlaced(path, text));
  TD_RETURN_IF_ERROR(CheckCoreKeys(path, out.object));
  const nlohmann::json& global = out.object["global"];
  out.datatype = *TextIn(global, "core:datatype");
  out.channels = CountIn(global, "core:num_channels").value_or(1);
  if (global.value("core:metadata_only", nlohmann::json()) == true) {
    return Invalid(path, "global.core:metadata_only: there are no samples");
  }
  TD_ASSIGN_OR_RETURN(out.data_path, DataPath(path, global));
  return out;
}

}  // namespace tapedeck::services::sigmf
