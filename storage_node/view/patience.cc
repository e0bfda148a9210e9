#include "storage_node/view/patience.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::storage_node::view {

Patience::Patience(const dataplane::Clock& clock, absl::Duration limit, std::string lun)
    : lun_(std::move(lun)), loop_(clock) {
  loop_.PostAt(clock.NowNs() + absl::ToInt64Nanoseconds(limit), [this] { late_ = true; });
}

absl::Status Patience::Await(absl::FunctionRef<bool()> done) {
  bool reached = false;
  loop_.RunUntil([&] { return late_ || (reached = done()); });
  if (reached) return absl::OkStatus();
  return services::LunNotResponding(
      lun_, absl::StrCat(lun_, ": its disks have not answered in time; try again"));
}

}  // namespace tapedeck::storage_node::view
