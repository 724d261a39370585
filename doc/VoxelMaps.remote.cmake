# For ITK's folder Modules/Remote: makes ITK's build fetch and build this module with -DModule_VoxelMaps=ON. The form is that
# of Modules/Remote/README.md. VoxelMaps has no public repository yet; GIT_REPOSITORY, GIT_TAG and Contact stand for what
# there will be.

#-- # Grading Level Criteria Report
#-- Contact: <name and address of a maintainer>
#-- EVALUATION DATE: 2026-11-22
#-- EVALUATORS: [The VoxelMaps maintainers]
#--
#-- ## Compliance level 5 star (AKA ITK main modules, or remote modules that could become core modules)
#--   - [ ] Widespread community dependance
#--   - [ ] Above 90% code coverage
#--   - [ ] CI dashboards and testing monitored rigorously
#--   - [X] Key API features are exposed in wrapping interface
#--   - [ ] All requirements of Levels 4,3,2,1
#--
#-- ## Compliance Level 4 star (Very high-quality code, perhaps small community dependance)
#--   - [X] Meets all ITK code style standards
#--   - [X] No external requirements beyond those needed by ITK proper
#--   - [ ] Builds and passes tests on all supported platforms within 1 month of each core tagged release
#--            - [ ] Windows Shared Library Build with Visual Studio
#--            - [ ] Mac with clang compiller
#--            - [X] Linux with gcc compiler
#--   - [ ] Active developer community dedicated to maintaining code-base
#--   - [ ] 75% code coverage demonstrated for testing suite
#--   - [ ] Continuous integration testing performed
#--   - [ ] All requirements of Levels 3,2,1
#--
#-- ## Compliance Level 3 star (Quality beta code)
#--   - [ ] API | executable interface is considered mostly stable and feature complete
#--   - [ ] 10% C0-code coverage demonstrated for testing suite
#--   - [X] Some tests exist and pass on at least some platform
#--   - [X] All requirements of Levels 2,1
#--
#-- ## Compliance Level 2 star (Alpha code feature API development or niche community/execution environment dependance )
#--   - [X] Compiles for at least 1 niche set of execution envirionments, and perhaps others
#--         (may depend on specific external tools like a java environment, or specific external libraries to work )
#--   - [X] All requirements of Levels 1
#--
#-- ## Compliance Level 1 star (Pre-alpha features under development and code of unknown quality)
#--   - [X] Code complies on at least 1 platform
#--
#-- ## Compliance Level 0 star ( Code/Feature of known poor-quality or deprecated status )
#--   - [ ] Code reviewed and explicitly identified as not recommended for use
#--
#-- ### Please document here any justification for the criteria above
#       Style: clang-format 19.1.7 with the rules of ITK 6, checked by scripts/format.sh --check.
#       Requirements: ITKCommon alone. The CUDA Toolkit is optional; without it, the filters run on the CPU.
#       Platforms: built and tested on Linux with GCC only. Workflows for Windows and macOS are in .github/workflows, and have
#       not run yet.
#
#       Missing for level 3:
#       - a stable interface: before version 1.0.0, a new minor version may change it (CHANGELOG.md);
#       - a published figure of coverage (the preset "coverage" of CMakePresets.json measures it).
#       Missing for level 4, in addition:
#       - builds and tests with Visual Studio and Apple clang, and continuous integration on a public server;
#       - maintainers from more than one place.

itk_fetch_module(
  VoxelMaps
  "Per-voxel maps of 2D and 3D images: texture features of the window around every voxel, fuzzy connectedness, and labels from seeds."
  MODULE_COMPLIANCE_LEVEL 2
  GIT_REPOSITORY <URL of the public repository>
  GIT_TAG <hash of the commit>
)
