#include "storage_node/disk/errors.h"
#include "storage_node/store/rados/store.h"

namespace tapedeck::storage_node::store::rados {
namespace {

absl::Status WithoutLibrados(const std::string& member) {
  return disk::Unusable(member,
                        "built without librados: install librados-dev and libradospp-dev, and "
                        "build with -DTAPEDECK_RADOS=ON");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member) {
  return WithoutLibrados(lun.members[member]);
}

absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member) {
  return WithoutLibrados(lun.members[member]);
}

absl::Status Remove(const services::Lun& lun, uint32_t member) {
  return WithoutLibrados(lun.members[member]);
}

absl::StatusOr<format::LunMember> DescribedBy(const std::string& member) {
  return WithoutLibrados(member);
}

absl::StatusOr<std::string> HeldBy(const std::string& member) { return WithoutLibrados(member); }

absl::Status Describe(const services::Lun& lun, uint32_t member) {
  return WithoutLibrados(lun.members[member]);
}

}  // namespace tapedeck::storage_node::store::rados
