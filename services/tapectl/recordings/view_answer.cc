#include "services/tapectl/recordings/view_answer.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "services/site/json.h"

namespace tapedeck::services::tapectl {
namespace {

Json Decibels(std::span<const float> powers) {
  Json out = Json::array();
  for (const double db : powers) {
    out.push_back(std::isnan(db) ? Json() : Json(std::round(db * 100) / 100));
  }
  return out;
}

}  // namespace

Answer AnswerOf(const Viewed& viewed) {
  const Spectrogram& seen = viewed.spectrogram;
  Json powers = Json::array();
  for (uint32_t row = 0; row < seen.rows; ++row) {
    const auto all = std::span(seen.powers);
    powers.push_back(Decibels(all.subspan(size_t{row} * seen.columns, seen.columns)));
  }
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
                       {"band_rate", seen.band_rate},
                       {"bins", seen.bins},
                       {"covered_samples", seen.covered_samples},
                       {"transforms", seen.transforms},
                       {"means", Decibels(seen.means)},
                       {"bytes_read", seen.bytes_read},
                       {"damaged_pieces", seen.damaged_pieces},
                       {"notes", NotesAsJson(viewed.notes)},
                       {"powers", std::move(powers)}};
  return {Dump(object)};
}

}  // namespace tapedeck::services::tapectl
