// What the doctor's command says.
#include "services/tapectl/nodes/doctor_answer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tapedeck::services::tapectl {
namespace {

DoctorAnswer Answer() {
  return {.nodes = {{.address = "a:1", .report = {.role = "storage", .rails = {{.name = "r0"}}}}},
          .clock = doctor::pair::ClockOffset{.offset_ns = 1'500'000, .uncertainty_ns = 250'000}};
}

TEST(DoctorAnswerTest, ExitStatusIsOfTheWorst) {
  DoctorAnswer answer = Answer();
  EXPECT_EQ(ExitStatusOf(answer), 0);
  answer.findings.push_back(doctor::Found("HUGE_PAGES_OFF", "x"));
  EXPECT_EQ(ExitStatusOf(answer), 0);
  answer.findings.push_back(doctor::Found("NIC_HOT", "x"));
  EXPECT_EQ(ExitStatusOf(answer), 10);
  answer.findings.push_back(doctor::Found("PORT_DOWN", "x"));
  EXPECT_EQ(ExitStatusOf(answer), 11);
}

TEST(DoctorAnswerTest, Json) {
  DoctorAnswer answer = Answer();
  answer.findings.push_back(doctor::Found("NIC_HOT", "too \xff hot"));
  answer.findings.back().node = "storage";
  const auto json = nlohmann::json::parse(AnswerOf(answer).json);
  EXPECT_EQ(json["findings"][0]["code"], "NIC_HOT");
  EXPECT_EQ(json["findings"][0]["severity"], "warning");
  EXPECT_EQ(json["findings"][0]["node"], "storage");
  EXPECT_EQ(json["nodes"][0]["rails"][0]["name"], "r0");
  EXPECT_TRUE(json["nodes"][0]["rails"][0]["temperature_celsius"].is_null());
  EXPECT_EQ(json["clock"]["worker_ahead_ms"], 1.5);
  EXPECT_EQ(json["clock"]["uncertainty_ms"], 0.25);
  answer.clock.reset();
  EXPECT_TRUE(nlohmann::json::parse(AnswerOf(answer).json)["clock"].is_null());
}

TEST(DoctorAnswerTest, ATableOfNothingSaysSo) {
  EXPECT_EQ(TablesOf(Answer()).back().heads[0], "NOTHING IS WRONG");
}

}  // namespace
}  // namespace tapedeck::services::tapectl
