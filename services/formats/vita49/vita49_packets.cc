#include "services/formats/vita49/vita49_packets.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/formats/io/reader.h"
#include "services/signal/vita49/sample_clock.h"
#include "services/signal/vita49/signal_text.h"

namespace tapedeck::services::formats {
namespace {

// Streams of which the contexts are kept until the stream is known.
constexpr size_t kMostContexts = 64;
// Of the clock of who captures against that of the device.
constexpr int64_t kMostApartNs = 60'000'000'000;

}  // namespace

absl::StatusOr<Vita49Packets> Vita49Packets::Create(const files::InputFile& file,
                                                    const ReadOptions& options) {
  TD_ASSIGN_OR_RETURN(PcapReader reader, PcapReader::Create(file));
  Vita49Packets packets(std::move(reader), options);
  TD_RETURN_IF_ERROR(packets.LookAround(file.path));
  TD_RETURN_IF_ERROR(packets.Rewind());
  return packets;
}

bool Vita49Packets::IsWanted(const vita49::Decoded& decoded) const {
  return !options_.stream.has_value() || decoded.stream == options_.stream;
}

// A capture may begin between two contexts, so that the first samples come before what they are.
absl::Status Vita49Packets::LookAround(const std::string& path) {
  Contexts contexts;
  TD_RETURN_IF_ERROR(FindFirst(path, &contexts));
  StreamContext& told = contexts[{stream_, flow_.from}];
  TD_RETURN_IF_ERROR(Complete(path, &told));
  if (begin_.kind == vita49::Fraction::kNone) {
    return files::Invalid(path, "its packets have no times, so losses would not show");
  }
  type_ = *told.type;
  format_ = told.format;
  sample_rate_ = *told.sample_rate;
  told_start_ns_ = vita49::NanosecondsOf(begin_, sample_rate_);
  // Else it is the time of the capture. Captures without times have zeros.
  const model::SampleTime captured_ns =
      captured_start_ns_ == 0 ? std::nullopt : model::SampleTime(captured_start_ns_);
  start_ns_ = told_start_ns_.has_value() ? told_start_ns_ : captured_ns;
  return absl::OkStatus();
}

// The first packet with samples, and the contexts until those of its stream tell all.
absl::Status Vita49Packets::FindFirst(const std::string& path, Contexts* contexts) {
  bool found = false;
  while (!found || !(*contexts)[{stream_, flow_.from}].all()) {
    TD_ASSIGN_OR_RETURN(const auto captured, file_.Next());
    if (!captured.has_value()) break;
    const auto decoded = vita49::Decode(captured->bytes);
    if (!decoded.has_value()) {
      others_.AddUndecoded(captured->bytes);
    } else if (decoded->context.has_value()) {
      if (!IsWanted(*decoded)) continue;
      const auto key = std::pair(decoded->stream, captured->flow.from);
      if (contexts->size() >= kMostContexts && !contexts->contains(key)) continue;
      StreamContext& told = (*contexts)[key];
      if (decoded->told_format.has_value()) {
        told.type = decoded->format;
        told.format = decoded->told_format;
      }
      const auto& rate = decoded->context->sample_rate;
      if (rate.has_value() && *rate > 0) told.sample_rate = rate;
    } else if (!found && !decoded->samples.empty() && IsWanted(*decoded)) {
      found = true;
      stream_ = decoded->stream;
      flow_ = captured->flow;
      begin_ = decoded->time;
      captured_start_ns_ = captured->time_ns;
    } else if (!found) {
      others_.AddStream(decoded->stream);
    }
  }
  if (found) return absl::OkStatus();
  const std::string of =
      options_.stream.has_value() ? absl::StrCat(" of the stream ", *options_.stream) : "";
  return files::Invalid(path,
                        absl::StrCat("has no samples in packets of VITA 49.2", of, PassedOver()));
}

absl::Status Vita49Packets::Complete(const std::string& path, StreamContext* told) const {
  if (!options_.datatype.empty()) {
    TD_ASSIGN_OR_RETURN(dataplane::Datatype type, dataplane::ParseDatatype(options_.datatype));
    type.big_endian = type.bits > 8;  // as packets have them
    if (told->type.value_or(type) != type) {
      return files::Invalid(path, absl::StrCat("its context says that its samples are ",
                                               dataplane::DatatypeName(*told->type), ", not ",
                                               dataplane::DatatypeName(type)));
    }
    told->type = type;
  }
  if (options_.sample_rate > 0) told->sample_rate = options_.sample_rate;
  const double rate = told->sample_rate.value_or(vita49::SampleClock::kLeastRate);
  if (rate < vita49::SampleClock::kLeastRate || rate > vita49::SampleClock::kMostRate) {
    return files::Invalid(path,
                          absl::StrFormat("%s%.15g samples/s is not a sample rate",
                                          options_.sample_rate > 0 ? "--sample-rate: " : "", rate));
  }
  if (told->all()) return absl::OkStatus();
  if (told->type.has_value()) {
    return files::Invalid(path, "no context of its stream has the sample rate; give --sample-rate");
  }
  if (!told->format.has_value()) {
    return files::Invalid(path,
                          "no context of its stream says what its samples are; give --datatype");
  }
  return files::Invalid(
      path, absl::StrCat("its context says ", vita49::FormatText(*told->format),
                         ", which is not a SigMF datatype; give --datatype to read them as one"));
}

absl::Status Vita49Packets::Rewind() {
  TD_RETURN_IF_ERROR(file_.Rewind());
  others_ = {};
  end_ = late_ = of_other_type_ = clock_sets_ = other_rate_at_ = 0;
  other_type_ = false;
  clock_ = vita49::StreamClock(sample_rate_);
  captured_ns_.reset();
  set_by_s_.reset();
  other_rate_.reset();
  return absl::OkStatus();
}

// A device may send contexts to a port of their own.
bool Vita49Packets::IsOfFlow(const vita49::Decoded& decoded, const Flow& flow) const {
  return decoded.context.has_value() ? flow.from == flow_.from : flow == flow_;
}

absl::StatusOr<std::optional<Placed>> Vita49Packets::Next() {
  while (true) {
    TD_ASSIGN_OR_RETURN(const auto captured, file_.Next());
    if (!captured.has_value()) return std::nullopt;
    const auto decoded = vita49::Decode(captured->bytes);
    const vita49::Arrival arrival{.silent_ns =
                                      captured->time_ns - captured_ns_.value_or(captured->time_ns)};
    if (!decoded.has_value()) {
      others_.AddUndecoded(captured->bytes);
    } else if (decoded->stream != stream_) {
      others_.AddStream(decoded->stream);
    } else if (!IsOfFlow(*decoded, captured->flow)) {
      others_.AddFlow(captured->flow);
    } else if (auto placed = Place(*decoded, arrival); placed.has_value()) {
      if (!placed->samples.empty()) captured_ns_ = captured->time_ns;
      return placed;
    }
  }
}

std::optional<Placed> Vita49Packets::Place(const vita49::Decoded& decoded,
                                           const vita49::Arrival& arrival) {
  if (decoded.context.has_value()) return PlaceContext(decoded, arrival);
  if (!other_type_) return PlaceSamples(decoded, arrival);
  ++of_other_type_;
  return std::nullopt;
}

std::optional<Placed> Vita49Packets::PlaceContext(const vita49::Decoded& decoded,
                                                  const vita49::Arrival& arrival) {
  if (decoded.told_format.has_value()) {
    other_type_ = decoded.told_format != format_ && decoded.format != type_;
  }
  // One of a time before all samples, or of none, holds from the first that comes.
  const int64_t first =
      clock_.PositionOf(decoded.time, arrival).value_or(static_cast<int64_t>(end_));
  const Placed placed{.first = first < 0 ? 0 : static_cast<uint64_t>(first),
                      .context = decoded.context};
  if (const auto& rate = decoded.context->sample_rate; rate.has_value()) {
    if (options_.sample_rate == 0) clock_.SetRate(*rate);
    if (!other_rate_.has_value() && *rate > 0 && !vita49::IsSameRate(*rate, sample_rate_)) {
      other_rate_ = rate;
      other_rate_at_ = placed.first;
    }
  }
  return placed;
}

std::optional<Placed> Vita49Packets::PlaceSamples(const vita49::Decoded& decoded,
                                                  const vita49::Arrival& arrival) {
  const size_t sample_bytes = type_.bytes_per_sample();
  if (decoded.samples.empty() || decoded.samples.size() % sample_bytes != 0) {
    others_.AddUnsound();
    return std::nullopt;
  }
  const auto count = static_cast<int64_t>(decoded.samples.size() / sample_bytes);
  const auto place = clock_.PlaceOf({decoded.count, decoded.time, count, arrival});
  if (!place.has_value()) {
    others_.AddUnsound();
    return std::nullopt;
  }
  if (place->step_s.has_value() && clock_sets_++ == 0) set_by_s_ = place->step_s;
  if (place->position < static_cast<int64_t>(end_)) {
    ++late_;
    return std::nullopt;
  }
  const Placed placed{.first = static_cast<uint64_t>(place->position),
                      .samples = decoded.samples,
                      .clock_step_s = place->step_s};
  end_ = placed.first + static_cast<uint64_t>(count);
  return placed;
}

model::Notes Vita49Packets::WhatWasPassedOver() const {
  model::Notes notes = file_.Notes();
  const model::Notes others = others_.Notes();
  notes.insert(notes.end(), others.begin(), others.end());
  dataplane::Datatype type = type_;
  type.big_endian = false;
  const std::string name = dataplane::DatatypeName(type);
  NotePackets("PACKETS_OTHER_SAMPLES", of_other_type_,
              absl::StrCat("hold other samples than ", name, ", says a context, and are left out"),
              &notes, {{"datatype", name}});
  NotePackets("PACKETS_LATE", late_, "came late or twice, and are left out", &notes);
  return notes;
}

std::string Vita49Packets::PassedOver() const {
  const model::Notes notes = WhatWasPassedOver();
  return notes.empty() ? "" : absl::StrCat(": ", absl::StrJoin(model::TextsOf(notes), "; "));
}

void Vita49Packets::NoteStart(model::Notes* notes) const {
  if (captured_start_ns_ == 0 || options_.start_ns.has_value()) return;
  if (!told_start_ns_.has_value()) {
    notes->push_back(MakeNote(
        "START_BY_CAPTURE",
        "no packet has a UTC time: the recording starts when the first packet was captured"));
  } else if (std::abs(*told_start_ns_ - captured_start_ns_) > kMostApartNs) {
    const std::string start = Instant(*told_start_ns_);
    const std::string captured = Instant(captured_start_ns_);
    notes->push_back(MakeNote("START_NOT_CAPTURE",
                              absl::StrCat("the first packet says ", start,
                                           ", which is the start, and was captured at ", captured),
                              {{"start", start}, {"captured", captured}}));
  }
}

model::Notes Vita49Packets::Notes() const {
  model::Notes notes = WhatWasPassedOver();
  NoteStart(&notes);
  if (format_.has_value() && !vita49::DatatypeOf(*format_).has_value()) {
    const std::string format = vita49::FormatText(*format_);
    notes.push_back(MakeNote(
        "FORMAT_UNNAMED",
        absl::StrCat("its context says ", format, "; the import reads them as --datatype says"),
        {{"format", format}}));
  }
  if (set_by_s_.has_value()) {
    const std::string seconds = absl::StrFormat("%+.6f", *set_by_s_);
    notes.push_back(
        MakeNote("CLOCK_SET",
                 absl::StrCat("the device's clock was set ", clock_sets_,
                              clock_sets_ == 1 ? " time, by " : " times, first by ", seconds,
                              " s: its packets' count says that nothing is missing there"),
                 {{"times", absl::StrCat(clock_sets_)}, {"seconds", seconds}}));
  }
  if (other_rate_.has_value()) {
    const std::string rate = absl::StrFormat("%.10g", *other_rate_);
    const std::string recording = absl::StrFormat("%.10g", sample_rate_);
    notes.push_back(MakeNote("RATE_CHANGES",
                             absl::StrCat("from sample ", other_rate_at_, " on a context says ",
                                          rate, " samples/s, and the recording has ", recording),
                             {{"sample", absl::StrCat(other_rate_at_)},
                              {"samples_per_s", rate},
                              {"sample_rate", recording}}));
  }
  if (const double ppm = clock_.DriftPpm(); ppm != 0) {
    const std::string told = absl::StrFormat("%+.1f", ppm);
    notes.push_back(
        MakeNote("CLOCK_DRIFTS",
                 absl::StrCat("the packets' times run ", told,
                              " ppm off the sample rate; the samples follow each other"),
                 {{"ppm", told}}));
  }
  return notes;
}

}  // namespace tapedeck::services::formats
