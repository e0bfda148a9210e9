#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

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
  Stream stream;  // of one in parts on several nodes: empty
  const std::string& full_name() const { return stream.segments.empty() ? name : stream.name; }
  std::string text() const { return stream.segments.empty() ? name : DoneText(stream); }
};

absl::StatusOr<Found> FindToDelete(const Program& program, const RecordingChoice& choice) {
  Found found{.nodes = program, .name = "", .stream = {}};
  TD_ASSIGN_OR_RETURN(found.name, PlaceRecording(found.nodes, choice.name));
  if (NamesSeveral(found.nodes)) return found;
  const auto catalog = found.nodes.Catalog();
  TD_ASSIGN_OR_RETURN(found.stream,
                      StreamNamed(model::Use::kDelete, {found.name, choice.segment}, *catalog));
  TD_RETURN_IF_ERROR(CheckMeant(found.name, found.stream.segments.front()));
  return found;
}

absl::Status DeletePartsOf(const Found& found) {
  for (const Program& node : EachNode(found.nodes)) {
    const absl::Status deleted = node.Catalog()->DeleteRecording(found.name);
    if (deleted.ok() || absl::IsNotFound(deleted)) continue;
    return dataplane::Prefixed(absl::StrCat(node.storage, ": "), deleted);
  }
  return absl::OkStatus();
}

// Of a stream all segments, the newest first: where that is being written, none is deleted.
absl::Status DeleteFound(const Found& found) {
  if (found.stream.segments.empty()) return DeletePartsOf(found);
  const auto catalog = found.nodes.Catalog();
  std::vector<Recording> segments = found.stream.segments;
  std::ranges::reverse(segments);
  for (const Recording& segment : segments) {
    const absl::Status deleted = catalog->DeleteRecording(segment.name);
    // A ring may have been faster.
    if (!found.stream.segmented || !absl::IsNotFound(deleted)) TD_RETURN_IF_ERROR(deleted);
  }
  return absl::OkStatus();
}

// Asks where a person can answer: stdin and stderr are a terminal.
bool IsConfirmed(const DeleteOptions& options, const std::vector<Found>& all) {
  if (options.yes || isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) return true;
  for (const Found& found : all) std::cerr << dataplane::Printable(found.text()) << "\n";
  std::cerr << "Delete " << (all.size() == 1 ? "this recording" : "these recordings") << "? [y/N] "
            << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  answer = absl::AsciiStrToLower(absl::StripAsciiWhitespace(answer));
  return answer == "y" || answer == "yes";
}

// The names that were deleted, or would be: one as an object, several as a list.
Answer DoneAnswer(const char* done, const std::vector<Found>& all) {
  if (all.size() == 1) return AnswerOf(done, all.front().full_name());
  std::vector<std::string> items;
  for (const Found& found : all) items.push_back(AnswerOf(done, found.full_name()).json);
  return {absl::StrCat("[", absl::StrJoin(items, ","), "]"), items};
}

absl::Status DeleteRecordings(Program& program, const DeleteOptions& options) {
  std::vector<Found> all;
  for (const std::string& name : options.names) {
    TD_ASSIGN_OR_RETURN(Found found, FindToDelete(program, {name, options.segment}));
    all.push_back(std::move(found));
  }
  if (!options.dry_run && !IsConfirmed(options, all)) {
    return absl::CancelledError("nothing is deleted: the answer was not y");
  }
  std::vector<std::string> lines;
  for (const Found& found : all) {
    const absl::Status done = options.dry_run ? absl::OkStatus() : DeleteFound(found);
    if (!done.ok()) {
      // The error names one recording; those before it are gone.
      for (const std::string& line : lines) std::cerr << dataplane::Printable(line) << "\n";
      return done;
    }
    lines.push_back(absl::StrCat(options.dry_run ? "would delete " : "deleted ", found.text(),
                                 found.stream.segments.empty() ? " with all its parts" : ""));
  }
  program.Print(DoneAnswer(options.dry_run ? "would_delete" : "deleted", all),
                absl::StrJoin(lines, "\n"));
  return absl::OkStatus();
}

}  // namespace

void AddDeleteCommand(Command recordings, Program& program) {
  auto options = std::make_shared<DeleteOptions>();
  const Command remove =
      recordings.AddCommand("delete", "Delete recordings, of a stream all segments");
  remove.AddOption("RECORDING", options->names, kWhichRecordingOfNodes).Required();
  remove.AddOption("--segment", options->segment, "Only this segment of a stream, counted from 0");
  remove.AddFlag("--yes", options->yes, "Do not ask at a terminal");
  remove.AddFlag("--dry-run", options->dry_run, "Only show what would be deleted");
  SetRun<DeleteOptions>(remove, program, "recordings delete", options, DeleteRecordings);
}

}  // namespace tapedeck::services::tapectl
