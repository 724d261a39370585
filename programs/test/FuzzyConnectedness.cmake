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
foreach(method buckets hierarchy automatic)
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
run_example(
  ConnectAbsolute
  OUT "^affinity absolute\nstrength.nrrd: "
  COMMAND ${connect} ${in}/slice.png ${strength} --seed 3,4 --affinity absolute --connectivity 8
)

# Labels. Each voxel at a seed has the label of the seed, and the strength 1.
set(labels labels.nrrd)
set(
  label_seeds
  --seed
  ${vessel_seed}=700
  --seed
  48,65,20=2
  --seed=0,0,0=3
  --seed
  0,95,39=3
)
set(of_labels "label 2 in [0-9]+ voxels, [0-9.e+]+ mm.3")
connect_example(
  Labels
  OUT "^affinity geometric-mean: [^\n]*, estimated from the seeds\nstrength.nrrd: strength > 0 in [0-9]+ voxels, [^\n]*\nlabels.nrrd: ${of_labels}\nlabels.nrrd: label 3 in [^\n]*\nlabels.nrrd: label 700 in [^\n]*\n[^\n]* s for 368640 voxels\n$"
  WITH ${ct} ${strength} ${label_seeds} --labels ${labels} --margin margin.nrrd
)
foreach(image ${strength} ${labels} margin.nrrd)
  check_example(ConnectLabelsGeometry_${image} AFTER LiverCT ConnectLabels CHECK geometry ${ct} ${out}/ConnectLabels/${image} 1)
endforeach()
foreach(
  value
  "${labels};${vessel_seed};700;700"
  "${labels};48,65,20;2;2"
  "${labels};0,0,0;3;3"
  "${labels};0,95,39;3;3"
  "${strength};48,65,20;1;1"
  "margin.nrrd;48,65,20;0.01;1"
)
  list(GET value 0 image)
  list(GET value 1 index)
  list(SUBLIST value 2 2 range)
  check_example(
    ConnectLabelsValue_${image}_${index}
    AFTER ConnectLabels
    CHECK value ${out}/ConnectLabels/${image} ${index} ${range}
  )
endforeach()
# Physical points and an image of labels are other ways to give the same seeds.
set(
  label_affinity
  --mean
  60.3
  --variance
  90000
  --difference-variance
  900
)
set(
  label_outputs
  ${label_affinity}
  --labels
  ${labels}
  --margin
  margin.nrrd
)
connect_example(LabelsGiven WITH ${ct} ${strength} ${label_seeds} ${label_outputs})
connect_example(LabelSeeds WITH ${ct} ${strength} ${label_seeds} ${label_outputs} --minimum-strength 1)
connect_example(LabelImage WITH ${ct} ${strength} --seed-image ${out}/ConnectLabelSeeds/${labels} ${label_outputs})
set_property(TEST ExampleConnectLabelImage APPEND PROPERTY FIXTURES_REQUIRED ExampleConnectLabelSeeds)
connect_example(
  LabelPoints
  WITH
  ${ct}
  ${strength}
  --seed-point=-20,-5.6,-38=700
  --seed
  48,65,20=2
  --seed
  0,0,0=3
  --seed
  0,95,39=3
  ${label_outputs}
  --threads
  1
)
foreach(name LabelImage LabelPoints)
  foreach(image ${strength} ${labels} margin.nrrd)
    check_example(
      Connect${name}_${image}
      AFTER ConnectLabelsGiven Connect${name}
      CHECK equal ${out}/ConnectLabelsGiven/${image} ${out}/Connect${name}/${image}
    )
  endforeach()
endforeach()
# The strength of the winner is that of one object with all seeds.
connect_example(LabelsAsOne WITH ${ct} ${strength} ${seed} --seed 48,65,20 --seed 0,0,0 --seed 0,95,39 ${label_affinity})
check_example(
  ConnectLabelsAsOne
  AFTER ConnectLabelsGiven ConnectLabelsAsOne
  CHECK equal ${out}/ConnectLabelsGiven/${strength} ${out}/ConnectLabelsAsOne/${strength}
)
# On a line of voxels of levels 0 4 4 4 0, only rules decide about the voxels between two labels.
set(line ${in}/line.nrrd)
foreach(rule "relative;background;0;0" "relative;lowest;3;3" "iterative;background;0;0" "iterative;lowest;3;3")
  list(GET rule 0 competition)
  list(GET rule 1 ties)
  list(SUBLIST rule 2 2 range)
  run_example(
    ConnectTies_${competition}_${ties}
    OUT "\nlabels.mha: label 3 in (1 voxel, 1.25|4 voxels, 5) mm.2\nlabels.mha: label 5 in 1 voxel, 1.25 mm.2\n"
    COMMAND ${connect} ${line} strength.mha --seed 0,0=5 --seed 4,0=3 --affinity absolute --labels labels.mha --competition
            ${competition} --ties ${ties}
  )
  check_example(
    ConnectTies_${competition}_${ties}
    AFTER ConnectTies_${competition}_${ties}
    CHECK value ${out}/ConnectTies_${competition}_${ties}/labels.mha 2,0,0 ${range}
  )
