// Recordings as their users count them: the segments of one session are one stream, joined by what
// their manifests say. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "services/model/recording/recording.h"

namespace tapedeck::services::model {

struct Stream {
  // luns/…/recordings/ID; of a stream the ID of its first segment, which may be gone.
  std::string name;
  // Those there are, in order; never empty. Of what is no stream, the one recording.
  std::vector<Recording> segments;
  // Whether it stands for all segments of a session.
  bool segmented = false;

  // Whether a session writes into it.
  bool under_way() const;
};

// Of recordings, newest first: their streams in that order, by their newest segments.
std::vector<Stream> StreamsOf(const std::vector<Recording>& recordings);

// The recording alone: what is no stream, or one segment of it.
Stream Alone(Recording recording);

// The name of the stream that a segment is of.
std::string StreamNameOf(const Recording& segment);

// Of a segment that is whole: all have as many, but the last, and one that a failure cut.
uint64_t FullBlocks(const Stream& stream);

// As one recording: sums, the first's start, the last's end, and the labels of all; of one that
// they have otherwise the first's. Blocks of segments that are gone between others are missing.
Recording Joined(const Stream& stream);

// Those of the segments before this one.
std::vector<Annotation> AnnotationsBefore(const Stream& stream, uint64_t segment);

// "64", "64 (101-164)", or with segments missing between them "70 of 5-164"; "-" of what is no
// stream.
std::string SegmentsText(const Stream& stream);

// Blocks of one segment, where they lie in the stream as one recording.
struct StreamPiece {
  size_t segment = 0;   // its place in Stream::segments
  uint64_t first = 0;   // its first block, counted from that of the oldest segment there is
  uint64_t blocks = 0;  // of a segment that is written: those that are durable
  uint64_t end() const { return first + blocks; }
};

// A stream as one recording whose samples lie one behind the other.
struct StreamLayout {
  // Its blocks begin with the oldest segment there is. Those of segments that are gone since, and
  // of the end that a salvaged segment lacks, are blocks of it, and missing. Of a stream that is
  // written it has what is durable.
  Recording whole;
  // In order, and those with blocks alone. What lies between two of them is gone.
  std::vector<StreamPiece> pieces;
};
StreamLayout LayOut(const Stream& stream);

}  // namespace tapedeck::services::model

namespace tapedeck::services {

using model::Stream;
using model::StreamLayout;
using model::StreamPiece;

}  // namespace tapedeck::services
