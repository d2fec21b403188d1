// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/onednn.h"

#include <dlfcn.h>
#include <dnnl.h>

#include <algorithm>
#include <string_view>

#include "kelvin/core/isa.h"

namespace kelvin {
namespace {

#define KELVIN_ONEDNN_FUNCTIONS(named)                                                                               \
  named(engine_create) named(stream_create) named(stream_destroy) named(memory_create) named(memory_set_data_handle) \
      named(memory_destroy) named(memory_desc_init_by_tag) named(memory_desc_equal) named(memory_desc_get_size)      \
          named(primitive_attr_create) named(primitive_attr_set_scratchpad_mode) named(primitive_attr_destroy)       \
              named(primitive_desc_create) named(primitive_desc_destroy) named(primitive_desc_query)                 \
                  named(primitive_desc_query_md) named(primitive_create) named(primitive_execute)                    \
                      named(primitive_destroy) named(reorder_primitive_desc_create)                                  \
                          named(dilated_convolution_forward_desc_init)                                               \
                              named(dilated_convolution_backward_data_desc_init)                                     \
                                  named(dilated_convolution_backward_weights_desc_init)

struct OneDnn {
#define KELVIN_ONEDNN_POINTER(name) decltype(&dnnl_##name) name = nullptr;
  KELVIN_ONEDNN_FUNCTIONS(KELVIN_ONEDNN_POINTER)
  int (*threads)() = nullptr;  // of OpenMP, for parallel regions that this thread begins; null: it has none
  void (*set_threads)(int) = nullptr;
  dnnl_engine_t engine = nullptr;
};

dnnl_cpu_isa_t onednn_isa() {
  switch (best_isa()) {
    case Isa::avx512:
      return dnnl_cpu_isa_all;
    case Isa::avx2:
      return dnnl_cpu_isa_avx2;
    default:
      return dnnl_cpu_isa_sse41;
  }
}

// Loaded when a network first asks; `engine` is null where it is not there, or is one that we do not know how to keep
// to one thread.
OneDnn load_onednn() {
  OneDnn dnn;
  void* library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) return dnn;
  bool complete = true;
  const auto find = [&]<class F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    complete = complete && function;
  };
#define KELVIN_ONEDNN_FIND(name) find(dnn.name, "dnnl_" #name);
  KELVIN_ONEDNN_FUNCTIONS(KELVIN_ONEDNN_FIND)
  decltype(&dnnl_version) version = nullptr;
  decltype(&dnnl_set_max_cpu_isa) limit = nullptr;
  find(version, "dnnl_version");
  find(limit, "dnnl_set_max_cpu_isa");
  if (!complete) return dnn;
  if (version()->cpu_runtime == DNNL_RUNTIME_OMP) {
    find(dnn.threads, "omp_get_max_threads");  // of the OpenMP that it has loaded itself
    find(dnn.set_threads, "omp_set_num_threads");
  } else if (version()->cpu_runtime != DNNL_RUNTIME_SEQ) {
    return dnn;
  }
  if (!complete) return dnn;
  limit(onednn_isa());
  dnn.engine_create(&dnn.engine, dnnl_cpu, 0);
  return dnn;
}

const OneDnn& onednn() {
  static const OneDnn loaded = load_onednn();
  return loaded;
}

void check_onednn(dnnl_status_t status, const char* what) {
  if (status != dnnl_success)
    throw Error("oneDNN cannot {} (status {}); remove the package libdnnl2 to do without it", what, int(status));
}

// While it lives, oneDNN uses one thread, whatever OMP_NUM_THREADS says: walkers are what runs in parallel, and sums
// are always taken in the same order. What the thread had before is put back.
class OneThread {
 public:
  OneThread() : before_(onednn().threads ? onednn().threads() : 1) {
    if (before_ != 1) onednn().set_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) onednn().set_threads(before_);
  }
  OneThread(const OneThread&) = delete;

 private:
  int before_;
};

