#include <algorithm>

#include "absl/strings/str_format.h"
#include "dataplane/datatype.h"
#include "services/model/channel.h"
#include "storage_node/doctor/checks.h"

namespace tapedeck::storage_node::doctor {
namespace {

uint64_t LeastRecording(const luns::OpenLun& lun, const std::vector<services::Channel>& channels) {
  uint64_t least = lun.footprint(services::model::kMinBlockBytes).OfBlocks(1);
  for (const services::Channel& channel : channels) {
    least = std::max(least, lun.footprint(channel.block_bytes).OfBlocks(1));
  }
  return least;
}

}  // namespace

std::optional<LunFacts> FactsOf(luns::Luns& luns, const std::string& id) {
  const auto offline = luns.Offline();
  if (const auto it = offline.find(id); it != offline.end()) {
    if (it->second.standby) return std::nullopt;  // it is well where it is
    return LunFacts{.config = it->second.config, .offline = it->second.cause};
  }
  const auto lun = luns.Find(id);
  if (!lun.ok()) return std::nullopt;
  LunFacts facts{.config = *(*lun)->config.now(),
                 .channels = (*lun)->channels->All(),
                 .limit_bytes = (*lun)->capacity->limit(),
                 .used_bytes = (*lun)->capacity->used(),
                 .written_bytes_per_s = (*lun)->meter->bytes_per_s};
  facts.least_bytes = LeastRecording(**lun, facts.channels);
  return facts;
}

std::vector<LunFacts> AllFacts(luns::Luns& luns) {
  std::vector<LunFacts> all;
  for (const std::string& id : luns.Ids()) {
    if (auto facts = FactsOf(luns, id)) all.push_back(*std::move(facts));
  }
  return all;
}

double BytesPerS(const LunFacts& lun) {
  double sum = 0;
  for (const services::Channel& channel : lun.channels) {
    const auto datatype = dataplane::ParseDatatype(channel.datatype);
    if (datatype.ok()) {
      sum += channel.sample_rate * static_cast<double>(datatype->bytes_per_sample());
    }
  }
  return sum;
}

std::string MegabytesOf(double bytes) {
  return bytes < 1e7 ? absl::StrFormat("%.2g", bytes / 1e6) : absl::StrFormat("%.0f", bytes / 1e6);
}

}  // namespace tapedeck::storage_node::doctor
