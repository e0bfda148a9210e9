#include "gpu_worker/stages/verify/expected.h"

#include <cmath>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::verify {

absl::StatusOr<std::unique_ptr<Expected>> Expected::FromLabels(
    const std::map<std::string, std::string>& labels, uint64_t block_bytes, uint32_t playback_fft,
    std::string* why) {
  const auto source = labels.find("source");
  if (source == labels.end() || source->second != "synth") {
    *why = absl::StrCat("content not compared: its source, ",
                        source == labels.end() ? "unknown" : source->second,
                        ", cannot be computed again");
    return nullptr;
  }
  TD_ASSIGN_OR_RETURN(const services::SynthSpec spec, synth::SpecFromLabels(labels));
  TD_ASSIGN_OR_RETURN(const synth::Waveform waveform, synth::Parameters(spec));
  uint32_t recorded_fft = 0;
  const auto fft = labels.find("fft");
  if (fft != labels.end() && !absl::SimpleAtoi(fft->second, &recorded_fft)) {
    return services::WithReason(absl::InvalidArgumentError("verify: label fft is not a number"),
                                "ARGUMENT_INVALID", {{"field", "labels"}});
  }
  std::unique_ptr<Expected> expected(new Expected(waveform, block_bytes));
  for (const uint32_t points : {recorded_fft, playback_fft}) {
    if (points != 0) expected->ffts_.emplace_back(points);
  }
  return expected;
}

Expected::Expected(const synth::Waveform& waveform, uint64_t block_bytes)
    : generator_(waveform),
      block_samples_(block_bytes / sizeof(synth::Complex)),
      made_(block_samples_),
      real_(block_samples_),
      imaginary_(block_samples_) {}

absl::Status Expected::Compare(const dataplane::BlockHeader& header,
                               std::span<const std::byte> payload) {
  const uint64_t sequence = header.sequence;
  if (payload.size() != block_samples_ * sizeof(synth::Complex)) {
    return absl::DataLossError(absl::StrCat("block ", sequence, " has ", payload.size(),
                                            " bytes, not ",
                                            block_samples_ * sizeof(synth::Complex)));
  }
  generator_.Make(header.sample_index, made_);
  const std::span got(reinterpret_cast<const synth::Complex*>(payload.data()), block_samples_);
  return ffts_.empty() ? CompareExact(sequence, got) : CompareTransformed(sequence, got);
}

absl::Status Expected::CompareExact(uint64_t sequence, std::span<const synth::Complex> got) const {
  // Bit for bit.
  const std::byte* const found = std::as_bytes(got).data();
  const std::byte* const made = std::as_bytes(std::span(made_)).data();
  if (std::memcmp(found, made, got.size_bytes()) == 0) return absl::OkStatus();
  constexpr size_t kBytes = sizeof(synth::Complex);
  size_t i = 0;
  while (std::memcmp(found + i * kBytes, made + i * kBytes, kBytes) == 0) ++i;
  return absl::DataLossError(absl::StrCat("block ", sequence, ", sample ", i, ": (", got[i].re,
                                          ", ", got[i].im, ") instead of (", made_[i].re, ", ",
                                          made_[i].im, ")"));
}

absl::Status Expected::CompareTransformed(uint64_t sequence, std::span<const synth::Complex> got) {
  Transform();
  double difference = 0;
  double power = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double dr = got[i].re - real_[i];
    const double di = got[i].im - imaginary_[i];
    difference += dr * dr + di * di;
    power += real_[i] * real_[i] + imaginary_[i] * imaginary_[i];
  }
  // Written so that a NaN fails. An all-zero signal must come back as zeros.
  if (difference <= kFftTolerance * kFftTolerance * power) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("block ", sequence, ": relative L2 difference ",
                                          std::sqrt(difference / power), " from the reference"));
}

void Expected::Transform() {
  for (size_t i = 0; i < block_samples_; ++i) {
    real_[i] = made_[i].re;
    imaginary_[i] = made_[i].im;
  }
  for (ReferenceFft& fft : ffts_) {
    for (size_t i = 0; i < block_samples_; i += fft.points()) {
      fft.Forward(std::span(real_).subspan(i, fft.points()),
                  std::span(imaginary_).subspan(i, fft.points()));
    }
  }
}

}  // namespace tapedeck::gpu_worker::stages::verify
