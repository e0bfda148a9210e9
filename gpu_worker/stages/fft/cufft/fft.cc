#include "gpu_worker/stages/fft/cufft/fft.h"

#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/cufft/library.h"

namespace tapedeck::gpu_worker::stages::fft::cufft {
namespace {

class CufftFft final : public Fft {
 public:
  CufftFft(const Library& library, cufftHandle plan, int device, device::Queue& queue)
      : library_(library), plan_(plan), device_(device), queue_(queue) {}
  // On any thread, when the queue may be gone already. A plan's memory is its device's.
  ~CufftFft() override {
    static_cast<void>(cudaSetDevice(device_));
    const absl::Status status = ToStatus(library_.destroy(plan_), "cufftDestroy");
    if (!status.ok()) {
      dataplane::Log(dataplane::LogLevel::kError, "fft/cufft", status.ToString());
    }
  }

  // Runs the whole batch: what lies behind the end is not read again, and fewer come only where
  // there is time.
  absl::Status Forward(std::byte* data, size_t /*count*/) override {
    auto* samples = reinterpret_cast<cufftComplex*>(data);
    queue_.native();  // makes the device current
    return ToStatus(library_.exec_c2c(plan_, samples, samples, CUFFT_FORWARD), "cufftExecC2C");
  }

 private:
  const Library library_;
  const cufftHandle plan_;
  const int device_;
  device::Queue& queue_;
};

}  // namespace

absl::Status Usable() { return Load().status(); }

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& queue) {
  TD_ASSIGN_OR_RETURN(const Library library, Load());
  auto stream = static_cast<cudaStream_t>(queue.native());
  int device = 0;
  TD_RETURN_IF_ERROR(ToStatus(cudaGetDevice(&device), "cudaGetDevice"));
  int points = static_cast<int>(plan.points);
  cufftHandle handle = 0;
  TD_RETURN_IF_ERROR(
      ToStatus(library.plan_many(&handle, 1, &points, nullptr, 1, points, nullptr, 1, points,
                                 CUFFT_C2C, static_cast<int>(plan.transforms)),
               "cufftPlanMany"));
  auto fft = std::make_unique<CufftFft>(library, handle, device, queue);
  TD_RETURN_IF_ERROR(ToStatus(library.set_stream(handle, stream), "cufftSetStream"));
  return fft;
}

}  // namespace tapedeck::gpu_worker::stages::fft::cufft
