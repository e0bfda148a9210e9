#include "services/tapectl/jobs/stage_option.h"

#include <filesystem>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::tapectl {
namespace {

bool IsWord(absl::string_view text) {
  const auto may_be = [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-'; };
  return !text.empty() && absl::ascii_isalpha(text.front()) && absl::c_all_of(text, may_be);
}

absl::Status NotOfForm(absl::string_view text, absl::string_view form) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" must be ", form));
}

absl::StatusOr<StageSpec> Parse(absl::string_view text, absl::string_view form) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  StageSpec stage{.name = std::string(parts.first)};
  if (!IsWord(parts.first)) return NotOfForm(text, form);
  if (parts.first.size() == text.size()) return stage;
  std::string key;
  for (const absl::string_view piece : absl::StrSplit(parts.second, ',')) {
    const std::pair<absl::string_view, absl::string_view> setting =
        absl::StrSplit(piece, absl::MaxSplits('=', 1));
    const bool begins = setting.first.size() != piece.size();
    if (begins && IsWord(setting.first)) {
      key = std::string(setting.first);
      TD_RETURN_IF_ERROR(SetParameter(stage, key, std::string(setting.second)));
    } else if (!begins && !key.empty()) {
      absl::StrAppend(&std::get<std::string>(stage.parameters[key]), ",", piece);
    } else {
      return NotOfForm(text, form);
    }
  }
  return stage;
}

}  // namespace

absl::StatusOr<StageSpec> ParseStage(absl::string_view text) { return Parse(text, kStageForm); }

absl::StatusOr<StageSpec> ParseEnd(absl::string_view text) {
  if (text == kPipeEnd) return StageSpec{.name = kPipeEnd};
  absl::string_view path = text;
  if (!absl::ConsumePrefix(&path, "file:")) {
    return text == "file" ? NotOfForm(text, kEndForm) : Parse(text, kEndForm);
  }
  if (path.empty()) return NotOfForm(text, kEndForm);
  const std::filesystem::path absolute = std::filesystem::absolute(std::string(path));
  return StageSpec{.name = "file", .parameters = {{"path", absolute.lexically_normal().string()}}};
}

absl::Status SetParameter(StageSpec& stage, const std::string& name, ParameterValue value) {
  if (stage.parameters.emplace(name, std::move(value)).second) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the ", name, " of ", stage.name, " is given twice"));
}

}  // namespace tapedeck::services::tapectl
