#include "storage_node/store/rados/cluster.h"

#include <rados/librados.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/rados/settings.h"

namespace tapedeck::storage_node::store::rados {
namespace {

// Without them librados waits for ever, or for 5 minutes. An OSD that hangs counts as down after 20
// s, unless its cluster says otherwise: what waits for it shall live through that.
struct Limit {
  const char* option;
  const char* seconds;
};
constexpr Limit kLimits[] = {
    {"rados_osd_op_timeout", "30"}, {"rados_mon_op_timeout", "10"}, {"client_mount_timeout", "10"}};

constexpr int kEvenIfFull = librados::OPERATION_FULL_FORCE;

// What they are where nobody has set them.
bool IsUnset(const std::string& value) {
  double seconds = 0;
  return !absl::SimpleAtod(value, &seconds) || seconds == 0 || seconds == 300;
}

std::string Named(int result) {
  return absl::StrCat(std::strerror(-result), " (errno ", -result, ")");
}

// What helps against it.
std::string Advice(int result, absl::string_view member) {
  switch (-result) {
    case ETIMEDOUT:
      return "; the cluster did not answer in time; it may have done it or not: see ceph -s";
    case ESHUTDOWN:
      return "; another storage node has taken the LUN over, and the cluster refuses this one";
    case ECANCELED:
      return "; another storage node has the LUN since";
    case EACCES:
    case EPERM:
      return "; give the client the capabilities that the README of this store lists";
    default:
      return absl::StrCat("; check ", member);
  }
}

// Called by librados, on a thread of its own.
void OnEnded(rados_completion_t completion, void* ended) {
  const std::unique_ptr<Cluster::Ended> done(static_cast<Cluster::Ended*>(ended));
  (*done)(rados_aio_get_return_value(completion));
}

}  // namespace

librados::bufferlist BufferOf(absl::string_view text) {
  librados::bufferlist buffer;
  buffer.append(text.data(), static_cast<unsigned>(text.size()));
  return buffer;
}

std::string TextOf(const Xattrs& xattrs, const std::string& name) {
  const auto it = xattrs.find(name);
  return it == xattrs.end() ? "" : it->second.to_str();
}

uint64_t NumberOf(const Xattrs& xattrs, const std::string& name) {
  uint64_t number = 0;
  return absl::SimpleAtoi(TextOf(xattrs, name), &number) ? number : 0;
}

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Connect(const std::string& member) {
  dataplane::MayWait("a Ceph cluster");
  TD_ASSIGN_OR_RETURN(PoolName name, ParseMember(member));
  std::unique_ptr<Cluster> cluster(new Cluster(member, std::move(name)));
  TD_RETURN_IF_ERROR(cluster->Connect());
  return cluster;
}

absl::Status Cluster::Unusable(absl::string_view call, int result) const {
  return disk::Unusable(member_, absl::StrCat(call, ": ", Named(result)));
}

absl::Status Cluster::Connect() {
  const ClusterSettings settings = CurrentCluster();
  if (const int r = client_.init(settings.user.c_str()); r < 0) {
    return Unusable(absl::StrCat("a client named client.", settings.user), r);
  }
  if (const int r = client_.conf_read_file(settings.conf.c_str()); r < 0) {
    return Unusable(absl::StrCat("read ", settings.conf, " (--ceph-conf)"), r);
  }
  for (const Limit& limit : kLimits) {
    std::string value;
    if (client_.conf_get(limit.option, value) == 0 && !IsUnset(value)) continue;
    client_.conf_set(limit.option, limit.seconds);
  }
  if (const int r = client_.connect(); r < 0) {
    return Unusable(absl::StrCat("connect as client.", settings.user, " to the monitors of ",
                                 settings.conf, "; is the cluster up, and reached from here?"),
                    r);
  }
  TD_RETURN_IF_ERROR(Open(name_.pool, name_.space, objects_));
  return Open(name_.payload_pool(), name_.payload_space(), payload_);
}

absl::Status Cluster::Open(const std::string& pool, const std::string& space,
                           librados::IoCtx& objects) {
  const int r = client_.ioctx_create(pool.c_str(), objects);
  if (r == -ENOENT) {
    return disk::Unusable(
        member_,
        absl::StrCat("the cluster has no pool ", pool, "; make it: ceph osd pool create ", pool),
        absl::StatusCode::kNotFound);
  }
  if (r < 0) return Unusable(absl::StrCat("open pool ", pool), r);
  bool appends_only = false;
  if (objects.pool_requires_alignment2(&appends_only) == 0 && appends_only) {
    return disk::Unusable(
        member_, absl::StrCat("pool ", pool,
                              " is erasure-coded without overwrites; for payload (rados:POOL+",
                              pool, "/NAMESPACE) allow them: ceph osd pool set ", pool,
                              " allow_ec_overwrites true"));
  }
  objects.set_namespace(space);
  // Else what meets a full cluster waits until it is not, and says nothing.
  objects.set_pool_full_try();
  return absl::OkStatus();
}

void Cluster::AwaitAll() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](uint64_t* operations) { return *operations == 0; }, &under_way_));
}

