# Oracles, random cases and golden hashes, compiled once for the tests of the core, those of the filters and the fuzz
# targets. A library of the core comes after it: VoxelMapsCoreInternals, or VoxelMapsCore and then VoxelMapsCoreInternals
# for what the library does not export.
add_library(
  VoxelMapsTestCases
  STATIC
  "${CMAKE_CURRENT_LIST_DIR}/CooccurrenceOracle.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/FirstOrderOracle.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/FuzzyConnectednessOracle.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/FuzzyConnectednessRandomCase.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/GrayToneDifferenceOracle.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/RelativeFuzzyConnectednessOracle.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/RunLengthOracle.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/SizeMatrixOracle.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/TextureClassCase.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/TextureRandomCase.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/TestedProcessor.cxx"
  "${CMAKE_CURRENT_LIST_DIR}/golden/GoldenHashes.cxx"
)
target_compile_features(VoxelMapsTestCases PUBLIC cxx_std_17)
target_include_directories(
  VoxelMapsTestCases
  PUBLIC
    "${CMAKE_CURRENT_LIST_DIR}"
    "${CMAKE_CURRENT_LIST_DIR}/golden"
    $<TARGET_PROPERTY:VoxelMaps::VoxelMapsCoreInternals,INTERFACE_INCLUDE_DIRECTORIES>
)
target_compile_definitions(
  VoxelMapsTestCases
  PUBLIC $<TARGET_PROPERTY:VoxelMaps::VoxelMapsCoreInternals,INTERFACE_COMPILE_DEFINITIONS>
)
target_link_libraries(VoxelMapsTestCases PUBLIC GTest::gtest)
# The oracles round each operation, as the documentation of the features does.
target_compile_options(
  VoxelMapsTestCases
  PUBLIC ${VoxelMaps_FLOATING_POINT_OPTIONS}
  PRIVATE ${VoxelMaps_WARNING_OPTIONS}
)
