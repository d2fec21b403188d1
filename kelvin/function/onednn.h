// SPDX-License-Identifier: Apache-2.0
// Convolutions in float by oneDNN, where that is installed: its header and this file's source are all that knows it.
#pragma once
#include <memory>

#include "kelvin/function/convolution.h"

namespace kelvin {

// Works on images and weights as they lie. Each call returns whether it did anything: it does nothing where oneDNN has
// no loops of its own for this processor and these sizes.
class OneDnnConvolution {
 public:
  // Null without oneDNN. A call costs it a microsecond, less than the plain loops need for the smallest images.
  static std::unique_ptr<OneDnnConvolution> make(const ConvolutionPlan&);
  explicit OneDnnConvolution(const ConvolutionPlan&);
  ~OneDnnConvolution();

  bool forward(const float* weight, const float* bias, std::size_t rows, const float* x, float* y);
  bool back(const float* weight, std::size_t rows, const float* dy, float* dx);
  bool slopes(std::size_t rows, const float* x, const float* dy, float* dw);  // in the order of the block

 private:
  struct Tasks;
  std::unique_ptr<Tasks> tasks_;
};

}  // namespace kelvin
