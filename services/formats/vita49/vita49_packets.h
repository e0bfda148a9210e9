// The packets of one stream of VITA 49.2 in a capture file, each with the place of its samples. The
// stream is the one that is asked for, else that of the first packet with samples, and has one
// sender and one port. Places count from the stream's first sample, by vita49/stream_clock.h and
// the sample rate that a context tells. One thread that may wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"
#include "services/formats/io/reader.h"
#include "services/formats/vita49/pcap_reader.h"
#include "services/model/recording/sample_time.h"
#include "services/model/words/note.h"
#include "services/signal/vita49/packet.h"
#include "services/signal/vita49/stream_clock.h"

namespace tapedeck::services::formats {

// The packets of a capture that are of no use to the stream that is read, counted by their cause.
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

// Samples, or what is told of the signal from a sample on.
struct Placed {
  uint64_t first = 0;                  // sample
  std::span<const std::byte> samples;  // big-endian, whole ones; valid until the next call
  std::optional<vita49::Context> context;
  std::optional<double> clock_step_s;  // the device's clock was set before them
};

class Vita49Packets {
 public:
  // Of a file that outlives this. INVALID_ARGUMENT (FILE_INVALID): it is no capture; it has no
  // samples; neither it nor `options` tell what they are, how many a second, or when they were
  // taken; it tells samples of another datatype than `options`.
  static absl::StatusOr<Vita49Packets> Create(const files::InputFile& file,
                                              const ReadOptions& options);

  // None: that was the last one. Packets of other streams, those that are none of VITA 49.2's, and
  // samples that come late or twice are passed over. INVALID_ARGUMENT (FILE_INVALID).
  absl::StatusOr<std::optional<Placed>> Next();

  // Begins again with the first. INVALID_ARGUMENT (FILE_INVALID).
  absl::Status Rewind();

  const dataplane::Datatype& type() const { return type_; }
  double sample_rate() const { return sample_rate_; }
  model::SampleTime start_ns() const { return start_ns_; }

  // What was passed over, and what is odd about the times, in words; nothing where nothing was.
  model::Notes Notes() const;
  // What was passed over as the end of a sentence: ": A; B", or empty.
  std::string PassedOver() const;

 private:
  // What contexts tell of the samples of their stream.
  struct StreamContext {
    std::optional<dataplane::Datatype> type;
    std::optional<uint64_t> format;  // its words, which may be those of no type
    std::optional<double> sample_rate;

    bool all() const { return type.has_value() && sample_rate.has_value(); }
  };
  using Stream = std::optional<uint32_t>;
  using Contexts =
      std::map<std::pair<Stream, Flow::Address>, StreamContext>;  // by their senders, too

  Vita49Packets(PcapReader file, const ReadOptions& options)
      : file_(std::move(file)), options_(options) {}

  absl::Status LookAround(const std::string& path);
  absl::Status FindFirst(const std::string& path, Contexts* contexts);
  // What the contexts of the stream leave open, `options_` tell.
  absl::Status Complete(const std::string& path, StreamContext* told) const;
  bool IsWanted(const vita49::Decoded& decoded) const;
  bool IsOfFlow(const vita49::Decoded& decoded, const Flow& flow) const;
  model::Notes WhatWasPassedOver() const;
  void NoteStart(model::Notes* notes) const;
  std::optional<Placed> Place(const vita49::Decoded& decoded, const vita49::Arrival& arrival);
  std::optional<Placed> PlaceContext(const vita49::Decoded& decoded,
                                     const vita49::Arrival& arrival);
  std::optional<Placed> PlaceSamples(const vita49::Decoded& decoded,
                                     const vita49::Arrival& arrival);

  PcapReader file_;
  ReadOptions options_;
  Stream stream_;
  Flow flow_;  // of the samples
  vita49::Time begin_;
  dataplane::Datatype type_;
  double sample_rate_ = 0;
  std::optional<uint64_t> format_;  // that the contexts tell
  model::SampleTime start_ns_;
  model::SampleTime told_start_ns_;  // by the packets
  int64_t captured_start_ns_ = 0;    // by the capture
  uint64_t end_ = 0;                 // one behind the newest sample
  vita49::StreamClock clock_{0};
  std::optional<int64_t> captured_ns_;  // the last packet with samples
  std::optional<double> set_by_s_;      // the first time that the device's clock was set
  uint64_t clock_sets_ = 0;
  std::optional<double> other_rate_;  // told later than the first
  uint64_t other_rate_at_ = 0;
  bool other_type_ = false;  // the newest context tells other samples
  // Packets that were passed over.
  Vita49Others others_;
  uint64_t late_ = 0;
  uint64_t of_other_type_ = 0;
};

}  // namespace tapedeck::services::formats
