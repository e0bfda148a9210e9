#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/time/clock.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/host/device.h"
#include "gpu_worker/device/thread_stream.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::device::host {
namespace {

ThreadStream& StreamOf(StreamHandle stream) { return *static_cast<ThreadStream*>(stream); }

// Looks often at first, as what sets a flag is mostly at work already.
void AwaitUntil(const std::function<bool()>& reached, const ThreadStream::GoesOn& goes_on) {
  for (int looks = 0; !reached(); ++looks) {
    if (looks < 64) continue;
    if (!goes_on()) return;
    absl::SleepFor(absl::Microseconds(20));
  }
}

// So often set, and so often passed.
class CountMark final : public Mark {
 public:
  struct Counts {
    std::atomic<uint64_t> set = 0;
    std::atomic<uint64_t> passed = 0;
  };
  const std::shared_ptr<Counts> counts = std::make_shared<Counts>();
};

const std::shared_ptr<CountMark::Counts>& CountsOf(const Mark& mark) {
  return static_cast<const CountMark&>(mark).counts;
}

// Passes a mark at its end: a stream that goes without having come to it touches nothing any more.
class Passing {
 public:
  Passing(std::shared_ptr<CountMark::Counts> counts, uint64_t number)
      : counts_(std::move(counts)), number_(number) {}
  // Marks of several streams may pass in any order.
  ~Passing() {
    uint64_t passed = counts_->passed;
    while (passed < number_ && !counts_->passed.compare_exchange_weak(passed, number_)) continue;
  }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;

 private:
  const std::shared_ptr<CountMark::Counts> counts_;
  const uint64_t number_;
};

class HostStreamOrder final : public StreamOrder {
 public:
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewFlags(size_t bytes) override {
    return dataplane::host::Create(bytes);
  }

  absl::StatusOr<Capture> Check(StreamHandle stream) override {
    if (stream == nullptr) {
      return services::ArgumentInvalid("stream", "no stream given; create a host stream");
    }
    TD_RETURN_IF_ERROR(StreamOf(stream).CheckRoom());
    return Capture();
  }

  absl::Status AwaitFlag(StreamHandle stream, uint64_t* flag, Until until) override {
    StreamOf(stream).Enqueue([flag, until](const ThreadStream::GoesOn& goes_on) {
      const auto reached = [flag, until] {
        const bool zero = std::atomic_ref(*flag).load(std::memory_order_acquire) == 0;
        return zero == (until == Until::kZero);
      };
      AwaitUntil(reached, goes_on);
    });
    return absl::OkStatus();
  }

  absl::Status SetFlag(StreamHandle stream, uint64_t* flag, uint64_t value) override {
    StreamOf(stream).Enqueue([flag, value](const ThreadStream::GoesOn&) {
      std::atomic_ref(*flag).store(value, std::memory_order_release);
    });
    return absl::OkStatus();
  }

  absl::Status CopyToHost(StreamHandle stream, std::byte* host, const std::byte* device,
                          size_t bytes) override {
    if (host == device) return absl::OkStatus();
    StreamOf(stream).Enqueue(
        [=](const ThreadStream::GoesOn&) { std::memcpy(host, device, bytes); });
    return absl::OkStatus();
  }

  absl::Status CopyByOrder(StreamHandle stream, std::byte* device, const CopyOrder* order,
                           size_t most) override {
    StreamOf(stream).Enqueue([=](const ThreadStream::GoesOn&) {
      const size_t bytes = std::min<uint64_t>(order->bytes, most);
      if (bytes > 0 && order->from != device) std::memcpy(device, order->from, bytes);
    });
    return absl::OkStatus();
  }

  absl::Status Crc32c(StreamHandle stream, uint32_t* crc, std::span<const std::byte> payload,
                      size_t /*lane*/) override {
    StreamOf(stream).Enqueue(
        [=](const ThreadStream::GoesOn&) { *crc = dataplane::Crc32c(payload); });
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<Mark>> NewMark() override { return std::make_unique<CountMark>(); }

  absl::Status SetMark(StreamHandle stream, Mark& mark) override {
    const auto passing = std::make_shared<Passing>(CountsOf(mark), ++CountsOf(mark)->set);
    StreamOf(stream).Enqueue([passing](const ThreadStream::GoesOn&) {});
    return absl::OkStatus();
  }

  absl::Status AwaitMark(StreamHandle stream, Mark& mark) override {
    const uint64_t number = CountsOf(mark)->set;
    StreamOf(stream).Enqueue(
        [counts = CountsOf(mark), number](const ThreadStream::GoesOn& goes_on) {
          AwaitUntil([&] { return counts->passed >= number; }, goes_on);
        });
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Passed(const Mark& mark) override {
    return CountsOf(mark)->passed >= CountsOf(mark)->set;
  }

  absl::StatusOr<StreamHandle> NewStream() override {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<ThreadStream> stream, ThreadStream::Create());
    return static_cast<StreamHandle>(stream.release());
  }
  void DeleteStream(StreamHandle stream) override { delete static_cast<ThreadStream*>(stream); }
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamOrder>> NewStreamOrder() {
  return std::make_unique<HostStreamOrder>();
}

}  // namespace tapedeck::gpu_worker::device::host
