# Tests of the program SyntheticLiverCT; included by programs/test/CMakeLists.txt.
# The synthetic CT has the same voxels on every machine, for any number of threads, and as DICOM.
set(liver $<TARGET_FILE:SyntheticLiverCT>)
set(liver_options --size 96,96,40 --random-seed 7)
set(vessel_seed 42,46,13)
run_example(
  LiverCT
  OUT "^ct.mha: 96x96x40 voxels of 3.73333 x 3.73333 x 5.8125 mm\nvessel seed ${vessel_seed}\nliver seed [0-9,]+\nbone seed 48,65,20\nspleen seed 75,56,20\n$"
  COMMAND ${liver} ct.mha ${liver_options} --organs organs.mha --strokes strokes.nrrd
)
run_example(
  LiverCTThread
  COMMAND ${CMAKE_COMMAND} -E env ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS=1 ${liver} ct.mha ${liver_options}
)
run_example(LiverCTDicom COMMAND ${liver} series ${liver_options} --dicom)
# As in scripts/demo.sh.
run_example(LiverCTDemo OUT "\nvessel seed 85,92,26\n" COMMAND ${liver} series --dicom --size 192,192,80)
run_example(LiverCTDemoNoise COMMAND ${liver} ct.nii.gz --size 192,192,80 --noise 0)
set(ct ${out}/LiverCT/ct.mha)
set(organs ${out}/LiverCT/organs.mha)
set(strokes ${out}/LiverCT/strokes.nrrd)
check_example(LiverCTDigest AFTER LiverCT CHECK digest ${ct} b24abd0a8170dc94)
check_example(LiverCTOrgansVessel AFTER LiverCT CHECK value ${organs} ${vessel_seed} 2 2)
check_example(LiverCTOrgansSpleen AFTER LiverCT CHECK value ${organs} 75,56,20 4 4)
check_example(LiverCTOrgansAir AFTER LiverCT CHECK value ${organs} 0,0,0 0 0)
check_example(LiverCTStrokesVessel AFTER LiverCT CHECK value ${strokes} ${vessel_seed} 2 2)
check_example(LiverCTStrokesSpine AFTER LiverCT CHECK value ${strokes} 48,65,20 3 3)
check_example(LiverCTStrokesNone AFTER LiverCT CHECK value ${strokes} 0,0,0 0 0)
check_example(LiverCTThreads AFTER LiverCT LiverCTThread CHECK equal ${ct} ${out}/LiverCTThread/ct.mha)
check_example(LiverCTDicomVoxels AFTER LiverCT LiverCTDicom CHECK equal ${ct} ${out}/LiverCTDicom/series)
check_example(LiverCTDicomGeometry AFTER LiverCT LiverCTDicom CHECK geometry ${ct} ${out}/LiverCTDicom/series 1)

function(refuse_liver name message)
  run_example(RefuseLiverCT${name} EXIT 1 ERR "^SyntheticLiverCT: [^\n]*${message}" COMMAND ${liver} ${ARGN})
endfunction()
refuse_liver(Size "--size: '5,5' has 2 entries" ct.mha --size 5,5)
refuse_liver(NoSize "size along axis 1 is 0" ct.mha --size 5,0,5)
refuse_liver(Noise "noise is -3" ct.mha --noise=-3)
refuse_liver(Folder "is not empty" ${in}/dicom --dicom --size 5,5,5)
