// Serves ranges of a file, which it holds in memory of the device, to ordinary programs:
//   gpu_worker_file_server host|cuda FILE SECONDS
// Prints "port N" once it serves; ends after so many seconds, or when its standard input does. Its
// status is 77 where this machine has no such device.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/gpu_worker/sockets/applications/file_server.h"
#include "tests/gpu_worker/sockets/applications/fixture.h"
#include "tests/gpu_worker/sockets/applications/serving.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

constexpr uint32_t kBlocks = 4;

int Serve(device::Device& device, const std::vector<char>& file, int seconds) {
  const bool on_gpu = !device.info().works_in_host_memory;
  if (!AreLoaded<Listen, FileServer>(device)) return 1;
  auto bytes = DeviceBytes::Create(device, file.size());
  if (!bytes.ok()) return Fail(bytes.status().ToString());
  if (const absl::Status filled = bytes->Fill(file.data(), file.size()); !filled.ok()) {
    return Fail(filled.ToString());
  }
  const auto memory = DeviceBytes::Create(device, kBlocks * sizeof(FileMemory));
  if (!memory.ok()) return Fail(memory.status().ToString());
  auto listening = Listening::Create(device, {.sockets = 64, .ring_bytes = 1 << 20});
  if (!listening.ok()) return Fail(listening.status().ToString());
  const FileServer program{listening->NewArgs(), bytes->as<unsigned char>(), file.size(),
                           memory->as<FileMemory>()};
  Server server(on_gpu, program, program.args.stop, kBlocks);
  SayPortAndAwaitEnd(listening->port(), seconds);
  if (const std::string error = server.Stop(); !error.empty()) return Fail(error);
  const Served served = SumOf(program.args.served, kBlocks);
  std::cout << "connections " << served.connections << " answers " << served.answers << std::endl;
  return served.fault == 0 ? 0 : Fail(strerror(static_cast<int>(-served.fault)));
}

int Main(int argc, char** argv) {
  const int seconds = argc == 4 ? std::atoi(argv[3]) : 0;
  if (!IsServingTime(seconds)) return Fail("gpu_worker_file_server host|cuda FILE SECONDS", 2);
  std::ifstream in(argv[2], std::ios::binary);
  const std::vector<char> file((std::istreambuf_iterator<char>(in)), {});
  if (file.empty()) return Fail(std::string(argv[2]) + " cannot be read, or is empty");
  return OnDeviceOfKind(argv[1],
                        [&](device::Device& device) { return Serve(device, file, seconds); });
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets

int main(int argc, char** argv) { return tapedeck::gpu_worker::sockets::Main(argc, argv); }
