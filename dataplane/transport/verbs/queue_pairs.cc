#include "dataplane/transport/verbs/queue_pairs.h"

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/verbs/random.h"

namespace tapedeck::dataplane::verbs {
namespace {

constexpr uint32_t kPsnMask = 0xffffff;

// Slots for frames, then the hellos and the farewell; then the two full hellos.
constexpr uint32_t kSendSlots = kControlSends + 3;
constexpr uint32_t kReceiveSlots = kControlReceives + 2;
constexpr size_t kFullHellosAt = (kSendSlots + kReceiveSlots) * kSlotBytes;
constexpr size_t kMemoryBytes = kFullHellosAt + 2 * kHelloBytes;

// One more send each for the marker that Fail posts.
constexpr uint32_t kSendDepth[] = {kSendSlots + 1, kPayloadSends + 1};
constexpr uint32_t kReceiveDepth[] = {kReceiveSlots, kPayloadReceives};
constexpr int kCompletionDepth =
    static_cast<int>(kSendDepth[0] + kSendDepth[1] + kReceiveDepth[0] + kReceiveDepth[1]);

absl::Status Modify(ibv_qp* qp, ibv_qp_attr& attributes, int mask, absl::string_view to) {
  if (const int error = ibv_modify_qp(qp, &attributes, mask); error != 0) {
    return ErrnoStatus(absl::StrCat("ibv_modify_qp to ", to), error);
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t WorkId::Pack() const {
  return uint64_t{static_cast<uint8_t>(kind)} << 56 | uint64_t{static_cast<uint8_t>(queue)} << 48 |
         uint64_t{generation} << 40 | index;
}

WorkId WorkId::Unpack(uint64_t wr_id) {
  return {.kind = static_cast<WorkKind>(wr_id >> 56),
          .queue = static_cast<QueueKind>(wr_id >> 48 & 0xff),
          .generation = static_cast<uint8_t>(wr_id >> 40 & 0xff),
          .index = static_cast<uint32_t>(wr_id)};
}

absl::StatusOr<std::unique_ptr<QueuePairs>> QueuePairs::Create(EventLoop& poller, const Port& port,
                                                               const Registration& registration) {
  auto pairs = std::unique_ptr<QueuePairs>(new QueuePairs(port, registration.access()));
  TD_ASSIGN_OR_RETURN(pairs->path_, port.Path());
  TD_ASSIGN_OR_RETURN(pairs->memory_, AllocateOwnMemory(registration.pd(), kMemoryBytes));
  TD_ASSIGN_OR_RETURN(pairs->completions_,
                      CompletionQueue::Create(poller, port.context(), kCompletionDepth));
  TD_RETURN_IF_ERROR(pairs->CreateBoth(registration));
  TD_RETURN_IF_ERROR(pairs->Initialize());
  return pairs;
}

absl::Status QueuePairs::CreateBoth(const Registration& registration) {
  for (size_t i = 0; i < qps_.size(); ++i) {
    ibv_qp_init_attr attributes{.send_cq = completions_->get(),
                                .recv_cq = completions_->get(),
                                .cap = {.max_send_wr = kSendDepth[i],
                                        .max_recv_wr = kReceiveDepth[i],
                                        .max_send_sge = 1,
                                        .max_recv_sge = 1},
                                .qp_type = IBV_QPT_RC};
    TD_ASSIGN_OR_RETURN(qps_[i], CreateQp(registration.pd(), attributes));
  }
  const uint64_t random = Random64();
  endpoint_ = {.qp_num = qp(QueueKind::kControl)->qp_num,
               .psn = static_cast<uint32_t>(random) & kPsnMask,
               .payload_qp_num = qp(QueueKind::kPayload)->qp_num,
               .payload_psn = static_cast<uint32_t>(random >> 32) & kPsnMask,
               .gid = path_.gid,
               .mtu_bytes = path_.mtu_bytes,
               .max_rd_atomic = port_.max_reads()};
  return absl::OkStatus();
}

absl::Status QueuePairs::Initialize() {
  for (const QueueKind queue : {QueueKind::kControl, QueueKind::kPayload}) {
    ibv_qp_attr attributes{
        .qp_state = IBV_QPS_INIT,
        .qp_access_flags = queue == QueueKind::kControl ? AccessFlags(access_) : 0,
        .pkey_index = 0,
        .port_num = static_cast<uint8_t>(port_.name().port)};
    TD_RETURN_IF_ERROR(Modify(qp(queue), attributes,
                              IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                              "INIT"));
  }
  return PostControlReceives();
}

absl::Status QueuePairs::PostControlReceives() {
  for (uint32_t i = 0; i < kReceiveSlots; ++i) {
    // In the order in which the peer sends.
    const uint32_t index = i == 0 ? kHelloReceive : i == 1 ? kFullHelloReceive : i - 2;
    ibv_sge piece = SgeOf(receive_buffer(index));
    ibv_recv_wr receive{.wr_id = NewWork(WorkKind::kReceive, QueueKind::kControl, index).Pack(),
                        .sg_list = &piece,
                        .num_sge = 1};
    TD_RETURN_IF_ERROR(Receive(QueueKind::kControl, &receive, 1));
  }
  return absl::OkStatus();
}

absl::Status QueuePairs::Connect(const QueuePairEndpoint& peer) {
  mtu_bytes_ = std::min(path_.mtu_bytes, peer.mtu_bytes);
  TD_RETURN_IF_ERROR(ToReady(QueueKind::kControl, peer));
  TD_RETURN_IF_ERROR(ToReady(QueueKind::kPayload, peer));
  sending_ = true;
  return absl::OkStatus();
}

absl::Status QueuePairs::ToReady(QueueKind queue, const QueuePairEndpoint& peer) {
  const bool control = queue == QueueKind::kControl;
  // No request of the payload queue pair is a read.
  const auto reads = static_cast<uint8_t>(control ? port_.max_reads() : 0);
  const auto peer_reads =
      static_cast<uint8_t>(control ? std::min(port_.max_reads(), peer.max_rd_atomic) : 0);
  ibv_qp_attr attributes{.qp_state = IBV_QPS_RTR,
                         .path_mtu = MtuOf(mtu_bytes_),
                         .rq_psn = control ? peer.psn : peer.payload_psn,
                         .dest_qp_num = control ? peer.qp_num : peer.payload_qp_num,
                         .ah_attr = {.grh = {.sgid_index = path_.gid_index, .hop_limit = kHopLimit},
                                     .is_global = 1,
                                     .port_num = static_cast<uint8_t>(port_.name().port)},
                         .max_dest_rd_atomic = reads,
                         .min_rnr_timer = kMinRnrTimer};
  std::ranges::copy(peer.gid, attributes.ah_attr.grh.dgid.raw);
  TD_RETURN_IF_ERROR(Modify(qp(queue), attributes,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                            "RTR"));
  attributes = {.qp_state = IBV_QPS_RTS,
                .sq_psn = control ? endpoint_.psn : endpoint_.payload_psn,
                .max_rd_atomic = peer_reads,
                .timeout = kAckTimeout,
                .retry_cnt = kRetryCount,
                .rnr_retry = kRnrRetry};
  return Modify(qp(queue), attributes,
                IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
                "RTS");
}

absl::Status QueuePairs::Restart() {
  for (const Qp& qp : qps_) {
    ibv_qp_attr attributes{.qp_state = IBV_QPS_RESET};
    TD_RETURN_IF_ERROR(Modify(qp.get(), attributes, IBV_QP_STATE, "RESET"));
  }
  // RESET forgets what was posted, with or without a completion.
  ++generation_;
  receives_ = 0;
  sending_ = false;
  return Initialize();
}

absl::Status QueuePairs::Send(QueueKind queue, ibv_send_wr* first) {
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(qp(queue), first, &bad);
  return error == 0 ? absl::OkStatus() : ErrnoStatus("ibv_post_send", error);
}

absl::Status QueuePairs::Receive(QueueKind queue, ibv_recv_wr* first, uint32_t count) {
  ibv_recv_wr* bad = nullptr;
  if (const int error = ibv_post_recv(qp(queue), first, &bad); error != 0) {
    return ErrnoStatus("ibv_post_recv", error);
  }
  receives_ += count;
  return absl::OkStatus();
}

absl::Status QueuePairs::SendAlone(uint32_t index, size_t bytes, WorkKind kind) {
  ibv_sge piece = SgeOf(send_buffer(index).first(bytes));
  ibv_send_wr send{.wr_id = NewWork(kind, QueueKind::kControl, index).Pack(),
                   .sg_list = &piece,
                   .num_sge = 1,
                   .opcode = IBV_WR_SEND,
                   .send_flags = IBV_SEND_SIGNALED};
  return Send(QueueKind::kControl, &send);
}

std::span<std::byte> QueuePairs::send_buffer(uint32_t index) {
  const std::span<std::byte> all(memory_.bytes.get(), memory_.size);
  if (index == kFullHelloSend) return all.subspan(kFullHellosAt, kHelloBytes);
  return all.subspan(index * kSlotBytes, kSlotBytes);
}

std::span<std::byte> QueuePairs::receive_buffer(uint32_t index) {
  const std::span<std::byte> all(memory_.bytes.get(), memory_.size);
  if (index == kFullHelloReceive) return all.subspan(kFullHellosAt + kHelloBytes, kHelloBytes);
  return all.subspan((kSendSlots + index) * kSlotBytes, kSlotBytes);
}

ibv_sge QueuePairs::SgeOf(std::span<const std::byte> buffer) const {
  return {.addr = reinterpret_cast<uint64_t>(buffer.data()),
          .length = static_cast<uint32_t>(buffer.size()),
          .lkey = memory_.region->lkey};
}

void QueuePairs::Fail() {
  for (const QueueKind queue : {QueueKind::kControl, QueueKind::kPayload}) {
    ibv_qp_attr attributes{.qp_state = IBV_QPS_ERR};
    // Without it the destruction still ends all access.
    [[maybe_unused]] const int error = ibv_modify_qp(qp(queue), &attributes, IBV_QP_STATE);
    if (!sending_) continue;
    // A send without a signal may have completed unseen, so sends cannot be counted; but they
    // complete in order, and this one is the last.
    ibv_send_wr marker{.wr_id = NewWork(WorkKind::kMarker, queue, 0).Pack(),
                       .opcode = IBV_WR_SEND,
                       .send_flags = IBV_SEND_SIGNALED};
    if (Send(queue, &marker).ok()) ++markers_;
  }
}

void QueuePairs::Count(const WorkId& work) {
  if (!IsCurrent(work)) return;
  if (work.kind == WorkKind::kMarker) --markers_;
  if (work.kind == WorkKind::kReceive) --receives_;
}

}  // namespace tapedeck::dataplane::verbs
