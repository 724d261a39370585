# Tests of the program FuzzyConnectedness; included by CMakeLists.txt.
set(connect $<TARGET_FILE:FuzzyConnectedness>)
set(strength strength.nrrd)
set(seed --seed ${vessel_seed})

# connect_example(name [OUT regex] WITH arguments...)
# Run the program on the synthetic CT.
function(connect_example name)
  cmake_parse_arguments(arg "" "OUT" "WITH" ${ARGN})
  run_example(Connect${name} OUT "${arg_OUT}" COMMAND ${connect} ${arg_WITH})
  set_property(
    TEST ExampleConnect${name}
    APPEND
    PROPERTY FIXTURES_REQUIRED ExampleLiverCT ExampleLiverCTDicom ExampleConnectSeeds
  )
endfunction()
# same_connectedness(name)
# Check that a run has the same strengths as the run Liver.
function(same_connectedness name)
  check_example(
    Connect${name}
    AFTER ConnectLiver Connect${name}
    CHECK equal ${out}/ConnectLiver/${strength} ${out}/Connect${name}/${strength}
  )
endfunction()

# The vessels of the synthetic CT: all methods and inputs give the same strengths.
run_example(ConnectSeeds COMMAND ${connect} ${ct} ${strength} ${seed} --threshold 1 --object seeds.nrrd)
set_property(TEST ExampleConnectSeeds APPEND PROPERTY FIXTURES_REQUIRED ExampleLiverCT)
connect_example(
  Liver
  OUT "^affinity geometric-mean: mean 1[0-9.]+, variance [0-9.]+, difference variance [0-9.]+, estimated from the seeds\nstrength.nrrd: strength > 0 in [0-9]+ voxels, [0-9.e+]+ mm.3\nobject.nrrd: strength >= 0.3 in [0-9]+ voxels, [0-9.e+]+ mm.3\n[^\n]* s for 368640 voxels\n$"
  WITH ${ct} ${strength} ${seed} --estimate-radius 1 --threshold 0.3 --object object.nrrd
)
check_example(ConnectGeometry AFTER LiverCT ConnectLiver CHECK geometry ${ct} ${out}/ConnectLiver/${strength} 1)
check_example(
  ConnectThreshold
  AFTER ConnectLiver
  CHECK threshold ${out}/ConnectLiver/${strength} ${out}/ConnectLiver/object.nrrd 0.3
)
# In the liver without noise, only voxels with vessels exceed 120.
run_example(
  ConnectDemo
  OUT "\nobject.nrrd: strength >= 0.4 in 4[0-9][0-9][0-9] voxels, "
  COMMAND ${connect} ${out}/LiverCTDemo/series ${strength} --seed 85,92,26 --threshold 0.4 --object object.nrrd
)
set_property(TEST ExampleConnectDemo APPEND PROPERTY FIXTURES_REQUIRED ExampleLiverCTDemo)
check_example(
  ConnectVessels
  AFTER LiverCTDemoNoise ConnectDemo
  CHECK inside ${out}/ConnectDemo/object.nrrd ${out}/LiverCTDemoNoise/ct.nii.gz 120 201 0.95
)
foreach(
  method
  queue
  buckets
  tiles
  hierarchy
  automatic
)
  connect_example(_${method} WITH ${ct} ${strength} ${seed} --estimate-radius 1 --method ${method} --threads 2)
  same_connectedness(_${method})
endforeach()
connect_example(Dicom WITH ${out}/LiverCTDicom/series ${strength} ${seed} --estimate-radius 1)
same_connectedness(Dicom)
connect_example(Point WITH ${ct} ${strength} --seed-point=-20,-5.6,-38 --estimate-radius 1)
same_connectedness(Point)
# As 3D Slicer gives a point: underscores, and a negative number as an argument of its own.
connect_example(PointRAS WITH ${ct} ${strength} --seed_point_frame ras --seed_point 20,5.6,-38 --estimate_radius 1)
same_connectedness(PointRAS)
connect_example(PointLPS WITH ${ct} ${strength} --seed-point -20,-5.6,-38 --seed-point-frame lps --estimate-radius 1)
same_connectedness(PointLPS)
connect_example(SeedImage WITH ${ct} ${strength} --seed-image ${out}/ConnectSeeds/seeds.nrrd --estimate-radius 1)
same_connectedness(SeedImage)
connect_example(Twice WITH ${ct} ${strength} ${seed} ${seed} --estimate-radius 1 --connectivity 6)
same_connectedness(Twice)
connect_example(Quiet OUT "^$" WITH ${ct} ${strength} ${seed} --quiet)

# Options, pixel types, two dimensions.
set(
  given
  --mean
  60
  --variance
  10000
  --difference-variance
  10000
)
run_example(
  ConnectMask
  OUT "^affinity geometric-mean: mean 60, variance 10000, difference variance 10000\n"
  COMMAND ${connect} ${in}/head.nii.gz ${strength} --seed 10,5,4 --mask ${in}/labels.nii.gz ${given}
)
check_example(ConnectMask AFTER ConnectMask CHECK background ${in}/labels.nii.gz ${out}/ConnectMask/${strength})
run_example(
  ConnectSlice
  OUT "^affinity weighted-sum: .* voxels, [0-9.]+ mm.2\n"
  COMMAND ${connect} ${in}/slice.png ${strength} --seed 3,4 --seed 20,11 --connectivity 8 --affinity weighted-sum --weight
          0.25 --difference-mean 2 --mean 7 --variance 9 --difference-variance 4
)
run_example(
  ConnectHomogeneity
  OUT "^affinity homogeneity: difference variance 900\n"
  COMMAND ${connect} ${in}/head.nii.gz ${strength} --seed 3,4,5 --affinity homogeneity --difference-variance 900
          --connectivity 18 --distance-weighting
)
run_example(
  ConnectMinimum
  COMMAND ${connect} ${in}/head_nan.nrrd ${strength} --seed 10,9,5 --affinity minimum --connectivity 26 --minimum-strength
          0.1 ${given}
)
run_example(
  ConnectInt32
  COMMAND ${connect} ${in}/head_int32.mha ${strength} --seed 10,9,5 --mean 6e7 --variance 1e16 --difference-variance 1e16
)
run_example(ConnectHelp OUT "--seed-point" COMMAND ${connect} --help)