struct OneDnnDeleter {
  void operator()(dnnl_primitive_t it) const { onednn().primitive_destroy(it); }
  void operator()(dnnl_primitive_desc_t it) const { onednn().primitive_desc_destroy(it); }
  void operator()(dnnl_memory_t it) const { onednn().memory_destroy(it); }
  void operator()(dnnl_stream_t it) const { onednn().stream_destroy(it); }
  void operator()(dnnl_primitive_attr_t it) const { onednn().primitive_attr_destroy(it); }
};
template <class Handle>
using OneDnnOwned = std::unique_ptr<std::remove_pointer_t<Handle>, OneDnnDeleter>;
using PrimitivePlan = OneDnnOwned<dnnl_primitive_desc_t>;

// A primitive with what it reads and writes, and its room to work in: if it had its own, walkers of one shape would
// share it.
class OneDnnPrimitive {
 public:
  OneDnnPrimitive(const PrimitivePlan& plan, std::initializer_list<int> arguments) {
    dnnl_primitive_t primitive = nullptr;
    check_onednn(onednn().primitive_create(&primitive, plan.get()), "make a primitive");
    primitive_.reset(primitive);
    for (const int argument : arguments) add(argument, plan);
    room_.resize(add(DNNL_ARG_SCRATCHPAD, plan));
    point(DNNL_ARG_SCRATCHPAD, room_.data());
  }
  void point(int argument, const void* data) {
    for (const dnnl_exec_arg_t& one : arguments_)
      if (one.arg == argument) onednn().memory_set_data_handle(one.memory, const_cast<void*>(data));
  }
  void run(dnnl_stream_t stream) const {
    check_onednn(onednn().primitive_execute(primitive_.get(), stream, int(arguments_.size()), arguments_.data()),
                 "work");
  }

 private:
  // Returns its size in bytes.
  std::size_t add(int argument, const PrimitivePlan& plan) {
    const auto* layout = onednn().primitive_desc_query_md(plan.get(), dnnl_query_exec_arg_md, argument);
    dnnl_memory_t memory = nullptr;
    check_onednn(onednn().memory_create(&memory, layout, onednn().engine, DNNL_MEMORY_NONE), "describe memory");
    memories_.emplace_back(memory);
    arguments_.push_back({argument, memory});
    return onednn().memory_desc_get_size(layout);
  }

  OneDnnOwned<dnnl_primitive_t> primitive_;
  std::vector<OneDnnOwned<dnnl_memory_t>> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
  LargeArray<char> room_;
};

enum class ConvolutionTask { forward, back, slopes };

// One of the three for so many rows. Weights, or their slopes, lie as oneDNN likes them best.
struct PreparedConvolution {
  std::size_t rows = 0;
  bool biased = false;
  std::unique_ptr<OneDnnPrimitive> work;  // null: it has no fast loops
  std::unique_ptr<OneDnnPrimitive> turn;  // between the order of the block and its own; null: they are the same
  LargeArray<char> own_order;
};

OneDnnOwned<dnnl_primitive_attr_t> with_own_room() {
  dnnl_primitive_attr_t attributes = nullptr;
  check_onednn(onednn().primitive_attr_create(&attributes), "make attributes");
  onednn().primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
  return OneDnnOwned<dnnl_primitive_attr_t>(attributes);
}

using Extents = std::array<std::int64_t, DNNL_MAX_NDIMS>;

dnnl_memory_desc_t described(std::initializer_list<std::size_t> extents, dnnl_format_tag_t tag) {
  Extents dims{};
  std::ranges::transform(extents, dims.begin(), [](std::size_t n) { return std::int64_t(n); });
  dnnl_memory_desc_t out;
  check_onednn(onednn().memory_desc_init_by_tag(&out, int(extents.size()), dims.data(), dnnl_f32, tag),
               "describe images");
  return out;
}

dnnl_memory_desc_t weights_described(const ConvolutionPlan& plan, bool any) {
  const std::size_t G = plan.groups, in = plan.x.channels / G, out = plan.y.channels / G;
  const auto& [down, along] = plan.windows;
  if (G == 1) return described({out, in, down.size, along.size}, any ? dnnl_format_tag_any : dnnl_oihw);
  return described({G, out, in, down.size, along.size}, any ? dnnl_format_tag_any : dnnl_goihw);
}