endforeach()
# Cropped, labels are 0 outside of the box of the seeds and its margin, here the upper half of the slices.
connect_example(
  Cropped
  WITH
  ${ct}
  ${strength}
  ${seed}=1
  --seed
  48,65,20=2
  --labels
  ${labels}
  ${label_affinity}
  --crop-to-seeds
  --crop-margin
  200,200,3
)
check_example(ConnectCroppedInside AFTER ConnectCropped CHECK value ${out}/ConnectCropped/${labels} 48,65,23 1 2)
check_example(ConnectCroppedOutside AFTER ConnectCropped CHECK value ${out}/ConnectCropped/${labels} 48,65,24 0 0)
connect_example(CroppedMillimeters WITH ${ct} ${strength} ${seed} --crop-to-seeds --crop-margin 1e6 --crop-margin-mm --estimate-radius 1)
same_connectedness(CroppedMillimeters)
connect_example(LabelsQuiet OUT "^$" WITH ${ct} ${strength} ${label_seeds} --labels ${labels} --quiet)

# Two cubes of level 100 and a bridge of level 90: the threshold is above the affinity of the bridge.
set(leak ${in}/leak.nrrd)
set(
  leak_affinity
  --mean
  100
  --variance
  100
  --difference-variance
  100
)
run_example(
  ConnectSuggest
  OUT "\nsuggested threshold: strength >= 0.88249[0-9]+ in 217 voxels, 406.875 mm.3\n"
  COMMAND ${connect} ${leak} ${strength} --seed 2,3,3 ${leak_affinity} --suggest-threshold
)
run_example(
  ConnectSuggestNone
  OUT "\nsuggested threshold: none\n"
  COMMAND ${connect} ${leak} ${strength} --seed 2,3,3 ${leak_affinity} --suggest-threshold --minimum-volume 600
)
run_example(
  ConnectSuggestLabels
  OUT "\nlabels.nrrd: label 1 in 434 voxels, 813.75 mm.3; suggested threshold: strength >= 0.88249[0-9]+ in 217 voxels, 406.875 mm.3\nlabels.nrrd: label 9 in 1 voxel, 1.875 mm.3; suggested threshold: none\n"
  COMMAND ${connect} ${leak} ${strength} --seed 2,3,3=1 --seed 0,0,0=9 ${leak_affinity} --labels ${labels} --suggest-threshold
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
refuse_connect(Affinity "--affinity: product not in {absolute,geometric-mean,homogeneity,minimum,weighted-sum}" ${head} ${strength} --seed 1,2,3 --affinity product)
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
refuse_connect(ThresholdMinimum "--threshold 0.3 has no effect below --minimum-strength 0.5" ${head} ${strength} --seed 1,2,3 --threshold 0.3 --object o.nrrd --minimum-strength 0.5)
refuse_connect(MaskGeometryAlone "--mask-geometry ignore has no effect without a mask" ${head} ${strength} --seed 1,2,3 --mask-geometry ignore)
refuse_connect(ThresholdAlone "requires" ${head} ${strength} --seed 1,2,3 --threshold 0.5)
refuse_connect(ObjectAlone "requires" ${head} ${strength} --seed 1,2,3 --object o.nrrd)
refuse_connect(Connectivity "--connectivity: 8 is not 6, 18 or 26" ${head} ${strength} --seed 1,2,3 --connectivity 8)
refuse_connect(Connectivity2D "--connectivity: 6 is not 4 or 8" ${in}/slice.png ${strength} --seed 1,2 --connectivity 6)
refuse_connect(Method "--method: heap not in {automatic,buckets,hierarchy}" ${head} ${strength} --seed 1,2,3 --method heap)
refuse_connect(Threads "--threads: 0" ${head} ${strength} --seed 1,2,3 --threads 0)

# Labels.
refuse_connect(LabelMissing "--seed: '1,2,3' has no label, but --labels needs one" ${head} ${strength} --seed 4,5,6=1 --seed 1,2,3 --labels l.nrrd)
refuse_connect(PointLabelMissing "--seed-point: '1,2,3' has no label" ${head} ${strength} --seed-point 1,2,3 --labels l.nrrd)
refuse_connect(LabelAlone "--seed: '1,2,3=4' has a label, which is for --labels" ${head} ${strength} --seed 1,2,3=4)
refuse_connect(LabelZero "--seed: the label 0 is not from 1 to 65535" ${head} ${strength} --seed 1,2,3=0 --labels l.nrrd)
refuse_connect(LabelLarge "--seed: the label 65536 is out of range" ${head} ${strength} --seed 1,2,3=65536 --labels l.nrrd)
refuse_connect(LabelNegative "--seed: the label '-1' is not" ${head} ${strength} --seed 1,2,3=-1 --labels l.nrrd)
refuse_connect(LabelWord "--seed: the label 'x' is not" ${head} ${strength} --seed 1,2,3=x --labels l.nrrd)
refuse_connect(LabelEmpty "--seed: the label '' is not" ${head} ${strength} --seed 1,2,3= --labels l.nrrd)
refuse_connect(LabelTwice "--seed: the label '4=5' is not" ${head} ${strength} --seed 1,2,3=4=5 --labels l.nrrd)
refuse_connect(LabelPlace "--seed: '1=4,2,3' has a label that is not at its end" ${head} ${strength} --seed 1=4,2,3 --labels l.nrrd)
refuse_connect(LabelNoPlace "--seed: '' is not a whole number" ${head} ${strength} --seed =4 --labels l.nrrd)
refuse_connect(TwoLabels "is a seed of the labels 1 and 2" ${head} ${strength} --seed 1,2,3=1 --seed 1,2,3=2 --labels l.nrrd ${given})
refuse_connect(LabelSeedImage "seed image '[^']*' has the value -?[0-9]+, but labels are whole numbers from 0 .no seed. to 65535" ${head} ${strength} --seed-image ${head} --labels l.nrrd ${given})
refuse_connect(LabelSeedFraction "seed image '[^']*' has the value 8.57143" ${head} ${strength} --seed-image ${in}/head_nan.nrrd --labels l.nrrd ${given})
refuse_connect(MarginAlone "--margin requires --labels" ${head} ${strength} --seed 1,2,3 --margin m.nrrd)
refuse_connect(CompetitionAlone "--competition iterative is for --labels" ${head} ${strength} --seed 1,2,3 --competition iterative)
refuse_connect(TiesAlone "--ties lowest is for --labels" ${head} ${strength} --seed 1,2,3 --ties lowest)
refuse_connect(Competition "--competition: fair not in {iterative,relative}" ${head} ${strength} --seed 1,2,3=1 --labels l.nrrd --competition fair)
refuse_connect(Ties "--ties: toss not in {background,lowest}" ${head} ${strength} --seed 1,2,3=1 --labels l.nrrd --ties toss)
refuse_connect(MethodOfLabels "--method buckets is for one object" ${head} ${strength} --seed 1,2,3=1 --labels l.nrrd --method buckets)
refuse_connect(ObjectOfLabels "excludes" ${head} ${strength} --seed 1,2,3=1 --labels l.nrrd --threshold 0.5 --object o.nrrd)
refuse_connect(CropMarginAlone "--crop-margin requires --crop-to-seeds" ${head} ${strength} --seed 1,2,3 --crop-margin 5)
refuse_connect(CropMarginUnit "--crop-margin-mm requires --crop-margin" ${head} ${strength} --seed 1,2,3 --crop-to-seeds --crop-margin-mm)
refuse_connect(CropMarginAxes "--crop-margin: '5,5' has 2 entries, but it needs one, or one for each of the 3 axes" ${head} ${strength} --seed 1,2,3 --crop-to-seeds --crop-margin 5,5)
refuse_connect(CropMarginNegative "--crop-margin: -1 is not" ${head} ${strength} --seed 1,2,3 --crop-to-seeds --crop-margin=-1)
refuse_connect(VolumeLarge "--minimum-volume: 1e300 is not from 0 to 1e.15" ${head} ${strength} --seed 1,2,3 --suggest-threshold --minimum-volume 1e300)
refuse_connect(VolumeAlone "--minimum-volume requires --suggest-threshold" ${head} ${strength} --seed 1,2,3 --minimum-volume 5)
refuse_connect(SuggestQuietly "excludes" ${head} ${strength} --seed 1,2,3 --suggest-threshold --quiet)
refuse_connect(AbsoluteMean "--affinity absolute has no means" ${head} ${strength} --seed 1,2,3 --affinity absolute ${given})
refuse_connect(AbsoluteDistance "DistanceWeighting is on, but AffinityFunction is AbsoluteDifference" ${head} ${strength} --seed 1,2,3 --affinity absolute --distance-weighting)
