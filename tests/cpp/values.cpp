// Prints the values of each event, the oldest first: an event a line. values NAME
#include <timeline.hpp>

#include <cmath>
#include <cstdio>

static void print(std::int64_t number) { std::printf("%lld", static_cast<long long>(number)); }
static void print(std::uint64_t number) { std::printf("%llu", static_cast<unsigned long long>(number)); }
static void print(double number) {
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  if (std::isnan(number))
    std::printf("nan");
  else
    std::printf("%016llx", static_cast<unsigned long long>(bits));
}

template <class T, class Wide>
static void array(const timeline::value& value) {
  const char* comma = "";
  for (const T element : value.as<std::vector<T>>()) {
    std::printf("%s", comma);
    print(static_cast<Wide>(element));
    comma = ",";
  }
}

static void array(const timeline::value& value) {
  switch (value.type() - TIMELINE_ARRAY_OF) {
    case TIMELINE_I8: return array<std::int8_t, std::int64_t>(value);
    case TIMELINE_I16: return array<std::int16_t, std::int64_t>(value);
    case TIMELINE_I32: return array<std::int32_t, std::int64_t>(value);
    case TIMELINE_I64: return array<std::int64_t, std::int64_t>(value);
    case TIMELINE_U8: return array<std::uint8_t, std::uint64_t>(value);
    case TIMELINE_U16: return array<std::uint16_t, std::uint64_t>(value);
    case TIMELINE_U32: return array<std::uint32_t, std::uint64_t>(value);
    case TIMELINE_U64: return array<std::uint64_t, std::uint64_t>(value);
    case TIMELINE_F32: return array<float, double>(value);
    default: return array<double, double>(value);
  }
}

static void print(const timeline::value& value) {
  std::printf(" ");
  switch (value.kind()) {
    case TIMELINE_IS_NULL: std::printf("null"); break;
    case TIMELINE_IS_SIGNED:
      if (value.type() == TIMELINE_BOOL)
        std::printf(value.as<bool>() ? "true" : "false");
      else
        print(value.as<std::int64_t>());
      break;
    case TIMELINE_IS_UNSIGNED: print(value.as<std::uint64_t>()); break;
    case TIMELINE_IS_FLOAT: print(value.as<double>()); break;
    case TIMELINE_IS_TEXT:
      std::printf("<");
      for (const char byte : value.as<std::string_view>()) std::printf("%02x", static_cast<unsigned char>(byte));
      std::printf(">");
      break;
    default:
      std::printf("[");
      array(value);
      std::printf("]");
  }
  if (value.is_cut()) std::printf("+");
}

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  // Kept until all are read: the values are those of copies.
  std::vector<timeline::event> events;
  const timeline::attached at(argv[1]);
  for (const timeline::event& event : at.events()) events.push_back(event);
  for (const timeline::event& event : events) {
    for (const timeline::value& value : event.values()) print(value);
    std::printf("\n");
  }
}
