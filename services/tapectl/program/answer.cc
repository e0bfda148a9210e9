#include "services/tapectl/program/answer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "services/site/json.h"
#include "services/site/streams.h"

namespace tapedeck::services::tapectl {

static Json ToJson(const TreatmentAnswer& answer) {
  const model::Treatment& treatment = answer.treatment;
  return {{"command", answer.command},
          {"kind", answer.kind},
          {"takes", treatment.takes},
          {"does", treatment.does},
          {"remedy", treatment.remedy}};
}

namespace {

template <typename Item>
Answer ListAnswer(const char* key, const std::vector<Item>& items) {
  Json list = Json::array();
  std::vector<std::string> lines;
  for (const Item& item : items) {
    list.push_back(ToJson(item));
    lines.push_back(Dump(list.back()));
  }
  return {Dump({{key, std::move(list)}}), std::move(lines)};
}

template <typename Item>
Json Located(const Item& item, std::optional<uint64_t> first_sample) {
  Json out = ToJson(item);
  out["first_sample"] = first_sample.has_value() ? Json(*first_sample) : Json();
  return out;
}

Json ObjectOf(const FileAnswer& answer) {
  return {{"recording", answer.recording},
          {"file", answer.file},
          {"format", answer.format},
          {"bytes", answer.bytes},
          {"samples", answer.samples},
          {"missing_samples", answer.missing_samples},
          {"lost_samples", answer.lost_samples},
          {"resumed_at", answer.resumed_at},
          {"mb_per_s", answer.mb_per_s},
          {"notes", NotesAsJson(answer.notes)}};
}

}  // namespace

Answer AnswerOf(const Lun& lun) { return {Dump(ToJson(lun))}; }
Answer AnswerOf(const Channel& channel) { return {Dump(ToJson(channel))}; }
Answer AnswerOf(const Recording& recording) { return {Dump(ToJson(recording))}; }
Answer AnswerOf(const Stream& stream) { return {Dump(ToJson(stream))}; }
Answer AnswerOf(const Recording& recording, std::optional<uint64_t> first_sample) {
  return {Dump(Located(recording, first_sample))};
}
Answer AnswerOf(const Stream& stream, std::optional<uint64_t> first_sample) {
  return {Dump(Located(stream, first_sample))};
}
Answer AnswerOf(const Job& job) { return {Dump(ToJson(job))}; }
Answer AnswerOf(const Scrub& scrub) { return {Dump(ToJson(scrub))}; }

Answer AnswerOf(const std::vector<Lun>& luns) { return ListAnswer("luns", luns); }
Answer AnswerOf(const std::vector<Channel>& channels) { return ListAnswer("channels", channels); }
Answer AnswerOf(const std::vector<Recording>& recordings) {
  return ListAnswer("recordings", recordings);
}
Answer AnswerOf(const std::vector<Stream>& recordings) {
  return ListAnswer("recordings", recordings);
}
Answer AnswerOf(const std::vector<TreatmentAnswer>& kinds) { return ListAnswer("kinds", kinds); }
Answer AnswerOf(const std::vector<Job>& jobs) { return ListAnswer("jobs", jobs); }
Answer AnswerOf(const std::vector<Capture>& captures) { return ListAnswer("captures", captures); }

Answer AnswerOf(const Verification& verification) {
  Json object = {{"recording", verification.recording},
                 {"blocks", verification.found.blocks},
                 {"checked_blocks", verification.found.checked_blocks},
                 {"missing_blocks", verification.missing_blocks},
                 {"damaged", Json::array()}};
  if (verification.segments > 0) {
    object["segments"] = verification.segments;
    object["open_segments"] = verification.open_segments;
    object["gone_segments"] = verification.gone_segments;
  }
  if (!verification.part.empty()) object["part"] = verification.part;
  const std::vector<std::string>& places = verification.places;
  for (size_t i = 0; i < verification.found.damaged.size(); ++i) {
    object["damaged"].push_back(ToJson(verification.found.damaged[i]));
    if (i < places.size()) object["damaged"].back()["recording"] = places[i];
  }
  if (!verification.status.ok()) object["error"] = ToJson(verification.status);
  return {Dump(object)};
}

Answer AnswerOf(const Explained& explained) {
  Json object = {{"name", explained.name},
                 {"direction", model::NameOf(explained.direction)},
                 {"running", explained.running}};
  object.update(ToJson(explained.explanation));
  return {Dump(object)};
}

Answer AnswerOf(const Load& load) {
  Json object = {{"time_ns", load.time_ns},
                 {"mb_per_s", load.mb_per_s},
                 {"lost_blocks", load.lost_blocks},
                 {"jobs", Json::array()},
                 {"luns", Json::array()}};
  for (const JobLoad& one : load.jobs) {
    Json job = ToJson(one.job);
    job["mb_per_s"] = one.mb_per_s;
    for (size_t i = 0; i < one.rail_mb_per_s.size(); ++i) {
      job["rails"][i]["mb_per_s"] = one.rail_mb_per_s[i];
    }
    object["jobs"].push_back(std::move(job));
  }
  for (const LunLoad& one : load.luns) {
    Json lun = ToJson(one.lun);
    lun["mb_per_s"] = one.mb_per_s;
    lun["full_in_s"] =
        one.until_full.has_value() ? Json(absl::ToDoubleSeconds(*one.until_full)) : Json();
    object["luns"].push_back(std::move(lun));
  }
  return {Dump(object)};
}

Answer AnswerOf(const Profiles& profiles) {
  Json list = Json::array();
  std::vector<std::string> lines;
  for (const auto& [name, profile] : profiles.all) {
    Json one = {{"name", name}, {"default", name == profiles.by_default}};
    for (const auto& [option, text] : profile.options) one[option] = text;
    lines.push_back(Dump(one));
    list.push_back(std::move(one));
  }
  return {Dump({{"profiles", std::move(list)}}), std::move(lines)};
}

Answer AnswerOf(const std::vector<AskedNode>& nodes) {
  Json object = {{"nodes", Json::array()}};
  std::vector<std::string> lines;
  absl::Status first;
  for (const AskedNode& node : nodes) {
    Json one = {{"address", node.address}};
    if (node.info.ok()) {
      one.update(ToJson(*node.info));
    } else {
      one["error"] = ToJson(node.info.status());
    }
    lines.push_back(Dump(one));
    object["nodes"].push_back(std::move(one));
    first.Update(node.info.status());
  }
  if (!first.ok()) object["error"] = ToJson(first);
  return {Dump(object), std::move(lines)};
}

Answer AnswerOf(const Traced& traced) {
  Json object = {{"file", traced.file},         {"bytes", traced.bytes},
                 {"stamps", traced.stamps},     {"left_out", traced.left_out},
                 {"sessions", traced.sessions}, {"nodes", Json::array()}};
  for (const TracedNode& node : traced.nodes) {
    Json one = {{"address", node.address}};
    if (!node.status.ok()) {
      one["error"] = ToJson(node.status);
    } else {
      one.update({{"name", node.name}, {"stamps", node.stamps}, {"missed", node.missed}});
      one["clock_known"] = node.clock_known;
      if (node.clock_known) {
        one["clock_offset_ns"] = node.clock_offset_ns;
        one["clock_uncertainty_ns"] = node.clock_uncertainty_ns;
        one["clock_drift_ppm"] = node.clock_drift_ppm;
        one["clock_drift_uncertainty_ppm"] = node.clock_drift_uncertainty_ppm;
      }
      one["dumps"] = node.dumps;
    }
    object["nodes"].push_back(std::move(one));
  }
  return {Dump(object)};
}

Answer AnswerOf(const FileAnswer& answer) { return {Dump(ObjectOf(answer))}; }

std::string MissingText(const FileAnswer& answer) {
  if (answer.missing_samples + answer.lost_samples == 0) return "";
  std::string text = absl::StrCat("; missing ", answer.missing_samples);
  if (answer.lost_samples > 0) absl::StrAppend(&text, " and lost ", answer.lost_samples);
  return absl::StrCat(text, " samples, which are ", answer.leaves_out ? "in no packet" : "zeros");
}

Answer AnswerOf(const std::string& collection, const std::vector<FileAnswer>& streams) {
  Json list = Json::array();
  for (const FileAnswer& stream : streams) list.push_back(ObjectOf(stream));
  return {Dump({{"collection", collection}, {"streams", std::move(list)}})};
}

Answer AnswerOf(const CopyAnswer& answer) {
  return {Dump({{"recording", answer.recording},
                {"original", answer.original},
                {"blocks", answer.blocks},
                {"bytes", answer.bytes},
                {"missing_blocks", answer.missing_blocks},
                {"first_block", answer.first_block},
                {"mb_per_s", answer.mb_per_s},
                {"moved", answer.moved}})};
}

Answer AnswerOf(const RepairAnswer& answer) {
  Json object = {{"recording", answer.recording},
                 {"blocks", answer.blocks},
                 {"lost_blocks", answer.lost_blocks},
                 {"parts", Json::array()}};
  for (const RepairAnswer::Part& part : answer.parts) {
    object["parts"].push_back({{"node", part.node},
                               {"found", part.found},
                               {"damaged_blocks", part.damaged_blocks},
                               {"lacking_blocks", part.lacking_blocks},
                               {"blocks", part.blocks},
                               {"repaired", part.repaired}});
    if (!part.why_not.empty()) object["parts"].back()["why_not"] = part.why_not;
  }
  if (!answer.status.ok()) object["error"] = ToJson(answer.status);
  return {Dump(object)};
}

Answer AnswerOf(const std::string& done, const std::string& name) { return {Dump({{done, name}})}; }

Answer AnswerOf(const std::string& done, size_t asked, const std::vector<std::string>& names,
                const absl::Status& error) {
  if (asked == 1 && !error.ok()) return AnswerOf(error);
  if (asked == 1) return AnswerOf(done, names.front());
  std::vector<std::string> lines;
  for (const std::string& name : names) lines.push_back(Dump({{done, name}}));
  Json object = {{done, names}};
  if (!error.ok()) {
    object["error"] = ToJson(error);
    lines.push_back(AnswerOf(error).json);
  }
  return {Dump(object), std::move(lines)};
}

Answer AnswerOf(const absl::Status& error) { return {Dump({{"error", ToJson(error)}})}; }

}  // namespace tapedeck::services::tapectl
