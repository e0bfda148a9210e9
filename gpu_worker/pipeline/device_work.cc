#include "gpu_worker/pipeline/device_work.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pipeline {
namespace {

// How large the blocks of the source or sink are; 0: they are the network's.
size_t StageBytes(const DeviceWorkSettings& settings) {
  const auto in_place = [](const auto& transform) { return transform.description.in_place; };
  if (std::ranges::all_of(settings.transforms, in_place)) return 0;
  return settings.from_network ? settings.sizes.back() : settings.sizes.front();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceWork>> DeviceWork::Create(device::Device& device,
                                                               const DeviceWorkSettings& settings) {
  TD_ASSIGN_OR_RETURN(auto ring, GpuRing::Create(device, settings.direct, settings.block_bytes,
                                                 StageBytes(settings), settings.at_once));
  std::unique_ptr<device::Queue> own_queue;
  if (settings.queue == nullptr) {
    TD_ASSIGN_OR_RETURN(own_queue, device.NewQueue());
  }
  const bool beside = !device.info().works_in_host_memory;
  std::unique_ptr<DeviceWork> work(
      new DeviceWork(settings, beside, std::move(ring), std::move(own_queue)));
  TD_RETURN_IF_ERROR(work->MakeSteps(device, settings));
  TD_RETURN_IF_ERROR(work->MakeScratch(device));
  return work;
}

absl::Status DeviceWork::MakeSteps(device::Device& device, const DeviceWorkSettings& settings) {
  for (size_t i = 0; i < settings.transforms.size(); ++i) {
    const stages::ChosenTransform& transform = settings.transforms[i];
    Step step{.in_place = transform.description.in_place,
              .bytes_in = settings.sizes[i],
              .bytes_out = settings.sizes[i + 1]};
    TD_ASSIGN_OR_RETURN(step.transform, transform.create({.device = &device,
                                                          .queue = queue_,
                                                          .block_bytes = step.bytes_in,
                                                          .at_once = settings.at_once}));
    moves_ += step.in_place ? 0 : 1;
    steps_.push_back(std::move(step));
  }
  uint64_t samples_for_one = 1;
  for (size_t i = steps_.size(); i > 0; --i) {
    samples_for_one *= settings.transforms[i - 1].description.samples_for_one;
    steps_[i - 1].samples_for_one = samples_for_one;
  }
  // From the last to the first: so much of what a step takes that it gives whole granules of the
  // next.
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const size_t granule = step->transform->granule_bytes();
    const size_t given = granule * step->bytes_out / step->bytes_in;
    granule_bytes_ = granule * (granule_bytes_ / std::gcd(given, granule_bytes_));
  }
  return absl::OkStatus();
}

absl::Status DeviceWork::MakeScratch(device::Device& device) {
  uint64_t bytes = 0;
  for (const Step& step : steps_) bytes = std::max(bytes, step.bytes_out);
  while (scratch_.size() + 1 < std::min<size_t>(moves_, 3)) {
    TD_ASSIGN_OR_RETURN(scratch_.emplace_back(), device.NewDeviceMemory(bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> DeviceWork::Enqueue(const GpuRing::Loan& loan, size_t payload_bytes,
                                           bool from_host, bool to_host) {
  const GpuRing::Sides& from = from_network_ ? loan.network : loan.stage;
  const GpuRing::Sides& to = from_network_ ? loan.stage : loan.network;
  const size_t bytes = (payload_bytes + granule_bytes_ - 1) / granule_bytes_ * granule_bytes_;
  // The zeros come from the host, wherever the payload is.
  std::ranges::fill(from.host.subspan(payload_bytes, bytes - payload_bytes), std::byte{0});
  const size_t first = from_host ? 0 : payload_bytes;
  if (first < bytes) {
    TD_RETURN_IF_ERROR(
        queue_->CopyToDevice(from.device.data() + first, from.host.data() + first, bytes - first));
    meter_.Mark(*queue_, StageStep::kCopy);
  }
  if (from_network_ && !direct_ && loan.crcs != nullptr) {
    TD_RETURN_IF_ERROR(queue_->Crc32c(loan.crcs, from.device.first(payload_bytes)));
    meter_.Mark(*queue_, StageStep::kCrc);
  }
  TD_ASSIGN_OR_RETURN(const auto made, Transform(from.device.first(bytes), to.device));
  if (!steps_.empty()) meter_.Mark(*queue_, StageStep::kGpu);
  if (!from_network_ && loan.crcs != nullptr) {
    TD_RETURN_IF_ERROR(queue_->CrcsOfPieces(loan.crcs, made, block_bytes_));
    meter_.Mark(*queue_, StageStep::kCrc);
  }
  if (to_host) {
    TD_RETURN_IF_ERROR(queue_->CopyToHost(to.host.data(), made.data(), made.size()));
    meter_.Mark(*queue_, StageStep::kCopy);
  }
  return made.size();
}

absl::StatusOr<std::span<std::byte>> DeviceWork::Transform(std::span<std::byte> payload,
                                                           std::span<std::byte> last) {
  std::span<std::byte> at = payload;
  size_t moves = 0;
  for (const Step& step : steps_) {
    std::span<std::byte> out = at;
    if (!step.in_place) {
      out = ++moves == moves_ ? last : scratch_[moves % scratch_.size()]->window().bytes;
      out = out.first(at.size() * step.bytes_out / step.bytes_in);
    }
    TD_RETURN_IF_ERROR(step.transform->Apply(at, out));
    at = out;
  }
  return at;
}

absl::Status DeviceWork::EnqueueTogether(const GpuRing::Loan& loan,
                                         std::span<const dataplane::Block> blocks, bool to_host) {
  const std::span<std::byte> all = loan.network.device.first(blocks.size() * block_bytes_);
  std::byte* at = all.data();
  for (const dataplane::Block& block : blocks) {
    TD_RETURN_IF_ERROR(queue_->CopyToDevice(at, block.memory().data(), block_bytes_));
    at += block_bytes_;
  }
  meter_.Mark(*queue_, StageStep::kCopy);
  TD_RETURN_IF_ERROR(queue_->CrcsOfPieces(loan.crcs, all, block_bytes_));
  meter_.Mark(*queue_, StageStep::kCrc);
  TD_RETURN_IF_ERROR(Transform(all, all).status());
  if (!steps_.empty()) meter_.Mark(*queue_, StageStep::kGpu);
  if (!to_host) return absl::OkStatus();
  at = all.data();
  for (const dataplane::Block& block : blocks) {
    TD_RETURN_IF_ERROR(queue_->CopyToHost(block.memory().data(), at, block_bytes_));
    at += block_bytes_;
  }
  meter_.Mark(*queue_, StageStep::kCopy);
  return absl::OkStatus();
}

absl::Status DeviceWork::CheckCopied(const GpuRing::Loan& loan, size_t block,
                                     const dataplane::BlockHeader& header) const {
  const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
  if (direct_ || missing || loan.crcs == nullptr || loan.crcs[block] == header.crc32c) {
    return absl::OkStatus();
  }
  return services::BlockDamaged(
      {.blocks = 1},
      absl::StrCat("block ", header.sequence, " was damaged on its way to the device: its CRC is ",
                   loan.crcs[block], " there, and was ", header.crc32c,
                   "; play it again, and check the device if this happens again"));
}

std::optional<dataplane::Triggers> DeviceWork::Find(uint64_t first_sample) {
  std::optional<dataplane::Triggers> all;
  for (const Step& step : steps_) {
    const auto found = step.transform->Find(first_sample * step.samples_for_one);
    if (!found.has_value()) continue;
    const auto first = static_cast<uint32_t>(found->first / step.samples_for_one);
    const auto last = static_cast<uint32_t>(found->last / step.samples_for_one);
    if (!all.has_value()) all = {.first = first, .last = last};
    all = {.first = std::min(all->first, first), .last = std::max(all->last, last)};
  }
  return all;
}

uint32_t DeviceWork::CrcOf(const GpuRing::Loan& loan, size_t block, size_t payload_bytes) const {
  if (loan.crcs != nullptr) return loan.crcs[block];
  return dataplane::Crc32c(loan.network.host.subspan(block * block_bytes_, payload_bytes));
}

using services::model::kPartWords;
static_assert(kPartWords.size() == kParts);

void StageMeter::OnDevice(size_t blocks) {
  if (!beside_) return;
  const int64_t now_ns = clock_.NowNs();
  if (on_device_ > 0) Divide(now_ns - device_since_ns_);
  device_since_ns_ = now_ns;
  on_device_ = blocks;
}

void StageMeter::Sample(device::Queue& queue, uint64_t sequence) {
  seen_ = nullptr;
  if (!beside_ || sequence % kSampleEvery != 0) return;
  seen_ = std::make_shared<Seen>();
  queue.Then([this, seen = seen_](const absl::Status&) { seen->last_ns = clock_.NowNs(); });
}

void StageMeter::Mark(device::Queue& queue, StageStep part) {
  if (seen_ == nullptr) return;
  queue.Then([this, seen = seen_, part](const absl::Status&) {
    const int64_t now_ns = clock_.NowNs();
    Sum(sampled_, part)
        .fetch_add(now_ns - seen->last_ns.exchange(now_ns), std::memory_order_relaxed);
  });
}

void StageMeter::Divide(int64_t busy_ns) {
  undivided_ns_ += busy_ns;
  double sampled_ns = 0;
  for (const auto& part : sampled_) sampled_ns += static_cast<double>(part);
  if (sampled_ns <= 0) return;
  const auto all_ns = static_cast<double>(undivided_ns_);
  for (size_t i = 0; i < kParts; ++i) {
    device_[i] += static_cast<int64_t>(all_ns * static_cast<double>(sampled_[i]) / sampled_ns);
  }
  undivided_ns_ = 0;
}

services::StageTimes StageMeter::Times() const {
  services::StageTimes times;
  for (size_t i = 0; i < kParts; ++i) {
    if (thread_[i] > 0) times.push_back({absl::StrCat("work.", kPartWords[i]), "", thread_[i]});
    if (device_[i] > 0) times.push_back({absl::StrCat("device.", kPartWords[i]), "", device_[i]});
  }
  return times;
}

}  // namespace tapedeck::gpu_worker::pipeline
