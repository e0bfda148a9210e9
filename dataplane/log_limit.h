// A limit on log lines. Some lines a second of the same component and message are written, and the
// rest are counted. Without it a peer that fails in a loop fills the log's disk.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

// Not thread-safe; times are of one clock.
class LogLimit {
 public:
  // Lines of one component and message within kWindowNs. With fewer, the rails of a few sessions
  // that come up at the same time would be left out.
  static constexpr uint32_t kLines = 20;
  static constexpr int64_t kWindowNs = 1'000'000'000;
  // Of a component's messages that differ; beyond them all count as one message.
  static constexpr size_t kMessages = 64;

  struct LeftOut {
    std::string component;
    std::string message;  // empty: several
    uint64_t lines = 0;
  };

  // Whether this line is to be written.
  bool Admit(absl::string_view component, absl::string_view message, int64_t now_ns);

  // What was left out in windows that are over, once. Before each Admit.
  std::vector<LeftOut> TakeLeftOut(int64_t now_ns);

 private:
  struct Window {
    int64_t begin_ns = 0;
    uint64_t lines = 0;
  };
  using Component = std::map<std::string, Window, std::less<>>;  // by message

  std::map<std::string, Component, std::less<>> components_;
  int64_t swept_ns_ = 0;
};

}  // namespace tapedeck::dataplane
