#include "services/formats/vita49_packets.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"
#include "services/vita49/sample_clock.h"

namespace tapedeck::services::formats {
namespace {

// Streams of whose contexts one is kept until it is known which stream it is.
constexpr size_t kMostStreams = 64;

// What contexts tell of the samples of their stream.
struct Told {
  std::optional<dataplane::Datatype> type;
  std::optional<double> sample_rate;

  bool all() const { return type.has_value() && sample_rate.has_value(); }
};

}  // namespace

absl::StatusOr<Vita49Packets> Vita49Packets::Create(const files::InputFile& file) {
  TD_ASSIGN_OR_RETURN(PcapReader reader, PcapReader::Create(file));
  Vita49Packets packets(std::move(reader));
  TD_RETURN_IF_ERROR(packets.LookAround(file.path));
  packets.Rewind();
  return packets;
}

// A capture may begin between two contexts, so that the first samples come before what they are.
absl::Status Vita49Packets::LookAround(const std::string& path) {
  std::map<std::optional<uint32_t>, Told> contexts;
  std::optional<std::optional<uint32_t>> stream;
  int64_t captured_ns = 0;
  while (!stream.has_value() || !contexts[*stream].all()) {
    TD_ASSIGN_OR_RETURN(const auto captured, file_.Next());
    if (!captured.has_value()) break;
    const auto decoded = vita49::Decode(captured->bytes);
    if (!decoded.has_value()) continue;
    if (decoded->context.has_value()) {
      if (contexts.size() >= kMostStreams && !contexts.contains(decoded->stream)) continue;
      Told& told = contexts[decoded->stream];
      if (decoded->format.has_value()) told.type = decoded->format;
      const auto& rate = decoded->context->sample_rate;
      if (rate.has_value() && *rate > 0) told.sample_rate = rate;
    } else if (!stream.has_value() && !decoded->samples.empty()) {
      stream = decoded->stream;
      begin_ = decoded->time;
      captured_ns = captured->time_ns;
    }
  }
  if (!stream.has_value()) return files::Invalid(path, "has no samples in packets of VITA 49.2");
  const Told& told = contexts[*stream];
  if (!told.all()) {
    return files::Invalid(path, absl::StrCat("no context of its stream tells ",
                                             told.type.has_value() ? "the sample rate"
                                                                   : "what kind its samples are"));
  }
  if (begin_.kind == vita49::Fraction::kNone) {
    return files::Invalid(path, "its packets have no times, so that losses could not be told");
  }
  stream_ = *stream;
  type_ = *told.type;
  sample_rate_ = *told.sample_rate;
  start_ns_ = vita49::NanosecondsOf(begin_, sample_rate_);
  // Captures without times have zeros.
  if (!start_ns_.has_value() && captured_ns != 0) start_ns_ = captured_ns;
  return absl::OkStatus();
}

void Vita49Packets::Rewind() {
  file_.Rewind();
  end_ = others_ = late_ = malformed_ = clock_sets_ = other_rate_at_ = 0;
  clock_ = vita49::StreamClock(sample_rate_);
  captured_ns_.reset();
  set_by_s_.reset();
  other_rate_.reset();
}

absl::StatusOr<std::optional<Placed>> Vita49Packets::Next() {
  while (true) {
    TD_ASSIGN_OR_RETURN(const auto captured, file_.Next());
    if (!captured.has_value()) return std::nullopt;
    const auto decoded = vita49::Decode(captured->bytes);
    const vita49::Arrival arrival{.silent_ns =
                                      captured->time_ns - captured_ns_.value_or(captured->time_ns)};
    if (!decoded.has_value()) {
      ++malformed_;
    } else if (decoded->stream != stream_) {
      ++others_;
    } else if (auto placed = Place(*decoded, arrival); placed.has_value()) {
      if (!placed->samples.empty()) captured_ns_ = captured->time_ns;
      return placed;
    }
  }
}

std::optional<Placed> Vita49Packets::Place(const vita49::Decoded& decoded,
                                           const vita49::Arrival& arrival) {
  return decoded.context.has_value() ? PlaceContext(decoded, arrival)
                                     : PlaceSamples(decoded, arrival);
}

std::optional<Placed> Vita49Packets::PlaceContext(const vita49::Decoded& decoded,
                                                  const vita49::Arrival& arrival) {
  // One of a time before all samples, or of none, holds from the first that comes.
  const int64_t first =
      clock_.PositionOf(decoded.time, arrival).value_or(static_cast<int64_t>(end_));
  const Placed placed{.first = first < 0 ? 0 : static_cast<uint64_t>(first),
                      .context = decoded.context};
  if (const auto& rate = decoded.context->sample_rate; rate.has_value()) {
    clock_.SetRate(*rate);
    if (!other_rate_.has_value() && !vita49::IsSameRate(clock_.rate(), sample_rate_)) {
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
    ++malformed_;
    return std::nullopt;
  }
  const auto count = static_cast<int64_t>(decoded.samples.size() / sample_bytes);
  const auto place = clock_.PlaceOf({decoded.count, decoded.time, count, arrival});
  if (!place.has_value()) {
    ++malformed_;
    return std::nullopt;
  }
  if (place->step_s.has_value() && clock_sets_++ == 0) set_by_s_ = place->step_s;
  if (place->position < static_cast<int64_t>(end_)) {
    ++late_;
    return std::nullopt;
  }
  const Placed placed{.first = static_cast<uint64_t>(place->position), .samples = decoded.samples};
  end_ = placed.first + static_cast<uint64_t>(count);
  return placed;
}

std::vector<std::string> Vita49Packets::Notes() const {
  std::vector<std::string> notes;
  const auto note = [&](uint64_t count, absl::string_view what) {
    if (count > 0) notes.push_back(absl::StrCat(count, " packets ", what));
  };
  note(file_.passed_over(), "carry no whole datagram of UDP");
  note(malformed_, "are no sound ones of VITA 49.2");
  note(others_, "are of other streams, and left out");
  note(late_, "came late or twice, and are left out");
  if (set_by_s_.has_value()) {
    notes.push_back(absl::StrCat("the device's clock was set ", clock_sets_,
                                 clock_sets_ == 1 ? " time, by " : " times, first by ",
                                 absl::StrFormat("%+.6f", *set_by_s_),
                                 " s: its packets' count says that nothing is missing there"));
  }
  if (other_rate_.has_value()) {
    notes.push_back(absl::StrCat("from sample ", other_rate_at_, " on a context tells ",
                                 absl::StrFormat("%.10g", *other_rate_),
                                 " samples a second, and the recording has the first rate, ",
                                 absl::StrFormat("%.10g", sample_rate_)));
  }
  if (const double ppm = clock_.DriftPpm(); ppm != 0) {
    notes.push_back(absl::StrCat("the packets' times run ", absl::StrFormat("%+.1f", ppm),
                                 " ppm off the sample rate; the samples follow each other"));
  }
  return notes;
}

}  // namespace tapedeck::services::formats
