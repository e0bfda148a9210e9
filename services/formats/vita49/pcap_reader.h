// The datagrams of UDP in a capture file, PCAP or PCAPNG, one after the other, by libpcap. One
// thread that may wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/base/files/input_file.h"
#include "services/model/words/note.h"

struct pcap;

namespace tapedeck::services::formats {

// Where a datagram comes from and goes to. Addresses of IPv4 have 4 bytes and zeros behind them.
struct Flow {
  using Address = std::array<std::byte, 16>;
  bool ipv6 = false;
  Address from = {};
  Address to = {};
  uint16_t port = 0;  // that it goes to; a sender may change the one that it comes from

  bool operator==(const Flow&) const = default;
  // "10.0.0.2 to 239.1.1.1:4991"
  std::string Text() const;
};

struct Captured {
  int64_t time_ns = 0;               // when it was captured; 0: the capture has no times
  std::span<const std::byte> bytes;  // of the datagram; valid until the next call
  Flow flow;
};

class PcapReader {
 public:
  // Of a file that outlives this. INVALID_ARGUMENT (FILE_INVALID): it is no such file, it ends
  // within its header, or its link is of a kind that is not known here.
  static absl::StatusOr<PcapReader> Create(const files::InputFile& file);

  // None: that was the last one, or the file ends within the next. What is no whole datagram over
  // IPv4 or IPv6 is passed over and counted. INVALID_ARGUMENT (FILE_INVALID): there is no packet
  // where one must be.
  absl::StatusOr<std::optional<Captured>> Next();

  // Begins again with the first, and with no count. INVALID_ARGUMENT (FILE_INVALID).
  absl::Status Rewind();

  // What was passed over, and why; nothing where nothing was.
  model::Notes Notes() const;

 private:
  struct Close {
    void operator()(pcap* capture) const;
  };

  explicit PcapReader(const files::InputFile& file) : file_(&file) {}

  const files::InputFile* file_;
  std::unique_ptr<pcap, Close> capture_;
  int link_ = 0;          // what each packet begins with, DLT_
  uint64_t packets_ = 0;  // read so far
  bool ends_early_ = false;
  // Packets that were passed over.
  uint64_t cut_ = 0;        // by the capture's snapshot length
  uint64_t fragments_ = 0;  // of IP
  uint64_t others_ = 0;     // without UDP
};

// "7 packets WHAT", with the fact packets beside `facts`; none: nothing is added.
void NotePackets(absl::string_view code, uint64_t count, absl::string_view what,
                 model::Notes* notes, std::map<std::string, std::string> facts = {});

}  // namespace tapedeck::services::formats
