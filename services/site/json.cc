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
namespace {

Json NodeOf(const dataplane::topology::Place& place) {
  return place.numa_node.has_value() ? Json(*place.numa_node) : Json();
}

Json ToJson(const NodeRail& node_rail) {
  const dataplane::RailDescription& rail = node_rail.rail;
  return {{"name", rail.name},
          {"transport", rail.transport},
          {"address", rail.address},
          {"port", rail.port},
          {"device", rail.device},
          {"wire_limit_bytes_per_s", rail.wire_limit_bytes_per_s},
          {"tls", rail.tls},
          {"pci_address", node_rail.place.pci_address},
          {"numa_node", NodeOf(node_rail.place)}};
}

Json ToJson(const dataplane::topology::RailDistance& to) {
  return {{"rail", to.rail},
          {"distance", std::string(DistanceName(to.distance))},
          {"weight", Weight(to.distance)}};
}

Json ToJson(const MemoryKindInfo& memory) {
  Json distances = Json::array();
  for (const auto& to : memory.distances) distances.push_back(ToJson(to));
  return {{"device", memory.device},
          {"description", memory.description},
          {"bytes", memory.bytes},
          {"status", memory.status},
          {"pci_address", memory.place.pci_address},
          {"numa_node", NodeOf(memory.place)},
          {"distances", std::move(distances)},
          {"rungs", memory.rungs}};
}

Json ToJson(const StoreKindInfo& store) {
  return {{"name", store.name}, {"description", store.description}};
}

// With the percentiles that follow from it.
Json TimingOf(const model::Timing& timing) {
  Json out = FieldsAsJson(timing);
  out["jitter_p50_s"] = Seconds(JitterOf(timing, 0.5));
  out["jitter_p99_s"] = Seconds(JitterOf(timing, 0.99));
  out["jitter_p999_s"] = Seconds(JitterOf(timing, 0.999));
  return out;
}

Json ToJson(const JobOutput& output) {
  Json out = FieldsAsJson(output);
  if (!output.error.ok()) out["error"] = tapectl::ToJson(output.error);
  return out;
}

template <typename Items>
Json ListOf(const Items& items) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(ToJson(item));
  return out;
}

}  // namespace

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
  out["mb_per_s"] = MegabytesPerSecond(job.bytes, job.elapsed_ns);
  for (const auto& counter : dataplane::kCounters) {
    out[std::string(counter.name)] = job.counters.*counter.member;
  }
  out["rails"] = Json::array();
  for (const auto& rail : job.rails) {
    out["rails"].push_back({{"name", rail.name},
                            {"blocks", rail.blocks},
                            {"mb_per_s", MegabytesPerSecond(rail.bytes, job.elapsed_ns)},
                            {"up", rail.up},
                            {"cause", rail.cause}});
  }
  if (job.timing.has_value()) out["timing"] = TimingOf(*job.timing);
  out["notes"] = NotesAsJson(job.notes);
  out["outputs"] = ListOf(job.outputs);
  if (!job.error.ok()) out["error"] = ToJson(job.error);
  return out;
}

Json ToJson(const NodeInfo& node) {
  return {{"name", node.name},
          {"role", model::NameOf(node.role)},
          {"version", node.version},
          {"protocol_version", node.protocol_version},
          {"pid", node.pid},
          {"sessions", node.sessions},
          {"stages", node.stages},
          {"rails", ListOf(node.rails)},
          {"memory", ListOf(node.memory)},
          {"stores", ListOf(node.stores)}};
}

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
