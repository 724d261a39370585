# Read by CMake at the end of ITK's project() for the wheel (CMAKE_PROJECT_ITK_INCLUDE). The many small sources of ITKCommon and VNL
# include the same large headers, so that compiling them in groups takes a fraction of the time.
cmake_language(DEFER CALL voxelmaps_unite_sources)
function(voxelmaps_unite_sources)
  foreach(target IN ITEMS ITKCommon itkvnl itkvnl_algo)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
      # These use functions that must be declared before the headers of the others.
      get_target_property(sources ${target} SOURCES)
      list(FILTER sources INCLUDE REGEX "bignum|rational|complex|vnl_math|vnl_numeric_traits|vnl_inverse|brent")
      get_target_property(folder ${target} SOURCE_DIR)
      list(TRANSFORM sources PREPEND "${folder}/")
      set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
