#include <unistd.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/seams/view.h"
#include "services/model/words/note.h"
#include "services/signal/sigmf/text.h"
#include "services/site/json.h"
#include "services/site/names.h"
#include "services/tapectl/program/answer.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/sample_range.h"
#include "services/tapectl/recordings/waterfall.h"
#include "services/tapectl/terminal/progress.h"

namespace tapedeck::services::tapectl {
namespace {

// What the view command says, as JSON.
struct Viewed {
  std::string recording;
  Spectrogram spectrogram;
  Notes notes = {};
};

// {recording, first, sample_count, rows, columns, ..., means: a list, powers: a list for
// each row, dB to a hundredth}; null where nothing is there.
Answer AnswerOf(const Viewed& viewed);

// Below the waterfall: its axis, scale and notes, with the prompt.
constexpr uint32_t kOtherLines = 5;

struct ViewOptions {
  RecordingChoice choice;
  SampleRange samples;
  uint32_t columns = 0;  // 0: as many as the terminal has room for
  uint32_t rows = 0;
};

bool InColor() { return isatty(STDOUT_FILENO) == 1 && ColorWanted(); }

// Which frequency holds at a sample of the view, in Hz, by the annotations of all segments up to
// it; 0: unknown.
double FrequencyAt(const Recording& recording, const Timeline& timeline, uint64_t sample) {
  const auto behind =
      std::ranges::upper_bound(timeline.captures, sample, {}, &CaptureStart::sample);
  if (behind == timeline.captures.begin()) return 0;
  const CaptureStart& capture = *std::prev(behind);
  const uint64_t at = capture.stream_sample + (sample - capture.sample);
  std::map<uint64_t, double> told;
  for (const Annotation& one : recording.annotations) {
    if (one.sample_start > at || !model::IsMark(one, sigmf::kSignalLabel)) continue;
    const auto fields = sigmf::SignalFields(one.comment);
    if (const auto it = fields.find("frequency"); it != fields.end()) {
      told[one.sample_start] = it->second;
    }
  }
  return told.empty() ? 0 : told.rbegin()->second;
}

absl::Status RunView(Program& program, const ViewOptions& options) {
  TD_ASSIGN_OR_RETURN(const uint64_t count, options.samples.count());
  const auto first = static_cast<uint64_t>(options.samples.from);
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Stream stream,
                      StreamNamed(model::Use::kView, options.choice, *catalog));
  const TerminalSize size = SizeOfTerminal();
  const bool color = InColor();
  SpectrogramRequest request{.recording = stream.name,
                             .span = {.first = first, .count = count},
                             .columns = options.columns,
                             .rows = options.rows};
  if (request.columns == 0) {
    const uint32_t room = std::max(size.columns, kLabelCells + kLeastColumns) - kLabelCells;
    request.columns = std::min(std::bit_floor(room), kMostColumns);
  }
  if (request.rows == 0) {
    const uint32_t lines = std::max(size.lines, kOtherLines + 1) - kOtherLines;
    request.rows = std::min(lines * (color ? 2 : 1), kMostRows);
  }
  const auto view = ViewOf(program, stream, program.View());
  Viewed viewed{.recording = stream.name};
  TD_ASSIGN_OR_RETURN(viewed.spectrogram, view->ReadSpectrogram(request));
  TD_ASSIGN_OR_RETURN(const Timeline timeline, view->GetTimeline(stream.name));
  double& frequency = viewed.spectrogram.frequency;
  if (frequency == 0) {
    Recording whole = Joined(stream);
    if (!stream.segmented) TD_RETURN_IF_ERROR(AddLasting(*catalog, *view, &whole));
    frequency = FrequencyAt(whole, timeline, viewed.spectrogram.span.first);
  }
  std::string text = WaterfallText(viewed.spectrogram, color);
  text.pop_back();  // Print ends the line
  if (auto note = RetuneNote(timeline, viewed.spectrogram); note.has_value()) {
    absl::StrAppend(&text, "\nnote: ", note->text);
    viewed.notes.push_back(*std::move(note));
  }
  program.PrintDrawn(AnswerOf(viewed), text);
  return absl::OkStatus();
}

Answer AnswerOf(const Viewed& viewed) {
  Json object = {{"recording", viewed.recording}};
  object.update(ToJson(viewed.spectrogram));
  Json rows = Json::array();
  for (Json& power : object["powers"]) {
    const size_t columns = viewed.spectrogram.columns;
    if (rows.empty() || rows.back().size() == columns) rows.push_back(Json::array());
    rows.back().push_back(std::move(power));
  }
  object["powers"] = std::move(rows);
  object["notes"] = NotesAsJson(viewed.notes);
  return {Dump(object)};
}

}  // namespace

void AddViewCommand(Command tapectl, Program& program) {
  auto options = std::make_shared<ViewOptions>();
  const Command command = tapectl.AddCommand(
      "view", "Show a waterfall of a recording: power by frequency and time, also while it grows");
  AddRecordingChoice(command, options->choice, kWhichRecording);
  AddSampleRange(command, options->samples);
  command.AddOption(
      "--columns", options->columns,
      "Number of frequencies, a power of two from 16 to 4096 (default: as fits the terminal)");
  command.AddOption("--rows", options->rows,
                    "Number of rows, 1 to 2048 (default: as fits the terminal)");
  SetRun<ViewOptions>(command, program, "view", options, RunView);
}

}  // namespace tapedeck::services::tapectl
