#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "dataplane/block/block.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/file/file.h"
#include "services/base/files/errors.h"
#include "services/base/files/file_roots.h"
#include "services/base/files/input_file.h"
#include "services/signal/samples/conversion.h"
#include "services/signal/sigmf/contents.h"
#include "services/signal/sigmf/core_keys.h"
#include "services/signal/sigmf/meta.h"

namespace tapedeck::gpu_worker::stages::file {

using services::files::FileInvalid;
using services::files::InputFile;
using services::files::Invalid;
using services::samples::Conversion;
using services::sigmf::Contents;
using services::sigmf::IsSigmfMeta;
using services::sigmf::NumberIn;
using services::sigmf::ReadContents;
using services::sigmf::ReadSigmfMeta;
using services::sigmf::SigmfRecording;

namespace {

constexpr size_t kCf32Bytes = 8;
constexpr dataplane::Datatype kCf32 = {
    .complex = true, .kind = dataplane::Datatype::Kind::kFloat, .bits = 32};

// Bytes of samples that lie one behind the other in the file.
struct Piece {
  uint64_t first = 0;  // of what is made
  uint64_t byte = 0;   // in the file
  uint64_t bytes = 0;
};

// Reads the pieces of a file once or round and round. What is between them is zeros.
class Reader {
 public:
  Reader(InputFile file, std::vector<Piece> pieces, uint64_t end, bool loop)
      : file_(std::move(file)), pieces_(std::move(pieces)), end_(end), loop_(loop) {}

  // Fills `out` as far as the samples go.
  absl::StatusOr<size_t> Read(std::span<std::byte> out) {
    size_t done = 0;
    while (done < out.size()) {
      if (offset_ == end_ && loop_) offset_ = piece_ = 0;
      const size_t wanted = std::min<uint64_t>(out.size() - done, end_ - offset_);
      if (wanted == 0) break;
      TD_ASSIGN_OR_RETURN(const size_t got, ReadSome(out.subspan(done, wanted)));
      done += got;
      offset_ += got;
    }
    return done;
  }

 private:
  // Within one piece, or what is missing before the next.
  absl::StatusOr<size_t> ReadSome(std::span<std::byte> out) {
    while (piece_ < pieces_.size() && pieces_[piece_].first + pieces_[piece_].bytes <= offset_) {
      ++piece_;
    }
    const uint64_t begin = piece_ < pieces_.size() ? pieces_[piece_].first : end_;
    if (offset_ < begin) {
      const auto zeros = out.first(std::min<uint64_t>(out.size(), begin - offset_));
      std::ranges::fill(zeros, std::byte{0});
      return zeros.size();
    }
    const Piece& piece = pieces_[piece_];
    const uint64_t within = offset_ - piece.first;
    const auto into = out.first(std::min<uint64_t>(out.size(), piece.bytes - within));
    while (true) {
      const ssize_t got =
          pread(file_.fd.get(), into.data(), into.size(), static_cast<off_t>(piece.byte + within));
      if (got > 0) return static_cast<size_t>(got);
      if (got == 0) return Invalid(file_.path, "pread: it became shorter while being read");
      if (errno == EINTR) continue;
      return absl::UnavailableError(absl::StrCat("pread ", file_.path, ": ", std::strerror(errno)));
    }
  }

  InputFile file_;
  const std::vector<Piece> pieces_;  // in order
  const uint64_t end_;
  const bool loop_;
  uint64_t offset_ = 0;
  size_t piece_ = 0;
};

Filled FilledOrEnd(size_t bytes) {
  return {.flow = bytes == 0 ? dataplane::Flow::kEnd : dataplane::Flow::kMoved, .bytes = bytes};
}

class RawSource final : public SourceStage {
 public:
  explicit RawSource(Reader reader) : reader_(std::move(reader)) {}
  bool fills_host() const override { return true; }
  absl::StatusOr<Filled> Fill(const Slot& slot, device::Queue& /*queue*/) override {
    TD_ASSIGN_OR_RETURN(const size_t bytes, reader_.Read(slot.host));
    return FilledOrEnd(bytes);
  }

 private:
  Reader reader_;
};

class ConvertingSource final : public SourceStage {
 public:
  ConvertingSource(Reader reader, const Conversion& conversion, size_t sample_bytes)
      : reader_(std::move(reader)), conversion_(conversion), sample_bytes_(sample_bytes) {}
  bool fills_host() const override { return true; }

