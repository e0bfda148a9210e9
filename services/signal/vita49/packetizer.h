// Samples as packets of VITA 49.2, with their times and what annotations tell of the signal. What
// is missing, or annotated as lost, is in no packet: the times leave it out.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/datatype.h"
#include "services/model/recording/recording.h"
#include "services/signal/packet_parts.h"
#include "services/signal/vita49/context_history.h"
#include "services/signal/vita49/packet.h"
#include "services/signal/vita49/sample_clock.h"

namespace tapedeck::services::vita49 {

struct PacketizerSettings {
  uint32_t stream = 0;
  dataplane::Datatype datatype;         // of big-endian samples
  double sample_rate = 0;               // that SampleClock has
  uint64_t packet_samples = 0;          // at most, in one packet
  std::vector<Annotation> annotations;  // of the recording
};

// One thread. Samples are numbered as the recording's annotations number them.
class Packetizer {
 public:
  explicit Packetizer(const PacketizerSettings& settings);

  // The samples from `first` on, behind all before. `time_ns` is of the
  // first one, UTC; none: unknown. The first call counts. What is returned refers to `samples`, and
  // to what is kept until the next call.
  std::span<const PacketParts> Pack(uint64_t first, std::optional<int64_t> time_ns,
                                    std::span<const std::byte> samples);

  // There are none up to `end`.
  void Skip(uint64_t end) { end_ = end; }

  // What has changed among the last samples, which are not there.
  std::span<const PacketParts> End();

  bool begun() const { return clock_.has_value(); }

 private:
  void Begin(uint64_t first, std::optional<int64_t> time_ns);
  void Add(uint64_t first, std::span<const std::byte> samples);
  // What holds from `at` on, if it is new or was told a second before `next`; and what has changed
  // among samples that are not there.
  void Tell(uint64_t at, uint64_t next);
  void TellChanges(uint64_t up_to);
  void AddContext(uint64_t sample, bool changed);
  void AddData(uint64_t sample, std::span<const std::byte> samples);
  void Forget();

  const PacketizerSettings settings_;
  const size_t sample_bytes_;
  const ContextHistory history_;
  std::optional<SampleClock> clock_;  // none: no samples have come
  uint64_t begin_ = 0;                // the first
  uint64_t end_ = 0;                  // one behind the newest
  uint64_t sent_ = 0;                 // one behind the newest in a packet; 0: none is
  uint64_t told_ = 0;                 // the sample that the last context is of
  bool told_anything_ = false;
  uint32_t next_data_ = 0;
  uint32_t next_context_ = 0;
  std::vector<PacketParts> packets_;
  // What they refer to, of one call.
  std::deque<std::array<std::byte, kDataHeaderBytes>> headers_;
  std::deque<std::vector<std::byte>> contexts_;
};

}  // namespace tapedeck::services::vita49
