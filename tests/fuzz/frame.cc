// A frame, which has a block's header: as it came, and with the check value that it should have.
#include "dataplane/block/frame.h"

#include <algorithm>

#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tapedeck::dataplane;  // NOLINT: the names under test
  tapedeck::fuzz::Input input(data, size);
  const auto came = input.Padded(kFrameBytes);
  FrameBytes bytes;
  std::ranges::copy(came, bytes.begin());
  (void)DecodeFrame(bytes).ok();
  PutLittleEndian(&bytes[0], kFrameMagic);
  PutLittleEndian(&bytes[56], uint32_t{0});
  PutLittleEndian(&bytes[60], Crc32c(std::span(bytes).first(60)));
  const auto frame = DecodeFrame(bytes);
  if (frame.ok()) tapedeck::fuzz::Require(EncodeFrame(*frame) == bytes);
  return 0;
}
