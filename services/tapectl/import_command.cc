#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/formats/import.h"
#include "services/formats/list.h"
#include "services/storage_session/recorder.h"
#include "services/tapectl/commands.h"
#include "services/tapectl/format_option.h"
#include "services/tapectl/names.h"
#include "services/tapectl/patience.h"
#include "services/tapectl/storage_peer.h"
#include "services/tapectl/units.h"
#include "services/version.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr char kNoImport[] = "interrupted before the import began";

struct ImportOptions {
  std::string channel;
  std::string format;
  std::string file;
};

// Each is a call: of a file with more the first ones are taken over.
constexpr size_t kMaxAnnotations = 1000;

absl::Status Annotate(Program& program, const std::string& recording,
                      const formats::Content& content, const Channel& channel,
                      std::vector<std::string>* notes) {
  std::vector<Annotation> annotations = formats::LostWithinBlocks(content, channel);
  annotations.insert(annotations.end(), content.annotations.begin(), content.annotations.end());
  if (annotations.size() > kMaxAnnotations) {
    notes->push_back(
        absl::StrCat(annotations.size() - kMaxAnnotations, " of its annotations are left out"));
    annotations.resize(kMaxAnnotations);
  }
  const auto recorder = program.Recorder();
  for (size_t i = 0; i < annotations.size(); ++i) {
    const absl::Status status = recorder->AnnotateRecording(recording, annotations[i]);
    // The recording is whole; what there is room for stays.
    if (absl::IsResourceExhausted(status) || absl::IsInvalidArgument(status)) {
      notes->push_back(absl::StrCat(annotations.size() - i, " of its annotations are left out: ",
                                    std::string(status.message())));
      break;
    }
    TD_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

model::Origin OriginOf(const FileAnswer& file) {
  const size_t slash = file.file.rfind('/');
  std::string name = file.file.substr(slash == std::string::npos ? 0 : slash + 1);
  return {.source = {.name = "import",
                     .parameters = {{"file", std::move(name)}, {"format", file.format}}},
          .version = kVersion};
}

absl::Status RunImport(const storage_session::Peer& peer, Patience& patience,
                       formats::Reader& reader, const Channel& channel, FileAnswer* file) {
  const formats::Content& content = reader.content();
  TD_ASSIGN_OR_RETURN(const auto recorder, storage_session::Recorder::Begin(
                                               peer, channel,
                                               {.blocks = formats::BlocksOf(content, channel),
                                                .labels = channel.labels,
                                                .origin = OriginOf(*file)}));
  file->recording = recorder->recording();
  TD_RETURN_IF_ERROR(formats::Import(
      {.reader = &reader,
       .channel = channel,
       .start_ns = content.start_ns,
       .slot = [&] { return recorder->Slot(); },
       .give = [&](dataplane::Block block) { recorder->Give(std::move(block)); },
       .progress = [&](uint64_t bytes) { return patience.Show(bytes); }}));
  return recorder->Finish();
}

std::string ImportedText(const FileAnswer& answer) {
  std::string text =
      absl::StrFormat("%s -> %s\n%d samples, %s, %.1f MB/s", answer.file, answer.recording,
                      answer.samples, FormatBytes(answer.bytes), answer.mb_per_s);
  if (answer.missing_samples > 0) {
    absl::StrAppend(&text, "; missing ", answer.missing_samples, " samples");
  }
  for (const std::string& note : answer.notes) absl::StrAppend(&text, "\nnote: ", note);
  return text;
}

absl::Status Import(Program& program, const ImportOptions& options) {
  InterruptWatch interrupt(kNoImport);
  TD_ASSIGN_OR_RETURN(const formats::Format format,
                      formats::FormatNamed(options.format, formats::Use::kImport));
  TD_ASSIGN_OR_RETURN(const std::string name, ChannelNameOf(options.channel));
  TD_ASSIGN_OR_RETURN(const auto reader, format.read(options.file, {}));
  TD_ASSIGN_OR_RETURN(const Channel channel, program.Catalog()->GetChannel(name));
  const formats::Content& content = reader->content();
  TD_RETURN_IF_ERROR(formats::CheckFits(options.file, content, channel));
  TD_ASSIGN_OR_RETURN(const storage_session::Peer peer, StoragePeer(program));
  FileAnswer answer{.file = options.file,
                    .format = options.format,
                    .bytes = content.bytes,
                    .notes = content.notes};
  if (content.sample_rate > 0 && content.sample_rate != channel.sample_rate) {
    answer.notes.push_back(absl::StrCat("the file has ", content.sample_rate,
                                        " samples a second, the channel ", channel.sample_rate,
                                        ", by which the recording counts its times"));
  }
  Patience patience(program, interrupt, "import", content.bytes);
  TD_RETURN_IF_ERROR(patience.Judged(RunImport(peer, patience, *reader, channel, &answer)));
  TD_RETURN_IF_ERROR(Annotate(program, answer.recording, content, channel, &answer.notes));
  TD_ASSIGN_OR_RETURN(const auto type, dataplane::ParseDatatype(channel.datatype));
  answer.samples = content.bytes / type.bytes_per_sample();
  for (const formats::SampleRange& gap : content.gaps) answer.missing_samples += gap.count;
  answer.mb_per_s = static_cast<double>(content.bytes) / 1e6 / patience.elapsed_s();
  program.Print(AnswerOf(answer), ImportedText(answer));
  return absl::OkStatus();
}

}  // namespace

void AddImportCommand(Command recordings, Program& program) {
  auto options = std::make_shared<ImportOptions>();
  const Command command =
      recordings.AddCommand("import", "Make a recording of a file on this machine");
  command.AddOption("CHANNEL", options->channel, "LUN/CHANNEL, of the file's datatype").Required();
  command.AddOption("FILE", options->file, "Of sigmf the .sigmf-meta or the .sigmf").Required();
  AddFormatOption(command, options->format, formats::Use::kImport);
  SetRun<ImportOptions>(command, program, "recordings import", options, Import);
}

}  // namespace tapedeck::services::tapectl
