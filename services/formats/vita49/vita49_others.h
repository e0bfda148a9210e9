// The packets of a capture that are of no use to the stream that is read, counted by their cause.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "services/formats/vita49/pcap_reader.h"
#include "services/model/words/note.h"

namespace tapedeck::services::formats {

class Vita49Others {
 public:
  // Of another stream.
  void AddStream(const std::optional<uint32_t>& stream);
  // Of the stream's number, from another sender or to another port.
  void AddFlow(const Flow& flow);
  // That is not decoded.
  void AddUndecoded(std::span<const std::byte> packet);
  // No samples can be of such a packet.
  void AddUnsound() { ++unsound_; }

  // In words; nothing where nothing was.
  model::Notes Notes() const;

 private:
  std::map<std::optional<uint32_t>, uint64_t> streams_;  // as far as there is room
  uint64_t streams_beyond_ = 0;
  std::vector<std::pair<Flow, uint64_t>> flows_;
  uint64_t flows_beyond_ = 0;
  uint64_t framed_ = 0;  // VITA 49.1
  uint64_t spectra_ = 0;
  uint64_t other_types_ = 0;
  uint64_t unsound_ = 0;
};

}  // namespace tapedeck::services::formats
