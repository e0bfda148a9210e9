// Where what stands in a packet of VITA 49.2, for those who read and who write them: ANSI/VITA
// 49.2-2017, of which DIFI 1.1 (IEEE-ISTO 4900) takes the packets of packet.h. Of this room alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tapedeck::services::vita49 {

// The first word of a packet: bits above which, or at which, a part of it lies.
inline constexpr int kTypeAt = 28;
inline constexpr int kHasClass = 27;
inline constexpr int kHasTrailer = 26;  // of data
inline constexpr int kRoughTime = 24;   // of a context: TSM
inline constexpr int kSpectrum = 24;    // of data: bins of a spectrum
inline constexpr int kSecondsAt = 22;   // TSI, 2 bits
inline constexpr int kFractionAt = 20;  // TSF, 2 bits
inline constexpr int kCountAt = 16;
inline constexpr uint32_t kCountMask = 0xf;
inline constexpr uint32_t kSizeMask = 0xffff;  // words of the packet

// Types of packets.
inline constexpr uint32_t kDataWithoutStream = 0;
inline constexpr uint32_t kData = 1;
inline constexpr uint32_t kContext = 4;
// Data and contexts of extensions, and commands.
inline constexpr uint32_t kOtherTypes[] = {2, 3, 5, 6, 7};

// TSI of the time of GPS, in which leap seconds are, and of a clock that counts as POSIX does.
inline constexpr uint32_t kGpsSeconds = 2;
inline constexpr uint32_t kPosixSeconds = 3;

// Of the two words of a class the first has bits of padding above kPaddingAt and a company, the
// second what kind of packet it is of that company's.
inline constexpr int kPaddingAt = 27;
inline constexpr uint32_t kDifi = 0x6a621e;
inline constexpr uint32_t kDifiData = 0;
inline constexpr uint32_t kDifiContext = 1;

// Bits of the word that says which fields a context has (CIF0), in the order of the fields.
inline constexpr int kChanged = 31;  // no field: something is new
inline constexpr int kReferencePoint = 30;
inline constexpr int kBandwidth = 29;
inline constexpr int kIntermediateFrequency = 28;
inline constexpr int kFrequency = 27;
inline constexpr int kFrequencyOffset = 26;
inline constexpr int kBandOffset = 25;
inline constexpr int kReferenceLevel = 24;
inline constexpr int kGain = 23;
inline constexpr int kOverRange = 22;
inline constexpr int kSampleRate = 21;
inline constexpr int kTimeAdjustment = 20;
inline constexpr int kCalibrationTime = 19;
inline constexpr int kTemperature = 18;
inline constexpr int kDevice = 17;
inline constexpr int kState = 16;
inline constexpr int kPayloadFormat = 15;
// Each says that another such word follows, before all fields.
inline constexpr int kMoreWords[] = {1, 2, 3};
// The same of the last one, which says what is told of each field: its value alone, or more
// numbers.
inline constexpr int kAttributes = 7;
inline constexpr uint32_t kValueAlone = 1U << 31;

// The first word of the payload's format: samples that are packed without gaps, complex ones as
// pairs, and above these bits the kind of number, its bits in the packet less 1, and those it has
// less 1.
inline constexpr int kPacked = 31;
inline constexpr int kRealOrComplexAt = 29;  // 2 bits
inline constexpr uint32_t kReal = 0;
inline constexpr uint32_t kCartesian = 1;
inline constexpr int kNumberAt = 24;  // 5 bits
inline constexpr uint32_t kSignedNumber = 0;
inline constexpr uint32_t kSingleNumber = 14;
inline constexpr uint32_t kDoubleNumber = 15;
inline constexpr uint32_t kUnsignedNumber = 16;
inline constexpr int kTagsAt = 16;  // bits of tags for events and channels, behind each number
inline constexpr uint32_t kTagsMask = 0x7f;
inline constexpr int kPackedBitsAt = 6;  // 6 bits
inline constexpr uint32_t kBitsMask = 0x3f;

// Numbers of fixed point: bits behind the point.
inline constexpr int kHertzBits = 20;
inline constexpr int kGainBits = 7;

}  // namespace tapedeck::services::vita49
