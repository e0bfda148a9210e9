#include "services/sigmf/meta.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"
#include "services/files/input_file.h"
#include "services/sigmf/fields.h"

namespace tapedeck::services::sigmf {

using files::Invalid;

namespace {

// Hundreds of thousands of annotations.
constexpr uint64_t kMaxMetaBytes = 64 << 20;
constexpr char kMetaSuffix[] = ".sigmf-meta";

absl::StatusOr<std::string> DataPath(const std::string& path, const SigmfValue& dataset) {
  if (dataset.absent()) {
    return absl::StrCat(absl::StripSuffix(path, kMetaSuffix), ".sigmf-data");
  }
  if (!dataset.is_text()) return Invalid(path, "core:dataset is not a string");
  const std::string& name = dataset.text;
  // SigMF: a file name in the same directory. A path would read any file of the worker.
  if (name.empty() || name == "." || name == ".." ||
      name.find_first_of(std::string("/\0", 2)) != std::string::npos) {
    return Invalid(path, "core:dataset is not the name of a file beside it");
  }
  return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace

bool IsSigmfMeta(absl::string_view path) { return absl::EndsWith(path, kMetaSuffix); }

absl::StatusOr<SigmfRecording> ReadSigmfMeta(const files::InputFile& file) {
  TD_ASSIGN_OR_RETURN(const std::string text, files::ReadText(file, kMaxMetaBytes));
  return ParseSigmfMeta(file.path, text);
}

absl::StatusOr<SigmfRecording> ParseSigmfMeta(const std::string& path, absl::string_view text) {
  SigmfFields meta;
  if (!meta.Read(text)) return Invalid(path, "not a JSON object");
  if (!meta.has_global) return Invalid(path, "no object \"global\"");
  if (!meta.datatype.is_text()) return Invalid(path, "no string core:datatype");
  SigmfRecording out{.datatype = meta.datatype.text};
  if (!meta.channels.absent()) {
    if (!meta.channels.is_positive()) {
      return Invalid(path, "core:num_channels is not a positive number");
    }
    out.channels = meta.channels.number;
  }
  if (meta.metadata_only.flag) return Invalid(path, "core:metadata_only: there are no samples");
  TD_ASSIGN_OR_RETURN(out.data_path, DataPath(path, meta.dataset));
  out.has_foreign_bytes = meta.captures_have_headers || meta.trailing_bytes.is_positive();
  return out;
}

}  // namespace tapedeck::services::sigmf
