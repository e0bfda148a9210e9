// What the view command says, as JSON.
#pragma once

#include <string>
#include <vector>

#include "services/model/seams/view.h"
#include "services/model/words/note.h"
#include "services/tapectl/program/answer.h"

namespace tapedeck::services::tapectl {

struct Viewed {
  std::string recording;
  Spectrogram spectrogram;
  Notes notes = {};
};

// {recording, first, sample_count, rows, columns, ..., means: a list, powers: a list for
// each row, dB to a hundredth}; null where nothing is there.
Answer AnswerOf(const Viewed& viewed);

}  // namespace tapedeck::services::tapectl
