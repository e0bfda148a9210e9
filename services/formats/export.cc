#include "services/formats/export.h"

#include <algorithm>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/formats/io/export_file.h"

namespace tapedeck::services::formats {

using dataplane::Block;

namespace {

// What is written again at most after an export was broken off.
constexpr uint64_t kSaveBytes = 256 << 20;

std::string LostText(const Losses& losses) {
  const uint64_t lost = losses.samples();
  return lost == 0 ? "" : absl::StrCat(", ", losses.bound(), lost, " are lost within blocks");
}

class Exporter {
 public:
  Exporter(const Subject& subject, const ExportRequest& request, ExportFile& file)
      : subject_(subject), request_(request), file_(file) {}

  // It has failed for want of the leave to write zeros.
  bool wants_gaps() const { return wants_gaps_; }

  absl::Status Run(Writer& writer) {
    if (!file_.resumed()) {
      TD_RETURN_IF_ERROR(writer.Begin(file_.output()));
      file_.Advance(0);
      TD_RETURN_IF_ERROR(file_.Save());
    }
    if (offset() < subject_.bytes) TD_RETURN_IF_ERROR(WriteSamples(writer));
    TD_RETURN_IF_ERROR(CheckGaps());
    return writer.Finish(file_.mark().seen, file_.output());
  }

 private:
  uint64_t offset() const { return file_.mark().offset; }

  absl::Status WriteSamples(Writer& writer) {
    const uint64_t block_bytes = subject_.recording.block_bytes;
    uint64_t block = (subject_.first_byte() + offset()) / block_bytes;
    TD_ASSIGN_OR_RETURN(const copying::NextBlock next, request_.play(block));
    uint64_t saved = offset();
    for (; offset() < subject_.bytes; ++block) {
      TD_ASSIGN_OR_RETURN(const std::optional<Block> found, next());
      if (!found.has_value()) return Ended();
      const Piece piece = PieceOf(*found, block * block_bytes);
      TD_RETURN_IF_ERROR(CheckStreamGap(piece));
      TD_RETURN_IF_ERROR(writer.Write(piece, file_.output()));
      TD_RETURN_IF_ERROR(AddPiece(piece, subject_.sample_bytes(), &file_.mark().seen));
      file_.Advance(piece.bytes);
      if (!request_.progress(offset())) return JobCancelled();
      if (offset() - saved < kSaveBytes) continue;
      TD_RETURN_IF_ERROR(file_.Save());
      saved = offset();
    }
    return absl::OkStatus();
  }

  // What of a block, which begins at that byte of the recording, comes next.
  Piece PieceOf(const Block& block, uint64_t begin) {
    const uint64_t skipped = subject_.first_byte() + offset() - begin;
    const uint64_t bytes =
        std::min(subject_.recording.block_bytes - skipped, subject_.bytes - offset());
    Piece piece{.offset = offset(), .bytes = bytes};
    // A block that ends before its time is not what the recording said.
    const bool missing = (block.header().flags & dataplane::kBlockMissing) != 0 ||
                         block.payload().size() < skipped + bytes;
    if (missing) return piece;
    piece.data = block.payload().subspan(skipped, bytes);
    const uint64_t samples = skipped / subject_.sample_bytes();
    piece.sample_index = block.header().sample_index + samples;
    return piece;
  }

  absl::Status Ended() {
    return RecordingNotFound(subject_.recording.name,
                             absl::StrCat(subject_.recording.name, " ended at sample ",
                                          offset() / subject_.sample_bytes(), " of the ",
                                          subject_.samples(), " expected"),
                             absl::StatusCode::kDataLoss);
  }

  bool may_have_gaps() const { return request_.format.tells_gaps || request_.gaps; }

  // Nothing takes back what has gone into a stream.
  absl::Status CheckStreamGap(const Piece& piece) const {
    if (request_.stream == nullptr || !piece.data.empty() || may_have_gaps()) {
      return absl::OkStatus();
    }
    return BlockDamaged(
        {.recording = subject_.recording.name, .blocks = 1},
        absl::StrCat(subject_.recording.name, ": samples from ",
                     subject_.first_sample + piece.offset / subject_.sample_bytes(),
                     " on are missing or damaged, and ", request_.format.name,
                     " cannot say which; the output ends before them; tapectl recordings export "
                     "--gaps writes zeros"));
  }

  absl::Status CheckGaps() {
    const Seen& seen = file_.mark().seen;
    const uint64_t missing = seen.missing_samples();
    const Losses losses = LossesOf(subject_, seen);
    if (missing + losses.samples() == 0 || may_have_gaps()) return absl::OkStatus();
    wants_gaps_ = true;
    const uint64_t block_bytes = subject_.recording.block_bytes;
    const uint64_t blocks = (missing * subject_.sample_bytes() + block_bytes - 1) / block_bytes;
    return BlockDamaged(
        {.recording = subject_.recording.name, .blocks = blocks},
        absl::StrCat(subject_.recording.name, ": ", missing, " samples are missing or damaged",
                     LostText(losses), ", and ", request_.format.name,
                     " cannot say which; add --gaps ",
                     request_.stream == nullptr ? "and --resume " : "", "to write zeros for them"));
  }

