// Recordings as objects of a Ceph pool, each block on as many disks as the pool says (README.md).
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/format/config.h"
#include "storage_node/store/kind.h"
#include "storage_node/store/rados/member_name.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::rados {

// The contract of MemberStore (store/stripe/store.h). FAILED_PRECONDITION or NOT_FOUND
// (MEMBER_UNUSABLE): there is no such pool, another node has the LUN, the cluster does not answer
// within 10 s, or this build is without librados.
absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member);
absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member);
absl::Status Remove(const services::Lun& lun, uint32_t member);

// See MemberKind (store/kind.h).
absl::StatusOr<format::LunMember> DescribedBy(const std::string& member);
absl::Status Describe(const services::Lun& lun, uint32_t member);
absl::StatusOr<std::string> HeldBy(const std::string& member);
inline constexpr MemberKind kMemberKind{.is = IsMember,
                                        .check = CheckMember,
                                        .described_by = DescribedBy,
                                        .describe = Describe,
                                        .held_by = HeldBy};

}  // namespace tapedeck::storage_node::store::rados
