#include "services/site/json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_format.h"
#include "services/base/errors.h"
#include "services/site/field_json.h"
#include "services/site/names.h"
#include "services/site/units.h"

namespace tapedeck::services::tapectl {

std::string Dump(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const auto next = static_cast<uint8_t>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0x7f) {
      out += "\\u007f";
    } else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {  // C1 in UTF-8
      absl::StrAppendFormat(&out, "\\u%04x", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

Json ToJson(const Lun& lun) { return FieldsAsJson(lun); }
Json ToJson(const Channel& channel) { return FieldsAsJson(channel); }
Json ToJson(const Recording& recording) { return FieldsAsJson(recording); }
Json ToJson(const Stream& stream) {
  Json out = ToJson(Joined(stream));
  if (!stream.segmented) return out;
  out.erase("segment");
  out["segments"] = stream.segments.size();
  out["first_segment"] = stream.segments.front().segment;
  out["last_segment"] = stream.segments.back().segment;
  return out;
}

Json ToJson(const Annotation& annotation) { return FieldsAsJson(annotation); }
Json ToJson(const DamagedBlock& block) { return FieldsAsJson(block); }

Json ToJson(const Capture& capture) { return FieldsAsJson(capture); }

Json ToJson(const Scrub& scrub) { return FieldsAsJson(scrub); }

Json NotesAsJson(const Notes& notes) {
  Json out = Json::array();
  for (const Note& note : notes) {
    Json& one = out.emplace_back(Json{{"code", note.code}, {"text", note.text}});
    for (const auto& [key, value] : note.facts) one.emplace(key, value);
  }
  return out;
}

Json ToJson(const Job& job) {
  Json out = FieldsAsJson(job);
  out["notes"] = NotesAsJson(job.notes);
  return out;
}

Json ToJson(const NodeInfo& node) { return FieldsAsJson(node); }
Json ToJson(const explain::Explanation& explanation) { return FieldsAsJson(explanation); }
Json ToJson(const Spectrogram& spectrogram) { return FieldsAsJson(spectrogram); }

Json ToJson(const absl::Status& error) {
  const auto reason = ReasonOf(error);
  Json out = {{"code", absl::StatusCodeToString(error.code())},
              {"reason", reason.has_value() ? reason->reason : ""},
              {"message", std::string(error.message())},
              {"metadata", Json::object()}};
  if (reason.has_value()) out["metadata"] = reason->metadata;
  return out;
}

}  // namespace tapedeck::services::tapectl