  absl::StatusOr<Filled> Fill(const Slot& slot, device::Queue& /*queue*/) override {
    raw_.resize(slot.host.size() / kCf32Bytes * sample_bytes_);
    TD_ASSIGN_OR_RETURN(const size_t bytes, reader_.Read(raw_));
    conversion_.Run(std::span(raw_).first(bytes), slot.host.data());
    return FilledOrEnd(bytes / sample_bytes_ * kCf32Bytes);
  }

 private:
  Reader reader_;
  const Conversion conversion_;
  const size_t sample_bytes_;
  std::vector<std::byte> raw_;
};

struct Input {
  InputFile file;
  std::string datatype;
  std::vector<Piece> pieces = {};
  uint64_t bytes = 0;  // that they make, with those that are missing
  std::optional<Contents> contents = {};
  services::Notes notes = {};
};

absl::StatusOr<Input> OpenSamples(const SourceSettings& settings) {
  TD_ASSIGN_OR_RETURN(InputFile named, settings.files.OpenInput(settings.path));
  const std::string& path = settings.path;
  if (absl::EndsWith(path, ".sigmf") || absl::EndsWith(path, ".sigmf-collection")) {
    return Invalid(path, "is an archive or a collection: name a .sigmf-meta, or import an archive");
  }
  if (!IsSigmfMeta(settings.path)) {
    const uint64_t bytes = named.bytes;
    return Input{.file = std::move(named),
                 .datatype = settings.raw_datatype,
                 .pieces = {{.bytes = bytes}},
                 .bytes = bytes};
  }
  TD_ASSIGN_OR_RETURN(const SigmfRecording meta, ReadSigmfMeta(named));
  TD_ASSIGN_OR_RETURN(InputFile file, settings.files.OpenInput(meta.data_path));
  // The recording counts its times by its channel's rate, so that a file without one may, too.
  const bool tells = NumberIn(meta.object.at("global"), "core:sample_rate").has_value();
  TD_ASSIGN_OR_RETURN(Contents contents,
                      ReadContents(meta, file.bytes, tells ? 0 : settings.sample_rate));
  const uint64_t sample_bytes = dataplane::ParseDatatype(meta.datatype)->bytes_per_sample();
  Input input{.file = std::move(file),
              .datatype = meta.datatype,
              .bytes = contents.layout.samples * sample_bytes,
              .notes = contents.notes};
  for (const services::sigmf::Stretch& one : contents.layout.stretches) {
    input.pieces.push_back({.first = one.sample * sample_bytes,
                            .byte = one.byte,
                            .bytes = one.samples * sample_bytes});
  }
  if (!contents.sha512.empty()) {
    input.notes.push_back(
        services::MakeNote("SHA512_NOT_COMPARED",
                           "core:sha512 is not compared; tapectl recordings import compares it"));
  }
  input.contents = std::move(contents);
  return input;
}

// What the file says, for a recording of one pass.
std::shared_ptr<StageReport> ReportOf(const Contents& contents) {
  auto report = std::make_shared<StageReport>([] { return services::Notes(); });
  for (const services::sigmf::Gap& gap : contents.layout.gaps) {
    report->Mark({.sample_start = gap.first,
                  .sample_count = gap.count,
                  .label = services::sigmf::kLostLabel});
  }
  for (const services::Annotation& one : contents.annotations) report->Mark(one);
  return report;
}

void TakeAlong(const SourceSettings& settings, const Contents& contents, OpenedSource* out) {
  out->metadata = contents.metadata;
  out->transforms = contents.transforms;
  if (settings.loop) {
    out->notes.push_back(services::MakeNote(
        "FILE_REPEATED", "the file is repeated: its times and annotations are left out"));
    return;
  }
  out->report = ReportOf(contents);
  if (contents.sample_rate > 0 && settings.sample_rate > 0 &&
      contents.sample_rate != settings.sample_rate) {
    const std::string file = absl::StrFormat("%.15g", contents.sample_rate);
    const std::string recording = absl::StrFormat("%.15g", settings.sample_rate);
    out->notes.push_back(services::MakeNote(
        "RATE_DIFFERS",
        absl::StrCat("the file has ", file, " samples/s, and the times of the recording follow ",
                     recording, " samples/s"),
        {{"file", file}, {"recording", recording}}));
  }
}

// Says when each block was captured, by the file, or that nobody knows it.
class TimedSource final : public SourceStage {
 public:
  TimedSource(std::unique_ptr<SourceStage> source, services::model::SampleTime start_ns,
              double sample_rate, size_t sample_bytes)
      : source_(std::move(source)),
        start_ns_(start_ns),
        sample_rate_(sample_rate),
        sample_bytes_(sample_bytes) {}
  bool fills_host() const override { return source_->fills_host(); }

