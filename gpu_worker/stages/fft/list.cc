#include "gpu_worker/stages/fft/list.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/stages/device_room.h"
#include "gpu_worker/stages/fft/cuda/weigher.h"
#include "gpu_worker/stages/fft/cufft/fft.h"
#include "gpu_worker/stages/fft/fftw/fft.h"
#include "gpu_worker/stages/fft/host/weigher.h"
#include "gpu_worker/stages/fft/kissfft/fft.h"

namespace tapedeck::gpu_worker::stages::fft {
namespace {

struct Room {
  absl::string_view kind;  // of device
  absl::string_view library;
  absl::Status (*usable)();
  absl::StatusOr<std::unique_ptr<Fft>> (*create)(const Plan& plan, device::Queue& queue);
};

// Of a kind the fastest first.
constexpr Room kRooms[] = {
    {"cuda", "cuFFT", &cufft::Usable, &cufft::Create},
    {"host", "FFTW3f", &fftw::Usable, &fftw::Create},
    {"host", "kissfft", &kissfft::Usable, &kissfft::Create},
};

constexpr DeviceRoom<decltype(&host::CreateWeigher)> kWeigherRooms[] = {
    {"cuda", &cuda::CreateWeigher},
    {"host", &host::CreateWeigher},
};

// Why none of a device's rooms can.
std::string WhyNone(const device::Device& device) {
  std::vector<std::string> reasons;
  for (const Room& room : kRooms) {
    if (room.kind != device.info().kind) continue;
    if (const absl::Status status = room.usable(); !status.ok()) {
      reasons.emplace_back(status.message());
    }
  }
  return reasons.empty() ? "no FFT for devices of its kind" : absl::StrJoin(reasons, "; ");
}

}  // namespace

std::vector<Library> LibrariesFor(const device::Device& device) {
  std::vector<Library> libraries;
  for (const Room& room : kRooms) {
    if (room.kind != device.info().kind || !room.usable().ok()) continue;
    libraries.push_back({.name = std::string(room.library), .create = room.create});
  }
  return libraries;
}

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, const device::Device& device,
                                            device::Queue& queue) {
  const std::vector<Library> libraries = LibrariesFor(device);
  if (!libraries.empty()) return libraries.front().create(plan, queue);
  const std::string& name = device.info().description;
  return device::Unusable(name,
                          absl::StrCat("fft: ", name, " cannot transform: ", WhyNone(device)));
}

absl::StatusOr<std::unique_ptr<Weigher>> CreateWeigher(const std::vector<float>& weights,
                                                       device::Device& device,
                                                       device::Queue& queue) {
  TD_ASSIGN_OR_RETURN(const auto create, RoomFor(device, "fft: no windows", kWeigherRooms));
  return create(weights, device, queue);
}

std::string LibraryFor(const device::Device& device) {
  const std::vector<Library> libraries = LibrariesFor(device);
  return libraries.empty() ? absl::StrCat("no FFT: ", WhyNone(device)) : libraries.front().name;
}

}  // namespace tapedeck::gpu_worker::stages::fft
