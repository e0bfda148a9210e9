#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/version.h"
#include "services/copy/compatible.h"
#include "services/formats/import.h"
#include "services/formats/io/reader.h"
#include "services/formats/list.h"
#include "services/rpc/storage_session/recorder.h"
#include "services/site/names.h"
#include "services/site/units.h"
#include "services/tapectl/copies/patience.h"
#include "services/tapectl/files/format_option.h"
#include "services/tapectl/files/import_marks.h"
#include "services/tapectl/files/read_options.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr char kNoImport[] = "interrupted before the import began";

struct ImportOptions {
  std::string channel;
  std::string format;
  std::string file;
  formats::ReadOptions read;
};

// How long the node may take to let go of a recording whose session was given up.
constexpr absl::Duration kLetGo = absl::Seconds(10);
constexpr absl::Duration kLookAgain = absl::Milliseconds(50);

std::vector<Annotation> AnnotationsOf(const formats::Content& content, const Channel& channel) {
  std::vector<Annotation> all = formats::LostWithinBlocks(content, channel);
  all.insert(all.end(), content.annotations.begin(), content.annotations.end());
  for (Annotation& one : all) one.sample_start += content.first_index;
  return all;
}

model::Origin OriginOf(const FileAnswer& file, const formats::Content& content) {
  const size_t slash = file.file.rfind('/');
  std::string name = file.file.substr(slash == std::string::npos ? 0 : slash + 1);
  return {.source = {.name = "import",
                     .parameters = {{"file", std::move(name)}, {"format", file.format}}},
          .transforms = content.transforms,
          .version = kVersion,
          .metadata = content.metadata};
}

absl::Status DeleteOnceClosed(client::CatalogClient& catalog, const std::string& name) {
  const absl::Time end = dataplane::SteadyTime() + kLetGo;
  while (true) {
    const absl::Status status = catalog.DeleteRecording(name);
    const auto reason = ReasonOf(status);
    const bool busy = reason.has_value() && reason->reason == "RECORDING_BUSY";
    if (absl::IsNotFound(status)) return absl::OkStatus();
    if (!busy || dataplane::SteadyTime() >= end) return status;
    absl::SleepFor(kLookAgain);
  }
}

// Whatever an import has made that did not become whole: the recording, and all segments.
absl::Status DeleteImported(Program& program, const std::string& name, const Channel& channel) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> all, catalog->ListRecordings(channel.name));
  const std::string id = name.substr(name.rfind('/') + 1);
  for (const Recording& one : all) {
    if (one.name == name || one.stream == id) {
      TD_RETURN_IF_ERROR(DeleteOnceClosed(*catalog, one.name));
    }
  }
  return absl::OkStatus();
}

absl::Status RunImport(const storage_session::Peer& peer, Patience& patience,
                       formats::Reader& reader, const formats::Content& content,
                       const Channel& channel, ImportMarks& marks, FileAnswer* file) {
  const bool streams = reader.stream() != nullptr;
  const uint64_t blocks = streams ? 0 : formats::BlocksOf(content, channel);
  TD_ASSIGN_OR_RETURN(
      const auto recorder,
      storage_session::Recorder::Begin(
          peer, channel,
          {.blocks = blocks, .labels = channel.labels, .origin = OriginOf(*file, content)}));
  file->recording = recorder->recording();
  absl::Status imported =
      formats::Import({.reader = &reader,
                       .channel = channel,
                       .start_ns = content.start_ns,
                       .slot = [&] { return recorder->Slot(); },
                       .give = [&](dataplane::Block block) { recorder->Give(std::move(block)); },
                       .progress = [&](uint64_t bytes) { return patience.Show(bytes); }});
  if (imported.ok()) marks.WriteBeforeSeal(file->recording);
  if (imported.ok() && !streams && !patience.Show(content.bytes)) imported = JobCancelled();
  if (imported.ok()) return recorder->Finish();
  recorder->Abandon();  // never SEALED
  return imported;
}

