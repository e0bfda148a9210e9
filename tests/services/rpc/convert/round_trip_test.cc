// Every field of every message survives the way to our structs and back: each message is filled by
// reflection, so that a field added to a proto and forgotten here fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/rpc/convert/catalog.h"
#include "services/rpc/convert/diagnostics.h"
#include "services/rpc/convert/jobs.h"
#include "services/rpc/convert/node.h"
#include "services/rpc/convert/recorder.h"
#include "services/rpc/convert/session.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/transfer.h"
#include "services/rpc/convert/view.h"
#include "tests/services/rpc/convert/filled.h"

namespace tapedeck::services::convert {
namespace {

template <typename Wire>
void ExpectRoundTrip(const Wire& wire) {
  const auto ours = FromProto(wire);
  ASSERT_TRUE(ours.ok()) << ours.status();
  ExpectSame(ToProto(*ours), wire);
}

// Of one that a list of fields describes whole.
template <typename Ours, typename Wire>
void ExpectListed() {
  Ours ours;
  ASSERT_TRUE(ReadFields(Filled<Wire>(), ours).ok());
  ExpectSame(Written<Wire>(ours), Filled<Wire>());
}

google::rpc::Status SomeError() {
  return ToProto(WithReason(absl::UnavailableError("text"), "PEER_LOST", {{"node", "s0"}}));
}

TEST(RoundTripTest, Catalog) {
  ExpectRoundTrip(Filled<v1::Lun>());
  ExpectRoundTrip(Filled<v1::Channel>());
  ExpectRoundTrip(Filled<v1::Recording>());
}

TEST(RoundTripTest, Recorder) {
  ExpectSame(ToProto(FromProto(Filled<v1::Annotation>())), Filled<v1::Annotation>());
  ExpectSame(ToProto(FromProto(Filled<v1::Capture>())), Filled<v1::Capture>());
  ExpectSame(ToProto(FromProto(Filled<v1::Scrub>())), Filled<v1::Scrub>());
  ExpectListed<ScrubStart, v1::StartScrubRequest>();
  const auto trigger = Filled<v1::TriggerRecordingRequest>();
  ExpectSame(ToProto(trigger.channel(), FromProto(trigger)), trigger);
}

TEST(RoundTripTest, View) {
  ExpectRoundTrip(Filled<v1::Timeline>());
  const auto asked = Filled<v1::ReadSpectrogramRequest>();
  ExpectSame(ToProto(FromProto(asked)), asked);
  ExpectListed<SamplesRequest, v1::ReadSamplesRequest>();
  ExpectListed<Samples, v1::Samples>();
  const auto envelope = Filled<v1::ReadEnvelopeRequest>();
  ExpectSame(ToProto(FromProto(envelope)), envelope);
}

TEST(RoundTripTest, ViewNumbersAreAsManyAsTheMessageSays) {
  auto spectrogram = Filled<v1::Spectrogram>();
  spectrogram.set_columns(2);
  spectrogram.set_rows(3);
  EXPECT_EQ(FromProto(spectrogram).status().code(), absl::StatusCode::kInvalidArgument);
  spectrogram.set_powers("4 bytes of each number..");
  spectrogram.set_means("12 bytes are");
  EXPECT_EQ(FromProto(spectrogram).status().code(), absl::StatusCode::kInvalidArgument);
  spectrogram.set_means("8 bytes.");
  ExpectRoundTrip(spectrogram);
  auto envelope = Filled<v1::Envelope>();
  envelope.set_points(2);
  EXPECT_EQ(FromProto(envelope).status().code(), absl::StatusCode::kInvalidArgument);
  envelope.set_minima("12345678");
  envelope.set_maxima("23456789");
  envelope.set_powers("34567890");
  ExpectRoundTrip(envelope);
  auto cut = Filled<v1::Spectrogram>();
  cut.set_powers("5 bytes");
  EXPECT_THAT(FromProto(cut).status().message(), testing::HasSubstr("powers"));
}

// Filled sets the first arm of a oneof.
TEST(RoundTripTest, PlayheadFromEachStart) {
  ExpectSame(ToProto(FromProto(Filled<v1::Playhead>())), Filled<v1::Playhead>());
  v1::Playhead sample;
  sample.set_sample(7);
  ExpectSame(ToProto(FromProto(sample)), sample);
  v1::Playhead time;
  time.mutable_time()->set_seconds(1'800'000'000);
  time.mutable_time()->set_nanos(5);
  ExpectSame(ToProto(FromProto(time)), time);
}

TEST(RoundTripTest, VerifyProgress) {
  auto wire = Filled<v1::VerifyRecordingResponse>();
  wire.clear_done();  // said by the handler, when the verification returns
  ExpectSame(ToProto(FromProto(wire)), wire);
}

TEST(RoundTripTest, Node) {
  auto node = Filled<v1::Node>();
  node.mutable_memory(0)->mutable_distances(0)->set_weight(10);  // follows from the distance
  ExpectRoundTrip(node);
  const auto stats = Filled<v1::WatchStatsResponse>();
  ExpectSame(ToProto(FromProto(stats)), stats);
  node.mutable_rails(0)->set_port(UINT16_MAX + 1);
  EXPECT_EQ(FromProto(node).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RoundTripTest, Trace) {
  auto page = Filled<v1::ReadTraceResponse>();
  std::string stamp(32, '\0');
  for (size_t i = 0; i < stamp.size(); ++i) stamp[i] = static_cast<char>(i + 1);
  stamp[26] = stamp[27] = '\0';  // of no use yet
  page.mutable_trace()->mutable_threads(0)->set_stamps(stamp + stamp);
  ExpectRoundTrip(page);
  page.mutable_trace()->mutable_threads(0)->set_stamps("half a stamp");
  EXPECT_FALSE(FromProto(page).ok());
  // Filled sets the first arm of a oneof.
  ExpectRoundTrip(Filled<v1::ReadTraceRequest>());
  v1::ReadTraceRequest request;
  request.set_job("jobs/1");
  ExpectRoundTrip(request);
  request.set_recording("luns/l/channels/c/recordings/r");
  ExpectRoundTrip(request);
  request.set_dump("d.flight");
  ExpectRoundTrip(request);
}

TEST(RoundTripTest, Doctor) {
  auto request = Filled<v1::DiagnoseRequest>();
  request.mutable_peers(0)->set_address("10.0.0.1");
  ExpectRoundTrip(request);
  const auto response = Filled<v1::DiagnoseResponse>();
  ExpectRoundTrip(response);
}

TEST(RoundTripTest, PeersThatAreNoneAreRefused) {
  v1::DiagnoseRequest request;
  const auto field = [&request] {
    const auto reason = ReasonOf(FromProto(request).status());
    return reason.has_value() ? reason->metadata.at("field") : "";
  };
  v1::PeerRail& peer = *request.add_peers();
  EXPECT_EQ(field(), "peers.name");
  peer.set_name("r0");
  peer.set_transport("tcp");
  peer.set_address("a name");
  EXPECT_EQ(field(), "peers.address");
  peer.set_address("fd00::1");
  peer.set_port(65536);
  EXPECT_EQ(field(), "peers.port");
  peer.set_port(65535);
  EXPECT_EQ(field(), "");
  while (request.peers_size() <= 64) *request.add_peers() = peer;
  EXPECT_EQ(field(), "peers");
}

TEST(RoundTripTest, StartRecordToEachLimit) {
  auto request = Filled<v1::StartRecordRequest>();
  ASSERT_TRUE(request.has_blocks());
  ExpectRoundTrip(request);
  request.mutable_duration()->set_seconds(3);
  request.mutable_duration()->set_nanos(5);
  ExpectRoundTrip(request);
}

TEST(RoundTripTest, OfTheLimitsOneIsSet) {
  EXPECT_FALSE(ToProto(RecordSpec()).has_blocks());
  EXPECT_TRUE(ToProto(RecordSpec{.duration_ns = 5}).has_duration());
  const auto both = ToProto(RecordSpec{.blocks = 7, .duration_ns = 5});
  EXPECT_TRUE(both.has_blocks() && !both.has_duration());
}

TEST(RoundTripTest, WhatARequestDoesNotSetIsAsInANewSpec) {
  const auto spec = FromProto(v1::StartRecordRequest());
  EXPECT_EQ(spec->resume_for_ns, kDefaultResumeForNs);
  EXPECT_EQ(spec->copies, 1u);
  const auto never = ToProto(RecordSpec{.resume_for_ns = 0});
  EXPECT_TRUE(never.has_resume_for());
  EXPECT_EQ(FromProto(never)->resume_for_ns, 0);
}

TEST(RoundTripTest, Inlets) {
  ExpectRoundTrip(Filled<v1::StartReceiveRequest>());
  ExpectRoundTrip(Filled<v1::Inlet>());
}

TEST(RoundTripTest, StartPlayback) { ExpectRoundTrip(Filled<v1::StartPlaybackRequest>()); }

// One parameter of each arm, with what its type can just hold.
TEST(RoundTripTest, ParametersOfEachType) {
  v1::Stage stage;
  auto& parameters = *stage.mutable_parameters();
  stage.set_name("any");
  parameters["least"].set_integer(std::numeric_limits<int64_t>::min());
  parameters["most"].set_unsigned_integer(~uint64_t{0});
  parameters["number"].set_number(0.1);
  parameters["text"].set_text("a,b=c");
  parameters["no text"].set_text("");
  parameters["flag"].set_flag(true);
  parameters["no flag"].set_flag(false);
  parameters["numbers"].mutable_numbers()->add_values(-1e-17);
  parameters["numbers"].mutable_numbers()->add_values(1.0 / 3);
  parameters["no numbers"].mutable_numbers();
  ExpectRoundTrip(stage);
  const auto ours = FromProto(stage);
  EXPECT_EQ(std::get<uint64_t>(ours->parameters.at("most")), ~uint64_t{0});
  EXPECT_EQ(v1::Parameter::descriptor()->field_count(),
            static_cast<int>(std::variant_size_v<ParameterValue>));
}

TEST(RoundTripTest, AParameterWithoutAValueIsRefused) {
  v1::Stage stage;
  (*stage.mutable_parameters())["seed"].Clear();
  const absl::Status status = FromProto(stage).status();
  ASSERT_TRUE(ReasonOf(status).has_value()) << status;
  EXPECT_EQ(ReasonOf(status)->metadata.at("field"), "seed");
}

TEST(RoundTripTest, JobDerivesItsRatesFromBytes) {
  auto job = Filled<v1::Job>();
  *job.mutable_error() = SomeError();
  *job.mutable_outputs(0)->mutable_error() = SomeError();
  job.mutable_elapsed()->set_seconds(2);
  job.mutable_elapsed()->set_nanos(0);
  job.set_bytes(6'000'000);
  job.set_mb_per_s(3);
  job.mutable_rails(0)->set_mb_per_s(1.5);
  job.set_notes(0, job.coded_notes(0).text());
  ExpectRoundTrip(job);
}

TEST(RoundTripTest, NotesOfAWorkerWithoutCodesAreTextsAlone) {
  auto wire = ToProto(Job{.state = JobState::kSucceeded});
  wire.add_notes("rails r0 of r0,r1");
  const auto job = FromProto(wire);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->notes, Notes{{.text = "rails r0 of r0,r1"}});
}

TEST(RoundTripTest, ACodeOfALaterVersionIsKeptWithItsText) {
  const Job job{.state = JobState::kSucceeded,
                .notes = {MakeNote("FROM_TOMORROW", "a text", {{"key", "value"}})}};
  const v1::Job wire = ToProto(job);
  EXPECT_EQ(wire.notes(0), "a text");
  EXPECT_EQ(FromProto(wire)->notes, job.notes);
}

TEST(RoundTripTest, AJobWithoutAKnownStateIsRefused) {
  v1::Job job;
  job.set_direction(v1::DIRECTION_RECORD);
  EXPECT_EQ(ReasonOf(FromProto(job).status())->metadata.at("field"), "state");
  job.set_state(static_cast<v1::JobState>(99));
  EXPECT_EQ(ReasonOf(FromProto(job).status())->metadata.at("field"), "state");
  job.set_state(v1::JOB_STATE_RUNNING);
  EXPECT_TRUE(FromProto(job).ok());
}

TEST(RoundTripTest, AKindOfALaterVersionIsReadAsNone) {
  auto wire = Filled<v1::DamagedBlock>();
  wire.set_kind(static_cast<v1::DamageKind>(99));
  const DamagedBlock block = FromProto(wire);
  EXPECT_EQ(block.kind, DamageKind::kNone);
  EXPECT_EQ(block.detail, wire.detail());
  EXPECT_EQ(block.ranges.size(), 1u);
  EXPECT_EQ(block.stray_crc32c, wire.stray_crc32c());
}

TEST(RoundTripTest, WhatHasNotFailedHasNoError) {
  EXPECT_FALSE(ToProto(Job()).has_error());
  EXPECT_TRUE(FromProto(ToProto(Job{.state = JobState::kSucceeded}))->error.ok());
  const auto finished = ToTransferRequest(session::Finished());
  EXPECT_FALSE(finished->finished().has_error());
  EXPECT_TRUE(std::get<session::Finished>(*FromProto(*finished)).cause.ok());
}

// One message of each arm, as the side that sends it writes it.
template <typename Wire, typename ToWire>
void ExpectArms(ToWire to_wire, std::initializer_list<const char*> arms) {
  for (const char* arm : arms) {
    SCOPED_TRACE(arm);
    Wire wire;
    int counter = 0;
    FillField(wire, Wire::descriptor()->FindFieldByName(arm), counter);
    if (wire.has_finished()) *wire.mutable_finished()->mutable_error() = SomeError();
    const auto message = FromProto(wire);
    ASSERT_TRUE(message.ok()) << message.status();
    const auto back = to_wire(*message);
    ASSERT_TRUE(back.ok()) << back.status();
    ExpectSame(*back, wire);
  }
}

TEST(RoundTripTest, SessionRequests) {
  v1::Open open = Filled<v1::Open>();
  open.set_version(session::kProtocolVersion);
  v1::TransferRequest request;
  *request.mutable_open() = open;
  const auto message = FromProto(request);
  ASSERT_TRUE(message.ok()) << message.status();
  ExpectSame(*ToTransferRequest(*message), request);
  ExpectArms<v1::TransferRequest>(ToTransferRequest,
                                  {"rail_offer", "end_of_stream", "progress", "finished"});
}

TEST(RoundTripTest, SessionResponses) {
  v1::TransferResponse response;
  *response.mutable_accept() = Filled<v1::Accept>();
  // A session names the node's rails; the node service describes them.
  v1::Rail& rail = *response.mutable_accept()->mutable_rails(0);
  rail.clear_port();
  rail.clear_device();
  rail.clear_wire_limit_bytes_per_s();
  rail.clear_pci_address();
  rail.clear_numa_node();
  rail.clear_tls();
  const auto message = FromProto(response);
  ASSERT_TRUE(message.ok()) << message.status();
  ExpectSame(*ToTransferResponse(*message), response);
  ExpectArms<v1::TransferResponse>(ToTransferResponse,
                                   {"rail_offer", "end_of_stream", "progress", "finished"});
}

}  // namespace
}  // namespace tapedeck::services::convert
