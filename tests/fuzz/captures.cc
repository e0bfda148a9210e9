// A capture file with packets of VITA 49.2: its bytes as they are, and its packets with sizes that
// fit. What is taken can be read, in one piece and in two, and says where it has losses.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/fd.h"
#include "services/formats/pcap.h"
#include "services/formats/vita49.h"
#include "services/vita49/packet.h"
#include "tests/fuzz/input.h"

namespace tapedeck::services::formats {
namespace {

constexpr uint64_t kMostRead = 1 << 20;  // what one try reads

// A file in memory alone, by a name that lives as long as this.
class MemoryFile {
 public:
  explicit MemoryFile(absl::string_view bytes) : fd_(memfd_create("capture", MFD_CLOEXEC)) {
    fuzz::Require(write(fd_.get(), bytes.data(), bytes.size()) ==
                  static_cast<ssize_t>(bytes.size()));
  }
  std::string path() const { return absl::StrCat("/proc/self/fd/", fd_.get()); }

 private:
  const dataplane::Fd fd_;
};

std::vector<std::byte> Read(Reader& reader, uint64_t offset, uint64_t bytes) {
  std::vector<std::byte> read(bytes);
  fuzz::Require(reader.Read(offset, read).ok());
  return read;
}

void IsSound(absl::string_view bytes) {
  const MemoryFile file(bytes);
  const auto reader = OpenVita49(file.path());
  if (!reader.ok()) return;
  const Content& content = (*reader)->content();
  const auto type = dataplane::ParseDatatype(content.datatype);
  fuzz::Require(type.ok() && content.bytes > 0 && content.bytes % type->bytes_per_sample() == 0);
  uint64_t end = 0;
  for (const SampleRange& gap : content.gaps) {
    fuzz::Require(gap.count > 0 && gap.first >= end);
    end = gap.first + gap.count;
  }
  const uint64_t samples = content.bytes / type->bytes_per_sample();
  fuzz::Require(end <= samples);
  for (const Annotation& told : content.annotations) fuzz::Require(told.sample_start < samples);
  if (content.bytes > kMostRead) return;
  const uint64_t half = samples / 2 * type->bytes_per_sample();
  std::vector<std::byte> halves = Read(**reader, 0, half);
  const std::vector<std::byte> rest = Read(**reader, half, content.bytes - half);
  halves.insert(halves.end(), rest.begin(), rest.end());
  fuzz::Require(halves == Read(**reader, 0, content.bytes));
}

// Datagrams that have the size that they say, each behind its length.
std::string Mended(fuzz::Input input) {
  std::string text = PcapHead();
  while (input.left() > 0) {
    auto packet = input.Padded(std::max<size_t>(input.Number<uint8_t>(), 1) * vita49::kWordBytes);
    packet[2] = std::byte{0};
    packet[3] = static_cast<std::byte>(packet.size() / vita49::kWordBytes);
    AppendDatagram({.time_ns = 1, .port = 4991, .bytes = packet}, &text);
  }
  return text;
}

}  // namespace
}  // namespace tapedeck::services::formats

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace formats = tapedeck::services::formats;
  tapedeck::fuzz::Input input(data, size);
  formats::IsSound(formats::Mended(input));
  formats::IsSound(input.Text());
  return 0;
}
