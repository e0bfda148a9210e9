// What goes into a pipe is what a file would have, and ends with its reader; what comes out of one
// is whole up to its end.
#include "services/formats/io/stream.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "dataplane/now.h"
#include "services/formats/import.h"
#include "tests/services/formats/feed.h"

namespace tapedeck::services::formats {
namespace {

using testing::HasSubstr;

const GoOn kGoOn = [] { return true; };

class StreamTest : public testing::Test {
 protected:
  StreamTest() { EXPECT_EQ(mkfifo(fifo_.c_str(), 0600), 0); }
  ~StreamTest() override { std::filesystem::remove(fifo_); }

  // Reads the FIFO to its end, or `most` bytes.
  std::thread Reader(std::string* text, size_t most = SIZE_MAX) {
    return std::thread([this, text, most] {
      const dataplane::Fd fd(open(fifo_.c_str(), O_RDONLY));
      std::string some(4096, '\0');
      while (text->size() < most) {
        const ssize_t got = read(fd.get(), some.data(), std::min(some.size(), most - text->size()));
        if (got <= 0) break;
        text->append(some, 0, static_cast<size_t>(got));
      }
    });
  }
  absl::StatusOr<Exported> Run(const std::string& format, OutputStream* stream,
                               const std::string& to) {
    Recording recording = RecordingOf(feed_.samples, "ci16_le", feed_.missing.size());
    recording.annotations = {{.label = "signal", .comment = "frequency=433920000"}};
    ExportRequest request = RequestFor(format, to, feed_);
    request.stream = stream;
    request.gaps = gaps_;
    return Export(*SubjectOf(recording, {}), request);
  }
  // What comes out of the FIFO, and how the export has ended.
  std::pair<std::string, absl::Status> Piped(const std::string& format) {
    std::string text;
    std::thread reader = Reader(&text);
    auto stream = OutputStream::Open(fifo_, kGoOn);
    EXPECT_TRUE(stream.ok()) << stream.status();
    const absl::Status status = Run(format, stream->get(), fifo_).status();
    stream->reset();
    reader.join();
    return {text, status};
  }

