// What the packets of a stream tell of its signal, and from which sample on: marks of the
// recording. Devices tell it again and again, and packets come twice or late: only what is new is
// marked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "gpu_worker/stages/ingest/counts.h"
#include "gpu_worker/stages/stage_report.h"

namespace tapedeck::gpu_worker::stages::ingest {

// One thread.
class SignalMarks {
 public:
  // Marks of one stream, as many as a recording has room for; later ones are counted.
  static constexpr size_t kMost = 1000;
  // So many of the newest are remembered, for what comes out of order among them.
  static constexpr size_t kRecent = 32;

  SignalMarks(std::shared_ptr<StageReport> report, std::shared_ptr<Counts> counts)
      : report_(std::move(report)), counts_(std::move(counts)) {}

  void Tell(uint64_t position, const std::string& text);
  // The sender's clock was set by so many seconds before that sample.
  void TellClockStep(uint64_t position, double step_s);

 private:
  void Mark(uint64_t position, const std::string& text);

  const std::shared_ptr<StageReport> report_;
  const std::shared_ptr<Counts> counts_;
  std::map<uint64_t, std::string> told_;                 // by position
  size_t steps_ = 0;                                     // of the clock, marked
  std::deque<std::pair<uint64_t, std::string>> recent_;  // all that came, marked or not
};

}  // namespace tapedeck::gpu_worker::stages::ingest
