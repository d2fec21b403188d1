// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/terminal.h"

#include <atomic>
#include <condition_variable>
#include <csignal>

#include "apps/cli/command.h"
#include "kelvin/function/outline.h"

namespace kelvin::cli {
namespace {

std::atomic<int> caught = 0;

void on_signal(int signal) { caught = signal; }

// The walkers finish their step, then the run is checkpointed.
void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = int(SA_RESETHAND);  // a second one ends the program at once
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  struct sigaction before = {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup asks to go on
  std::signal(SIGPIPE, SIG_IGN);                                          // a run goes on when nobody listens any more
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing, with a message
}

// What stands beside the bar.
std::string note_of(const std::optional<LogLine>& line) {
  if (!line) return "";
  std::string note = line->train ? shown("train", *line->train) : fmt::format("U {:.4g}", line->potential);
  for (const auto& [name, part] : line->part)
    if (part.xi) note += fmt::format(" xi {:.3g}", *part.xi);
  return note;
}

}  // namespace

int signal_caught() { return caught; }

std::string shown(std::string_view split, const ScoreRecord& score) {
  std::string text(split);
  if (score.accuracy) text += fmt::format(" {:.2f} %", 100 * *score.accuracy);
  text += fmt::format(" loss {:.4g}", score.loss);
  if (score.rmse) text += fmt::format(" rmse {:.4g}", *score.rmse);
  if (score.perplexity) text += fmt::format(" perplexity {:.4g}", *score.perplexity);
  return text;
}

void Terminal::remark(std::string_view text) {
  if (!quiet_) cli::remark(text);
}

// A network given by its sizes is shown by what the run file says.
void Terminal::start(const RunRecord& record, const Dataset& train) {
  catch_signals();
  const ModelSettings& model = record.settings.model;
  if (const Shape input = train.input_shape(); !model.layers.are_sizes())
    remark(outline(outlined_layers(model, input), input));
  progress_.emplace(double(record.until), "steps", quiet_ || !ranks().first(), double(run_->now().step));
  const bool saves = record.settings.checkpoint_every == 0;
  watch_ = std::jthread([this, saves](std::stop_token stop) { look(stop, saves); });
}

// The bar follows the run without a part in it; checkpoints are asked for now and then, if the settings do not say
// when.
void Terminal::look(std::stop_token stop, bool saves) {
  constexpr std::chrono::milliseconds tick(50);
  constexpr int ticks_a_bar = 4, ticks_a_save = 600;  // 30 seconds; no result depends on it
  std::mutex mutex;
  std::condition_variable_any never_told;
  std::unique_lock lock(mutex);
  for (int n = 1; !stop.stop_requested(); ++n) {
    never_told.wait_for(lock, stop, tick, [] { return false; });
    if (caught) return run_->post(Stop{});
    if (saves && n % ticks_a_save == 0 && ranks().first()) run_->post(Save{});
    if (n % ticks_a_bar != 0) continue;
    const RunSnapshot now = run_->now();
    progress_->show(double(now.step), note_of(now.line));
  }
}

void Terminal::finish() {
  watch_.request_stop();
  if (watch_.joinable()) watch_.join();
  if (progress_) progress_->finish();
}

}  // namespace kelvin::cli
