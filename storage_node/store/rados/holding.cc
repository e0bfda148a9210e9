#include "storage_node/store/rados/holding.h"

#include <sys/random.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <fstream>
#include <list>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/rados/names.h"
#include "storage_node/store/rados/settings.h"

namespace tapedeck::storage_node::store::rados {
namespace {

// Which process has a LUN: told so that another one on the same machine can see whether it is gone.
enum Word { kHost, kPid, kStart, kBoot, kSpace, kRandom, kWords };

// Field 22 of proc(5), in ticks since the machine's start; empty: there is no such process.
std::string StartOf(int64_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  const size_t name_end = stat.rfind(')');  // names may hold blanks
  if (name_end == std::string::npos || name_end + 2 > stat.size()) return "";
  const std::vector<std::string> fields = absl::StrSplit(stat.substr(name_end + 2), ' ');
  constexpr size_t kStartField = 22 - 3;
  return fields.size() > kStartField ? fields[kStartField] : "";
}

std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

std::string PidSpace() {
  std::array<char, 128> text{};
  const ssize_t n = readlink("/proc/self/ns/pid", text.data(), text.size() - 1);
  return n > 0 ? std::string(text.data(), static_cast<size_t>(n)) : "unknown";
}

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  return host[0] == '\0' ? "unknown" : host.data();
}

// This one, and nobody else ever: words of host, pid, start, machine's boot and pid namespace, and
// a random one.
std::string ProcessCookie() {
  uint64_t random = 0;
  // Up to 256 bytes come whole once the system has booted: getrandom(2).
  [[maybe_unused]] const ssize_t got = getrandom(&random, sizeof(random), 0);
  return absl::StrCat(HostName(), " ", getpid(), " ", StartOf(getpid()), " ", BootId(), " ",
                      PidSpace(), " ", absl::Hex(random, absl::kZeroPad16));
}

// Whether it was of a process of this machine, in this pid namespace, that has ended. False where
// that cannot be told.
bool IsOfDeadProcess(absl::string_view cookie) {
  const std::vector<std::string> words = absl::StrSplit(cookie, ' ');
  int64_t pid = 0;
  if (words.size() != kWords || words[kBoot] != BootId() || words[kSpace] != PidSpace() ||
      words[kBoot].empty() || words[kStart].empty() || !absl::SimpleAtoi(words[kPid], &pid)) {
    return false;
  }
  return StartOf(pid) != words[kStart];
}

// For people.
std::string DescribeProcess(absl::string_view cookie) {
  const std::vector<std::string> words = absl::StrSplit(cookie, ' ');
  if (words.size() != kWords)
    return absl::StrCat("'", dataplane::Printable(std::string(cookie)), "'");
  return dataplane::Printable(absl::StrCat("pid ", words[kPid], " on host ", words[kHost]));
}

constexpr char kLock[] = "tapedeck";
constexpr char kDescription[] = "a Tapedeck storage node has this LUN";
// Of a short lease more often, so that one answer may be late.
constexpr absl::Duration kRenewEvery = absl::Seconds(5);
constexpr int kRenewalsPerLease = 4;
// A process that was stopped for longer than this, and goes on then, could write again.
constexpr uint32_t kFenceSeconds = 7 * 24 * 3600;

std::string DescribeLocker(const librados::locker_t& locker) {
  return absl::StrCat("the storage node with ", DescribeProcess(locker.cookie), " (",
                      locker.address, ")");
}

}  // namespace

absl::StatusOr<std::string> HolderOf(Cluster& cluster) {
  int exclusive = 0;
  std::string tag;
  std::list<librados::locker_t> lockers;
  const int result = cluster.objects().list_lockers(kLunObject, kLock, &exclusive, &tag, &lockers);
  if (result < 0) return cluster.Error("list_lockers", kLunObject, result);
  for (const librados::locker_t& locker : lockers) {
    if (!IsOfDeadProcess(locker.cookie)) return DescribeLocker(locker);
  }
  return "";
}

Holding::Holding(Cluster& cluster)
    : cluster_(cluster), cookie_(ProcessCookie()), lease_(CurrentCluster().lease) {}

absl::StatusOr<std::unique_ptr<Holding>> Holding::Take(Cluster& cluster) {
  std::unique_ptr<Holding> holding(new Holding(cluster));
  TD_RETURN_IF_ERROR(holding->Lock());
  TD_RETURN_IF_ERROR(holding->Begin());
  TD_ASSIGN_OR_RETURN(
      holding->renewing_,
      dataplane::StartThread("rados-lease", [raw = holding.get()] { raw->KeepRenewing(); }));
  return holding;
}

Holding::~Holding() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (renewing_.joinable()) renewing_.join();
  if (!status().ok()) return;
  if (epoch_ > 0) {
    librados::ObjectWriteOperation op;
    op.cmpxattr(kEpoch, LIBRADOS_CMPXATTR_OP_EQ, epoch_);
    op.setxattr(kHolder, BufferOf(""));
    cluster_.Operate(kLunObject, op);
  }
  // If that fails, the lease runs out.
  cluster_.objects().unlock(kLunObject, kLock, cookie_);
}

int Holding::TryLock(uint8_t flags) {
  timeval lease = absl::ToTimeval(lease_);
  return cluster_.objects().lock_exclusive(kLunObject, kLock, cookie_, kDescription, &lease, flags);
}

