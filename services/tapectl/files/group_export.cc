#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/files/errors.h"
#include "services/base/files/input_file.h"
#include "services/base/files/part_file.h"
#include "services/formats/io/output.h"
#include "services/formats/io/stream.h"
#include "services/signal/sigmf/collection.h"
#include "services/site/names.h"
#include "services/tapectl/files/exporting.h"
#include "services/tapectl/jobs/group_names.h"

namespace tapedeck::services::tapectl {
namespace {

// Longer than any that is written here.
constexpr uint64_t kMaxMetaBytes = 32 << 20;
constexpr char kSuffix[] = ".sigmf-collection";

absl::Status CheckFormat(const ExportOptions& options) {
  if (!options.choice.name.empty() || options.choice.segment.has_value()) {
    return absl::InvalidArgumentError("give either --group or a RECORDING");
  }
  if (options.to == formats::kStandard) {
    return absl::InvalidArgumentError("a group becomes several files: give --to a folder");
  }
  if (options.format == "sigmf") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a group becomes a SigMF collection: give --format sigmf, not ", options.format));
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return absl::OkStatus();
  return ArgumentInvalid("to", absl::StrCat(path, ": ", strerror(errno)));
}

absl::Status Write(const std::string& path, const std::string& text) {
  TD_ASSIGN_OR_RETURN(const auto part, files::PartFile::Create(path, /*replace=*/false));
  formats::Output out(part->path(), part->fd(), 0);
  TD_RETURN_IF_ERROR(out.Put(text));
  return part->Publish();
}

std::string TextOf(const std::string& file, const std::vector<FileAnswer>& answers) {
  std::string text = absl::StrCat(file, ", ", answers.size(), " streams");
  for (const FileAnswer& one : answers) {
    absl::StrAppend(&text, "\n", ShortName(one.recording), " -> ", one.file, ", ", one.samples,
                    " samples");
    absl::StrAppend(&text, MissingText(one));
  }
  return text;
}

}  // namespace

absl::Status ExportGroup(Program& program, InterruptWatch& interrupt,
                         const ExportOptions& options) {
  TD_RETURN_IF_ERROR(CheckFormat(options));
  TD_ASSIGN_OR_RETURN(const std::vector<GroupRecording> members, FindGroup(program, options.group));
  const std::string& group = members.front().member.name;
  const std::string folder(absl::StripSuffix(options.to, "/"));
  TD_RETURN_IF_ERROR(MakeFolder(folder));
  sigmf::Collection collection{
      .description = absl::StrCat("Group ", group,
                                  ", recorded on one clock: sample k of each "
                                  "stream was due at the same time"),
      .group = members.front().recording.group};
  std::vector<FileAnswer> answers;
  for (const GroupRecording& found : members) {
    ExportOptions one = options;
    const std::string name = absl::StrCat(group, "-", found.member.number);
    one.choice.name = found.recording.name;
    one.to = absl::StrCat(folder, "/", name);
    one.collection = group;
    TD_ASSIGN_OR_RETURN(FileAnswer answer, ExportOne(found.node, interrupt, one));
    TD_ASSIGN_OR_RETURN(std::string meta,
                        files::ReadText(absl::StrCat(one.to, ".sigmf-meta"), kMaxMetaBytes));
    collection.streams.push_back({.name = name, .meta = std::move(meta)});
    answers.push_back(std::move(answer));
  }
  const std::string file = absl::StrCat(folder, "/", group, kSuffix);
  TD_RETURN_IF_ERROR(Write(file, sigmf::Encode(collection)));
  program.Print(AnswerOf(file, answers), TextOf(file, answers));
  return absl::OkStatus();
}

}  // namespace tapedeck::services::tapectl
