#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/printable.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/site/names.h"
#include "services/site/node_lists.h"
#include "services/site/several_nodes.h"
#include "services/site/streams.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {
namespace {

struct DeleteOptions {
  std::vector<std::string> names;
  std::optional<uint64_t> segment;
  bool yes = false;
  bool dry_run = false;
};

// A recording that was found, and the nodes that have it.
struct Found {
  Program nodes;
  std::string name;
  Stream stream;     // of one in parts on several nodes: empty
  std::string node;  // before its name, where several were asked; else empty
  bool in_parts() const { return stream.segments.empty(); }
  const std::string& full_name() const { return in_parts() ? name : stream.name; }
  std::string placed(absl::string_view text) const {
    return node.empty() ? std::string(text) : absl::StrCat(node, "/", text);
  }
  // What is deleted, as a person reads it.
  std::string text() const {
    return in_parts() ? absl::StrCat(ShortName(name), " with all its parts")
                      : placed(DoneText(stream));
  }
};

absl::Status CheckIsNotWritten(const Recording& recording) {
  if (recording.state != RecordingState::kRecording) return absl::OkStatus();
  return RecordingBusy(recording.name, model::NameOf(recording.state),
                       absl::StrCat(recording.name, " is being recorded"));
}

// A node may have no part of it.
absl::Status CheckPartsAreNotWritten(const Found& found) {
  for (const Program& node : EachNode(found.nodes)) {
    const absl::StatusOr<Recording> part = node.Catalog()->GetRecording(found.name);
    if (absl::IsNotFound(part.status())) continue;
    TD_RETURN_IF_ERROR(dataplane::Prefixed(absl::StrCat(node.storage, ": "),
                                           part.ok() ? CheckIsNotWritten(*part) : part.status()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Found> FindToDelete(const Program& program, const RecordingChoice& choice) {
  Found found{.nodes = program, .name = "", .stream = {}, .node = ""};
  TD_ASSIGN_OR_RETURN(found.name, PlaceRecording(found.nodes, choice.name, Asked::kAll));
  if (NamesSeveral(found.nodes)) {
    if (choice.segment.has_value()) {
      return ArgumentInvalid("segment", absl::StrCat(found.name,
                                                     " is in parts, and its segments are "
                                                     "deleted together"));
    }
    TD_RETURN_IF_ERROR(CheckPartsAreNotWritten(found));
    return found;
  }
  if (NamesSeveral(program)) found.node = found.nodes.storage;
  const auto catalog = found.nodes.Catalog();
  TD_ASSIGN_OR_RETURN(found.stream,
                      StreamThere(model::Use::kDelete, {found.name, choice.segment}, *catalog));
  TD_RETURN_IF_ERROR(CheckMeant(found.name, found.stream.segments.front()));
  for (const Recording& segment : found.stream.segments) {
    TD_RETURN_IF_ERROR(CheckIsNotWritten(segment));
  }
  return found;
}

// A name that is given twice, or a stream and one of its segments: the first has the name of the
// stream, so that a list of segments would delete all of them.
absl::Status CheckNoneTwice(const std::vector<Found>& all) {
  std::set<std::string> names;
  for (const Found& found : all) {
    if (found.in_parts() && !names.insert(found.name).second) {
      return ArgumentInvalid("recording", absl::StrCat(found.name, " is named twice"));
    }
    for (const Recording& segment : found.stream.segments) {
      const std::string name = found.placed(segment.name);
      if (names.insert(name).second) continue;
      return ArgumentInvalid(
          "recording",
          absl::StrCat(name,
                       " is named twice, by itself or as a segment of its stream; the name of "
                       "a stream means all its segments, and --segment one of them"));
    }
  }
  return absl::OkStatus();
}

absl::Status DeletePartsOf(const Found& found) {
  std::vector<std::string> gone;
  for (const Program& node : EachNode(found.nodes)) {
    const absl::Status deleted = node.Catalog()->DeleteRecording(found.name);
    if (deleted.ok()) gone.push_back(node.storage);
    if (deleted.ok() || absl::IsNotFound(deleted)) continue;
    const std::string before =
        gone.empty() ? ""
                     : absl::StrCat("its parts on ", absl::StrJoin(gone, ", "), " are deleted; ");
    return dataplane::Prefixed(absl::StrCat(found.name, ": ", before, node.storage, ": "), deleted);
  }
  return absl::OkStatus();
}

// Of a stream all segments, the newest first: where that is being written, none is deleted. What
// went is left in `found`.
absl::Status DeleteFound(Found& found) {
  if (found.in_parts()) return DeletePartsOf(found);
  const auto catalog = found.nodes.Catalog();
  std::vector<Recording> gone;
  absl::Status status;
  for (auto at = found.stream.segments.rbegin(); at != found.stream.segments.rend(); ++at) {
    status = catalog->DeleteRecording(at->name);
    if (status.ok()) gone.push_back(*at);
    // A ring may have been faster.
    if (found.stream.segmented && absl::IsNotFound(status)) status = absl::OkStatus();
    if (!status.ok()) break;
  }
  if (!status.ok() && !gone.empty()) {
    status = dataplane::Prefixed(
        absl::StrCat(gone.size(), " segments of ", found.stream.name, " are deleted; "), status);
  }
  if (status.ok() && found.stream.segmented) found.stream.segments = std::move(gone);
  return status;
}

// At a terminal a person is asked, wherever the other streams go. Elsewhere a stream, whose name is
// that of a segment, needs --yes.
absl::Status CheckConfirmed(const DeleteOptions& options, const std::vector<Found>& all) {
  if (options.yes || options.dry_run) return absl::OkStatus();
  if (isatty(STDIN_FILENO) != 1) {
    const auto stream = std::ranges::find_if(
        all, [](const Found& found) { return found.stream.segments.size() > 1; });
    if (stream == all.end()) return absl::OkStatus();
    return ArgumentInvalid(
        "yes", absl::StrCat(stream->full_name(), " is a stream of ", stream->stream.segments.size(),
                            " segments: give --yes to delete all of them, or "
                            "--segment N for one"));
  }
  std::ofstream terminal("/dev/tty");
  std::ostream& out = terminal.is_open() ? terminal : std::cerr;
  for (const Found& found : all) out << dataplane::Printable(found.text()) << "\n";
  out << "Delete " << (all.size() == 1 ? "this recording" : "these recordings") << "? [y/N] "
      << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  answer = absl::AsciiStrToLower(absl::StripAsciiWhitespace(answer));
  if (answer == "y" || answer == "yes") return absl::OkStatus();
  return absl::CancelledError("nothing is deleted: the answer was not y");
}

absl::Status DeleteRecordings(Program& program, const DeleteOptions& options) {
  std::vector<Found> all;
  for (const std::string& name : options.names) {
    TD_ASSIGN_OR_RETURN(Found found, FindToDelete(program, {name, options.segment}));
    all.push_back(std::move(found));
  }
  TD_RETURN_IF_ERROR(CheckNoneTwice(all));
  TD_RETURN_IF_ERROR(CheckConfirmed(options, all));
  const char* const done = options.dry_run ? "would_delete" : "deleted";
  std::vector<std::string> names;
  absl::Status status;
  for (Found& found : all) {
    if (!options.dry_run) status = DeleteFound(found);
    if (!status.ok()) break;
    names.push_back(found.full_name());
    if (program.json()) continue;
    // At once: whoever interrupts this sees what is gone.
    std::cout << (options.dry_run ? "would delete " : "deleted ")
              << dataplane::Printable(found.text()) << std::endl;
  }
  if (!program.json()) return status;
  program.failure_printed = true;
  program.Print(AnswerOf(done, all.size(), names, status), std::string());
  return status;
}

}  // namespace

void AddDeleteCommand(Command recordings, Program& program) {
  auto options = std::make_shared<DeleteOptions>();
  const Command remove =
      recordings.AddCommand("delete", "Delete recordings, of a stream all segments");
  remove.AddOption("RECORDING", options->names, kWhichRecordingOfNodes).Required();
  remove.AddOption("--segment", options->segment, "Only this segment of a stream, counted from 0");
  remove.AddFlag("--yes", options->yes,
                 "Do not ask. Without a terminal, a stream of several segments needs it");
  remove.AddFlag("--dry-run", options->dry_run, "Only show what would be deleted");
  SetRun<DeleteOptions>(remove, program, "recordings delete", options, DeleteRecordings);
}

}  // namespace tapedeck::services::tapectl
