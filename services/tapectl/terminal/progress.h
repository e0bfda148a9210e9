// A progress line on stderr: bar, percent, what is done, rate, time left. Silent where stderr is no
// terminal, or one that takes no escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tapedeck::services::tapectl {

struct ProgressNow {
  double fraction = -1;  // 0 to 1; negative: unknown
  uint64_t blocks = 0;
  uint64_t all_blocks = 0;  // 0: unknown
  uint64_t bytes = 0;       // in place of blocks, with all_bytes
  uint64_t all_bytes = 0;
  double mb_per_s = 0;  // 10^6 bytes; 0: not shown
  double elapsed_s = 0;
  std::string phase;  // in place of blocks and rate; empty: these
};

// Of a terminal: unless the user has said NO_COLOR (no-color.org), or TERM=dumb.
bool ColorWanted();

// The text of the line. `color` uses ANSI escapes. In a terminal of so many columns the bar goes if
// the line is too long, then its end; 0: as long as it is.
std::string ProgressLine(const std::string& what, const ProgressNow& now, bool color,
                         size_t columns = 0);

// One thread. The destructor wipes the line.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();

  void Show(const ProgressNow& now);

 private:
  const std::string what_;
  const bool terminal_;
  const bool color_;
  bool shown_ = false;
};

}  // namespace tapedeck::services::tapectl
