#include "tests/sim/site/modelled_drives.h"

#include <algorithm>

namespace tapedeck::sim {
namespace {

// Index entries and manifests are a page or a few.
constexpr int64_t kSmallNs = 20'000;

}  // namespace

ModelledDrives::ModelledDrives(FaultDisk& disk, const DriveFigures& figures, uint64_t block_bytes,
                               const dataplane::Clock& clock)
    : figures_(figures), block_bytes_(block_bytes), clock_(clock), free_ns_(figures.drives) {
  disk.fault = [this](const std::string& operation, uint32_t member) {
    operation_ = operation;
    member_ = member;
    return absl::OkStatus();
  };
  disk.stall_ns = [this] { return instant_ ? 0 : TimeOfLast(); };
}

int64_t ModelledDrives::TimeOfLast() {
  const int64_t now_ns = clock_.NowNs();
  if (operation_ == "write") {
    written_ += block_bytes_;
    const double ns =
        static_cast<double>(block_bytes_) * 1e9 / static_cast<double>(figures_.bytes_per_s);
    int64_t& free_ns = free_ns_[member_];
    free_ns = std::max(free_ns, now_ns) + static_cast<int64_t>(ns + 0.5);
    return free_ns - now_ns;
  }
  if (operation_ == "flush") {
    return std::max(std::ranges::max(free_ns_), now_ns) - now_ns + figures_.flush_ns;
  }
  return kSmallNs;
}

}  // namespace tapedeck::sim
