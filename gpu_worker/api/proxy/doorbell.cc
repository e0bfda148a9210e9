#include "gpu_worker/api/proxy/doorbell.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tapedeck::gpu_worker::api {
namespace {

constexpr char kPorts[] = "/sys/class/infiniband";
constexpr char kDirectVerbs[] = "libmlx5.so.1";
constexpr char kGpuNetIo[] = "libdoca_gpunetio.so.2";

bool HasMlx5() {
  std::error_code error;
  for (const auto& port : std::filesystem::directory_iterator(kPorts, error)) {
    if (absl::StartsWith(port.path().filename().string(), "mlx5")) return true;
  }
  return false;
}

bool HasLibrary(const char* name) {
  void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

}  // namespace

std::string WhyNoDoorbell() {
  if (!HasMlx5()) return absl::StrCat("no mlx5 device in ", kPorts);
  for (const char* library : {kDirectVerbs, kGpuNetIo}) {
    if (!HasLibrary(library)) return absl::StrCat("no ", library);
  }
  return "this build has no kernel that rings one";
}

}  // namespace tapedeck::gpu_worker::api
