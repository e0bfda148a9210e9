#include "services/tapectl/view_answer.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "services/tapectl/json.h"

namespace tapedeck::services::tapectl {
namespace {

Json RowOf(const Spectrogram& spectrogram, uint32_t row) {
  Json out = Json::array();
  for (uint32_t column = 0; column < spectrogram.columns; ++column) {
    const double db = spectrogram.powers[size_t{row} * spectrogram.columns + column];
    out.push_back(std::isnan(db) ? Json() : Json(std::round(db * 100) / 100));
  }
  return out;
}

}  // namespace

Answer AnswerOf(const Viewed& viewed) {
  const Spectrogram& seen = viewed.spectrogram;
  Json powers = Json::array();
  for (uint32_t row = 0; row < seen.rows; ++row) powers.push_back(RowOf(seen, row));
  const Json object = {{"recording", viewed.recording},
                       {"first_sample", seen.span.first},
                       {"sample_count", seen.span.count},
                       {"rows", seen.rows},
                       {"columns", seen.columns},
                       {"samples_per_row", seen.samples_per_row},
                       {"transforms_per_row", seen.transforms_per_row},
                       {"sample_rate", seen.sample_rate},
                       {"frequency", seen.frequency},
                       {"complex", seen.complex},
                       {"bytes_read", seen.bytes_read},
                       {"damaged_pieces", seen.damaged_pieces},
                       {"powers", std::move(powers)}};
  return {Dump(object)};
}

}  // namespace tapedeck::services::tapectl
