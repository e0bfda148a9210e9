// The second half of a count of words, for another process that has the first:
//   gpu_worker_word_count host|cuda BYTES SEED PORT
// Prints "ready" once it has its text, then connects to the first half's port; at its end writes
// its Totals and the records that it has counted. Its status is 77 where this machine has no such
// device.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/gpu_worker/sockets/applications/serving.h"
#include "tests/gpu_worker/sockets/applications/word_count_half.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

bool WriteAll(const void* data, size_t bytes) {
  return std::fwrite(data, 1, bytes, stdout) == bytes && std::fflush(stdout) == 0;
}

int Count(device::Device& device, const std::string& text, uint32_t port) {
  const bool on_gpu = !device.info().works_in_host_memory;
  if (!AreLoaded<WordCount>(device)) return 1;
  const std::string_view second = std::string_view(text).substr(MiddleOf(text));
  const uint32_t blocks = CountingBlocks(on_gpu);
  auto half = Half::Create(device, second, blocks);
  if (!half.ok()) return Fail(half.status().ToString());
  auto tables = ServedTable::Create(device, kCountingShape);
  if (!tables.ok()) return Fail(tables.status().ToString());
  WordCount program = half->ProgramFor(tables->table->net(), 1, second.size(), blocks);
  program.port = port;
  if (!WriteAll("ready\n", 6)) return 1;
  Blocks run(on_gpu, program, blocks);
  if (const std::string error = run.Join(); !error.empty()) return Fail(error);
  const Totals totals = TotalsOf(*half, blocks);
  std::vector<Record> all(kMostWords);
  const absl::Status read =
      half->records.Read(all.data(), half->records.as<Record>(), all.size() * sizeof(Record));
  if (!read.ok()) return Fail(read.ToString());
  std::erase_if(all, [](const Record& record) { return record.count == 0; });
  const bool told =
      WriteAll(&totals, sizeof(totals)) && WriteAll(all.data(), all.size() * sizeof(Record));
  return told ? 0 : 1;
}

int Main(int argc, char** argv) {
  if (argc != 5) return Fail("gpu_worker_word_count host|cuda BYTES SEED PORT", 2);
  const std::string text = MakeText(std::strtoull(argv[2], nullptr, 10),
                                    static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)));
  const auto port = static_cast<uint32_t>(std::strtoul(argv[4], nullptr, 10));
  return OnDeviceOfKind(argv[1], [&](device::Device& device) { return Count(device, text, port); });
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets

int main(int argc, char** argv) { return tapedeck::gpu_worker::sockets::Main(argc, argv); }
