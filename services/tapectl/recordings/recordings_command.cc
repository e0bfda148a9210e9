#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/site/names.h"
#include "services/site/node_lists.h"
#include "services/site/positions.h"
#include "services/site/several_nodes.h"
#include "services/site/streams.h"
#include "services/site/units.h"
#include "services/tapectl/jobs/group_names.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/field_options.h"
#include "services/tapectl/program/lists.h"

namespace tapedeck::services::tapectl {
namespace {

Row RowOf(const Recording& recording) {
  return {recording.name,
          std::string(model::NameOf(recording.state)),
          absl::StrCat(recording.blocks),
          FormatBytes(recording.bytes),
          absl::StrCat(recording.missing_blocks),
          FormatTime(recording.start_time_ns)};
}

// A stream in segments is one row, and so is a recording in parts.
void PrintStreams(Program& program, const std::vector<JoinedParts>& joined) {
  std::vector<Recording> recordings;
  std::map<std::string, std::string> parts;  // by name
  for (const JoinedParts& one : joined) {
    recordings.push_back(one.recording);
    parts[one.recording.name] = one.PartsText();
  }
  const std::vector<Stream> streams = StreamsOf(recordings);
  std::vector<Row> rows;
  for (const Stream& stream : streams) {
    rows.push_back(RowOf(Joined(stream)));
    rows.back().push_back(KeptText(stream));
    rows.back().push_back(stream.segmented ? SegmentsText(stream) : parts[stream.name]);
  }
  program.Print(AnswerOf(streams),
                {"NAME", "STATE", "BLOCKS", "SIZE", "MISSING", "START", "KEPT", "SEGMENTS"}, rows);
}

void PrintSegments(Program& program, const std::vector<Recording>& recordings) {
  std::vector<Row> rows;
  for (const Recording& recording : recordings) {
    rows.push_back(RowOf(recording));
    rows.back().push_back(KeptText(model::Alone(recording)));
    rows.back().push_back(
        recording.stream.empty() ? "-" : absl::StrCat(recording.segment, " of ", recording.stream));
  }
  program.Print(AnswerOf(recordings),
                {"NAME", "STATE", "BLOCKS", "SIZE", "MISSING", "START", "KEPT", "SEGMENT"}, rows);
}

// What each node has of it.
std::vector<Recording> PartsNamed(const Program& program, const std::string& name) {
  std::vector<Recording> parts;
  for (const Program& node : EachNode(program)) {
    const auto part = node.Catalog()->GetRecording(name);
    if (part.ok()) parts.push_back(*part);
  }
  return parts;
}

// Where it begins among the samples of its session: a segment and a capture begin behind others. Of
// one without a block, and of a part, which has some samples of the whole, it is not known.
std::optional<uint64_t> FirstSampleIn(ViewControl& view, const Recording& recording) {
  if (recording.part.has_value()) return std::nullopt;
  const auto timeline = view.GetTimeline(recording.name);
  return timeline.ok() ? FirstSampleOf(*timeline) : std::nullopt;
}

absl::Status ShowRecording(Program& program, const RecordingChoice& choice) {
  TD_ASSIGN_OR_RETURN(const std::string name, PlaceRecording(program, choice.name));
  if (NamesSeveral(program)) {
    const std::vector<JoinedParts> all = JoinParts(PartsNamed(program, name));
    if (all.empty()) return RecordingNotFound(name, absl::StrCat(name, ": no node has a part"));
    const JoinedParts& joined = all.front();
    std::vector<Row> rows =
        FieldsOf(Stream{.name = joined.recording.name, .segments = {joined.recording}});
    rows.push_back({"parts", joined.PartsText()});
    program.Print(AnswerOf(joined.recording, std::nullopt), {"FIELD", "VALUE"}, rows);
    return absl::OkStatus();
  }
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(Stream stream,
                      StreamThere(model::Use::kShow, {name, choice.segment}, *catalog));
  Recording& recording = stream.segments.front();
  const auto view = program.View();
  // What the view cannot tell is left out, as the first sample is.
  if (!stream.segmented) AddLasting(*catalog, *view, &recording).IgnoreError();
  std::vector<Row> rows = FieldsOf(stream);
  const std::optional<uint64_t> first = FirstSampleIn(*view, recording);
  if (first.has_value()) rows.push_back({"first_sample", absl::StrCat(*first)});
  program.Print(stream.segmented ? AnswerOf(stream, first) : AnswerOf(recording, first),
                {"FIELD", "VALUE"}, rows);
  return absl::OkStatus();
}

struct RecordingOptions {
  RecordingChoice choice;
  RecordingUpdate fields;
};

// Of a stream each segment.
absl::Status UpdateRecording(Program& program, const RecordingOptions& options) {
  RecordingUpdate update = options.fields;
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(Stream stream, StreamNamed(model::Use::kUpdate, options.choice, *catalog));
  TD_RETURN_IF_ERROR(CheckNamed(options.choice.name, stream.segments.front()));
  for (Recording& segment : stream.segments) {
    update.name = segment.name;
    TD_ASSIGN_OR_RETURN(segment, catalog->UpdateRecording(update));
  }
  program.Print(stream.segmented ? AnswerOf(stream) : AnswerOf(stream.segments.front()),
                absl::StrCat("changed ", DoneText(stream)));
  return absl::OkStatus();
}

absl::Status DeleteParts(Program& program, const std::string& name) {
  for (const Program& node : EachNode(program)) {
    const absl::Status deleted = node.Catalog()->DeleteRecording(name);
    if (deleted.ok() || absl::IsNotFound(deleted)) continue;
    return dataplane::Prefixed(absl::StrCat(node.storage, ": "), deleted);
  }
  program.Print(AnswerOf("deleted", name), absl::StrCat("deleted ", name, " with all its parts"));
  return absl::OkStatus();
}

// Of a stream all segments, the newest first: where that is being written, none is deleted.
absl::Status DeleteRecording(Program& program, const RecordingChoice& choice) {
  TD_ASSIGN_OR_RETURN(const std::string name, PlaceRecording(program, choice.name));
  if (NamesSeveral(program)) return DeleteParts(program, name);
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(Stream stream,
                      StreamNamed(model::Use::kDelete, {name, choice.segment}, *catalog));
  TD_RETURN_IF_ERROR(CheckMeant(name, stream.segments.front()));
  std::ranges::reverse(stream.segments);
  for (const Recording& segment : stream.segments) {
    const absl::Status deleted = catalog->DeleteRecording(segment.name);
    // A ring may have been faster.
    if (!stream.segmented || !absl::IsNotFound(deleted)) TD_RETURN_IF_ERROR(deleted);
  }
  program.Print(AnswerOf("deleted", stream.name), absl::StrCat("deleted ", DoneText(stream)));
  return absl::OkStatus();
}

}  // namespace

absl::Status ListRecordings(Program& program, const ListOptions& options) {
  std::string parent = "luns/-/channels/-";
  if (!options.of.empty()) {
    TD_ASSIGN_OR_RETURN(const std::string channel, TakeNode(program, options.of, 2));
    TD_ASSIGN_OR_RETURN(parent, ChannelNameOf(channel));
  }
  std::vector<FoundRecording> found;
  for (const Program& node : EachNode(program)) {
    const auto listed = node.Catalog()->ListRecordings(parent);
    // A node that is down has parts of what the others list, which says so.
    if (!listed.ok() && NamesSeveral(program)) {
      std::cerr << node.storage << ": " << listed.status().message() << "\n";
      continue;
    }
    TD_RETURN_IF_ERROR(listed.status());
    for (const Recording& one : *listed) {
      const auto member = model::MemberOf(one.group);
      const bool named = member.has_value() && IsNamed(*member, options.group);
      if (options.group.empty() || named) found.push_back({node.storage, one});
    }
  }
  const std::vector<Recording> recordings = WithNodes(found);
  if (options.segments) {
    PrintSegments(program, recordings);
  } else {
    PrintStreams(program, JoinParts(recordings));
  }
  return absl::OkStatus();
}

void AddSegmentChoice(Command command, RecordingChoice& choice) {
  command.AddOption("--segment", choice.segment, "Only this segment of a stream, counted from 0");
}

void AddRecordingChoice(Command command, RecordingChoice& choice, const std::string& help) {
  command.AddOption("RECORDING", choice.name, help).Required();
  AddSegmentChoice(command, choice);
}

void AddRecordingsCommands(Command tapectl, Program& program) {
  const Command recordings = tapectl.AddCommand("recordings", "What the storage node holds");

  auto list_options = std::make_shared<ListOptions>();
  const Command list = recordings.AddCommand("list", "Show recordings, newest first");
  list.AddOption("CHANNEL", list_options->of,
                 "LUN/CHANNEL or NODE/LUN/CHANNEL: of this channel only");
  list.AddFlag("--segments", list_options->segments, "A stream in segments as a line for each");
  list.AddOption("--group", list_options->group,
                 "Only the members of this group, by its name or ID");
  SetRun<ListOptions>(list, program, "recordings list", list_options, ListRecordings);

  auto update_options = std::make_shared<RecordingOptions>();
  const Command update =
      recordings.AddCommand("update", "Change what is noted about a recording, running or closed");
  AddRecordingChoice(update, update_options->choice, kWhichRecording);
  AddFieldOptions(update, Purpose::kUpdate, update_options->fields);
  SetRun<RecordingOptions>(update, program, "recordings update", update_options, UpdateRecording);

  AddVerifyCommand(recordings, program);
  const auto add = [&](const std::string& verb, const std::string& help, auto run) {
    auto choice = std::make_shared<RecordingChoice>();
    const Command command = recordings.AddCommand(verb, help);
    AddRecordingChoice(command, *choice);
    SetRun<RecordingChoice>(command, program, "recordings " + verb, choice, run);
  };
  add("show", "Show all about a recording", ShowRecording);
  add("delete", "Delete a recording, of a stream all segments", DeleteRecording);
  AddExportCommand(recordings, program);
  AddImportCommand(recordings, program);
  AddCopyCommands(recordings, program);
}

}  // namespace tapedeck::services::tapectl
