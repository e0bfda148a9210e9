// What a device offers whose work can be put in order with streams of a program: the program's
// kernels fill and read slots, and a stream waits for a flag or sets one without the host.
//
// On a GPU these are stream memory operations (CUDA driver API, "Stream Memory Operations"). Orders
// made by them alone are not visible to CUDA, which may then put work in one queue in an order that
// never ends; so whoever uses them says the same by marks, which are events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::gpu_worker::device {

// A stream of a program: a cudaStream_t; on the host a ThreadStream.
using StreamHandle = void*;

// Whether what is enqueued is being captured into a graph, and into which.
struct Capture {
  bool captures = false;
  uint64_t graph = 0;
};

// What the device is to copy once it comes to it; written before the flag that it waits for.
struct CopyOrder {
  const std::byte* from = nullptr;  // at a multiple of 16 bytes
  uint64_t bytes = 0;
};

// The place of a stream at one time.
class Mark {
 public:
  virtual ~Mark() = default;
};

// All of these: any thread; a stream by one thread at a time. Calls enqueue and do not wait. The
// calling thread's current device and context stay what they are.

class StreamFlags {
 public:
  virtual ~StreamFlags() = default;

  // Host memory for flags, which the device reads and writes at the same address. It stays the
  // host's when the device's context is destroyed: what looks at flags never meets a hole.
  virtual absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewFlags(size_t bytes) = 0;

  // INVALID_ARGUMENT (ARGUMENT_INVALID): not a stream of this device, or the default stream, whose
  // waits hold up others.
  virtual absl::StatusOr<Capture> Check(StreamHandle stream) = 0;

  // What is enqueued later begins once *flag is zero, or is not.
  enum class Until { kZero, kNotZero };
  virtual absl::Status AwaitFlag(StreamHandle stream, uint64_t* flag, Until until) = 0;
  // Behind all that was enqueued before, which whoever sees the flag sees, too.
  virtual absl::Status SetFlag(StreamHandle stream, uint64_t* flag, uint64_t value) = 0;
};

// Not while the stream captures: marks are not of a graph.
class StreamMarks {
 public:
  virtual ~StreamMarks() = default;
  virtual absl::StatusOr<std::unique_ptr<Mark>> NewMark() = 0;
  virtual absl::Status SetMark(StreamHandle stream, Mark& mark) = 0;
  virtual absl::Status AwaitMark(StreamHandle stream, Mark& mark) = 0;
  // Whether all up to the mark is done; true where it was never set.
  virtual absl::StatusOr<bool> Passed(const Mark& mark) = 0;
};

class StreamWork {
 public:
  virtual ~StreamWork() = default;
  virtual absl::Status CopyToHost(StreamHandle stream, std::byte* host, const std::byte* device,
                                  size_t bytes) = 0;
  // To memory of the device, as `order` says when the stream comes there, at most `most` bytes.
  virtual absl::Status CopyByOrder(StreamHandle stream, std::byte* device, const CopyOrder* order,
                                   size_t most) = 0;

  // The CRC32C of a payload in memory of the device, at a multiple of 16 bytes, into host memory.
  // `lane` is below the number that this was made with; one computation is in a lane at a time.
  virtual absl::Status Crc32c(StreamHandle stream, uint32_t* crc,
                              std::span<const std::byte> payload, size_t lane) = 0;

  // A stream of the library's own, until DeleteStream.
  virtual absl::StatusOr<StreamHandle> NewStream() = 0;
  virtual void DeleteStream(StreamHandle stream) = 0;
};

// The device outlives it.
class StreamOrder : public StreamFlags, public StreamMarks, public StreamWork {};

}  // namespace tapedeck::gpu_worker::device
