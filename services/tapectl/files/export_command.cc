#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/formats/export.h"
#include "services/rpc/storage_session/joined_player.h"
#include "services/rpc/storage_session/player.h"
#include "services/rpc/storage_session/stream_player.h"
#include "services/site/names.h"
#include "services/site/several_nodes.h"
#include "services/site/units.h"
#include "services/tapectl/copies/patience.h"
#include "services/tapectl/files/exporting.h"
#include "services/tapectl/files/format_option.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/terminal/failure.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr char kNoExport[] = "interrupted before the export began";

// A recording, or the parts or segments of one as one.
struct Exportable {
  Recording recording;
  StreamLayout layout;  // of a stream
  std::function<absl::StatusOr<copying::NextBlock>(uint64_t block)> play;
};

absl::StatusOr<Exportable> FindWhole(const Program& program, const RecordingChoice& choice) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Stream stream, StreamThere(model::Use::kExport, choice, *catalog));
  Recording recording = stream.segments.front();
  TD_RETURN_IF_ERROR(CheckWhole(recording));
  TD_ASSIGN_OR_RETURN(const storage_session::Peer peer, StoragePeer(program));
  if (stream.segmented) {
    const StreamLayout layout = model::LayOut(stream);
    return Exportable{.recording = layout.whole,
                      .layout = layout,
                      .play = [peer, stream, layout](uint64_t block) {
                        return copying::BlocksOf(
                            storage_session::StreamPlayer::Begin(peer, stream, layout, block));
                      }};
  }
  TD_RETURN_IF_ERROR(AddLasting(*catalog, *program.View(), &recording));
  return Exportable{
      .recording = recording, .play = [peer, recording](uint64_t block) {
        return copying::BlocksOf(storage_session::Player::Begin(peer, recording, block));
      }};
}

// What is only in a part that is not there is missing; it is told of on stderr.
absl::StatusOr<Exportable> FindParts(const Program& program, const std::string& name) {
  auto parts = std::make_shared<std::vector<storage_session::PeerPart>>();
  for (const Program& node : EachNode(program)) {
    const auto part = node.Catalog()->GetRecording(name);
    if (!part.ok()) {
      std::cerr << node.storage << ": " << dataplane::Printable(part.status().message()) << "\n";
      continue;
    }
    if (CheckWhole(*part).ok()) return FindWhole(node, {.name = name});
    if (part->state == RecordingState::kRecording) {
      return ArgumentInvalid(
          "recording",
          absl::StrCat(name, " is still being recorded in parts: export it once it is closed"));
    }
    TD_ASSIGN_OR_RETURN(storage_session::Peer peer, StoragePeer(node));
    parts->push_back({std::move(peer), *part});
  }
  if (parts->empty()) return RecordingNotFound(name, absl::StrCat(name, ": no node has a part"));
  TD_ASSIGN_OR_RETURN(Recording whole, storage_session::JoinedPlayer::Whole(*parts));
  return Exportable{.recording = std::move(whole), .play = [parts](uint64_t block) {
                      return copying::BlocksOf(storage_session::JoinedPlayer::Begin(*parts, block));
                    }};
}

absl::StatusOr<Exportable> Find(Program program, const RecordingChoice& choice) {
  TD_ASSIGN_OR_RETURN(const std::string name, PlaceRecording(program, choice.name));
  return NamesSeveral(program) ? FindParts(program, name)
                               : FindWhole(program, {name, choice.segment});
}

// Of a stream that has lost more than it has, nobody wants zeros without a word.
absl::Status CheckGone(const Exportable& found, const formats::Subject& subject) {
  if (found.layout.pieces.empty() || subject.bytes == 0) return absl::OkStatus();
  const uint64_t block_bytes = found.recording.block_bytes;
  const uint64_t end = (subject.first_byte() + subject.bytes + block_bytes - 1) / block_bytes;
  return CheckMostIsThere(found.layout, subject.first_byte() / block_bytes, end);
}

std::string ExportedText(const FileAnswer& answer) {
  std::string text =
      absl::StrFormat("%s -> %s\n%d samples, %s, %.1f MB/s", ShortName(answer.recording),
                      answer.file, answer.samples, FormatBytes(answer.bytes), answer.mb_per_s);
  if (answer.resumed_at > 0) absl::StrAppend(&text, "; resumed at sample ", answer.resumed_at);
  absl::StrAppend(&text, MissingText(answer));
  for (const Note& note : answer.notes)
    absl::StrAppend(&text, "\nnote: ", WithShortNames(note.text));
  return text;
}

absl::Status CheckTarget(const formats::Format& format, const ExportOptions& options) {
  if (options.resume && formats::IsStream(options.to)) {
    return ArgumentInvalid("resume", "--resume continues a file; --first begins a pipe later");
  }
  return formats::CheckStream(format, options.to, formats::Use::kExport);
}

}  // namespace

