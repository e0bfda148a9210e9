#include <utility>

#include "storage_node/doctor/checks.h"

namespace tapedeck::storage_node::doctor {
namespace {

// One for what waits for the disks of that LUN alone.
Check OfLun(luns::Luns& luns, const std::string& id) {
  return {.name = "luns/" + id,
          .late = "LUN_NOT_RESPONDING",
          .run = [&luns, id](const Request& /*request*/, Findings& findings) {
            const std::optional<LunFacts> lun = FactsOf(luns, id);
            if (!lun.has_value()) return;
            CheckMembers(*lun, findings);
            CheckFreeSpace(*lun, findings);
          }};
}

}  // namespace

std::vector<Check> StorageChecks(luns::Luns& luns, std::shared_ptr<catalog::Catalog> catalog,
                                 uint64_t ring_bytes) {
  std::vector<Check> checks = {
      {.name = "engine",
       .run = [&luns, ring_bytes](
                  const Request& /*request*/,
                  Findings& findings) { CheckEngine(AllFacts(luns), ring_bytes, findings); }},
      {.name = "disks",
       .run = [&luns](const Request& request,
                      Findings& findings) { CheckDisks(AllFacts(luns), request, findings); }},
      {.name = "state",
       .run = [&luns, catalog = std::move(catalog)](const Request& /*request*/,
                                                    Findings& findings) {
         CheckState(luns.state_dir(), catalog->health(), findings);
       }}};
  for (const std::string& id : luns.Ids()) checks.push_back(OfLun(luns, id));
  return checks;
}

}  // namespace tapedeck::storage_node::doctor
