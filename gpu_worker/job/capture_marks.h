// The marks of a stream of which a storage node keeps captures alone, and which capture has to have
// which of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/model/recording/recording.h"

namespace tapedeck::gpu_worker::job {

// A value; one thread.
class CaptureMarks {
 public:
  // Samples of the stream.
  struct Extent {
    uint64_t first = 0;
    uint64_t end = 0;
    bool closed = false;  // no more samples come
  };
  struct Due {
    size_t mark = 0;
    services::Annotation annotation;
  };

  // The caller bounds how many.
  void Add(services::Annotation mark);

  // Marks for this capture that it was not given yet, each cut to the samples that the capture has.
  // A span waits until the capture has all of it or is closed. The first one may be the last
  // `signal` before the first sample, moved to that: it holds there, too.
  std::vector<Due> DueIn(const std::string& capture, const Extent& extent) const;
  void Given(const std::string& capture, const Due& due);
  // Nothing more is asked about it.
  void Forget(const std::string& capture) { given_.erase(capture); }

  size_t size() const { return marks_.size(); }
  // Marks that no capture was given.
  uint64_t unkept() const;

 private:
  struct Mark {
    services::Annotation annotation;
    bool kept = false;
  };

  // Of the signal that holds at a sample and began before.
  std::optional<size_t> StateAt(uint64_t sample) const;

  std::vector<Mark> marks_;
  std::map<std::string, std::set<size_t>> given_;  // by capture
};

}  // namespace tapedeck::gpu_worker::job
