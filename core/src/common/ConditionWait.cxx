// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/CoreExport.h"

#include <condition_variable>
#include <mutex>

#include <pthread.h>

// The linker replaces std::condition_variable::wait() by this function. Otherwise, GCC 12 and later would import the
// version of libstdc++ 12, without which the wheel runs on older systems, such as RHEL 9.
extern "C" VoxelMapsCore_EXPORT void
__wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable *      condition,
                                                                 std::unique_lock<std::mutex> * lock);

extern "C" void
__wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable *      condition,
                                                                 std::unique_lock<std::mutex> * lock)
{
  pthread_cond_wait(condition->native_handle(), lock->mutex()->native_handle());
}
