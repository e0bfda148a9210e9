#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/formats/io/riff.h"
#include "services/formats/io/samples_file.h"
#include "services/formats/wav/wav.h"

namespace tapedeck::services::formats {
namespace {

using Kind = dataplane::Datatype::Kind;

// Unsigned of 8 bits, signed of more, floats; all little-endian.
bool IsOfWav(const dataplane::Datatype& type) {
  if (type.big_endian) return false;
  if (type.kind == Kind::kFloat) return true;
  return type.kind == (type.bits == 8 ? Kind::kUint : Kind::kInt);
}

// The datatype of WAV that keeps most of such samples.
std::string NearestOf(const dataplane::Datatype& type) {
  const std::string kind = type.complex ? "c" : "r";
  if (type.bits == 8) return kind + "u8";
  return absl::StrCat(kind, type.kind == Kind::kFloat ? "f" : "i", type.bits, "_le");
}

void AppendChunk(std::string* text, absl::string_view name, absl::string_view bytes) {
  absl::StrAppend(text, name);
  AppendNumber(text, bytes.size(), 4);
  absl::StrAppend(text, bytes);
}

std::string FormatOf(const Subject& subject, uint64_t rate) {
  const dataplane::Datatype& type = subject.type;
  const bool floats = type.kind == Kind::kFloat;
  std::string text;
  AppendNumber(&text, floats ? kWaveFloat : kWavePcm, 2);
  AppendNumber(&text, type.complex ? 2 : 1, 2);
  AppendNumber(&text, rate, 4);
  AppendNumber(&text, std::min(rate * subject.sample_bytes(), kMaxRiffBytes), 4);
  AppendNumber(&text, subject.sample_bytes(), 2);
  AppendNumber(&text, static_cast<uint64_t>(type.bits), 2);
  if (floats) AppendNumber(&text, 0, 2);  // nothing more
  return text;
}

std::string AuxiOf(const Subject& subject, uint64_t rate, const Seen& seen) {
  const double hertz = FrequencyOf(subject, seen).hertz.value_or(0);
  std::string text;
  AppendSystemTime(&text, TimeOf(subject, 0));
  AppendSystemTime(&text, TimeOf(subject, subject.samples()));
  const bool fits = hertz > 0 && hertz < static_cast<double>(kMaxRiffBytes);
  AppendNumber(&text, fits ? static_cast<uint64_t>(std::llround(hertz)) : 0, 4);
  AppendNumber(&text, rate, 4);
  text.resize(kAuxiBytes, '\0');
  return text;
}

class WavWriter final : public Writer {
 public:
  WavWriter(const Subject& subject, uint64_t rate, bool streams)
      : subject_(subject),
        rate_(rate),
        bytes_(subject.samples() * subject.sample_bytes()),
        streams_(streams),
        waits_(streams) {}

  absl::Status Begin(Output& out) override {
    return waits_ ? absl::OkStatus() : out.Put(Head(Seen()));
  }

  // Behind the last whole sample there may be bytes that are none.
  absl::Status Write(const Piece& piece, Output& out) override {
    const uint64_t wanted = std::min(piece.bytes, bytes_ - std::min(piece.offset, bytes_));
    if (waits_ && piece.data.empty()) {
      skipped_ += wanted;
      return absl::OkStatus();
    }
    if (waits_) {
      const sigmf::Run run{.sample = piece.offset / subject_.sample_bytes(),
                           .sample_index = piece.sample_index};
      TD_RETURN_IF_ERROR(PutHead({.runs = {run}, .gaps = {}}, out));
    }
    if (!piece.data.empty()) return out.Put(piece.data.first(wanted));
    out.Skip(wanted);
    return absl::OkStatus();
  }

  // Which frequency a file has is known now.
  absl::Status Finish(const Seen& seen, Output& out) override {
    if (waits_) TD_RETURN_IF_ERROR(PutHead(seen, out));
    out.Skip(bytes_ % 2);
    return streams_ ? absl::OkStatus() : out.Replace(0, Head(seen));
  }

 private:
  // Of a stream, before the first samples that are there.
  absl::Status PutHead(const Seen& seen, Output& out) {
    TD_RETURN_IF_ERROR(out.Put(Head(seen)));
    out.Skip(skipped_);
    waits_ = false;
    return absl::OkStatus();
  }

  std::string Head(const Seen& seen) const {
    const std::string small = Head(seen, /*large=*/false);
    const bool large = small.size() + bytes_ + 1 > kMaxRiffBytes;
    return large ? Head(seen, /*large=*/true) : small;
  }

  std::string Head(const Seen& seen, bool large) const {
    std::string chunks = "WAVE";
    std::string rest;
    AppendChunk(&rest, "fmt ", FormatOf(subject_, rate_));
    if (subject_.type.kind == Kind::kFloat) {
      std::string count;
      AppendNumber(&count, std::min(subject_.samples(), kMaxRiffBytes), 4);
      AppendChunk(&rest, "fact", count);
    }
    AppendChunk(&rest, "auxi", AuxiOf(subject_, rate_, seen));
    rest.append("data");
    AppendNumber(&rest, large ? kMaxRiffBytes : bytes_, 4);
    constexpr uint64_t kSizesBytes = 28;
    const uint64_t padded = bytes_ + bytes_ % 2;
    if (large) {
      std::string sizes;
      AppendNumber(&sizes, chunks.size() + 8 + kSizesBytes + rest.size() + padded, 8);
      AppendNumber(&sizes, bytes_, 8);
      AppendNumber(&sizes, subject_.samples(), 8);
      AppendNumber(&sizes, 0, 4);  // of other chunks
      AppendChunk(&chunks, "ds64", sizes);
    }
    chunks += rest;
    std::string head = large ? "RF64" : "RIFF";
    AppendNumber(&head, large ? kMaxRiffBytes : chunks.size() + padded, 4);
    return head + chunks;
  }

  const Subject subject_;
  const uint64_t rate_;
  const uint64_t bytes_;
  const bool streams_;
  bool waits_;            // a stream has no head yet: the first samples tell the frequency
  uint64_t skipped_ = 0;  // bytes of samples until then
};

}  // namespace

absl::StatusOr<std::unique_ptr<Writer>> CreateWavWriter(const Subject& subject,
                                                        const WriterOptions& options) {
  if (!IsOfWav(subject.type)) {
    return DatatypeInvalid(
        subject.datatype,
        absl::StrCat("WAV has no samples of ", subject.datatype,
                     ", only u8, i16_le, i32_le, f32_le and f64_le, complex "
                     "or real; for a raw file of ",
                     NearestOf(subject.type), ": tapectl play ", subject.recording.name,
                     " --transform convert:from=", subject.datatype,
                     ",to=", NearestOf(subject.type), " --sink file:PATH"));
  }
  const double rate = subject.recording.sample_rate;
  if (rate < 1 || rate > static_cast<double>(kMaxRiffBytes) || rate != std::floor(rate)) {
    return ArgumentInvalid(
        "format",
        absl::StrCat("WAV has whole sample rates up to 4294967295, and the recording's is ",
                     rate == 0 ? "not known" : absl::StrCat(rate)));
  }
  return std::make_unique<WavWriter>(subject, static_cast<uint64_t>(rate), options.streams);
}

}  // namespace tapedeck::services::formats
