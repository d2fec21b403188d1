// SPDX-License-Identifier: Apache-2.0
// A run as Python drives it: it goes on in threads of its own, without the interpreter's lock, while the thread that
// waits for it wakes now and then to look for signals.
#include "kelvin/run/run.h"

#include <nanobind/stl/string.h>
#include <unistd.h>

#include <condition_variable>
#include <thread>

#include "apps/python/source/module.h"
#include "apps/python/source/problem.h"
#include "kelvin/core/settings.h"
#include "kelvin/core/toml.h"
#include "kelvin/trajectory/disk.h"
#include "kelvin/trajectory/inputs.h"

namespace kelvin::python {
namespace {

// Python functions that are told of a run; each may be None.
struct Callbacks {
  Shared line, remark, draw;
  std::shared_ptr<Raised> raised;
};

// Shown as one dict, block by block.
template <class Real>
nb::dict named(std::span<const Real> q, std::span<const Block> blocks) {
  nb::dict out;
  for (const Block& block : blocks) {
    if (block.slack()) continue;
    const auto mine = q.subspan(block.offset, block.size());
    out[block.name.c_str()] = own_array<Real>(LargeArray<Real>(mine.begin(), mine.end()), block.shape.list());
  }
  return out;
}

class Relay final : public Observer {
 public:
  explicit Relay(Callbacks to) : to_(std::move(to)) {}
  std::function<void()> ready;  // called once when the run's directory is there

  void begin(const RunRecord&, const Problem<float>& problem) override { begin(problem.recipe.blocks); }
  void begin(const RunRecord&, const Problem<double>& problem) override { begin(problem.recipe.blocks); }
  void draw(const Draw<float>& draw) override { tell(draw); }
  void draw(const Draw<double>& draw) override { tell(draw); }
  void line(const LogLine& line) override {
    if (to_.line) call("on_line", to_.line, [&] { return nb::make_tuple(to_python(recorded(line))); });
  }
  void remark(std::string_view text) override {
    if (to_.remark) call("on_remark", to_.remark, [&] { return nb::make_tuple(nb::str(text.data(), text.size())); });
  }

 private:
  void begin(const std::vector<Block>& blocks) {
    blocks_ = blocks;
    if (ready) ready();
  }
  template <class Real>
  void tell(const Draw<Real>& draw) {
    if (!to_.draw || draw.warmup) return;
    call("on_draw", to_.draw,
         [&] { return nb::make_tuple(draw.walker, draw.index, named<Real>(draw.q, blocks_), draw.reading.energy); });
  }
  template <class Arguments>
  void call(const char* name, const Shared& function, Arguments&& arguments) {
    const Locked lock;
    try {
      (*function)(*nb::tuple(arguments()));
    } catch (nb::python_error& error) {
      to_.raised->keep(std::move(error), name);
    }
  }

