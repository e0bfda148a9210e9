// Asks a memcached for several values in its text protocol, from a kernel: "get KEY KEY ...", which
// is answered with "VALUE KEY FLAGS BYTES", the value, and so on, and then "END". C++17, for nvcc
// and for g++.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gpu_worker/sockets/sockets_device.h"
#include "tests/gpu_worker/sockets/applications/patterns.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr int64_t kNoMoreValues = -1'000'000;  // is no errno
inline constexpr uint32_t kValueTailBytes = 2;        // "\r\n"
inline constexpr uint32_t kMostLineBytes = 64;        // longer ones are not the protocol's
inline constexpr uint32_t kMostRequestBytes = 256;

// Of a block, in memory of the device. What was read behind a line belongs to the value.
struct MemcachedReader {
  unsigned char request[kMostRequestBytes];
  unsigned char line[kMostLineBytes];
  unsigned char value[kPhotoBytes + kValueTailBytes];
};

// ---- Texts. By one lane.

TAPEDECK_ANYWHERE uint32_t PutText(unsigned char* to, uint32_t at, const char* text) {
  for (uint32_t i = 0; text[i] != '\0'; ++i) to[at++] = static_cast<unsigned char>(text[i]);
  return at;
}

TAPEDECK_ANYWHERE uint32_t PutNumber(unsigned char* to, uint32_t at, uint32_t number) {
  uint32_t unit = 1;
  while (number / unit >= 10) unit *= 10;
  for (; unit > 0; unit /= 10) to[at++] = static_cast<unsigned char>('0' + number / unit % 10);
  return at;
}

// A text that is looked at from its beginning on.
struct TextPlace {
  const unsigned char* text;
  uint32_t bytes;
  uint32_t at = 0;
  bool good = true;

  TAPEDECK_ANYWHERE TextPlace(const unsigned char* first, uint32_t count)
      : text(first), bytes(count) {}

  TAPEDECK_ANYWHERE void Expect(const char* expected) {
    for (uint32_t i = 0; expected[i] != '\0'; ++i) {
      good = good && at < bytes && text[at] == static_cast<unsigned char>(expected[i]);
      ++at;
    }
  }

  TAPEDECK_ANYWHERE uint32_t Number() {
    const uint32_t begin = at;
    uint64_t number = 0;
    while (at < bytes && at - begin < 10 && text[at] >= '0' && text[at] <= '9') {
      number = number * 10 + (text[at++] - '0');
    }
    good = good && at > begin && number <= 0xffffffff;
    return static_cast<uint32_t>(number);
  }
};

// "VALUE face/PERSON/NUMBER FLAGS BYTES\r\n": the number. kNoMoreValues for "END\r\n", else
// -EPROTO.
TAPEDECK_ANYWHERE int64_t NumberIn(const unsigned char* line, uint32_t bytes, uint32_t person) {
  TextPlace end(line, bytes);
  end.Expect("END\r\n");
  if (end.good) return kNoMoreValues;
  TextPlace place(line, bytes);
  place.Expect("VALUE face/");
  const uint32_t of_person = place.Number();
  place.Expect("/");
  const uint32_t number = place.Number();
  place.Expect(" ");
  place.Number();
  place.Expect(" ");
  const uint32_t value_bytes = place.Number();
  place.Expect("\r\n");
  const bool good = place.good && of_person == person && value_bytes == kPhotoBytes;
  return good ? int64_t{number} : -EPROTO;
}

// ---- The connection. By all lanes of a block.

// Asks for the photos 0 to `photos` - 1 of a person. 0 or a negative errno.
TAPEDECK_ANYWHERE int64_t AskMemcached(const Net& net, int64_t socket, MemcachedReader& reader,
                                       uint32_t person, uint32_t photos, int64_t timeout_ns) {
  uint32_t bytes = 0;
  if (IsFirstLane()) {
    bytes = PutText(reader.request, bytes, "get");
    for (uint32_t i = 0; i < photos; ++i) {
      bytes = PutText(reader.request, bytes, " face/");
      bytes = PutNumber(reader.request, bytes, person);
      bytes = PutText(reader.request, bytes, "/");
      bytes = PutNumber(reader.request, bytes, i);
    }
    bytes = PutText(reader.request, bytes, "\r\n");
  }
  const int64_t all = FromFirstLane(bytes);
  const int64_t sent = gsend(net, socket, reader.request, static_cast<uint64_t>(all), timeout_ns);
  if (sent == all) return 0;
  return sent < 0 ? sent : -ETIMEDOUT;
}

TAPEDECK_ANYWHERE uint32_t LineBytes(const unsigned char* line, uint32_t have) {
  for (uint32_t i = 0; i < have; ++i) {
    if (line[i] == '\n') return i + 1;
  }
  return 0;
}

// Reads a line, and maybe some of what follows it: how many bytes, or a negative errno. The line's
// own length is in `line_bytes`.
TAPEDECK_ANYWHERE int64_t ReadLine(const Net& net, int64_t socket, MemcachedReader& reader,
                                   int64_t timeout_ns, uint32_t* line_bytes) {
  uint32_t have = 0;
  while (have < kMostLineBytes) {
    const int64_t got = grecv(net, socket, reader.line + have, kMostLineBytes - have, timeout_ns);
    if (got <= 0) return got < 0 ? got : -ECONNRESET;
    have += static_cast<uint32_t>(got);
    *line_bytes =
        static_cast<uint32_t>(FromFirstLane(IsFirstLane() ? LineBytes(reader.line, have) : 0));
    if (*line_bytes > 0) return have;
  }
  return -EPROTO;
}

// The next value, in the reader: its number. kNoMoreValues, or a negative errno with which the
// connection is of no more use.
TAPEDECK_ANYWHERE int64_t NextValue(const Net& net, int64_t socket, MemcachedReader& reader,
                                    uint32_t person, int64_t timeout_ns) {
  uint32_t line_bytes = 0;
  const int64_t have = ReadLine(net, socket, reader, timeout_ns, &line_bytes);
  if (have < 0) return have;
  const int64_t number =
      FromFirstLane(IsFirstLane() ? NumberIn(reader.line, line_bytes, person) : 0);
  if (number < 0) return number;
  const uint32_t early = static_cast<uint32_t>(have) - line_bytes;
  CopyByBlock(reader.value, reader.line + line_bytes, early);
  const int64_t left = sizeof(reader.value) - early;
  const int64_t got =
      grecv_whole(net, socket, reader.value + early, static_cast<uint64_t>(left), timeout_ns);
  if (got != left) return got < 0 ? got : -ECONNRESET;
  const bool ends = reader.value[kPhotoBytes] == '\r' && reader.value[kPhotoBytes + 1] == '\n';
  return ends ? number : -EPROTO;
}

}  // namespace tapedeck::gpu_worker::sockets
