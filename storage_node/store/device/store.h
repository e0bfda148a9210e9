// Recordings on block devices, partitions or disk images, without a file system: payload with
// O_DIRECT, an extent map of its own (README.md).
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/format/config.h"
#include "storage_node/store/device/device.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::store::device {

// The contract of MemberStore (store/stripe/store.h). Create takes only a device that holds
// nothing: FAILED_PRECONDITION (MEMBER_UNUSABLE) says what it found there.
absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member);
absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member);
absl::Status Remove(const services::Lun& lun, uint32_t member);

// What a member may be: see MemberKind (store/kind.h). Any size, also one that Create refuses.
bool IsMember(const std::string& path);
absl::StatusOr<MemberName> CheckMember(const std::string& path);
// See DescribedBy and Describe in member.h; the device is open for the call alone.
absl::StatusOr<format::LunMember> DescribedBy(const std::string& path);
absl::Status Describe(const services::Lun& lun, uint32_t member);
inline constexpr MemberKind kMemberKind{
    .is = IsMember, .check = CheckMember, .described_by = DescribedBy, .describe = Describe};

// The same on a device that is open.
absl::StatusOr<std::unique_ptr<Store>> CreateOn(std::unique_ptr<Device> device,
                                                const services::Lun& lun, uint32_t member);
absl::StatusOr<std::unique_ptr<Store>> OpenOn(std::unique_ptr<Device> device,
                                              const services::Lun& lun, uint32_t member);

}  // namespace tapedeck::storage_node::store::device
