# Tests of the program Render; included by programs/test/CMakeLists.txt.
# Debian's VTK needs an X display; xvfb-run provides one.
find_program(VoxelMaps_XVFB_RUN xvfb-run)
mark_as_advanced(VoxelMaps_XVFB_RUN)
set(display)
if(VoxelMaps_XVFB_RUN)
  set(display ${VoxelMaps_XVFB_RUN} -a)
endif()
set(render $<TARGET_FILE:Render>)
set(head ${in}/head.nii.gz)
set(labels ${in}/labels.nii.gz)

function(render_example name width)
  run_example(Render${name} COMMAND ${display} ${render} ${ARGN})
  check_example(Render${name} AFTER Render${name} CHECK picture ${out}/Render${name}/out.png ${width})
endfunction()
function(refuse_rendering name message)
  run_example(RefuseRendering${name} EXIT 1 ERR "^Render ${message}" COMMAND ${render} ${ARGN})
endfunction()

render_example(Volume 800 maps ${head} ${out}/Nrrd/maps.nrrd out.png --title "A test")
render_example(Slice 800 maps ${slice} ${out}/AllFeatures/maps.nrrd out.png)
render_example(Object 1200 object ${head} ${labels} out.png --title "A test")
render_example(ObjectOfDicom 1200 object ${in}/dicom ${labels} out.png --window -50,150 --unit HU --color 0,90,255)
# Margins can be any image.
render_example(Labels 1600 labels ${head} ${labels} ${head} out.png --title "A test" --background 3)
render_example(LabelsOfDicom 1600 labels ${in}/dicom ${labels} ${head} out.png --slices 0,17,3 --names first,second
               --strokes ${labels}
)
render_example(Curve 900 curve ${labels} out.png)
set_property(TEST ExampleRenderVolume APPEND PROPERTY FIXTURES_REQUIRED ExampleNrrd)
set_property(TEST ExampleRenderSlice APPEND PROPERTY FIXTURES_REQUIRED ExampleAllFeatures)
set_property(TEST ExampleRenderCurve PROPERTY PASS_REGULAR_EXPRESSION "^suggested threshold [0-9.e+-]+: [0-9]+ ml\n")

run_example(RefuseRendering EXIT 1 ERR "^Render: KIND: shapes not in {maps,object,labels,curve}" COMMAND ${render} shapes)
refuse_rendering(Nothing "maps: there is no file 'nothing.nrrd'" maps ${head} nothing.nrrd out.png)
refuse_rendering(Names "maps: [^\n]*maps.nii.gz' does not have the names of its 11 components" maps ${head}
                 ${out}/NiftiVector/maps.nii.gz out.png
)
set_property(TEST ExampleRefuseRenderingNames APPEND PROPERTY FIXTURES_REQUIRED ExampleNiftiVector)
refuse_rendering(Sizes "maps: [^\n]*small_mask.nii.gz' and the image differ" maps ${head} ${in}/small_mask.nii.gz out.png)
refuse_rendering(Folder "curve: cannot write" curve ${labels} nowhere/out.png)
refuse_rendering(Format "curve: cannot write 'out.jpg': the name of a picture ends with .png" curve ${labels} out.jpg)
refuse_rendering(Volume "curve: --minimum-volume: -1 is not" curve ${labels} out.png --minimum-volume=-1)
refuse_rendering(Dimension "object: [^\n]*slice.png' must have 3 dimensions" object ${slice} ${slice} out.png)
refuse_rendering(Empty "object: [^\n]*empty_mask.nii.gz' has no voxel of an object" object ${head} ${in}/empty_mask.nii.gz out.png)
refuse_rendering(Window "object: --window: 5,5 is not in ascending order" object ${head} ${labels} out.png --window 5,5)
refuse_rendering(Color "object: --color: 256 is not from 0 to 255" object ${head} ${labels} out.png --color 0,0,256)
refuse_rendering(Input "object: cannot write 'out.png': 'out.png' is a file of the input" object ${head} out.png out.png)
refuse_rendering(Margin "labels: [^\n]*differ in size" labels ${head} ${labels} ${in}/small_mask.nii.gz out.png)
refuse_rendering(Labels "labels: [^\n]*labels.nii.gz' has 2 labels[^\n]* 3 --names" labels ${head} ${labels} ${head} out.png --names a,b,c)
refuse_rendering(Slices "labels: --slices: the image has no voxel 3,3,12" labels ${head} ${labels} ${head} out.png --slices 3,3,12)
