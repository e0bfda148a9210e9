#include "services/tapectl/terminal/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr int kBarCells = 24;
constexpr char kWipe[] = "\r\033[K";

std::string Clock(double seconds) {
  const auto total = std::llround(seconds);
  return absl::StrFormat("%d:%02d", total / 60, total % 60);
}

std::string Bar(double fraction, bool color) {
  const int full = static_cast<int>(fraction * kBarCells);
  const std::string done(full, '#');
  const std::string rest(kBarCells - full, '.');
  return color ? absl::StrCat("[\033[32m", done, "\033[0m", rest, "]")
               : absl::StrCat("[", done, rest, "]");
}

}  // namespace

bool ColorWanted() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color == nullptr || *no_color == '\0';
}

std::string ProgressLine(const std::string& what, const ProgressNow& now, bool color) {
  std::string line = what;
  if (now.fraction >= 0) {
    const double fraction = std::min(now.fraction, 1.0);
    absl::StrAppend(&line, " ", Bar(fraction, color), absl::StrFormat(" %3.0f%%", fraction * 100));
  }
  if (!now.phase.empty()) return absl::StrCat(line, "  ", now.phase);
  absl::StrAppend(&line, "  ", now.blocks, " blocks");
  if (now.mb_per_s > 0) absl::StrAppend(&line, absl::StrFormat("  %.1f MB/s", now.mb_per_s));
  if (now.fraction > 0 && now.fraction <= 1) {
    absl::StrAppend(&line, "  ", Clock(now.elapsed_s * (1 - now.fraction) / now.fraction), " left");
  } else {
    absl::StrAppend(&line, "  ", Clock(now.elapsed_s));
  }
  return line;
}

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1), color_(ColorWanted()) {}

ProgressBar::~ProgressBar() {
  if (shown_) std::fputs(kWipe, stderr);
}

void ProgressBar::Show(const ProgressNow& now) {
  if (!terminal_) return;
  shown_ = true;
  std::fprintf(stderr, "%s%s", kWipe, ProgressLine(what_, now, color_).c_str());
  std::fflush(stderr);
}

}  // namespace tapedeck::services::tapectl