// What a LUN deletes for want of room is gone while the rest comes: DATA_LOSS. Other errors say
// that nobody could look.
absl::Status CheckIsWhole(Program& program, const std::string& name, const Channel& channel,
                          uint64_t blocks) {
  const auto catalog = program.Catalog();
  const auto first = catalog->GetRecording(name);
  if (!first.ok() && !absl::IsNotFound(first.status())) return first.status();
  if (first.ok() && first->stream.empty()) return copying::CheckIsWhole({*first}, name, blocks);
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> all, catalog->ListRecordings(channel.name));
  return copying::CheckIsWhole(all, name, blocks);
}

// The failure, and whether what it left is gone.
absl::Status Undone(Program& program, const std::string& name, const Channel& channel,
                    const absl::Status& failure) {
  if (name.empty()) return failure;
  const absl::Status deleted = DeleteImported(program, name, channel);
  if (deleted.ok()) return failure;
  std::cerr << ShortName(name) << " is incomplete and could not be deleted: "
            << dataplane::Printable(deleted.message()) << "\n";
  return failure;
}

// One of several recordings is chosen in files of one format each.
absl::Status CheckChoice(const formats::Format& format, const formats::ReadOptions& read) {
  for (const auto& [option, given] :
       {std::pair("stream", read.stream.has_value()), std::pair("dataset", !read.dataset.empty()),
        std::pair("member", !read.member.empty())}) {
    if (!given || format.chosen_by == option) continue;
    return ArgumentInvalid(option, absl::StrCat("a file of ", format.name, " has no ", option));
  }
  return absl::OkStatus();
}

std::string ImportedText(const FileAnswer& answer) {
  std::string text = absl::StrFormat("%s -> %s\n%d samples, %s, %.1f MB/s", answer.file,
                                     ShortName(answer.recording), answer.samples,
                                     FormatBytes(answer.bytes), answer.mb_per_s);
  if (answer.missing_samples > 0) {
    absl::StrAppend(&text, "; missing ", answer.missing_samples, " samples");
  }
  for (const Note& note : answer.notes)
    absl::StrAppend(&text, "\nnote: ", WithShortNames(note.text));
  return text;
}

// Names the file's rate where it is not the channel's.
void NoteRate(const formats::Content& content, const Channel& channel,
              const formats::ReadOptions& read, Notes* notes) {
  if (content.sample_rate <= 0 || content.sample_rate == channel.sample_rate) return;
  const std::string recording = absl::StrFormat("%.15g", channel.sample_rate);
  notes->push_back(MakeNote(
      "RATE_DIFFERS",
      absl::StrCat(formats::RateText("the file", content.sample_rate, read), ", the channel has ",
                   recording, ", which the recording's times follow"),
      {{"file", absl::StrFormat("%.15g", content.sample_rate)}, {"recording", recording}}));
}

absl::StatusOr<std::unique_ptr<formats::Reader>> OpenReader(const ImportOptions& options) {
  TD_ASSIGN_OR_RETURN(const formats::Format format,
                      formats::FormatNamed(options.format, formats::Use::kImport));
  TD_RETURN_IF_ERROR(CheckChoice(format, options.read));
  TD_RETURN_IF_ERROR(formats::CheckStream(format, options.file, formats::Use::kImport));
  return format.read(options.file, options.read);
}

// A recording is made once there is something for it.
absl::Status AwaitFirst(const Program& program, formats::InputStream& stream) {
  const absl::Time end = dataplane::SteadyTime() + program.job_timeout();
  const absl::Status status = stream.Await([end] { return dataplane::SteadyTime() < end; });
  if (!absl::IsCancelled(status)) return status;
  return absl::DeadlineExceededError("no sample came before --timeout expired");
}

// What has come of a stream comes from nowhere else again.
absl::Status Kept(const std::string& name, const absl::Status& failure) {
  if (!name.empty()) std::cerr << name << " keeps what the node has of it\n";
  return failure;
}

// The answer, with what is known at the end.
void Show(Program& program, const Channel& channel, const formats::Content& content,
          const Patience& patience, FileAnswer* answer) {
  answer->bytes = content.bytes;
  answer->samples = content.bytes / dataplane::ParseDatatype(channel.datatype)->bytes_per_sample();
  for (const formats::SampleRange& gap : content.gaps) answer->missing_samples += gap.count;
  answer->mb_per_s = static_cast<double>(content.bytes) / 1e6 / patience.elapsed_s();
  program.Print(AnswerOf(*answer), ImportedText(*answer));
}

