#include "tests/sim/disks/disk_faults.h"

#include <iterator>

#include "tests/sim/disks/fault_disk.h"

namespace tapedeck::sim {
namespace {

// A full disk has room again after so many operations.
constexpr uint64_t kFullFor = 60;

}  // namespace

DiskFaults::DiskFaults(uint64_t seed, Fired* fired) : random_(seed), fired_(*fired) {
  constexpr Kind kKinds[] = {Kind::kErrors, Kind::kFull, Kind::kFlush, Kind::kMake, Kind::kDelete};
  if (random_() % 2 == 0) kind_ = kKinds[random_() % std::size(kKinds)];
  from_ = random_() % 300;
  short_ = random_() % 2 == 0;
}

bool DiskFaults::FailsNow(const std::string& operation, bool deleting) {
  switch (kind_) {
    case Kind::kNone:
      return false;
    case Kind::kErrors:
      return operation != "make" && random_() % 25 == 0;
    case Kind::kFull:
      return operation.starts_with("write") && operations_ < from_ + kFullFor;
    case Kind::kFlush:
      return operation == "flush" && random_() % 8 == 0;
    case Kind::kMake:
      return operation == "make" && random_() % 2 == 0;
    case Kind::kDelete:
      return deleting && random_() % 3 == 0;
  }
  return false;
}

absl::Status DiskFaults::Next(const std::string& operation, uint32_t member, bool deleting) {
  if (++operations_ < from_ || !FailsNow(operation, deleting)) return absl::OkStatus();
  none_ = false;
  if (kind_ == Kind::kFull) {
    ++fired_["ENOSPC"];
    return DiskFull(operation, member);
  }
  ++fired_[kind_ == Kind::kMake   ? "segment that could not be made"
           : deleting             ? "failed deletion"
           : operation == "flush" ? "failed flush"
                                  : "EIO"];
  return DiskError(operation, member, "Input/output error");
}

int64_t DiskFaults::Completion(size_t bytes) {
  if (!short_ || random_() % 2 == 0) return static_cast<int64_t>(bytes);
  const int64_t completion = ShortCompletion(bytes, random_);
  ++fired_[completion < 0 ? "interrupted transfer" : "short transfer"];
  return completion;
}

}  // namespace tapedeck::sim