PrimitivePlan planned(const ConvolutionPlan& plan, ConvolutionTask task, std::size_t rows, bool biased) {
  const auto x = described({rows, plan.x.channels, plan.x.height, plan.x.width}, dnnl_nhwc);
  const auto y = described({rows, plan.y.channels, plan.y.height, plan.y.width}, dnnl_nhwc);
  const auto w = weights_described(plan, true), b = described({plan.y.channels}, dnnl_x);
  Extents stride{}, dilation{}, before{}, after{};
  const std::size_t from[] = {plan.x.height, plan.x.width}, to[] = {plan.y.height, plan.y.width};
  for (std::size_t k = 0; k < 2; ++k) {
    const Window& window = plan.windows[k];
    stride[k] = std::int64_t(window.stride);
    dilation[k] = std::int64_t(window.dilation) - 1;
    before[k] = std::int64_t(window.before);
    after[k] = std::int64_t((to[k] - 1) * window.stride + window.extent()) - std::int64_t(from[k]) - before[k];
  }
  dnnl_convolution_desc_t convolution;
  const auto algorithm = dnnl_convolution_direct;
  dnnl_status_t status = dnnl_unimplemented;
  if (task == ConvolutionTask::forward)
    status = onednn().dilated_convolution_forward_desc_init(&convolution, dnnl_forward_training, algorithm, &x, &w,
                                                            biased ? &b : nullptr, &y, stride.data(), dilation.data(),
                                                            before.data(), after.data());
  else if (task == ConvolutionTask::back)
    status = onednn().dilated_convolution_backward_data_desc_init(&convolution, algorithm, &x, &w, &y, stride.data(),
                                                                  dilation.data(), before.data(), after.data());
  else
    status = onednn().dilated_convolution_backward_weights_desc_init(
        &convolution, algorithm, &x, &w, nullptr, &y, stride.data(), dilation.data(), before.data(), after.data());
  if (status != dnnl_success) return nullptr;
  const auto attributes = with_own_room();
  // Backward passes are planned with a look at the forward one.
  const PrimitivePlan hint =
      task == ConvolutionTask::forward ? nullptr : planned(plan, ConvolutionTask::forward, rows, biased);
  if (task != ConvolutionTask::forward && !hint) return nullptr;
  dnnl_primitive_desc_t out = nullptr;
  if (onednn().primitive_desc_create(&out, &convolution, attributes.get(), onednn().engine, hint.get()) != dnnl_success)
    return nullptr;
  return PrimitivePlan(out);
}

// One of its loops for AVX2 writes beyond the slopes of kernels of one pixel, unless channels fill whole vectors (seen
// with version 2.6).
bool writes_beyond(std::string_view loops, const ConvolutionPlan& plan, ConvolutionTask task) {
  constexpr std::size_t lanes = 8;
  const std::size_t in = plan.x.channels / plan.groups, out = plan.y.channels / plan.groups;
  return loops == "jit_1x1:avx2" && task == ConvolutionTask::slopes && (in % lanes != 0 || out % lanes != 0);
}

bool has_fast_loops(const PrimitivePlan& primitive, const ConvolutionPlan& plan, ConvolutionTask task) {
  const char* name = nullptr;
  if (onednn().primitive_desc_query(primitive.get(), dnnl_query_impl_info_str, 0, &name) != dnnl_success) return false;
  const std::string_view loops = name;
  return !loops.starts_with("ref") && !writes_beyond(loops, plan, task);
}

std::unique_ptr<OneDnnPrimitive> turned(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
  const auto attributes = with_own_room();
  dnnl_primitive_desc_t plan = nullptr;
  check_onednn(
      onednn().reorder_primitive_desc_create(&plan, &from, onednn().engine, &to, onednn().engine, attributes.get()),
      "turn weights");
  return std::make_unique<OneDnnPrimitive>(PrimitivePlan(plan), std::initializer_list{DNNL_ARG_FROM, DNNL_ARG_TO});
}