  const Subject& subject_;
  const ExportRequest& request_;
  ExportFile& file_;
  bool wants_gaps_ = false;
};

model::Note SomewhereNote(const Losses& losses) {
  const uint64_t last = losses.around.first + losses.around.count - 1;
  model::Note note =
      MakeNote("LOST_SOMEWHERE",
               absl::StrFormat("%s%d of the lost samples lie among samples %d to %d of the file, "
                               "as zeros; the recording does not say which",
                               losses.bound(), losses.somewhere, losses.around.first, last),
               {{"samples", absl::StrCat(losses.somewhere)},
                {"first", absl::StrCat(losses.around.first)},
                {"last", absl::StrCat(last)}});
  if (!losses.bound().empty()) note.facts["at_most"] = "true";
  return note;
}

model::Notes NotesOf(const Subject& subject, const Format& format, const Seen& seen,
                     const Losses& losses) {
  model::Notes notes;
  const bool spectra = std::ranges::any_of(
      subject.recording.origin.transforms,
      [](const model::OriginStage& transform) { return transform.name == "fft"; });
  if (spectra && !format.tells_transforms) {
    notes.push_back(MakeNote("SPECTRA_UNTOLD",
                             absl::StrCat("the samples are spectra, which ", format.name,
                                          " cannot express: readers take them for samples in time"),
                             {{"format", std::string(format.name)}}));
  }
  const Frequency frequency = FrequencyOf(subject, seen);
  if (format.one_frequency && frequency.next_hertz.has_value()) {
    const std::string hertz = absl::StrFormat("%.15g", *frequency.next_hertz);
    notes.push_back(MakeNote(
        "FREQUENCY_CHANGES",
        absl::StrCat("the frequency changes to ", hertz, " Hz at sample ", frequency.next_sample,
                     " of the file; ", format.name, " keeps only the one of the first sample"),
        {{"frequency", hertz},
         {"sample", absl::StrCat(frequency.next_sample)},
         {"format", std::string(format.name)}}));
  }
  if (losses.somewhere > 0) {
    notes.push_back(SomewhereNote(losses));
  }
  return notes;
}

absl::StatusOr<std::unique_ptr<ExportFile>> OpenFile(const Subject& subject,
                                                     const ExportRequest& request,
                                                     const std::string& target) {
  if (request.stream != nullptr) return ExportFile::Into(target, *request.stream);
  return ExportFile::Open({.target = target,
                           .key = {.uid = subject.recording.uid,
                                   .format = request.format.name,
                                   .first_sample = subject.first_sample,
                                   .bytes = subject.bytes},
                           .resumable = request.format.resumable,
                           .resume = request.resume});
}

// The same failure, and then what to do about it.
absl::Status Resumable(const absl::Status& status) {
  absl::Status told(status.code(),
                    absl::StrCat(std::string(status.message()),
                                 "; the partial file stays, and --resume continues it"));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { told.SetPayload(url, payload); });
  return told;
}

}  // namespace

absl::StatusOr<Exported> Export(const Subject& subject, const ExportRequest& request) {
  const bool streams = request.stream != nullptr;
  const std::string target = streams ? request.to : request.format.file(request.to);
  TD_ASSIGN_OR_RETURN(const auto file, OpenFile(subject, request, target));
  TD_ASSIGN_OR_RETURN(const auto writer,
                      request.format.write(subject, {.file = target,
                                                     .resumed = file->resumed(),
                                                     .streams = streams,
                                                     .collection = request.collection,
                                                     .packet_samples = request.packet_samples}));
  const uint64_t resumed_at = file->mark().offset / subject.sample_bytes();
  Exporter exporter(subject, request, *file);
  absl::Status status = exporter.Run(*writer);
  if (status.ok()) status = file->Publish();
  if (!status.ok() && file->Keep() && !exporter.wants_gaps()) return Resumable(status);
  TD_RETURN_IF_ERROR(status);
  const Losses losses = LossesOf(subject, file->mark().seen);
  return Exported{.file = target,
                  .file_bytes = file->output().bytes(),
                  .samples = subject.samples(),
                  .missing_samples = file->mark().seen.missing_samples(),
                  .lost_samples = losses.samples(),
                  .resumed_at = resumed_at,
                  .notes = NotesOf(subject, request.format, file->mark().seen, losses)};
}

}  // namespace tapedeck::services::formats
