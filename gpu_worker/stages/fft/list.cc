#include "gpu_worker/stages/fft/list.h"

#include "absl/strings/str_cat.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/stages/fft/cufft/fft.h"
#include "gpu_worker/stages/fft/fftw/fft.h"

namespace tapedeck::gpu_worker::stages::fft {
namespace {

struct Room {
  absl::string_view kind;  // of device
  absl::string_view library;
  absl::Status (*usable)();
  absl::StatusOr<std::unique_ptr<Fft>> (*create)(const Plan& plan, device::Queue& queue);
};

constexpr Room kRooms[] = {
    {"cuda", "cuFFT", &cufft::Usable, &cufft::Create},
    {"host", "FFTW3f", &fftw::Usable, &fftw::Create},
};

const Room* RoomFor(const device::Device& device) {
  for (const Room& room : kRooms) {
    if (room.kind == device.info().kind) return &room;
  }
  return nullptr;
}

absl::Status Unusable(const device::Device& device, absl::string_view why) {
  return device::Unusable(
      device.info().description,
      absl::StrCat("fft: ", device.info().description, " cannot transform: ", why));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, const device::Device& device,
                                            device::Queue& queue) {
  const Room* room = RoomFor(device);
  if (room == nullptr) return Unusable(device, "no FFT for devices of its kind");
  if (absl::Status status = room->usable(); !status.ok()) {
    return Unusable(device, status.message());
  }
  return room->create(plan, queue);
}

std::string LibraryFor(const device::Device& device) {
  const Room* room = RoomFor(device);
  if (room == nullptr) return "no FFT";
  const absl::Status status = room->usable();
  return status.ok() ? std::string(room->library)
                     : absl::StrCat("no FFT: ", absl::string_view(status.message()));
}

}  // namespace tapedeck::gpu_worker::stages::fft
