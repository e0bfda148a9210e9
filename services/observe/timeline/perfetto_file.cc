#include "services/observe/timeline/perfetto_file.h"

#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/files/errors.h"
#include "tapedeck/perfetto/v1/trace.pb.h"

namespace tapedeck::services::timeline {
namespace {

using perfetto::v1::TrackEvent;

// Bytes for one write(2).
constexpr size_t kBufferBytes = 1 << 20;

// One writer, whose first packet depends on none before.
constexpr uint32_t kSequence = 1;
constexpr uint32_t kStateCleared = 1;

// Field 1 of Trace, whose packets are written one by one.
constexpr char kPacketTag = 0x0a;

std::string Text(absl::string_view text) { return std::string(text); }

perfetto::v1::TracePacket DescriptorOf(const Track& track) {
  perfetto::v1::TracePacket packet;
  packet.mutable_track_descriptor()->set_uuid(track.id);
  packet.mutable_track_descriptor()->set_name(track.name);
  packet.mutable_track_descriptor()->set_parent_uuid(track.parent);
  return packet;
}

perfetto::v1::TracePacket PacketOf(TrackEvent::Type type, uint64_t track, int64_t time_ns) {
  perfetto::v1::TracePacket packet;
  packet.set_timestamp(static_cast<uint64_t>(time_ns));
  packet.mutable_track_event()->set_type(type);
  packet.mutable_track_event()->set_track_uuid(track);
  return packet;
}

perfetto::v1::TracePacket PacketOf(TrackEvent::Type type, const Event& event) {
  perfetto::v1::TracePacket packet = PacketOf(type, event.track, event.time_ns);
  TrackEvent& out = *packet.mutable_track_event();
  out.set_name(Text(event.name));
  if (event.flow != 0) out.add_flow_ids(event.flow);
  for (const Note& note : event.notes) {
    perfetto::v1::DebugAnnotation& annotation = *out.add_debug_annotations();
    annotation.set_name(Text(note.name));
    if (note.text.empty()) {
      annotation.set_int_value(note.number);
    } else {
      annotation.set_string_value(Text(note.text));
    }
  }
  return packet;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PerfettoFile>> PerfettoFile::Create(const std::string& path,
                                                                   bool replace,
                                                                   uint64_t limit_bytes) {
  TD_ASSIGN_OR_RETURN(auto file, files::PartFile::Create(path, replace));
  return std::unique_ptr<PerfettoFile>(new PerfettoFile(std::move(file), limit_bytes));
}

template <typename Packet>
absl::Status PerfettoFile::Write(Packet& packet) {
  packet.set_trusted_packet_sequence_id(kSequence);
  if (!std::exchange(begun_, true)) packet.set_sequence_flags(kStateCleared);
  size_t left = packet.ByteSizeLong();
  std::string prefix(1, kPacketTag);
  do {
    prefix += static_cast<char>((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    left >>= 7;
  } while (left > 0);
  const size_t before = buffer_.size();
  buffer_ += prefix;
  packet.AppendToString(&buffer_);
  bytes_ += buffer_.size() - before;
  if (bytes_ > limit_bytes_) {
    return LimitReached(limit_bytes_, "bytes of a timeline",
                        absl::StrCat("the timeline is larger than ", limit_bytes_, " bytes"));
  }
  return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush();
}

absl::Status PerfettoFile::Flush() {
  absl::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t written = write(file_->fd(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return files::WriteFailed(file_->path(), "write", errno);
    left.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status PerfettoFile::AddNode(const Track& track, int32_t pid) {
  perfetto::v1::TracePacket packet = DescriptorOf(track);
  packet.mutable_track_descriptor()->mutable_process()->set_pid(pid);
  packet.mutable_track_descriptor()->mutable_process()->set_process_name(track.name);
  return Write(packet);
}

absl::Status PerfettoFile::AddThread(const Track& track, int32_t pid, int32_t tid) {
  perfetto::v1::TracePacket packet = DescriptorOf(track);
  packet.mutable_track_descriptor()->mutable_thread()->set_pid(pid);
  packet.mutable_track_descriptor()->mutable_thread()->set_tid(tid);
  packet.mutable_track_descriptor()->mutable_thread()->set_thread_name(track.name);
  return Write(packet);
}

absl::Status PerfettoFile::AddTrack(const Track& track) {
  perfetto::v1::TracePacket packet = DescriptorOf(track);
  return Write(packet);
}

absl::Status PerfettoFile::AddCounter(const Track& track, const std::string& unit) {
  perfetto::v1::TracePacket packet = DescriptorOf(track);
  packet.mutable_track_descriptor()->mutable_counter()->set_unit_name(unit);
  return Write(packet);
}

absl::Status PerfettoFile::Begin(const Event& event) {
  perfetto::v1::TracePacket packet = PacketOf(TrackEvent::TYPE_SLICE_BEGIN, event);
  return Write(packet);
}

absl::Status PerfettoFile::End(uint64_t track, int64_t time_ns) {
  perfetto::v1::TracePacket packet = PacketOf(TrackEvent::TYPE_SLICE_END, track, time_ns);
  return Write(packet);
}

absl::Status PerfettoFile::Instant(const Event& event) {
  perfetto::v1::TracePacket packet = PacketOf(TrackEvent::TYPE_INSTANT, event);
  return Write(packet);
}

absl::Status PerfettoFile::Count(uint64_t track, int64_t time_ns, int64_t value) {
  perfetto::v1::TracePacket packet = PacketOf(TrackEvent::TYPE_COUNTER, track, time_ns);
  packet.mutable_track_event()->set_counter_value(value);
  return Write(packet);
}

absl::Status PerfettoFile::Finish() {
  TD_RETURN_IF_ERROR(Flush());
  return file_->Publish();
}

}  // namespace tapedeck::services::timeline
