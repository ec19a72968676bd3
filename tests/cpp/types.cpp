// What TIMELINE_EVENT makes of types of C++: times, arrays, texts and what may be missing.
// types DIR: an empty directory.
#include <timeline.hpp>

#include <filesystem>
#include <iostream>

namespace {

int failed = 0;
std::vector<std::string> expected;
void says(std::string text) { expected.push_back(std::move(text)); }

// Ten years past the longest that 64 bits of nanoseconds have.
using years = std::chrono::duration<long long, std::ratio<31556952>>;
using days = std::chrono::duration<int, std::ratio<86400>>;
using pico = std::chrono::duration<std::int64_t, std::pico>;
using thirds = std::chrono::duration<std::int64_t, std::ratio<1, 3>>;
using eons = std::chrono::duration<std::int64_t, std::exa>;

void times(const timeline::ring& tl) {
  using namespace std::chrono;
  const auto info = timeline::info;
  TIMELINE_EVENT(tl, info, "cpp", "$a $b $c $d", milliseconds(5), seconds(-2), nanoseconds(0), minutes(3));
  says("a(5ms) b(-2s) c(0s) d(3m0s)");
  TIMELINE_EVENT(tl, info, "cpp", "$a $b $c:i64", duration<double>(0.25), duration<float, std::milli>(1.5f),
                 milliseconds(7));
  says("a(250ms) b(1.5ms) c(7000000)");
  TIMELINE_EVENT(tl, info, "cpp", "$a $b $c $d", pico(1999), pico(-2999), thirds(1), thirds(-4));
  says("a(1ns) b(-2ns) c(333.333333ms) d(-1.333333333s)");
  TIMELINE_EVENT(tl, info, "cpp", "$a:i64 $b:i64 $c:i64 $d:i64", hours(24 * 365 * 1000), hours(-24 * 365 * 1000),
                 years(302), days(-1000000));
  const std::string most = "9223372036854775807", least = "-9223372036854775808";
  says("a(" + most + ") b(" + least + ") c(" + most + ") d(" + least + ")");
  TIMELINE_EVENT(tl, info, "cpp", "$a:i64 $b:i64 $c:i64 $d:i64 $e:i64", duration<double>(1e300),
                 duration<double>(-1e300), duration<double>(std::numeric_limits<double>::quiet_NaN()), eons(1), eons(-1));
  says("a(" + most + ") b(" + least + ") c(0) d(" + most + ") e(" + least + ")");
  TIMELINE_EVENT(tl, info, "cpp", "$a:i64 $b:i64 $c:i64", duration<std::uint64_t, std::nano>(~0ull), nanoseconds::min(),
                 thirds::max());
  says("a(" + most + ") b(" + least + ") c(" + most + ")");
  const system_clock::time_point then{seconds(1700000000)};
  TIMELINE_EVENT(tl, info, "cpp", "$at $day", then, time_point<system_clock, days>(days(1)));
  says("at(2023-11-14T22:13:20.000000000Z) day(1970-01-02T00:00:00.000000000Z)");
  const auto typed = tl.define<milliseconds, system_clock::time_point>("cpp", info, "took $took from $then");
  typed(milliseconds(5), then);
  says("took took(5ms) from then(2023-11-14T22:13:20.000000000Z)");
}

void arrays(const timeline::ring& tl) {
  const auto info = timeline::info;
  const int numbers[3] = {1, -2, 3};
  double halves[] = {0.5, 1.5};
  unsigned char raw[] = {'a', 0, 255};
  const std::byte bytes[2] = {std::byte{1}, std::byte{2}};
  TIMELINE_EVENT(tl, info, "cpp", "$a $b $c", numbers, halves, raw);
  says("a([1, -2, 3]) b([0.5, 1.5]) c([97, 0, 255])");
  TIMELINE_EVENT(tl, info, "cpp", "$a:i32[] $b $c", numbers, std::vector<std::byte>(2, std::byte{7}),
                 std::array<std::byte, 2>{bytes[0], bytes[1]});
  says("a([1, -2, 3]) b([7, 7]) c([1, 2])");
  // A text ends with NUL, or with its array.
  const char full[4] = {'f', 'u', 'l', 'l'};
  char part[16] = "part";
  char longer[40];
  std::memset(longer, 'x', sizeof longer);
  TIMELINE_EVENT(tl, info, "cpp", "$a $b $c $d $e", full, part, longer, "literal", "cut\0here");
  says("a(full) b(part) c(" + std::string(40, 'x') + ") d(literal) e(cut)");
  TIMELINE_EVENT(tl, info, "cpp", "$a $b", &numbers[0] == nullptr, static_cast<const int*>(nullptr));
  says("a(false) b(0x0)");
  // In a statement of printf, an array is its address.
  TIMELINE_PRINTF(tl, info, "%s %.3s %s %ls %d", part, longer, "text", L"wide", numbers[1]);
  says("part xxx text wide -2");
  TIMELINE_PRINTF(tl, info, "%.2s %d", raw, static_cast<const void*>(numbers) == numbers);
  says("a 1");
}

void texts(const timeline::ring& tl) {
  const auto info = timeline::info;
  TIMELINE_EVENT(tl, info, "cpp", "$a $b", u8"l\u00e4nger", U'\u00e4');
  says("a(l\xc3\xa4nger) b(\xc3\xa4)");
#if defined(__cpp_char8_t)
  const char8_t* const pointer = u8"by its pointer";
  TIMELINE_EVENT(tl, info, "cpp", "$a $b $c", std::u8string(u8"of 8"), std::u8string_view(u8"view", 2), pointer);
  says("a(of 8) b(vi) c(by its pointer)");
#endif
  const std::wstring wide = L"w\u00e4hrend";
  const wchar_t all[2] = {L'a', L'\u00e4'};
  TIMELINE_EVENT(tl, info, "cpp", "$a $b:str $c $d $e", wide, std::wstring_view(wide).substr(1, 3), all, L"literal",
                 std::wstring());
  says("a(w\xc3\xa4hrend) b(\xc3\xa4hr) c(a\xc3\xa4) d(literal) e()");
  TIMELINE_EVENT(tl, info, "cpp", "$a $b:istr", std::filesystem::path("/tmp/x"), std::filesystem::path("of one"));
  says("a(/tmp/x) b(of one)");
}

void missing(const timeline::ring& tl) {
  const auto info = timeline::info;
  const std::optional<std::string> none, some = "some";
  const std::optional<std::vector<int>> no_list, list = std::vector<int>{1};
  const std::optional<std::filesystem::path> no_path;
  const std::optional<std::wstring_view> no_wide;
  for (int round = 0; round < 2; round++) {
    TIMELINE_EVENT(tl, info, "cpp", "$a $b $c $d", none, some, no_list, list);
    says("a((null)) b(some) c((null)) d([1])");
  }
  TIMELINE_EVENT(tl, info, "cpp", "$a $b", no_path, no_wide);
  says("a((null)) b((null))");
}

}  // namespace

int main(int, char** argv) {
  const std::string path = std::string(argv[1]) + "/ring";
  timeline::ring tl(path, 4096);
  times(tl);
  arrays(tl);
  texts(tl);
  missing(tl);
  std::size_t at = 0;
  for (const timeline::event& event : timeline::attached(path).events()) {
    const std::string& wanted = at < expected.size() ? expected[at] : "none";
    if (event.text() != wanted) {
      std::cerr << "event " << at << " is \"" << event.text() << "\", expected \"" << wanted << "\"\n";
      failed = 1;
    }
    at++;
  }
  if (at != expected.size()) failed = 1, std::cerr << at << " events, expected " << expected.size() << "\n";
  if (!failed) std::cout << "types: ok\n";
  return failed;
}
