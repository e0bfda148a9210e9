// A spectrogram in a terminal: two rows in each line where there are colours, else one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "services/model/seams/view.h"
#include "services/model/words/note.h"

namespace tapedeck::services::tapectl {

// What stands left of each line of a waterfall.
inline constexpr uint32_t kLabelCells = 12;

// With the axes: time, or samples where the rate is not known, and frequency. `color`: half blocks
// (U+2580) in 256 colours; else plain characters. What is missing is blank, and plainly '?'.
// "the frequency changes to 434.5 MHz at sample 100000; ...", where it does so within the picture;
// else none.
std::optional<Note> RetuneNote(const Timeline& timeline, const Spectrogram& spectrogram);

std::string WaterfallText(const Spectrogram& spectrogram, bool color);

// 1.5 MHz
std::string FormatHertz(double hertz);

// Lines and columns of the terminal that stdout is, else 24 and 80.
struct TerminalSize {
  uint32_t lines = 24;
  uint32_t columns = 80;
};
TerminalSize SizeOfTerminal();

}  // namespace tapedeck::services::tapectl