  Callbacks to_;
  std::vector<Block> blocks_;
};

std::function<double()> stopwatch() {
  return [start = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
}

const char* name_of(RunSnapshot::State state) {
  constexpr const char* names[] = {"ready", "running", "paused", "stopped", "finished"};
  return names[int(state)];
}

Callbacks callbacks_of(const nb::dict& given, std::shared_ptr<Raised> raised) {
  const auto function = [&](const char* name) {
    const nb::object f = given.contains(name) ? nb::object(given[name]) : nb::none();
    return f.is_none() ? Shared() : Shared(f);
  };
  return {function("line"), function("remark"), function("draw"), std::move(raised)};
}

class PythonRun {
 public:
  // A new run. `given`: out, text (of run.toml), replace, threads, directory, command, command_line, created_at,
  // machine; data: [file that is read, file that it will be] for rows that were given as arrays.
  PythonRun(nb::dict settings, nb::dict given, nb::object potential, nb::object letters, nb::dict callbacks)
      : relay_(callbacks_of(callbacks, raised_)) {
    const RunSettings read = read_run_settings(to_value(settings, "settings"));
    RunRecord about;
    about.command = text(given, "command");
    about.command_line = text(given, "command_line");
    about.created_at = text(given, "created_at");
    about.directory = text(given, "directory");
    about.machine = text(given, "machine");
    disk_ =
        std::make_unique<Disk>(text(given, "out"), stopwatch(), nb::cast<bool>(given["replace"]), text(given, "text"));
    run_ = std::make_unique<Run>(read, environment(given, potential, letters), about);
    watch();
  }

  // One that goes on. `given`: out, threads, steps (more than were planned).
  PythonRun(nb::dict given, nb::object potential, nb::object letters, nb::dict callbacks)
      : relay_(callbacks_of(callbacks, raised_)) {
    disk_ = std::make_unique<Disk>(text(given, "out"), stopwatch());
    Resumption from = disk_->resumption();
    const auto more = nb::cast<std::uint64_t>(given["steps"]);
    if (from.record.has_finished() && more == 0)
      throw Error("\"{}\" has finished its {} steps; resume(steps=N) adds N more", text(given, "out"),
                  from.record.until);
    from.record.until += more;
    given["directory"] = from.record.directory;
    run_ = std::make_unique<Run>(std::move(from), environment(given, potential, letters));
    watch();
  }

  ~PythonRun() {
    if (getpid() != process_) {  // its threads were left behind in the process that began it
      thread_.release();
      run_.release();
      disk_.release();
      return;
    }
    const nb::gil_scoped_release unlocked;  // threads that end here may want the lock once more
    if (thread_) run_->post(Stop{});
    thread_.reset();
    run_.reset();
    disk_.reset();
  }

  void start() {
    check_process();
    if (thread_) throw Error("the run has been started before; wait for it, or resume it when it has ended");
    thread_ = std::make_unique<std::jthread>([this] { go(); });
  }

  // Waits until the run ends or `seconds` are over; whether it has ended. Signals are looked for meanwhile, so that
  // handlers written in Python are called.
  bool wait(double seconds) {
    check_process();
    if (!thread_) throw Error("the run has not been started");
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
      bool ended = false;
      {
        const nb::gil_scoped_release unlocked;
        std::unique_lock lock(mutex_);
        const auto tick = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
        ended_.wait_until(lock,
                          std::min<std::chrono::steady_clock::time_point>(
                              tick, std::chrono::time_point_cast<std::chrono::steady_clock::duration>(until)),
                          [&] { return done_; });
        ended = done_;
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (ended) return finish();
      if (std::chrono::steady_clock::now() >= until) return false;
    }
  }

  void post(const std::string& command, nb::handle argument) {
    check_process();
    if (command == "pause") run_->post(Pause{});
    else if (command == "continue") run_->post(Continue{});
    else if (command == "stop") run_->post(Stop{});
    else if (command == "save") run_->post(Save{});
    else if (command == "steps") run_->post(MoreSteps{nb::cast<std::uint64_t>(argument)});
    else run_->post(NewPhase{to_value(argument, "part").entries()});
  }

  nb::dict now() const {
    const RunSnapshot now = run_->now();
    nb::dict out;
    out["state"] = name_of(now.state);
    out["step"] = now.step;
    out["until"] = now.until;
    out["line"] = now.line ? to_python(recorded(*now.line)) : nb::none();
    return out;
  }

 private:
  static std::string text(const nb::dict& given, const char* name) { return nb::cast<std::string>(given[name]); }

  void check_process() const {
    if (getpid() != process_)
      throw Error("this run belongs to process {}, from which this one was forked; start or resume it here instead",
                  process_);
  }

  RunEnvironment environment(const nb::dict& given, nb::handle potential, nb::handle letters) {
    RunEnvironment out = inputs_from(text(given, "directory"));
    out.threads = nb::cast<std::size_t>(given["threads"]);
    out.seconds = [disk = disk_.get()] { return disk->seconds(); };
    out.model = model_of(potential, letters, raised_);
    if (given.contains("data")) {
      const auto files = nb::cast<nb::tuple>(given["data"]);
      const std::string now = nb::cast<std::string>(files[0]), later = nb::cast<std::string>(files[1]);
      out.data = load_instead(out.data, now);
      relay_.ready = [=] {
        std::filesystem::copy_file(now, later, std::filesystem::copy_options::overwrite_existing);
        std::filesystem::remove(now);
      };
    }
    return out;
  }

  void watch() {
    run_->watch(*disk_);
    run_->watch(relay_);
  }

  void go() {
    std::exception_ptr failure;
    try {
      run_->go();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    done_ = true;
    ended_.notify_all();
  }

  // What failed in the run's thread fails here; the directory is closed in any case.
  bool finish() {
    {
      const nb::gil_scoped_release unlocked;
      if (thread_->joinable()) thread_->join();
      disk_.reset();
    }
    raised_->raise_again();
    if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
    return true;
  }

  pid_t process_ = getpid();
  std::shared_ptr<Raised> raised_ = std::make_shared<Raised>();
  Relay relay_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<Run> run_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr failure_;
  std::unique_ptr<std::jthread> thread_;
};

}  // namespace

void add_run(nb::module_& module) {
  nb::class_<PythonRun>(module, "Run")
      .def(nb::init<nb::dict, nb::dict, nb::object, nb::object, nb::dict>(), nb::arg("settings"), nb::arg("given"),
           nb::arg("potential").none(), nb::arg("letters"), nb::arg("callbacks"))
      .def(nb::init<nb::dict, nb::object, nb::object, nb::dict>(), nb::arg("given"), nb::arg("potential").none(),
           nb::arg("letters"), nb::arg("callbacks"))
      .def("start", &PythonRun::start)
      .def("wait", &PythonRun::wait)
      .def("post", &PythonRun::post, nb::arg("command"), nb::arg("argument").none() = nb::none())
      .def("now", &PythonRun::now);
}

}  // namespace kelvin::python
