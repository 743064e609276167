// SPDX-License-Identifier: MIT
#include "tierlimit/siphash.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "random.hpp"
#include "tierlimit/fingerprint.hpp"

using tierlimit::Fingerprint;
using tierlimit::Secret;
using tierlimit::SipHash128;

namespace {

using Bytes = std::vector<unsigned char>;

std::string hex(const std::array<std::uint64_t, 2>& hash) {
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(hash[i / 8] >> (i % 8 * 8) & 0xff));
    text += digits;
  }
  return text;
}

// The bytes 00, 01, 02 and so on.
std::string counting(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i);
  return bytes;
}

constexpr Secret counting_secret = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

// SipHash a second time, as the paper tells it: a state of four words, the padded message as a list of words.
class Sip {
 public:
  Sip(int compress, int finish, const Secret& key) : compress_(compress), finish_(finish) {
    const char initial[] = "somepseudorandomlygeneratedbytes";
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 8; ++j) v_[i] = v_[i] << 8 | static_cast<unsigned char>(initial[8 * i + j]);
      v_[i] ^= key[static_cast<std::size_t>(i % 2)];
    }
    v_[1] ^= 0xee;
  }

  std::array<std::uint64_t, 2> operator()(const std::string& message) {
    std::string padded = message;
    padded.resize((message.size() + 8) / 8 * 8);
    padded.back() = static_cast<char>(message.size() & 0xff);
    for (std::size_t at = 0; at < padded.size(); at += 8) {
      std::uint64_t word = 0;
      for (std::size_t i = 8; i-- > 0;) word = word << 8 | static_cast<unsigned char>(padded[at + i]);
      v_[3] ^= word;
      rounds(compress_);
      v_[0] ^= word;
    }
    std::array<std::uint64_t, 2> hash{};
    v_[2] ^= 0xee;
    rounds(finish_);
    hash[0] = v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
    v_[1] ^= 0xdd;
    rounds(finish_);
    hash[1] = v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
    return hash;
  }

 private:
  static void half_round(std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d, int s, int t) {
    a += b;
    c += d;
    b = (b << s | b >> (64 - s)) ^ a;
    d = (d << t | d >> (64 - t)) ^ c;
    a = a << 32 | a >> 32;
  }
  void rounds(int count) {
    for (; count > 0; --count) {
      half_round(v_[0], v_[1], v_[2], v_[3], 13, 16);
      half_round(v_[2], v_[1], v_[0], v_[3], 17, 21);
    }
  }

  int compress_;
  int finish_;
  std::uint64_t v_[4] = {};
};

}  // namespace

TEST_CASE("siphash: the published values of SipHash-2-4 with 128 bits") {
  // From the reference implementation's list: the key 00 01 … 0f, messages of so many bytes 00 01 ….
  const struct {
    std::size_t size;
    const char* hash;
  } vectors[] = {
      {0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
      {2, "8177228da4a45dc7fca38bdef60affe4"},  {3, "9c70b60c5267a94e5f33b6b02985ed51"},
      {4, "f88164c12d9c8faf7d0f6e7c7bcd5579"},  {5, "1368875980776f8854527a07690e9627"},
      {6, "14eeca338b208613485ea0308fd7a15e"},  {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
      {8, "3b62a9ba6258f5610f83e264f31497b4"},  {9, "264499060ad9baabc47f8b02bb6d71ed"},
      {15, "5493e99933b0a8117e08ec0f97cfc3d9"}, {16, "6ee2a4ca67b054bbfd3315bf85230577"},
      {17, "473d06e8738db89854c066c47ae47740"}, {31, "2939b0183223fafc1723de4f52c43d35"},
      {32, "7c3956ca5eeafc3e363e9d556546eb68"}, {63, "5150d1772f50834a503e069a973fbd7c"},
  };
  for (const auto& vector : vectors) {
    CAPTURE(vector.size);
    CHECK(hex(SipHash128<2, 4>::of(counting_secret, counting(vector.size))) == vector.hash);
    CHECK(hex(Sip(2, 4, counting_secret)(counting(vector.size))) == vector.hash);
  }
}

TEST_CASE("siphash: SipHash-1-3 is the same with fewer rounds") {
  CHECK(hex(SipHash128<1, 3>::of(counting_secret, "")) == "e77ebcb22788a5befd62db6add303001");
  Random random(1);
  for (std::size_t size = 0; size < 600; ++size) {
    const Secret secret = {random.next(), random.next()};
    std::string message;
    for (std::size_t i = 0; i < size; ++i) message += static_cast<char>(random.next());
    CAPTURE(size);
    REQUIRE(hex(SipHash128<1, 3>::of(secret, message)) == hex(Sip(1, 3, secret)(message)));
    REQUIRE(hex(SipHash128<2, 4>::of(secret, message)) == hex(Sip(2, 4, secret)(message)));
  }
}

TEST_CASE("siphash: a fingerprint is the first 96 bits under the secret") {
  const std::string client = counting(11);
  const auto hash = SipHash128<1, 3>::of(counting_secret, client);
  const Fingerprint fingerprint = Fingerprint::of(counting_secret, client);
  CHECK((std::uint64_t{fingerprint.b} << 32 | fingerprint.a) == hash[0]);
  CHECK(fingerprint.c == static_cast<std::uint32_t>(hash[1]));
  CHECK(fingerprint == Fingerprint::of(counting_secret, client));
  CHECK_FALSE(fingerprint == Fingerprint::of({counting_secret[0], counting_secret[1] + 1}, client));
  CHECK_FALSE(fingerprint == Fingerprint::of(counting_secret, counting(12)));

  // All 96 bits count.
  for (const Fingerprint& other : {Fingerprint{fingerprint.a ^ 1, fingerprint.b, fingerprint.c},
                                   Fingerprint{fingerprint.a, fingerprint.b ^ 1, fingerprint.c},
                                   Fingerprint{fingerprint.a, fingerprint.b, fingerprint.c ^ 1}}) {
    CHECK_FALSE(fingerprint == other);
  }
}

TEST_CASE("siphash: names that only look alike have fingerprints of their own") {
  using namespace std::string_view_literals;
  const std::string_view names[] = {""sv,
                                    "\0"sv,
                                    "\0\0"sv,
                                    "a"sv,
                                    "a\0"sv,
                                    "A"sv,
                                    "\xef\xbb\xbf"
                                    "a"sv,
                                    "e\xcc\x81"sv,
                                    "\xc3\xa9"sv,
                                    "\xed\xa0\x80"sv,
                                    "\xff"sv,
                                    " "sv,
                                    "a "sv};
  for (const auto& one : names) {
    for (const auto& other : names) {
      CHECK((Fingerprint::of(counting_secret, one) == Fingerprint::of(counting_secret, other)) == (&one == &other));
    }
  }
}