absl::Status ImportInto(Program& program, InterruptWatch& interrupt, const ImportOptions& options,
                        const Channel& channel, formats::Reader& reader) {
  const bool streams = reader.stream() != nullptr;
  formats::Content content = reader.content();
  TD_RETURN_IF_ERROR(formats::Tell(options.file, options.read, &content));
  TD_RETURN_IF_ERROR(formats::CheckCompatible(options.file, content, channel, options.read));
  TD_ASSIGN_OR_RETURN(const std::vector<Lun> luns, program.Catalog()->ListLuns());
  TD_RETURN_IF_ERROR(copying::CheckKeeps(channel, luns, content.bytes));
  TD_ASSIGN_OR_RETURN(const storage_session::Peer peer, StoragePeer(program));
  FileAnswer answer{.file = options.file, .format = options.format, .notes = content.notes};
  NoteRate(content, channel, options.read, &answer.notes);
  Patience patience(program, interrupt, "import", streams ? 0 : content.bytes);
  const auto recorder = program.Recorder();
  ImportMarks marks(*recorder, {.annotations = AnnotationsOf(content, channel),
                                .in_segments = channel.segment_bytes > 0,
                                .go_on = [&] { return patience.ShowAgain() || streams; }});
  absl::Status status = RunImport(peer, patience, reader, content, channel, marks, &answer);
  content.bytes = reader.content().bytes;
  if (status.ok() && !streams) {
    status = CheckIsWhole(program, answer.recording, channel, formats::BlocksOf(content, channel));
    if (!status.ok() && !absl::IsDataLoss(status)) {
      std::cerr << ShortName(answer.recording)
                << " is closed and stays. tapectl could not check that its LUN "
                << "holds all of it; annotations may be missing.\n";
      return status;
    }
  }
  if (status.ok()) status = marks.WriteBehindSeal(answer.recording, &answer.notes);
  status = patience.Judged(status);
  if (!status.ok()) {
    return streams ? Kept(answer.recording, status)
                   : Undone(program, answer.recording, channel, status);
  }
  if (streams && patience.late()) {
    return absl::DeadlineExceededError(
        absl::StrCat(answer.recording, " is closed and has what came before --timeout expired"));
  }
  Show(program, channel, content, patience, &answer);
  return absl::OkStatus();
}

absl::Status Import(Program& program, const ImportOptions& options) {
  InterruptWatch interrupt(kNoImport);
  TD_ASSIGN_OR_RETURN(const std::string name, ChannelNameOf(options.channel));
  TD_ASSIGN_OR_RETURN(const auto reader, OpenReader(options));
  TD_ASSIGN_OR_RETURN(const Channel channel, program.Catalog()->GetChannel(name));
  if (reader->stream() != nullptr) TD_RETURN_IF_ERROR(AwaitFirst(program, *reader->stream()));
  return ImportInto(program, interrupt, options, channel, *reader);
}

}  // namespace

absl::Status ImportFromPipe(Program& program, const std::string& channel) {
  return Import(program,
                {.channel = channel, .format = "raw", .file = formats::kStandard, .read = {}});
}

void AddImportCommand(Command recordings, Program& program) {
  auto options = std::make_shared<ImportOptions>();
  const Command command =
      recordings.AddCommand("import", "Import a file of this machine as a recording");
  command
      .AddOption("CHANNEL", options->channel,
                 "LUN/CHANNEL to import into; same datatype as the file")
      .Required();
  command
      .AddOption("FILE", options->file,
                 "File to import; for sigmf the .sigmf-meta or the .sigmf. - is standard input")
      .Required();
  AddFormatOption(command, options->format, formats::Use::kImport);
  AddReadOptions(command, options->read);
  SetRun<ImportOptions>(command, program, "recordings import", options, Import);
}

}  // namespace tapedeck::services::tapectl
