// What an instance of an experiment does with its life, as far as the experiment has to know.
#pragma once

#include <holdfast/types.hpp>

namespace holdfast::sim {

class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;

  virtual void start(Duration delay) = 0;
  virtual bool finished() const noexcept = 0;  // it saw that nothing is left to pay
};

}  // namespace holdfast::sim
