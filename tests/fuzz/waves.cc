// A WAV file: its bytes as they are, and chunks with sizes that fit. What is taken can be read, in
// one piece and in two.
#include "services/formats/wav/wav.h"
#include "tests/fuzz/imported.h"

namespace tapedeck::services::formats {
namespace {

// A head, and chunks that have the size that they say.
std::string Mended(fuzz::Input input) {
  constexpr absl::string_view kNames[] = {"fmt ", "data", "auxi", "ds64"};
  constexpr absl::string_view kForms[] = {"RIFF", "RF64", "BW64"};
  std::string text =
      absl::StrCat(kForms[input.Number<uint8_t>() % 3], std::string(4, '\xff'), "WAVE");
  while (input.left() > 0) {
    const absl::string_view name = kNames[input.Number<uint8_t>() % 4];
    const auto bytes = input.Padded(input.Number<uint8_t>());
    const char size = static_cast<char>(bytes.size());
    absl::StrAppend(&text, name, absl::string_view(&size, 1), absl::string_view("\0\0\0", 3));
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.append(bytes.size() % 2, '\0');
  }
  return text;
}

}  // namespace
}  // namespace tapedeck::services::formats

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace formats = tapedeck::services::formats;
  tapedeck::fuzz::Input input(data, size);
  formats::IsSound(formats::Mended(input), formats::OpenWav);
  formats::IsSound(input.Text(), formats::OpenWav);
  return 0;
}
