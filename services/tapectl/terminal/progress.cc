#include "services/tapectl/terminal/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "services/site/units.h"
#include "services/tapectl/terminal/screen.h"

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

std::string DoneText(const ProgressNow& now) {
  if (now.all_bytes > 0) {
    return absl::StrCat(FormatBytes(now.bytes), " of ", FormatBytes(now.all_bytes));
  }
  if (now.all_blocks == 0) return absl::StrCat(now.blocks, " blocks");
  return absl::StrCat(now.blocks, " of ", now.all_blocks, " blocks");
}

// Behind the bar.
std::string FiguresOf(const ProgressNow& now) {
  if (!now.phase.empty()) return absl::StrCat("  ", now.phase);
  std::string text = absl::StrCat("  ", DoneText(now));
  if (now.mb_per_s > 0) absl::StrAppend(&text, absl::StrFormat("  %.1f MB/s", now.mb_per_s));
  if (now.fraction > 0 && now.fraction <= 1) {
    absl::StrAppend(&text, "  ", Clock(now.elapsed_s * (1 - now.fraction) / now.fraction), " left");
  } else {
    absl::StrAppend(&text, "  ", Clock(now.elapsed_s));
  }
  return text;
}

size_t ColumnsOfStderr() {
  winsize window = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return 80;
  return window.ws_col;
}

}  // namespace

bool ColorWanted() {
  const auto is = [](const char* name) {
    const char* value = std::getenv(name);
    return absl::string_view(value == nullptr ? "" : value);
  };
  return is("NO_COLOR").empty() && is("TERM") != "dumb";
}

std::string ProgressLine(const std::string& what, const ProgressNow& now, bool color,
                         size_t columns) {
  const std::string figures = FiguresOf(now);
  if (now.fraction < 0) return absl::StrCat(what, figures);
  const double fraction = std::min(now.fraction, 1.0);
  const std::string percent = absl::StrFormat(" %3.0f%%", fraction * 100);
  const std::string plain = absl::StrCat(what, percent, figures);
  if (columns > 0 && plain.size() + kBarCells + 3 >= columns) return plain.substr(0, columns - 1);
  return absl::StrCat(what, " ", Bar(fraction, color), percent, figures);
}

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)), terminal_(TakesEscapes(STDERR_FILENO)), color_(ColorWanted()) {}

ProgressBar::~ProgressBar() {
  if (shown_) std::fputs(kWipe, stderr);
}

void ProgressBar::Show(const ProgressNow& now) {
  if (!terminal_) return;
  shown_ = true;
  std::fprintf(stderr, "%s%s", kWipe, ProgressLine(what_, now, color_, ColumnsOfStderr()).c_str());
  std::fflush(stderr);
}

}  // namespace tapedeck::services::tapectl