  absl::StatusOr<Filled> Fill(const Slot& slot, device::Queue& queue) override {
    TD_ASSIGN_OR_RETURN(Filled filled, source_->Fill(slot, queue));
    const uint64_t sample = slot.sequence * (slot.host.size() / sample_bytes_);
    filled.capture_ns = services::model::TimeAfter(start_ns_, sample, sample_rate_)
                            .value_or(dataplane::kTimeUnknown);
    return filled;
  }

 private:
  const std::unique_ptr<SourceStage> source_;
  const services::model::SampleTime start_ns_;
  const double sample_rate_;
  const size_t sample_bytes_;  // of what it makes
};

}  // namespace

absl::StatusOr<OpenedSource> OpenSource(const SourceSettings& settings) {
  TD_ASSIGN_OR_RETURN(Input input, OpenSamples(settings));
  const auto datatype = dataplane::ParseDatatype(input.datatype);
  if (!datatype.ok()) return Invalid(settings.path, datatype.status().message());
  posix_fadvise(input.file.fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  const size_t sample_bytes = datatype->bytes_per_sample();
  const uint64_t rest = input.bytes % sample_bytes;
  // A transform or a repetition must not start inside a sample; a plain copy keeps every byte.
  const bool whole_samples = settings.loop || settings.transformed;
  const uint64_t end = input.bytes - (whole_samples ? rest : 0);
  if (end == 0) return Invalid(input.file.path, "it holds no samples");
  if (whole_samples && rest != 0) {
    input.notes.push_back(services::MakeNote(
        "PARTIAL_SAMPLE", absl::StrCat("the last ", rest, " bytes are not a whole sample"),
        {{"bytes", absl::StrCat(rest)}}));
  }
  OpenedSource out{.datatype = input.datatype, .bytes = end, .notes = std::move(input.notes)};
  if (input.contents.has_value()) TakeAlong(settings, *input.contents, &out);
  Reader reader(std::move(input.file), std::move(input.pieces), end, settings.loop);
  const bool converts =
      settings.transformed && settings.raw_datatype == kTransformable && *datatype != kCf32;
  if (converts) {
    TD_ASSIGN_OR_RETURN(const Conversion conversion, Conversion::Between(*datatype, kCf32));
    out.bytes = end / sample_bytes * kCf32Bytes;
    out.stage = std::make_unique<ConvertingSource>(std::move(reader), conversion, sample_bytes);
  } else {
    out.stage = std::make_unique<RawSource>(std::move(reader));
  }
  const bool tells = out.report != nullptr;
  if (tells || !settings.from_instant) {
    out.stage = std::make_unique<TimedSource>(
        std::move(out.stage), tells ? input.contents->layout.start_time_ns : std::nullopt,
        settings.sample_rate, converts ? kCf32Bytes : sample_bytes);
  }
  return out;
}

absl::StatusOr<MadeSource> CreateSource(const SourceParameters& parameters,
                                        const SourceSetup& setup) {
  TD_ASSIGN_OR_RETURN(auto file, OpenSource({.files = setup.files,
                                             .path = parameters.path,
                                             .raw_datatype = setup.datatype,
                                             .sample_rate = setup.sample_rate,
                                             .loop = parameters.loop,
                                             .from_instant = setup.in_group,
                                             .transformed = setup.transformed}));
  const bool converted = setup.transformed && setup.datatype == kTransformable;
  if (file.datatype != setup.datatype && !converted) {
    return FileInvalid(
        parameters.path,
        absl::StrCat(parameters.path, " holds ", file.datatype,
                     setup.transformed ? ", the first transform takes " : ", the channel holds ",
                     setup.datatype));
  }
  return MadeSource{.stage = std::move(file.stage),
                    .datatype = setup.datatype,
                    .bytes = parameters.loop ? 0 : file.bytes,
                    .parameters = {{"datatype", file.datatype}},
                    .metadata = std::move(file.metadata),
                    .transforms = std::move(file.transforms),
                    .notes = std::move(file.notes),
                    .report = std::move(file.report)};
}

}  // namespace tapedeck::gpu_worker::stages::file
