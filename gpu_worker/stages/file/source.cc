#include "gpu_worker/stages/file/source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"
#include "services/files/file_roots.h"
#include "services/files/input_file.h"
#include "services/samples/conversion.h"
#include "services/sigmf/meta.h"

namespace tapedeck::gpu_worker::stages::file {

using services::samples::Conversion;

using services::files::FileInvalid;
using services::files::InputFile;
using services::files::Invalid;
using services::sigmf::IsSigmfMeta;
using services::sigmf::ReadSigmfMeta;
using services::sigmf::SigmfRecording;

namespace {

constexpr size_t kCf32Bytes = 8;
constexpr dataplane::Datatype kCf32 = {
    .complex = true, .kind = dataplane::Datatype::Kind::kFloat, .bits = 32};

// Reads a file once or round and round.
class Reader {
 public:
  Reader(InputFile file, uint64_t end, bool loop)
      : file_(std::move(file)), end_(end), loop_(loop) {}

  // Fills `out` as far as the file goes.
  absl::StatusOr<size_t> Read(std::span<std::byte> out) {
    size_t done = 0;
    while (done < out.size()) {
      if (offset_ == end_ && loop_) offset_ = 0;
      const size_t wanted = std::min<uint64_t>(out.size() - done, end_ - offset_);
      if (wanted == 0) break;
      const ssize_t got =
          pread(file_.fd.get(), out.data() + done, wanted, static_cast<off_t>(offset_));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return absl::UnavailableError(
            absl::StrCat("pread ", file_.path, ": ", std::strerror(errno)));
      }
      if (got == 0) return Invalid(file_.path, "pread: it became shorter while being read");
      done += static_cast<size_t>(got);
      offset_ += static_cast<uint64_t>(got);
    }
    return done;
  }

 private:
  InputFile file_;
  const uint64_t end_;
  const bool loop_;
  uint64_t offset_ = 0;
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
  std::vector<std::string> notes;
};

absl::StatusOr<Input> OpenSamples(const SourceSettings& settings) {
  TD_ASSIGN_OR_RETURN(InputFile named, settings.files.OpenInput(settings.path));
  if (!IsSigmfMeta(settings.path)) return Input{std::move(named), settings.raw_datatype, {}};
  TD_ASSIGN_OR_RETURN(const SigmfRecording meta, ReadSigmfMeta(named));
  TD_ASSIGN_OR_RETURN(InputFile file, settings.files.OpenInput(meta.data_path));
  Input input{std::move(file), meta.datatype, {}};
  if (settings.transformed && meta.has_foreign_bytes) {
    return Invalid(settings.path, "its data has header or trailing bytes, which are no samples");
  }
  if (settings.transformed && meta.channels > 1) {
    input.notes.push_back(absl::StrCat("the file interleaves ", meta.channels,
                                       " channels; they are transformed as one stream"));
  }
  return input;
}

}  // namespace

absl::StatusOr<OpenedSource> OpenSource(const SourceSettings& settings) {
  TD_ASSIGN_OR_RETURN(Input input, OpenSamples(settings));
  const auto datatype = dataplane::ParseDatatype(input.datatype);
  if (!datatype.ok()) return Invalid(settings.path, datatype.status().message());
  posix_fadvise(input.file.fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  const size_t sample_bytes = datatype->bytes_per_sample();
  const uint64_t rest = input.file.bytes % sample_bytes;
  // A transform or a repetition must not start inside a sample; a plain copy keeps every byte.
  const bool whole_samples = settings.loop || settings.transformed;
  const uint64_t end = input.file.bytes - (whole_samples ? rest : 0);
  if (end == 0) return Invalid(input.file.path, "it holds no samples");
  if (whole_samples && rest != 0) {
    input.notes.push_back(absl::StrCat("the last ", rest, " bytes are not a whole sample"));
  }
  OpenedSource out{.datatype = input.datatype, .bytes = end, .notes = std::move(input.notes)};
  Reader reader(std::move(input.file), end, settings.loop);
  const bool converts = settings.transformed && settings.raw_datatype == kTransformable;
  if (!converts || *datatype == kCf32) {
    out.stage = std::make_unique<RawSource>(std::move(reader));
    return out;
  }
  TD_ASSIGN_OR_RETURN(const Conversion conversion, Conversion::Between(*datatype, kCf32));
  out.bytes = end / sample_bytes * kCf32Bytes;
  out.stage = std::make_unique<ConvertingSource>(std::move(reader), conversion, sample_bytes);
  return out;
}

absl::StatusOr<MadeSource> CreateSource(const SourceParameters& parameters,
                                        const SourcePlace& place) {
  TD_ASSIGN_OR_RETURN(auto file, OpenSource({.files = place.files,
                                             .path = parameters.path,
                                             .raw_datatype = place.datatype,
                                             .loop = parameters.loop,
                                             .transformed = place.transformed}));
  const bool converted = place.transformed && place.datatype == kTransformable;
  if (file.datatype != place.datatype && !converted) {
    return FileInvalid(
        parameters.path,
        absl::StrCat(parameters.path, " holds ", file.datatype,
                     place.transformed ? ", the first transform takes " : ", the channel holds ",
                     place.datatype));
  }
  return MadeSource{.stage = std::move(file.stage),
                    .datatype = place.datatype,
                    .bytes = parameters.loop ? 0 : file.bytes,
                    .parameters = {{"datatype", file.datatype}},
                    .notes = std::move(file.notes)};
}

}  // namespace tapedeck::gpu_worker::stages::file
