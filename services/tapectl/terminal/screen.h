// A text that is shown again and again: on a terminal in its place, or one below the other where it
// takes no escapes. Elsewhere as lines of what is new, so that a log or a pipe gets each once.
#pragma once

#include <ostream>
#include <set>
#include <string>

namespace tapedeck::services::tapectl {

// Of a terminal; 0 rows: it is none.
struct Size {
  int rows = 0;
  int columns = 0;
};

Size SizeOfStdout();

// Whether the descriptor is a terminal that takes escapes: with TERM=dumb none does.
bool TakesEscapes(int fd);

// As much of the text as the terminal has room for; a line that is too long is cut, and so is the
// end, which the last line then says.
std::string FitTo(const std::string& text, const Size& size);

// One thread.
class Screen {
 public:
  explicit Screen(std::ostream& out, bool escapes = true) : out_(out), escapes_(escapes) {}

  // `size` as it is now.
  void Show(const std::string& text, const Size& size);

 private:
  std::ostream& out_;
  const bool escapes_;
  std::set<std::string> shown_;  // the lines of the last text
  bool cleared_ = false;
};

}  // namespace tapedeck::services::tapectl
