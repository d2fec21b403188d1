// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <set>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

TEST(Threads, EveryItemIsDoneOnceInEveryRound) {
  for (const std::size_t count : {1, 2, 3, 7}) {
    Threads threads(count);
    for (const std::size_t items : {0, 1, 2, 5, 64})
      for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> done(items);
        threads.each(items, [&](std::size_t k) { ++done[k]; });
        for (const auto& times : done) ASSERT_EQ(times, 1) << count << " threads, " << items << " items";
      }
  }
}

TEST(Threads, TheFirstFailureIsThrownAndTheNextRoundIsWhole) {
  Threads threads(2);
  for (int round = 0; round < 100; ++round) {
    EXPECT_THROW(threads.each(8,
                              [](std::size_t k) {
                                if (k == 5) throw Error("five");
                              }),
                 Error);
    std::atomic<int> done = 0;
    threads.each(8, [&](std::size_t) { ++done; });
    EXPECT_EQ(done, 8);
  }
}

// The rounds of a run follow each other closely: threads that were made for each would be as many as rounds.
TEST(Threads, AreMadeOnceForAllRounds) {
  Threads threads(2);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int round = 0; round < 500; ++round)
    threads.each(2, [&](std::size_t) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  EXPECT_LE(seen.size(), 2u);
}

TEST(Threads, OneThatHasNothingLeftTakesFromTheOthers) {
  Threads threads(2);
  std::atomic<bool> others_done = false;
  std::atomic<int> done = 0;
  threads.each(8, [&](std::size_t k) {  // item 0 ends when all others have been done, by whoever does not have it
    if (k == 0) others_done.wait(false);
    else if (++done == 7) {
      others_done = true;
      others_done.notify_all();
    }
  });
  EXPECT_EQ(done, 7);
}

// They look for the next round for a while, then sleep: waiting must not cost the time of a processor.
TEST(Threads, SleepWhenNothingComes) {
  Threads threads(2);
  threads.each(2, [](std::size_t) {});
  const auto spent = [] {
    rusage use = {};
    getrusage(RUSAGE_SELF, &use);
    return double(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * double(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
  };
  const double before = spent();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(spent() - before, 0.02);
}

}  // namespace
}  // namespace kelvin
