# Read by CMake at the end of ITK's project() for the wheel (CMAKE_PROJECT_ITK_INCLUDE). Many small sources of ITKCommon and VNL
# include the same large headers, so that they are compiled in groups, and with -O1, since no filter of the wheel is in them.
cmake_language(DEFER CALL voxelmaps_unite_sources)
function(voxelmaps_unite_sources)
  foreach(target IN ITEMS ITKCommon itkvnl itkvnl_algo itkvcl)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    endif()
  endforeach()
endfunction()
