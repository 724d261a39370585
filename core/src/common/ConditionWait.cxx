/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
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
