#include "services/tapectl/recordings/waterfall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/services/noted.h"

namespace tapedeck::services::tapectl {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

// A loud column 3 of 16, and a row that is missing.
Spectrogram Some() {
  Spectrogram made{.columns = 16,
                   .rows = 4,
                   .span = {.first = 1000, .count = 4000},
                   .samples_per_row = 1000,
                   .sample_rate = 1e6,
                   .frequency = 1e8,
                   .complex = true,
                   .band_rate = 1e6,
                   .covered_samples = 4000};
  for (uint32_t row = 0; row < made.rows; ++row) {
    for (uint32_t column = 0; column < made.columns; ++column) {
      made.powers.push_back(row == 2 ? kNone : column == 3 ? -10.0f : -90.0f);
    }
  }
  return made;
}

TEST(WaterfallTest, PlainCharactersShowLoudSilentAndMissing) {
  const std::vector<std::string> lines = absl::StrSplit(WaterfallText(Some(), false), '\n');
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0], "    0.001 s    @            ");
  EXPECT_EQ(lines[2], "    0.003 s ????????????????");
  EXPECT_THAT(lines[4], HasSubstr("99.5 MHz"));
  EXPECT_THAT(lines[4], HasSubstr("100.5 MHz"));
  EXPECT_EQ(lines[5], "-90.0 dB (dark) to -10.0 dB (bright) of full scale");
  EXPECT_EQ(lines[6], "each row holds the maximum of its transforms");
}

TEST(WaterfallTest, HalfBlocksShowTwoRowsInALine) {
  const std::vector<std::string> lines = absl::StrSplit(WaterfallText(Some(), true), '\n');
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_THAT(lines[0], HasSubstr("\033[38;5;231;48;5;231m▀"));
  EXPECT_THAT(lines[0], HasSubstr("\033[38;5;16;48;5;16m▀"));
  EXPECT_THAT(lines[1], HasSubstr("▄"));  // the upper of its rows is missing
  EXPECT_THAT(lines[1], Not(HasSubstr("▀")));
}

// Of a mean of 64 spectra each: the axes of the picture have two rates.
TEST(WaterfallTest, SpectraHaveTheBandOfTheirSource) {
  Spectrogram spectra = Some();
  spectra.band_rate = 64e6;
  spectra.bins = 16;
  spectra.frequency = 0;
  spectra.covered_samples = 500;
  const std::vector<std::string> lines = absl::StrSplit(WaterfallText(spectra, false), '\n');
  EXPECT_THAT(lines[0], StartsWith("    0.001 s "));
  EXPECT_THAT(lines[4], HasSubstr("-32 MHz"));
  EXPECT_THAT(lines[4], HasSubstr("32 MHz"));
  EXPECT_EQ(
      lines[6],
      "each row holds the maximum of its recorded spectra of 16 bins, which cover 12.5 % of its "
      "samples: a smaller range covers more");
}

// Bin 0 of an odd number is in the middle column, not beside it.
TEST(WaterfallTest, AnOddNumberOfBinsBeginsBehindHalfTheBand) {
  const Spectrogram odd{.columns = 5,
                        .rows = 1,
                        .span = {.first = 0, .count = 5},
                        .powers = std::vector<float>(5, 0),
                        .complex = true,
                        .band_rate = 1e6,
                        .bins = 5,
                        .covered_samples = 5};
  EXPECT_THAT(WaterfallText(odd, false), HasSubstr("-400 kHz"));
}

TEST(WaterfallTest, ARetuneWithinThePictureIsNoted) {
  const Spectrogram seen = Some();  // samples 1000 to 5000 at 100 MHz
  Timeline timeline{.captures = {{.sample = 1000, .frequency = 2e8},
                                 {.sample = 2000, .frequency = 1e8},
                                 {.sample = 5000, .frequency = 3e8}}};
  EXPECT_EQ(RetuneNote(timeline, seen), std::nullopt);
  timeline.captures[2].sample = 4999;
  EXPECT_THAT(RetuneNote(timeline, seen),
              testing::Optional(Noted("FREQUENCY_CHANGES|frequency=300000000|sample=4999")));
}

TEST(WaterfallTest, NothingIsSaidToBeThereWhereNothingIs) {
  Spectrogram none{.columns = 16, .rows = 1, .powers = std::vector<float>(16, kNone)};
  EXPECT_THAT(WaterfallText(none, false), HasSubstr("it has no samples"));
  EXPECT_THAT(WaterfallText(none, false), StartsWith("          0 ????????????????\n"));
}

TEST(WaterfallTest, FrequenciesHaveTheirUnits) {
  EXPECT_EQ(FormatHertz(0), "0 Hz");
  EXPECT_EQ(FormatHertz(-2500), "-2.5 kHz");
  EXPECT_EQ(FormatHertz(1.57542e9), "1.57542 GHz");
}

}  // namespace
}  // namespace tapedeck::services::tapectl