  const std::string fifo_ = ScratchPath("fifo");
  Feed feed_{.samples = Samples(5 * kBlockBytes + 100), .sample_bytes = 4};
  bool gaps_ = false;
};

TEST_F(StreamTest, APipeGetsWhatAFileGets) {
  for (const bool gaps : {false, true}) {
    gaps_ = gaps;
    if (gaps) feed_.missing = {0, 1, 3};
    for (const char* format : {"raw", "wav", "vita49-pcap"}) {
      SCOPED_TRACE(format);
      const std::string path = ScratchPath("file");
      ASSERT_TRUE(Run(format, nullptr, path).ok());
      const auto [text, status] = Piped(format);
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(text, ReadFile(path));
      std::filesystem::remove(path);
    }
  }
}

TEST_F(StreamTest, ItEndsBeforeWhatIsMissing) {
  feed_.missing = {2};
  const auto [text, status] = Piped("raw");
  EXPECT_EQ(ReasonIn(status), "BLOCK_DAMAGED");
  EXPECT_THAT(std::string(status.message()), HasSubstr("samples from 2048 on"));
  EXPECT_EQ(text, feed_.samples.substr(0, 2 * kBlockBytes));
}

TEST_F(StreamTest, AReaderThatLeavesIsTold) {
  feed_.samples = Samples(300 * kBlockBytes);
  std::string text;
  std::thread reader = Reader(&text, 1000);
  const auto stream = OutputStream::Open(fifo_, kGoOn);
  ASSERT_TRUE(stream.ok()) << stream.status();
  const absl::Status status = Run("raw", stream->get(), fifo_).status();
  EXPECT_TRUE(ReaderHasGone(status)) << status;
  EXPECT_EQ(ReasonIn(status), "STORE_IO");
  reader.join();
}

TEST_F(StreamTest, NobodyIsWaitedForLongerThanItGoesOn) {
  const absl::Time end = dataplane::SteadyTime() + absl::Milliseconds(250);
  const GoOn until = [end] { return dataplane::SteadyTime() < end; };
  EXPECT_EQ(ReasonIn(OutputStream::Open(fifo_, until).status()), "JOB_CANCELLED");
  const auto in = InputStream::Open(fifo_);
  ASSERT_TRUE(in.ok()) << in.status();
  EXPECT_EQ(ReasonIn((*in)->Await(until)), "JOB_CANCELLED");
  const auto out = OutputStream::Open(fifo_, until);
  EXPECT_EQ(ReasonIn((*out)->Write({})), "OK");
  const std::vector<std::byte> more(1 << 20);  // than a pipe has room for
  EXPECT_EQ(ReasonIn((*out)->Write(more)), "JOB_CANCELLED");
}

TEST_F(StreamTest, OnlyARawPipeComesIn) {
  EXPECT_EQ(ReasonIn(CheckStream(*FormatNamed("wav", Use::kImport), "-", Use::kImport)),
            "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonIn(CheckStream(*FormatNamed("hdf5", Use::kExport), fifo_, Use::kExport)),
            "ARGUMENT_INVALID");
  EXPECT_TRUE(CheckStream(*FormatNamed("wav", Use::kExport), "-", Use::kExport).ok());
  EXPECT_TRUE(CheckStream(*FormatNamed("wav", Use::kImport), "file", Use::kImport).ok());
  EXPECT_TRUE(CheckStream(*FormatNamed("raw", Use::kImport), fifo_, Use::kImport).ok());
}

TEST_F(StreamTest, ItComesInBlockByBlock) {
  for (const size_t bytes : {size_t{1}, size_t{kBlockBytes}, 2 * kBlockBytes + 10}) {
    SCOPED_TRACE(bytes);
    const auto reader = FormatNamed("raw", Use::kImport)->read(fifo_, {});
    ASSERT_TRUE(reader.ok()) << reader.status();
    const std::string samples = Samples(bytes);
    std::thread writer([&] {
      const dataplane::Fd fd(open(fifo_.c_str(), O_WRONLY));
      for (size_t at = 0; at < bytes; at += 1000) {
        const size_t some = std::min<size_t>(1000, bytes - at);
        EXPECT_EQ(write(fd.get(), samples.data() + at, some), static_cast<ssize_t>(some));
      }
    });
    EXPECT_TRUE((*reader)->stream()->Await(kGoOn).ok());
    std::string memory(kBlockBytes, '\0');
    std::string came;
    std::vector<dataplane::BlockHeader> headers;
    const absl::Status status = Import(
        {.reader = reader->get(),
         .channel = {.block_bytes = kBlockBytes, .datatype = "cu8", .sample_rate = 1e6},
         .slot =
             [&] {
               return absl::StatusOr<dataplane::Block>(dataplane::Block(
                   std::make_shared<NoSlots>(), 0, std::as_writable_bytes(std::span(memory))));
             },
         .give =
             [&](const dataplane::Block& block) {
               headers.push_back(block.header());
               came.append(memory, 0, block.header().payload_bytes);
             },
         .progress = [](uint64_t) { return true; }});
    writer.join();
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(came, samples);
    EXPECT_EQ((*reader)->content().bytes, bytes);
    ASSERT_EQ(headers.size(), (bytes + kBlockBytes - 1) / kBlockBytes);
    const bool partial = bytes % kBlockBytes != 0;
    EXPECT_EQ(headers.back().flags == dataplane::kBlockPartial, partial);
    EXPECT_EQ(headers.back().sample_index, (headers.size() - 1) * kBlockBytes / 2);
  }
}

TEST_F(StreamTest, NothingIsRefused) {
  const auto in = InputStream::Open(fifo_);
  ASSERT_TRUE(in.ok()) << in.status();
  dataplane::Fd(open(fifo_.c_str(), O_WRONLY));
  EXPECT_EQ(ReasonIn((*in)->Await(kGoOn)), "FILE_INVALID");
}

}  // namespace
}  // namespace tapedeck::services::formats
