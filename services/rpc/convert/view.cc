#include "services/rpc/convert/view.h"

#include "dataplane/status_macros.h"
#include "services/rpc/convert/values/message.h"

namespace tapedeck::services::convert {
namespace {

absl::Status CheckCount(absl::string_view field, const std::vector<float>& numbers,
                        uint64_t count) {
  if (numbers.size() == count) return absl::OkStatus();
  return FieldError(field, "has the wrong count of numbers");
}

v1::MarkedSpan MarkToProto(const Annotation& annotation) {
  v1::MarkedSpan out;
  out.set_first_sample(annotation.sample_start);
  out.set_sample_count(annotation.sample_count);
  out.set_label(annotation.label);
  out.set_comment(annotation.comment);
  return out;
}

Annotation MarkOf(const v1::MarkedSpan& span) {
  return {.sample_start = span.first_sample(),
          .sample_count = span.sample_count(),
          .label = span.label(),
          .comment = span.comment()};
}

}  // namespace

v1::Timeline ToProto(const Timeline& timeline) {
  auto out = Written<v1::Timeline>(timeline);
  for (const Annotation& one : timeline.annotations) *out.add_annotations() = MarkToProto(one);
  return out;
}

absl::StatusOr<Timeline> FromProto(const v1::Timeline& timeline) {
  Timeline out;
  TD_RETURN_IF_ERROR(ReadFields(timeline, out));
  for (const v1::MarkedSpan& one : timeline.annotations()) {
    out.annotations.push_back(MarkOf(one));
  }
  return out;
}

v1::ReadSpectrogramRequest ToProto(const SpectrogramRequest& request) {
  return Written<v1::ReadSpectrogramRequest>(request);
}

SpectrogramRequest FromProto(const v1::ReadSpectrogramRequest& request) {
  return ReadSound<SpectrogramRequest>(request);
}

v1::Spectrogram ToProto(const Spectrogram& spectrogram) {
  return Written<v1::Spectrogram>(spectrogram);
}

absl::StatusOr<Spectrogram> FromProto(const v1::Spectrogram& spectrogram) {
  if (spectrogram.rows() > kMostRows || spectrogram.columns() > kMostColumns ||
      spectrogram.columns() == 0) {
    return FieldError("columns", "has more rows or columns than there can be, or none");
  }
  auto out = ReadSound<Spectrogram>(spectrogram);
  TD_RETURN_IF_ERROR(CheckCount("powers", out.powers, uint64_t{out.rows} * out.columns));
  TD_RETURN_IF_ERROR(CheckCount("means", out.means, out.columns));
  return out;
}

SamplesRequest FromProto(const v1::ReadSamplesRequest& request) {
  return ReadSound<SamplesRequest>(request);
}

v1::Samples ToProto(const Samples& samples) { return Written<v1::Samples>(samples); }

v1::ReadEnvelopeRequest ToProto(const EnvelopeRequest& request) {
  return Written<v1::ReadEnvelopeRequest>(request);
}

EnvelopeRequest FromProto(const v1::ReadEnvelopeRequest& request) {
  return ReadSound<EnvelopeRequest>(request);
}

v1::Envelope ToProto(const Envelope& envelope) { return Written<v1::Envelope>(envelope); }

absl::StatusOr<Envelope> FromProto(const v1::Envelope& envelope) {
  auto out = ReadSound<Envelope>(envelope);
  TD_RETURN_IF_ERROR(CheckCount("minima", out.minima, envelope.points()));
  TD_RETURN_IF_ERROR(CheckCount("maxima", out.maxima, envelope.points()));
  TD_RETURN_IF_ERROR(CheckCount("powers", out.powers, envelope.points()));
  return out;
}

}  // namespace tapedeck::services::convert