template <typename Submit>
void Cluster::Run(Ended ended, Submit submit) {
  {
    absl::MutexLock lock(&mutex_);
    ++under_way_;
  }
  auto whole = std::make_unique<Ended>([this, ended = std::move(ended)](int result) mutable {
    ended(result);
    ended = nullptr;  // before this cluster may go
    absl::MutexLock lock(&mutex_);
    --under_way_;
  });
  librados::AioCompletion* const completion =
      librados::Rados::aio_create_completion(whole.get(), OnEnded);
  if (const int r = submit(completion); r < 0) {
    (*whole)(r);
  } else {
    whole.release();  // OnEnded has it, or had it
  }
  completion->release();
}

void Cluster::Start(Part part, const std::string& object, librados::ObjectWriteOperation& op,
                    Ended ended) {
  const int flags = part == Part::kRest ? kEvenIfFull : librados::OPERATION_NOFLAG;
  Run(std::move(ended),
      [&](auto* completion) { return In(part).aio_operate(object, completion, &op, flags); });
}

void Cluster::StartRead(Part part, const std::string& object, uint64_t offset, size_t bytes,
                        librados::bufferlist* into, Ended ended) {
  Run(std::move(ended),
      [&](auto* completion) { return In(part).aio_read(object, completion, into, bytes, offset); });
}

void Cluster::StartRemove(Part part, const std::string& object, Ended ended) {
  Run(std::move(ended), [&](auto* completion) { return In(part).aio_remove(object, completion); });
}

int Cluster::Operate(const std::string& object, librados::ObjectWriteOperation& op, Part part) {
  dataplane::MayWait("a Ceph cluster");
  return In(part).operate(object, &op, kEvenIfFull);
}

int Cluster::Read(const std::string& object, uint64_t offset, size_t bytes,
                  librados::bufferlist* into) {
  dataplane::MayWait("a Ceph cluster");
  return objects_.read(object, *into, bytes, offset);
}

int Cluster::ReadXattrs(const std::string& object, Xattrs* xattrs) {
  dataplane::MayWait("a Ceph cluster");
  return objects_.getxattrs(object, *xattrs);
}

int Cluster::SizeOf(const std::string& object, uint64_t* bytes, Part part) {
  dataplane::MayWait("a Ceph cluster");
  return In(part).stat(object, bytes, nullptr);
}

absl::Status Cluster::Error(absl::string_view operation, absl::string_view object,
                            int result) const {
  const std::string text = absl::StrCat(operation, " ", member_, " ", object, ": ", Named(result));
  if (result == -ENOSPC || result == -EDQUOT) {
    return disk::MemberFull(member_,
                            absl::StrCat(text, "; pool ", name_.payload_pool(),
                                         " has no free space: delete recordings, or add OSDs"));
  }
  return disk::StoreIo(member_, operation, absl::StrCat(text, Advice(result, member_)));
}

}  // namespace tapedeck::storage_node::store::rados
