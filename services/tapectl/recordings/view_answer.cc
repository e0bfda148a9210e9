#include "services/tapectl/recordings/view_answer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "services/site/json.h"

namespace tapedeck::services::tapectl {
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

}  // namespace tapedeck::services::tapectl
