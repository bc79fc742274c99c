# SPDX-License-Identifier: Apache-2.0
# CUDA kernels where a compiler of version 12 or later is found, else the reason why not.
# KVPLAN_CUDA_ARCHITECTURES: "75;80;90" as in CMAKE_CUDA_ARCHITECTURES; empty: all that the compiler knows of sm_75 … sm_120.
set(KVPLAN_CUDA_ARCHITECTURES "" CACHE STRING "Architectures of the CUDA kernels")
set(kvplan_why_no_cuda "built without CUDA")

if(NOT KVPLAN_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES OFF)  # given below, once the compiler is known
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
      set(kvplan_why_no_cuda "built without CUDA: compiler ${CMAKE_CUDA_COMPILER_VERSION} is older than 12.0")
    else()
      set(kvplan_has_cuda TRUE)
    endif()
  else()
    set(kvplan_why_no_cuda "built without CUDA: no CUDA compiler was found")
  endif()
  if(KVPLAN_CUDA STREQUAL "ON" AND NOT kvplan_has_cuda)
    message(FATAL_ERROR "KVPLAN_CUDA=ON, but ${kvplan_why_no_cuda}")
  endif()
endif()

if(NOT kvplan_has_cuda)
  target_sources(kvplan_kernels PRIVATE kernels/cuda/absent.cpp)
  set_source_files_properties(kernels/cuda/absent.cpp PROPERTIES
    COMPILE_DEFINITIONS "KVPLAN_WHY_NO_CUDA=\"${kvplan_why_no_cuda}\"")
  return()
endif()

find_package(CUDAToolkit REQUIRED)
set(kvplan_architectures ${KVPLAN_CUDA_ARCHITECTURES})
if(NOT kvplan_architectures)
  # Native code of each generation, which its later members (8.6, 8.9) run too; sm_100 and sm_120 are known since 12.8.
  set(kvplan_architectures 75-real 80-real 90)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    set(kvplan_architectures 75-real 80-real 90-real 100-real 120)
  endif()
endif()
target_sources(kvplan_kernels PRIVATE
  kernels/cuda/clock.cpp
  kernels/cuda/cublaslt.cpp
  kernels/cuda/cuda.cpp
  kernels/cuda/decode.cu
  kernels/cuda/device.cpp
  kernels/cuda/latent.cu
  kernels/cuda/prefill.cu
  kernels/cuda/properties.cpp
  kernels/cuda/recording.cpp
  kernels/cuda/stream.cu
  kernels/cuda/weight_stream.cu
)
set_target_properties(kvplan_kernels PROPERTIES CUDA_ARCHITECTURES "${kvplan_architectures}" CUDA_RUNTIME_LIBRARY Static
  CUDA_COMPILER_LAUNCHER ${CMAKE_CURRENT_SOURCE_DIR}/cmake/keep_ptxas.sh)
# CMake 3.25 does not know that nvcc 12 and later compile C++20.
target_compile_options(kvplan_kernels PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --threads=2 -Xptxas=-v>)
target_link_libraries(kvplan_kernels PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
