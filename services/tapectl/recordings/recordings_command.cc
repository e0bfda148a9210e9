#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"
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
#include "services/tapectl/program/fields.h"
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

// "KEY" of any value, or "KEY=VALUE".
bool HasLabel(const Recording& recording, const std::string& label) {
  const std::pair<std::string, std::string> asked = absl::StrSplit(label, absl::MaxSplits('=', 1));
  const auto at = recording.labels.find(asked.first);
  if (at == recording.labels.end()) return false;
  return label.find('=') == std::string::npos || at->second == asked.second;
}

bool IsAskedFor(const Recording& recording, const ListOptions& options) {
  if (options.state.has_value() && recording.state != *options.state) return false;
  if (!options.label.empty() && !HasLabel(recording, options.label)) return false;
  return !options.since_ns.has_value() ||
         recording.start_time_ns.value_or(recording.open_time_ns) >= *options.since_ns;
}

// Those of `items`, newest first, that the options ask for. `joined` makes one recording of an
// item.
template <typename Item, typename JoinedOf>
std::vector<Item> Chosen(std::vector<Item> items, const ListOptions& options, JoinedOf joined) {
  std::erase_if(items, [&](const Item& item) { return !IsAskedFor(joined(item), options); });
  if (options.limit > 0 && items.size() > options.limit) {
    items.erase(items.begin() + static_cast<ptrdiff_t>(options.limit), items.end());
  }
  return items;
}

// A stream in segments is one row, and so is a recording in parts.
void PrintStreams(Program& program, const ListOptions& options,
                  const std::vector<JoinedParts>& joined) {
  std::vector<Recording> recordings;
  std::map<std::string, std::string> parts;  // by name
  for (const JoinedParts& one : joined) {
    recordings.push_back(one.recording);
    parts[one.recording.name] = one.PartsText();
  }
  const std::vector<Stream> streams =
      Chosen(StreamsOf(recordings), options, [](const Stream& stream) { return Joined(stream); });
  std::vector<Row> rows;
  for (const Stream& stream : streams) {
    rows.push_back(RowOf(Joined(stream)));
    rows.back().push_back(KeptText(stream));
    rows.back().push_back(stream.segmented ? SegmentsText(stream) : parts[stream.name]);
  }
  program.Print(AnswerOf(streams),
                {"NAME", "STATE", "BLOCKS", "SIZE", "MISSING", "START", "KEPT", "SEGMENTS"}, rows,
                {"SEGMENTS", "KEPT", "BLOCKS", "START", "SIZE", "MISSING"});
}

void PrintSegments(Program& program, const ListOptions& options, std::vector<Recording> all) {
  std::ranges::stable_sort(all, std::greater(), &Recording::open_time_ns);
  const std::vector<Recording> recordings =
      Chosen(std::move(all), options, [](const Recording& recording) { return recording; });
  std::vector<Row> rows;
  for (const Recording& recording : recordings) {
    rows.push_back(RowOf(recording));
    rows.back().push_back(KeptText(model::Alone(recording)));
    rows.back().push_back(
        recording.stream.empty() ? "-" : absl::StrCat(recording.segment, " of ", recording.stream));
  }
  program.Print(AnswerOf(recordings),
                {"NAME", "STATE", "BLOCKS", "SIZE", "MISSING", "START", "KEPT", "SEGMENT"}, rows,
                {"KEPT", "BLOCKS", "START", "SEGMENT", "SIZE", "MISSING"});
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
  if (first.has_value()) rows.push_back({"first sample", absl::StrCat(*first)});
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

// "luns/-/channels/-", or what is below a LUN or a channel.
absl::StatusOr<std::string> ParentOf(Program& program, const std::string& of) {
  if (of.empty()) return "luns/-/channels/-";
  const auto lun = LunNameOf(of);
  if (lun.ok()) return absl::StrCat(*lun, "/channels/-");
  TD_ASSIGN_OR_RETURN(const std::string channel, TakeNode(program, of, 2));
  return ChannelNameOf(channel);
}

}  // namespace

absl::Status ListRecordings(Program& program, const ListOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string parent, ParentOf(program, options.of));
  std::vector<FoundRecording> found;
  for (const Program& node : EachNode(program)) {
    const auto listed = node.Catalog()->ListRecordings(parent);
    // A node that is down has parts of what the others list, which says so.
    if (!listed.ok() && NamesSeveral(program)) {
      std::cerr << node.storage << ": " << dataplane::Printable(listed.status().message()) << "\n";
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
    PrintSegments(program, options, recordings);
  } else {
    PrintStreams(program, options, JoinParts(recordings));
  }
  return absl::OkStatus();
}

void AddListFilters(Command list, ListOptions& options) {
  list.AddOption("PARENT", options.of,
                 "LUN, LUN/CHANNEL or NODE/LUN/CHANNEL: only the recordings there");
  list.AddFlag("--segments", options.segments, "Show a line for each segment of a stream");
  std::map<std::string, RecordingState> states;
  for (const auto& [state, name] : model::EnumNames<RecordingState>::kTable) {
    states.emplace(name, state);
  }
  list.AddChoice("--state", options.state, states, "Only recordings in this state",
                 command_line::Letters::kAnyCase);
  list.AddOption("--label", options.label, "Only recordings with this label: KEY or KEY=VALUE");
  list.AddParsed("--since", options.since_ns, ParseTimeNs,
                 "Only recordings that began then or later: 2026-01-31T12:00:00Z, or -1h");
  list.AddParsed("--limit", options.limit, ParseCount, "Only this many, the newest");
}

void AddSegmentChoice(Command command, RecordingChoice& choice) {
  command.AddOption("--segment", choice.segment, "Only this segment of a stream, counted from 0");
}

void AddRecordingChoice(Command command, RecordingChoice& choice, const std::string& help) {
  command.AddOption("RECORDING", choice.name, help).Required();
  AddSegmentChoice(command, choice);
}

void AddRecordingsCommands(Command tapectl, Program& program) {
  const Command recordings =
      tapectl.AddCommand("recordings", "List, change, copy, export, verify and delete recordings");

  auto list_options = std::make_shared<ListOptions>();
  const Command list = recordings.AddCommand("list", "List recordings, newest first");
  AddListFilters(list, *list_options);
  list.AddOption("--group", list_options->group, "Only members of this group (name or ID)");
  SetRun<ListOptions>(list, program, "recordings list", list_options, ListRecordings);

  auto update_options = std::make_shared<RecordingOptions>();
  const Command update = recordings.AddCommand(
      "update", "Change the description and labels of a recording, running or closed");
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
  add("show", "Show all fields of a recording", ShowRecording);
  AddDeleteCommand(recordings, program);
  AddExportCommand(recordings, program);
  AddImportCommand(recordings, program);
  AddCopyCommands(recordings, program);
}

}  // namespace tapedeck::services::tapectl