# Invalid options: one-line error message, exit code 1.
function(refuse_connect name message)
  run_example(RefuseConnect${name} EXIT 1 ERR "^FuzzyConnectedness: [^\n]*${message}" COMMAND ${connect} ${ARGN})
endfunction()
set(head ${in}/head.nii.gz)
refuse_connect(NoSeed "there is no seed" ${head} ${strength})
refuse_connect(SeedAxes "--seed: '1,2' has 2 entries, but the image has 3 axes" ${head} ${strength} --seed 1,2)
refuse_connect(SecondSeed "--seed: '4,5' has 2 entries" ${head} ${strength} --seed 1,2,3 --seed 4,5)
refuse_connect(SeedWord "--seed: 'x' is not a whole number" ${head} ${strength} --seed 1,2,3 --seed 4,x,5)
refuse_connect(SeedOutside "20, 0, 0" ${head} ${strength} --seed 20,0,0 ${given})
refuse_connect(SeedPoint "--seed-point: 99,0,0 .lps. is outside" ${head} ${strength} --seed-point 99,0,0)
refuse_connect(SeedPointRAS "--seed-point: -99,2,1 .ras. is outside" ${head} ${strength} --seed-point -99,2,1 --seed-point-frame ras)
refuse_connect(Frame "--seed-point-frame: xyz not in {lps,ras}" ${head} ${strength} --seed-point 0,0,0 --seed-point-frame xyz)
refuse_connect(SeedInMask "mask" ${head} ${strength} --seed 0,0,0 --mask ${in}/labels.nii.gz ${given})
refuse_connect(SeedImage "[Ss]eed" ${head} ${strength} --seed-image ${in}/small_mask.nii.gz ${given})
refuse_connect(MaskSize "[Mm]ask" ${head} ${strength} --seed 1,2,3 --mask ${in}/small_mask.nii.gz ${given})
refuse_connect(MaskDimension "mask '.*' has 2 dimensions" ${head} ${strength} --seed 1,2,3 --mask ${in}/slice.png)
refuse_connect(Affinity "--affinity: product not in {geometric-mean,homogeneity,minimum,weighted-sum}" ${head} ${strength} --seed 1,2,3 --affinity product)
refuse_connect(MeanAlone "--difference-variance is required" ${head} ${strength} --seed 1,2,3 --mean 5)
refuse_connect(NoMean "--mean and --variance are required" ${head} ${strength} --seed 1,2,3 --difference-variance 5)
refuse_connect(Estimate "--estimate-radius excludes" ${head} ${strength} --seed 1,2,3 --estimate-radius 2 ${given})
refuse_connect(Homogeneity "homogeneity has no" ${head} ${strength} --seed 1,2,3 --affinity homogeneity ${given})
refuse_connect(Weight "are for --affinity weighted-sum" ${head} ${strength} --seed 1,2,3 --weight 0.5)
refuse_connect(WeightRange "--weight: 2 is not" ${head} ${strength} --seed 1,2,3 --affinity weighted-sum --weight 2)
refuse_connect(
  Variance "ariance" ${head} ${strength} --seed 1,2,3 --mean 5 --variance 0 --difference-variance 5
)
refuse_connect(WeightNaN "--weight: .nan. is not a finite number" ${head} ${strength} --seed 1,2,3 --affinity weighted-sum --weight nan)
refuse_connect(Minimum "--minimum-strength: -1 is not" ${head} ${strength} --seed 1,2,3 --minimum-strength=-1)
refuse_connect(Threshold "--threshold: 1.5 is not" ${head} ${strength} --seed 1,2,3 --threshold 1.5 --object o.nrrd)
refuse_connect(ThresholdAlone "requires" ${head} ${strength} --seed 1,2,3 --threshold 0.5)
refuse_connect(ObjectAlone "requires" ${head} ${strength} --seed 1,2,3 --object o.nrrd)
refuse_connect(ObjectFolder "cannot write" ${head} ${strength} --seed 1,2,3 --threshold 0 --object nowhere/o.nrrd)
refuse_connect(Connectivity "--connectivity: 8 is not 6, 18 or 26" ${head} ${strength} --seed 1,2,3 --connectivity 8)
refuse_connect(Connectivity2D "--connectivity: 6 is not 4 or 8" ${in}/slice.png ${strength} --seed 1,2 --connectivity 6)
refuse_connect(Method "--method: heap not in {automatic,buckets,hierarchy,queue,tiles}" ${head} ${strength} --seed 1,2,3 --method heap)
refuse_connect(Threads "--threads: 0" ${head} ${strength} --seed 1,2,3 --threads 0)
