#include "storage_node/format/behind.h"

#include <utility>

#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/json_fields.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/uuid.h"

namespace tapedeck::storage_node::format {
namespace {

constexpr uint64_t kBehindVersion = 1;
// Each byte may be written as four.
constexpr size_t kMostSaid = 250;

}  // namespace

std::string EncodeBehind(const Behind& behind) {
  return SealJson({{"version", kBehindVersion},
                   {"lun_uid", behind.lun_uid},
                   {"member", behind.member},
                   {"since_ns", behind.since_ns},
                   {"why", dataplane::Printable(behind.why, kMostSaid)}});
}

absl::StatusOr<Behind> DecodeBehind(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const nlohmann::json object, OpenJson(text, "behind.json", kMaxConfigBytes));
  JsonFields fields(object, "behind.json");
  fields.Require(fields.Uint("version", UINT64_MAX) == kBehindVersion, "version", "is not known");
  Behind behind{.lun_uid = fields.Text("lun_uid"),
                .member = fields.Uint32("member", 1),
                .since_ns = fields.Int("since_ns", 0, kMaxTimeNs),
                .why = fields.Text("why")};
  fields.Require(behind.why.size() <= kMaxBehindWhy, "why", "is too long");
  TD_RETURN_IF_ERROR(fields.status());
  TD_RETURN_IF_ERROR(Uuid::Parse(behind.lun_uid).status());
  return behind;
}

}  // namespace tapedeck::storage_node::format