absl::Status Holding::Lock() {
  int result = TryLock(0);
  if (result == -EBUSY) {
    int exclusive = 0;
    std::string tag;
    std::list<librados::locker_t> lockers;
    result = cluster_.objects().list_lockers(kLunObject, kLock, &exclusive, &tag, &lockers);
    if (result < 0) return cluster_.Error("list_lockers", kLunObject, result);
    for (const librados::locker_t& locker : lockers) TD_RETURN_IF_ERROR(TakeFrom(locker));
    result = TryLock(0);
  }
  if (result == 0) return absl::OkStatus();
  return cluster_.Error("lock", kLunObject, result);
}

absl::Status Holding::TakeFrom(const librados::locker_t& locker) {
  if (!IsOfDeadProcess(locker.cookie)) {
    return disk::Unusable(
        cluster_.member(),
        absl::StrCat("in use by ", DescribeLocker(locker),
                     "; stop that one first. If that node is gone, its lease must expire first"));
  }
  TD_RETURN_IF_ERROR(Fence(locker.address));
  const int result = cluster_.objects().break_lock(kLunObject, kLock, locker.client, locker.cookie);
  return result < 0 && result != -ENOENT ? cluster_.Error("break_lock", kLunObject, result)
                                         : absl::OkStatus();
}

// What that client has sent and is still on its way is refused, too, once every OSD that is asked
// has the map that says so: they get it before they take anything from this client.
absl::Status Holding::Fence(const std::string& address) {
  if (address.empty() || address == fenced_) return absl::OkStatus();
  int result = cluster_.client().blocklist_add(address, kFenceSeconds);
  if (result < 0) {
    return cluster_.Error(absl::StrCat("osd blocklist add ", address, " for"), kLunObject, result);
  }
  result = cluster_.client().wait_for_latest_osdmap();
  if (result < 0) return cluster_.Error("wait_for_latest_osdmap", kLunObject, result);
  fenced_ = address;
  dataplane::Log(dataplane::LogLevel::kWarning, "store/rados",
                 "the node that had the LUN is fenced",
                 {{"member", cluster_.member()}, {"address", address}});
  return absl::OkStatus();
}

absl::StatusOr<std::string> Holding::OwnAddress() {
  int exclusive = 0;
  std::string tag;
  std::list<librados::locker_t> lockers;
  const int result = cluster_.objects().list_lockers(kLunObject, kLock, &exclusive, &tag, &lockers);
  if (result < 0) return cluster_.Error("list_lockers", kLunObject, result);
  for (const librados::locker_t& locker : lockers) {
    if (locker.cookie == cookie_) return locker.address;
  }
  return cluster_.Error("list_lockers", kLunObject, -EBUSY);
}

// The lock is ours. Whoever had the LUN before and has not given it up may still write: until now.
absl::Status Holding::Begin() {
  Xattrs xattrs;
  if (const int r = cluster_.ReadXattrs(kLunObject, &xattrs); r < 0) {
    return cluster_.Error("getxattrs", kLunObject, r);
  }
  TD_RETURN_IF_ERROR(Fence(TextOf(xattrs, kHolder)));
  TD_ASSIGN_OR_RETURN(const std::string address, OwnAddress());
  const uint64_t before = NumberOf(xattrs, kEpoch);
  librados::ObjectWriteOperation op;
  op.cmpxattr(kEpoch, LIBRADOS_CMPXATTR_OP_EQ, before);
  op.setxattr(kEpoch, BufferOf(absl::StrCat(before + 1)));
  op.setxattr(kHolder, BufferOf(address));
  if (const int r = cluster_.Operate(kLunObject, op); r < 0) {
    return cluster_.Error("raise the epoch of", kLunObject, r);
  }
  epoch_ = before + 1;
  return absl::OkStatus();
}

absl::Status Holding::status() const {
  absl::MutexLock lock(&mutex_);
  return lost_;
}

void Holding::Guard(librados::ObjectWriteOperation& op) const {
  op.cmpxattr(kEpoch, LIBRADOS_CMPXATTR_OP_GTE, epoch_);
  op.setxattr(kEpoch, BufferOf(absl::StrCat(epoch_)));
}

void Holding::KeepRenewing() {
  const absl::Duration renew_every = std::min(kRenewEvery, lease_ / kRenewalsPerLease);
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (dataplane::AwaitFor(mutex_, absl::Condition(&stop_), renew_every)) return;
      if (!lost_.ok()) return;
    }
    Renew();
  }
}

// An error that says nothing of another holder is waited out: none takes the LUN over without
// fencing this client, to which no write is acknowledged from then on.
void Holding::Renew() {
  const int result = TryLock(LIBRADOS_LOCK_FLAG_MAY_RENEW);
  if (result == -EBUSY || result == -ESHUTDOWN) return Lose("another storage node has taken it");
  if (result < 0) return;
  Xattrs xattrs;
  if (cluster_.ReadXattrs(kLunObject, &xattrs) < 0) return;
  if (NumberOf(xattrs, kEpoch) != epoch_)
    Lose("another storage node has had it, or it was removed");
}

void Holding::Lose(const std::string& why) {
  const std::string text =
      absl::StrCat("member ", cluster_.member(), ": ", why, "; recordings continue there");
  dataplane::Log(dataplane::LogLevel::kError, "store/rados", "LUN lost",
                 {{"member", cluster_.member()}, {"why", why}});
  absl::MutexLock lock(&mutex_);
  lost_ = disk::StoreIo(cluster_.member(), "lock", text);
}

}  // namespace tapedeck::storage_node::store::rados
