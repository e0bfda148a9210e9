#include "services/tapectl/terminal/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "services/base/command_line/columns.h"

namespace tapedeck::services::tapectl {
namespace {

// Of a terminal that does not say.
constexpr Size kUsual = {.rows = 24, .columns = 80};

// Escapes of ECMA-48: what was there is written over, so that nothing flickers.
constexpr char kClear[] = "\033[2J";
constexpr char kHome[] = "\033[H";
constexpr char kToEndOfLine[] = "\033[K";
constexpr char kToEndOfScreen[] = "\033[J";

std::vector<std::string> LinesOf(const std::string& text) {
  return absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
}

}  // namespace

Size SizeOfStdout() {
  if (isatty(STDOUT_FILENO) != 1) return {};
  winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0) return kUsual;
  return {.rows = window.ws_row, .columns = window.ws_col};
}

bool TakesEscapes(int fd) {
  const char* kind = std::getenv("TERM");
  return isatty(fd) == 1 && kind != nullptr && absl::string_view(kind) != "dumb";
}

std::string FitTo(const std::string& text, const Size& size) {
  std::vector<std::string> lines = LinesOf(text);
  const size_t room = static_cast<size_t>(size.rows > 1 ? size.rows - 1 : 1);
  if (lines.size() > room) {
    const size_t more = lines.size() - room + 1;
    lines.resize(room);
    lines.back() = absl::StrCat("… ", more, " more lines");
  }
  std::string out;
  for (const std::string& line : lines)
    absl::StrAppend(&out, command_line::CutTo(line, size.columns), "\n");
  return out;
}

void Screen::Show(const std::string& text, const Size& size) {
  if (size.rows > 0 && !escapes_) {
    out_ << (std::exchange(cleared_, true) ? "\n" : "") << text << std::flush;
    return;
  }
  if (size.rows > 0) {
    out_ << (std::exchange(cleared_, true) ? "" : kClear) << kHome;
    for (const std::string& line : LinesOf(FitTo(text, size))) {
      out_ << line << kToEndOfLine << "\n";
    }
    out_ << kToEndOfScreen << std::flush;
    return;
  }
  std::set<std::string> lines;
  for (const std::string& line : LinesOf(text)) {
    if (!shown_.contains(line) && !line.empty()) out_ << line << "\n";
    lines.insert(line);
  }
  shown_ = std::move(lines);
  out_ << std::flush;
}

}  // namespace tapedeck::services::tapectl
