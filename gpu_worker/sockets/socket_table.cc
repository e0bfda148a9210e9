#include "gpu_worker/sockets/socket_table.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/await_queue.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

// Rings begin at a page, so that a copy of whole pages has no edges.
constexpr size_t kRingsBegin = 4096;

// Where each part of the shared memory begins.
struct Places {
  size_t commands;
  size_t kernel;
  size_t proxy;
  size_t rings;
  size_t end;
};

size_t RoundedUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

Places PlacesOf(const TableShape& shape) {
  Places places{};
  places.commands = sizeof(ServiceLine);
  places.kernel = RoundedUp(places.commands + shape.sockets * sizeof(uint64_t), sizeof(KernelLine));
  places.proxy = places.kernel + shape.sockets * sizeof(KernelLine);
  places.rings = RoundedUp(places.proxy + shape.sockets * sizeof(ProxyLine), kRingsBegin);
  places.end = places.rings + 2 * shape.sockets * shape.ring_bytes;
  return places;
}

absl::Status CheckShape(const TableShape& shape) {
  if (shape.sockets == 0 || shape.sockets > kMostSockets) {
    return absl::InvalidArgumentError(
        absl::StrCat("a table of ", shape.sockets, " sockets: give 1 to ", kMostSockets));
  }
  if (!IsRingCapacity(shape.ring_bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("rings of ", shape.ring_bytes,
                                                   " bytes: give a power of two from ",
                                                   kLeastRingBytes, " to ", kMostRingBytes));
  }
  const uint64_t bytes = PlacesOf(shape).end;
  if (bytes > kMostTableBytes) {
    return dataplane::LimitReached(
        kMostTableBytes, "socket table",
        absl::StrCat("a table of ", bytes, " bytes: at most ", kMostTableBytes,
                     " are pinned for one; use fewer sockets or smaller rings"));
  }
  return absl::OkStatus();
}

Net NetOf(std::span<std::byte> shared, std::span<std::byte> own, const TableShape& shape) {
  const Places places = PlacesOf(shape);
  std::byte* const base = shared.data();
  return {.service = reinterpret_cast<ServiceLine*>(base),
          .commands = reinterpret_cast<uint64_t*>(base + places.commands),
          .kernel = reinterpret_cast<KernelLine*>(base + places.kernel),
          .proxy = reinterpret_cast<ProxyLine*>(base + places.proxy),
          .bytes = reinterpret_cast<unsigned char*>(base + places.rings),
          .own = reinterpret_cast<OwnSocket*>(own.data()),
          .ring_bytes = shape.ring_bytes,
          .sockets = shape.sockets};
}

// By a copy of the zeros that the shared memory begins with.
absl::Status ClearOwn(device::Device& device, std::span<std::byte> own,
                      std::span<const std::byte> zeros) {
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<device::Queue> queue, device.NewQueue());
  for (size_t at = 0; at < own.size(); at += zeros.size()) {
    const size_t bytes = std::min(zeros.size(), own.size() - at);
    TD_RETURN_IF_ERROR(queue->CopyToDevice(own.data() + at, zeros.data(), bytes));
  }
  return device::AwaitQueue(*queue);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SocketTable>> SocketTable::Create(device::Device& device,
                                                                 const TableShape& shape) {
  TD_RETURN_IF_ERROR(CheckShape(shape));
  TD_ASSIGN_OR_RETURN(std::unique_ptr<dataplane::Memory> shared,
                      device.NewHostMemory(PlacesOf(shape).end));
  const std::span<std::byte> bytes = shared->window().bytes;
  std::memset(bytes.data(), 0, bytes.size());
  TD_ASSIGN_OR_RETURN(std::unique_ptr<dataplane::Memory> own,
                      device.NewDeviceMemory(shape.sockets * sizeof(OwnSocket)));
  TD_RETURN_IF_ERROR(ClearOwn(device, own->window().bytes, bytes));
  return std::unique_ptr<SocketTable>(new SocketTable(std::move(shared), std::move(own), shape));
}

SocketTable::SocketTable(std::unique_ptr<dataplane::Memory> shared,
                         std::unique_ptr<dataplane::Memory> own, const TableShape& shape)
    : shared_(std::move(shared)),
      own_(std::move(own)),
      net_(NetOf(shared_->window().bytes, own_->window().bytes, shape)) {}

}  // namespace tapedeck::gpu_worker::sockets
