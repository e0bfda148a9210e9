#include "services/copy/compatible.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/base/errors.h"

namespace tapedeck::services::copying {
namespace {

// The channel's LUN where that is a ring, else null.
const Lun* RingOf(const Channel& channel, const std::vector<Lun>& luns) {
  const auto found = std::ranges::find_if(
      luns, [&](const Lun& lun) { return channel.name.starts_with(lun.name + "/"); });
  if (found == luns.end() || found->full_policy != FullPolicy::kRing) return nullptr;
  return &*found;
}

// Bytes that a ring keeps for certain: the segment that is written, the next one, which is made
// ahead, and their indexes go off what it may fill, and so does what does not give way.
uint64_t KeptBy(const Lun& ring, const Channel& channel, uint64_t held) {
  const uint64_t percent = ring.max_fill_percent == 0 ? 100 : ring.max_fill_percent;
  const uint64_t fill = ring.capacity_bytes / 100 * percent;
  const uint64_t off = ring.capacity_bytes / 16 + 2 * channel.segment_bytes + held;
  return fill - std::min(fill, off);
}

}  // namespace

absl::Status CheckCompatible(const Recording& source, const Channel& channel) {
  const auto differ = [&](absl::string_view what, const auto& has, const auto& holds) {
    return ArgumentInvalid(
        "channel", absl::StrCat(source.name, " has ", what, " ", has, ", and ", channel.name,
                                " has ", holds, "; create a channel that matches it"));
  };
  if (source.datatype != channel.datatype)
    return differ("datatype", source.datatype, channel.datatype);
  if (source.block_bytes != channel.block_bytes)
    return differ("block_bytes", source.block_bytes, channel.block_bytes);
  if (source.sample_rate != channel.sample_rate)
    return differ("sample_rate", source.sample_rate, channel.sample_rate);
  if (channel.segment_bytes > 0) {
    return ArgumentInvalid(
        "channel",
        absl::StrCat(channel.name, " records in segments; name a channel that does not"));
  }
  return absl::OkStatus();
}

absl::Status CheckKeeps(const Channel& channel, const std::vector<Lun>& luns, uint64_t bytes,
                        uint64_t held) {
  if (channel.triggered() && channel.commit == dataplane::CommitLevel::kReceived) {
    return ArgumentInvalid("channel",
                           absl::StrCat(channel.name,
                                        " keeps only what triggers select; name a channel without "
                                        "--pre-trigger and --post-trigger"));
  }
  const Lun* const ring = RingOf(channel, luns);
  if (ring == nullptr || bytes <= KeptBy(*ring, channel, held)) return absl::OkStatus();
  const bool without = bytes <= KeptBy(*ring, channel, 0);
  const std::string taken =
      without ? absl::StrCat(", of which ", held, " bytes are kept, written or read") : "";
  const std::string remedy = without ? "release kept ones (tapectl keep --release), or " : "";
  return ArgumentInvalid("channel", absl::StrCat(ring->name, " is a ring of ", ring->capacity_bytes,
                                                 " bytes", taken, ", and the recording has ", bytes,
                                                 ": the ring would delete its beginning; ", remedy,
                                                 "name a channel of another LUN"));
}

absl::Status CheckIsWhole(const std::vector<Recording>& recordings, const std::string& name,
                          uint64_t blocks) {
  const std::string id = name.substr(name.rfind('/') + 1);
  uint64_t there = 0;
  for (const Recording& one : recordings) {
    if (one.name == name || one.stream == id) there += one.blocks;
  }
  if (there >= blocks) return absl::OkStatus();
  return RecordingNotFound(
      name,
      absl::StrCat(name, ": its LUN deleted ", blocks - there, " of ", blocks,
                   " blocks to free space before the last one came; release kept recordings "
                   "(tapectl keep --release), or name a channel of another LUN"),
      absl::StatusCode::kDataLoss);
}

absl::Status CheckIsNoRing(const Channel& channel, const std::vector<Lun>& luns) {
  const Lun* const ring = RingOf(channel, luns);
  if (ring == nullptr) return absl::OkStatus();
  return ArgumentInvalid("channel",
                         absl::StrCat(ring->name,
                                      " is a ring, which records in segments and deletes the "
                                      "oldest; name a channel of another LUN"));
}

session::Original OriginalOf(const Recording& source) {
  session::Original original{
      .recording = source.name, .uid = source.uid, .open_time_ns = source.open_time_ns};
  if (!source.original.empty()) original.earlier.push_back(source.original);
  for (const std::string& name : source.earlier_originals) {
    if (original.earlier.size() < model::kMaxEarlierOriginals) original.earlier.push_back(name);
  }
  return original;
}

model::Origin OriginOf(const Recording& source) {
  model::Origin origin = source.origin;
  if (source.cause.empty()) return origin;
  std::string& cause = origin.original_cause;
  // Of a copy that was cut off itself, both.
  cause = cause.empty() ? source.cause : absl::StrCat(source.cause, "; its original: ", cause);
  size_t end = std::min(cause.size(), model::kMaxOriginValueBytes);
  while (end < cause.size() && end > 0 && (cause[end] & 0xC0) == 0x80) --end;  // within a character
  cause.resize(end);
  return model::OriginProblem(origin).empty() ? origin : source.origin;
}

}  // namespace tapedeck::services::copying
