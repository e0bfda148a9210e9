#include "services/tapectl/answer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "dataplane/printable.h"
#include "services/tapectl/json.h"

namespace tapedeck::services::tapectl {
namespace {

// Text that is not UTF-8, which a file name may be, is made so.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Item>
Answer ListAnswer(const char* key, const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(ToJson(item));
  return {Dump({{key, std::move(list)}})};
}

std::vector<std::vector<std::string>> MembersOf(const Json& object) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : object.items()) {
    rows.push_back(
        {key, value.is_string() ? dataplane::Printable(value.get<std::string>()) : Dump(value)});
  }
  return rows;
}

}  // namespace

Answer AnswerOf(const Lun& lun) { return {Dump(ToJson(lun))}; }
Answer AnswerOf(const Channel& channel) { return {Dump(ToJson(channel))}; }
Answer AnswerOf(const Recording& recording) { return {Dump(ToJson(recording))}; }
Answer AnswerOf(const Job& job) { return {Dump(ToJson(job))}; }
Answer AnswerOf(const Scrub& scrub) { return {Dump(ToJson(scrub))}; }

Answer AnswerOf(const std::vector<Lun>& luns) { return ListAnswer("luns", luns); }
Answer AnswerOf(const std::vector<Channel>& channels) { return ListAnswer("channels", channels); }
Answer AnswerOf(const std::vector<Recording>& recordings) {
  return ListAnswer("recordings", recordings);
}
Answer AnswerOf(const std::vector<Job>& jobs) { return ListAnswer("jobs", jobs); }
Answer AnswerOf(const std::vector<Capture>& captures) { return ListAnswer("captures", captures); }

Answer AnswerOf(const Verification& verification) {
  Json object = {{"recording", verification.recording},
                 {"blocks", verification.found.blocks},
                 {"checked_blocks", verification.found.checked_blocks},
                 {"missing_blocks", verification.missing_blocks},
                 {"damaged", Json::array()}};
  for (const DamagedBlock& block : verification.found.damaged) {
    object["damaged"].push_back(ToJson(block));
  }
  if (!verification.status.ok()) object["error"] = ToJson(verification.status);
  return {Dump(object)};
}

Answer AnswerOf(const Explained& explained) {
  const explain::Explanation& found = explained.explanation;
  Json object = {
      {"name", explained.name},         {"direction", model::NameOf(explained.direction)},
      {"running", explained.running},   {"elapsed_s", found.elapsed_s},
      {"limited_by", found.limited_by}, {"advice", found.advice},
      {"stages", Json::array()},        {"rails", Json::array()}};
  for (const explain::StageShare& stage : found.stages) {
    Json one = {{"name", stage.name}, {"share", stage.share}, {"seconds", stage.seconds}};
    if (!stage.thread.empty()) one["thread"] = stage.thread;
    if (!stage.thread.empty()) one["thread_share"] = stage.thread_share;
    object["stages"].push_back(std::move(one));
  }
  for (const explain::StageShare& rail : found.rails) {
    object["rails"].push_back(
        {{"name", rail.name}, {"share", rail.share}, {"seconds", rail.seconds}});
  }
  return {Dump(object)};
}

Answer AnswerOf(const std::vector<AskedNode>& nodes) {
  Json object = {{"nodes", Json::array()}};
  absl::Status first;
  for (const AskedNode& node : nodes) {
    Json one = {{"address", node.address}};
    if (node.info.ok()) {
      one.update(ToJson(*node.info));
    } else {
      one["error"] = ToJson(node.info.status());
    }
    object["nodes"].push_back(std::move(one));
    first.Update(node.info.status());
  }
  if (!first.ok()) object["error"] = ToJson(first);
  return {Dump(object)};
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

Answer AnswerOf(const std::string& done, const std::string& name) { return {Dump({{done, name}})}; }

Answer AnswerOf(const absl::Status& error) { return {Dump({{"error", ToJson(error)}})}; }

std::vector<std::vector<std::string>> FieldsOf(const Recording& recording) {
  return MembersOf(ToJson(recording));
}

std::vector<std::vector<std::string>> FieldsOf(const Job& job) { return MembersOf(ToJson(job)); }

}  // namespace tapedeck::services::tapectl