absl::StatusOr<FileAnswer> ExportOne(const Program& program, InterruptWatch& interrupt,
                                     const ExportOptions& options) {
  TD_ASSIGN_OR_RETURN(formats::Format format,
                      formats::FormatNamed(options.format, formats::Use::kExport));
  TD_RETURN_IF_ERROR(CheckTarget(format, options));
  TD_ASSIGN_OR_RETURN(const uint64_t count, options.samples.count());
  TD_ASSIGN_OR_RETURN(const Exportable found, Find(program, options.choice));
  const Recording& recording = found.recording;
  const formats::Range range{.first = static_cast<uint64_t>(options.samples.from), .count = count};
  TD_ASSIGN_OR_RETURN(const formats::Subject subject, formats::SubjectOf(recording, range));
  if (!options.gaps) TD_RETURN_IF_ERROR(CheckGone(found, subject));
  const bool leaves_out = format.leaves_out;
  Patience patience(program, interrupt, "export", subject.bytes);
  std::unique_ptr<formats::OutputStream> stream;
  if (formats::IsStream(options.to)) {
    TD_ASSIGN_OR_RETURN(
        stream, formats::OutputStream::Open(options.to, [&] { return patience.ShowAgain(); }));
  }
  const absl::StatusOr<formats::Exported> exported =
      formats::Export(subject, {.format = std::move(format),
                                .to = options.to,
                                .stream = stream.get(),
                                .collection = options.collection,
                                .packet_samples = options.packet_samples,
                                .resume = options.resume,
                                .gaps = options.gaps,
                                .play = found.play,
                                .progress = [&](uint64_t bytes) { return patience.Show(bytes); }});
  TD_RETURN_IF_ERROR(patience.Judged(exported.status()));
  const uint64_t moved = subject.bytes - exported->resumed_at * subject.sample_bytes();
  return FileAnswer{.recording = recording.name,
                    .file = exported->file,
                    .format = options.format,
                    .bytes = exported->file_bytes,
                    .samples = exported->samples,
                    .missing_samples = exported->missing_samples,
                    .lost_samples = exported->lost_samples,
                    .leaves_out = leaves_out,
                    .resumed_at = exported->resumed_at,
                    .mb_per_s = static_cast<double>(moved) / 1e6 / patience.elapsed_s(),
                    .notes = exported->notes};
}

namespace {

// Of a stream the answer goes to stderr: standard output may be it, by that or another name.
absl::Status Export(Program& program, const ExportOptions& options) {
  InterruptWatch interrupt(kNoExport);
  if (formats::IsStream(options.to)) program.out = &std::cerr;
  if (!options.group.empty()) return ExportGroup(program, interrupt, options);
  if (options.choice.name.empty()) return absl::InvalidArgumentError("RECORDING is required");
  const absl::StatusOr<FileAnswer> answer = ExportOne(program, interrupt, options);
  if (formats::ReaderHasGone(answer.status())) {
    program.exit_status = kReaderGoneStatus;
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(answer.status());
  program.Print(AnswerOf(*answer), ExportedText(*answer));
  return absl::OkStatus();
}

}  // namespace

absl::Status ExportToPipe(Program& program, const RecordingChoice& choice,
                          const SampleRange& samples) {
  return Export(program, {.choice = choice,
                          .group = {},
                          .format = "raw",
                          .to = formats::kStandard,
                          .collection = {},
                          .samples = samples});
}

void AddExportCommand(Command recordings, Program& program) {
  auto options = std::make_shared<ExportOptions>();
  const Command command =
      recordings.AddCommand("export", "Export a recording as a file on this machine");
  command.AddOption("RECORDING", options->choice.name,
                    absl::StrCat(kWhichRecordingOfNodes, "; running or closed"));
  AddSegmentChoice(command, options->choice);
  command.AddOption(
      "--group", options->group,
      "Export all members of this group (name or ID) as a SigMF collection; --to is then a folder");
  AddFormatOption(command, options->format, formats::Use::kExport);
  command
      .AddOption("--to", options->to,
                 "Output file; an existing file is never replaced. - is standard output")
      .Required();
  AddSampleRange(command, options->samples);
  command.AddParsed("--packet-samples", options->packet_samples, ParseCount,
                    "vita49-pcap: samples per packet; default as many as fill 1024 bytes");
  command.AddFlag("--resume", options->resume, "Continue an interrupted export");
  command.AddFlag("--gaps", options->gaps,
                  "Write zeros for missing samples in formats that cannot mark them");
  SetRun<ExportOptions>(command, program, "recordings export", options, Export);
}

}  // namespace tapedeck::services::tapectl
