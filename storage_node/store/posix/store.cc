#include "storage_node/store/posix/store.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "storage_node/store/directory/store.h"
#include "storage_node/store/posix/recording.h"

namespace tapedeck::storage_node::store::posix {
namespace {

absl::StatusOr<std::unique_ptr<Store>> Make(std::unique_ptr<store::directory::Member> member) {
  const auto open = [](std::shared_ptr<store::directory::OpenFiles> files,
                       dataplane::Executor& executor) {
    return std::make_unique<PosixRecording>(std::move(files), executor);
  };
  return store::directory::MakeStore(std::move(member), {.open = open, .prepare = nullptr});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto made, store::directory::Member::Create(lun, member));
  return Make(std::move(made));
}

absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto opened, store::directory::Member::Open(lun, member));
  return Make(std::move(opened));
}

}  // namespace tapedeck::storage_node::store::posix
