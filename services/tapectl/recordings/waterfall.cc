#include "services/tapectl/recordings/waterfall.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::tapectl {
namespace {

// Of xterm's 256, from silent to loud.
constexpr auto kColors = std::to_array<int>(
    {16, 17, 18, 19, 20, 26, 32, 38, 44, 43, 42, 76, 112, 148, 184, 220, 214, 208, 202, 196, 231});
constexpr absl::string_view kPlain = " .:-=+*#%@";
// Below the loudest; noise is at the dark end.
constexpr float kLeastSpanDb = 10;

struct Scale {
  float least = 0;
  float most = 0;

  // 0 to `steps` - 1.
  size_t StepOf(float db, size_t steps) const {
    const float share = std::clamp((db - least) / (most - least), 0.0f, 1.0f);
    if (!(share > 0)) return 0;
    return std::min(static_cast<size_t>(share * static_cast<float>(steps)), steps - 1);
  }
};

// From what one in twenty values lie below to the loudest of all; none: everything is missing.
std::optional<Scale> ScaleOf(const Spectrogram& spectrogram) {
  std::vector<float> there;
  std::ranges::copy_if(spectrogram.powers, std::back_inserter(there),
                       [](float db) { return std::isfinite(db); });
  if (there.empty()) return std::nullopt;
  const auto low = there.begin() + static_cast<ptrdiff_t>(there.size() / 20);
  std::ranges::nth_element(there, low);
  const float least = *low;
  const float most = *std::ranges::max_element(there);
  return Scale{.least = std::min(least, most - kLeastSpanDb), .most = most};
}

// One cell of two rows.
std::string ColorCell(float upper, float lower, const Scale& scale) {
  const auto color = [&](float db) { return kColors[scale.StepOf(db, kColors.size())]; };
  if (std::isnan(upper) && std::isnan(lower)) return "\033[0m ";
  if (std::isnan(lower)) return absl::StrCat("\033[0;38;5;", color(upper), "m▀");
  if (std::isnan(upper)) return absl::StrCat("\033[0;38;5;", color(lower), "m▄");
  return absl::StrCat("\033[38;5;", color(upper), ";48;5;", color(lower), "m▀");
}

std::string PlainCell(float db, const Scale& scale) {
  return std::isnan(db) ? "?" : std::string(1, kPlain[scale.StepOf(db, kPlain.size())]);
}

std::string LabelOf(const Spectrogram& spectrogram, uint32_t row) {
  const double sample =
      static_cast<double>(spectrogram.span.first) + row * spectrogram.samples_per_row;
  const std::string label = spectrogram.sample_rate > 0
                                ? absl::StrFormat("%.6g s", sample / spectrogram.sample_rate)
                                : absl::StrFormat("%.0f", sample);
  return absl::StrFormat("%*s ", static_cast<int>(kLabelCells) - 1, label);
}

std::string FrequencyLine(const Spectrogram& spectrogram) {
  const double rate = spectrogram.band_rate;
  const double width = spectrogram.complex ? rate : rate / 2;
  const uint32_t below = spectrogram.complex ? spectrogram.columns / 2 : 0;
  const double least = spectrogram.frequency - rate * below / spectrogram.columns;
  const std::string left = FormatHertz(least);
  const std::string middle = FormatHertz(least + width / 2);
  const std::string right = FormatHertz(least + width);
  const int cells = static_cast<int>(spectrogram.columns);
  const auto gap = [](int cells_left) { return std::string(std::max(cells_left, 1), ' '); };
  std::string line = left;
  const auto used = [&] { return static_cast<int>(line.size()); };
  absl::StrAppend(&line, gap((cells - static_cast<int>(middle.size())) / 2 - used()), middle);
  absl::StrAppend(&line, gap(cells - static_cast<int>(right.size()) - used()), right);
  return absl::StrCat(std::string(kLabelCells, ' '), line, "\n");
}

// And how much of the samples that is.
std::string WhatRowsHold(const Spectrogram& spectrogram) {
  std::string text = "each row holds the maximum of its transforms";
  if (spectrogram.bins > 0) {
    text = absl::StrCat("each row holds the maximum of its recorded spectra of ", spectrogram.bins,
                        " bins");
  }
  const uint64_t all = spectrogram.span.count;
  if (spectrogram.covered_samples >= all) return text;
  const double percent =
      100 * static_cast<double>(spectrogram.covered_samples) / static_cast<double>(all);
  return absl::StrCat(
      text, absl::StrFormat(", which cover %.3g %% of its samples", std::min(percent, 99.9)),
      ": a smaller range covers more");
}

float At(const Spectrogram& spectrogram, uint32_t row, uint32_t column) {
  return spectrogram.powers[size_t{row} * spectrogram.columns + column];
}

std::string LineOf(const Spectrogram& spectrogram, uint32_t row, const Scale& scale, bool color) {
  std::string line = LabelOf(spectrogram, row);
  for (uint32_t column = 0; column < spectrogram.columns; ++column) {
    const float upper = At(spectrogram, row, column);
    const bool last = row + 1 == spectrogram.rows;
    const float lower = last ? std::nanf("") : At(spectrogram, row + (color ? 1 : 0), column);
    absl::StrAppend(&line, color ? ColorCell(upper, lower, scale) : PlainCell(upper, scale));
  }
  return absl::StrCat(line, color ? "\033[0m\n" : "\n");
}

}  // namespace

std::string FormatHertz(double hertz) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "GHz"}, {1e6, "MHz"}, {1e3, "kHz"}};
  for (const auto& [unit, name] : kUnits) {
    if (std::abs(hertz) >= unit) return absl::StrFormat("%.6g %s", hertz / unit, name);
  }
  return absl::StrFormat("%.6g Hz", hertz);
}

TerminalSize SizeOfTerminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {.lines = size.ws_row, .columns = size.ws_col};
}

std::optional<Note> RetuneNote(const Timeline& timeline, const Spectrogram& spectrogram) {
  for (const CaptureStart& one : timeline.captures) {
    const bool within = one.sample > spectrogram.span.first && one.sample < spectrogram.span.end();
    if (!within || one.frequency == 0 || one.frequency == spectrogram.frequency) continue;
    return MakeNote(
        "FREQUENCY_CHANGES",
        absl::StrCat("the frequency changes to ", FormatHertz(one.frequency), " at sample ",
                     one.sample, "; the axis is that of the first sample"),
        {{"frequency", absl::StrFormat("%.15g", one.frequency)},
         {"sample", absl::StrCat(one.sample)}});
  }
  return std::nullopt;
}

std::string WaterfallText(const Spectrogram& spectrogram, bool color) {
  const auto scale = ScaleOf(spectrogram);
  std::string text;
  for (uint32_t row = 0; row < spectrogram.rows; row += color ? 2 : 1) {
    absl::StrAppend(&text, LineOf(spectrogram, row, scale.value_or(Scale{.most = 1}), color));
  }
  if (spectrogram.band_rate > 0) absl::StrAppend(&text, FrequencyLine(spectrogram));
  if (!scale.has_value()) return absl::StrCat(text, "it has no samples\n");
  absl::StrAppend(&text, absl::StrFormat("%.1f dB (dark) to %.1f dB (bright) of full scale",
                                         scale->least, scale->most));
  if (spectrogram.damaged_pieces > 0) {
    absl::StrAppend(&text, "; ", spectrogram.damaged_pieces, " damaged pieces left out");
  }
  return absl::StrCat(text, "\n", WhatRowsHold(spectrogram), "\n");
}

}  // namespace tapedeck::services::tapectl