// What a task reads and writes: x, W, y in the order of ConvolutionPlan, or their slopes; and a bias.
struct TaskArguments {
  int x, weight, y;
};
TaskArguments arguments_of(ConvolutionTask task) {
  if (task == ConvolutionTask::forward) return {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
  if (task == ConvolutionTask::back) return {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST};
  return {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
}

PreparedConvolution prepared(const ConvolutionPlan& plan, ConvolutionTask task, std::size_t rows, bool biased) {
  PreparedConvolution out{.rows = rows, .biased = biased, .work = nullptr, .turn = nullptr, .own_order = {}};
  const PrimitivePlan primitive = planned(plan, task, rows, biased);
  if (!primitive || !has_fast_loops(primitive, plan, task)) return out;
  const auto [x, weight, y] = arguments_of(task);
  const auto plain = weights_described(plan, false);
  const dnnl_memory_desc_t own = *onednn().primitive_desc_query_md(primitive.get(), dnnl_query_exec_arg_md, weight);
  if (!onednn().memory_desc_equal(&own, &plain)) {
    out.turn = task == ConvolutionTask::slopes ? turned(own, plain) : turned(plain, own);
    out.own_order.resize(onednn().memory_desc_get_size(&own));
  }
  out.work = biased ? std::make_unique<OneDnnPrimitive>(primitive, std::initializer_list{x, weight, y, DNNL_ARG_BIAS})
                    : std::make_unique<OneDnnPrimitive>(primitive, std::initializer_list{x, weight, y});
  return out;
}

}  // namespace

struct OneDnnConvolution::Tasks {
  explicit Tasks(const ConvolutionPlan& given) : plan(given) {
    dnnl_stream_t made = nullptr;
    check_onednn(onednn().stream_create(&made, onednn().engine, dnnl_stream_default_flags), "make a stream");
    stream.reset(made);
  }

  // The last few numbers of rows are kept: those of training, its last chunk, and of predictions.
  PreparedConvolution& of(ConvolutionTask task, std::size_t rows, bool biased) {
    constexpr std::size_t most = 4;
    auto& kept = prepared_ones[std::size_t(task)];
    for (PreparedConvolution& one : kept)
      if (one.rows == rows && one.biased == biased) return one;
    if (kept.size() == most) kept.erase(kept.begin());
    return kept.emplace_back(prepared(plan, task, rows, biased));
  }

  bool run(ConvolutionTask task, std::size_t rows, const float* bias, const float* x, const float* weight,
           const float* y) {
    const OneThread guard;
    PreparedConvolution& one = of(task, rows, bias != nullptr);
    if (!one.work) return false;
    const TaskArguments names = arguments_of(task);
    const bool slopes = task == ConvolutionTask::slopes;
    if (one.turn) {
      one.turn->point(slopes ? DNNL_ARG_TO : DNNL_ARG_FROM, weight);
      one.turn->point(slopes ? DNNL_ARG_FROM : DNNL_ARG_TO, one.own_order.data());
    }
    one.work->point(names.x, x);
    one.work->point(names.y, y);
    one.work->point(names.weight, one.turn ? static_cast<const void*>(one.own_order.data()) : weight);
    one.work->point(DNNL_ARG_BIAS, bias);
    if (one.turn && !slopes) one.turn->run(stream.get());
    one.work->run(stream.get());
    if (one.turn && slopes) one.turn->run(stream.get());
    return true;
  }

  ConvolutionPlan plan;
  OneDnnOwned<dnnl_stream_t> stream;
  std::vector<PreparedConvolution> prepared_ones[3];
};

std::unique_ptr<OneDnnConvolution> OneDnnConvolution::make(const ConvolutionPlan& plan) {
  return onednn().engine ? std::make_unique<OneDnnConvolution>(plan) : nullptr;
}
OneDnnConvolution::OneDnnConvolution(const ConvolutionPlan& plan) : tasks_(std::make_unique<Tasks>(plan)) {}
OneDnnConvolution::~OneDnnConvolution() = default;

bool OneDnnConvolution::forward(const float* weight, const float* bias, std::size_t rows, const float* x, float* y) {
  return tasks_->run(ConvolutionTask::forward, rows, bias, x, weight, y);
}
bool OneDnnConvolution::back(const float* weight, std::size_t rows, const float* dy, float* dx) {
  return tasks_->run(ConvolutionTask::back, rows, nullptr, dx, weight, dy);
}
bool OneDnnConvolution::slopes(std::size_t rows, const float* x, const float* dy, float* dw) {
  return tasks_->run(ConvolutionTask::slopes, rows, nullptr, x, dw, dy);
}

}  // namespace kelvin
