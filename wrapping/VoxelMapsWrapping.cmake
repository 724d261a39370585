# What the .wrap files of the filters have in common.
#
#   voxelmaps_wrap_image_filter(<class> <images> [VECTORS] [SUPERCLASS|2_SUPERCLASSES] [<kind>:<name>...])
#
# wraps itk::<class> for input images of every wrapped scalar pixel type in 2D and 3D. <images> lists the other template
# arguments in ITK's notation, such as IF for Image<float> and VIF for VectorImage<float>. The first one, the output, may have
# alternatives, such as IUC|IUS. With VIF, input images of double are also wrapped with VID, which computes the same maps in
# double precision. VECTORS adds input images VectorImage<float>. SUPERCLASS also wraps the direct base class, without a name
# of its own in Python: for a base class that no other wrapped class has. 2_SUPERCLASSES also wraps the base class of that one.
#
# SWIG cannot pass a std::vector of enumerators, indices or offsets. <kind>:<name> adds methods that pass plain numbers
# instead, from which python/voxelmaps/_filters.py makes Set<name>() and Get<name>():
#
#   enumerators:Features   _SetFeaturesAsNumbers(), _GetFeaturesAsNumbers()   for a std::vector of enumerators
#   vectors:Offsets        _SetOffsetsAsNumbers(), _GetOffsetsAsNumbers()     for a std::vector of Index or Offset
#   get_vectors:AllOffsets _GetAllOffsetsAsNumbers()                          the same without a setter
#   affinities:UsedAffinitiesOfLabels _GetUsedAffinitiesOfLabelsAsNumbers()   for a std::vector of LabelAffinity

set(
  VoxelMaps_SWIG_enumerators
  "
  void _Set@method@AsNumbers(const std::vector<unsigned char> & numbers)
  {
    std::decay<decltype(self->Get@method@())>::type values;
    for (const unsigned char number : numbers)
    {
      values.push_back(static_cast<decltype(values)::value_type>(number));
    }
    self->Set@method@(values);
  }
  std::vector<unsigned char> _Get@method@AsNumbers() const
  {
    std::vector<unsigned char> numbers;
    for (const auto value : self->Get@method@())
    {
      numbers.push_back(static_cast<unsigned char>(value));
    }
    return numbers;
  }
"
)
set(
  VoxelMaps_SWIG_get_vectors
  "
  std::vector<long> _Get@method@AsNumbers() const
  {
    std::vector<long> components;
    for (const auto & value : self->Get@method@())
    {
      components.insert(components.end(), value.begin(), value.end());
    }
    return components;
  }
"
)
set(
  VoxelMaps_SWIG_vectors
  "${VoxelMaps_SWIG_get_vectors}
  void _Set@method@AsNumbers(const std::vector<long> & components)
  {
    std::decay<decltype(self->Get@method@())>::type values(components.size() / @dimension@);
    for (size_t i = 0; i < values.size() * @dimension@; ++i)
    {
      values[i / @dimension@][i % @dimension@] = components[i];
    }
    self->Set@method@(values);
  }
"
)
set(
  VoxelMaps_SWIG_affinities
  "
  std::vector<double> _Get@method@AsNumbers() const
  {
    std::vector<double> numbers;
    for (const auto & value : self->Get@method@())
    {
      numbers.insert(numbers.end(), { static_cast<double>(value.label), value.objectMean, value.objectVariance,
        value.differenceMean, value.differenceVariance });
    }
    return numbers;
  }
"
)

# ITK's wrapping of Update() and UpdateLargestPossibleRegion() holds Python's interpreter lock while a filter runs. These do
# not; python/voxelmaps/_filters.py puts them in place of ITK's. SWIG would not wrap a virtual method again under its own name.
set(
  VoxelMaps_SWIG_update
  "
%feature(\"nothreadallow\", \"0\") @name@::_Update;
%feature(\"nothreadallow\", \"0\") @name@::_UpdateLargestPossibleRegion;
%extend @name@ {
  void _Update() { self->Update(); }
  void _UpdateLargestPossibleRegion() { self->UpdateLargestPossibleRegion(); }
}
"
)

# A macro because ITK's own macros set variables of the .wrap file.
macro(voxelmaps_wrap_image_filter class images)
  set(options ${ARGN})
  set(other_images ${images})
  list(POP_FRONT other_images outputs)
  string(REPLACE "|" ";" outputs "${outputs}")
  set(vector_inputs)
  if("VECTORS" IN_LIST options)
    list(REMOVE_ITEM options VECTORS)
    set(vector_inputs VIF)
  endif()
  set(wrap_method POINTER)
  foreach(superclasses SUPERCLASS 2_SUPERCLASSES)
    if(superclasses IN_LIST options)
      list(REMOVE_ITEM options ${superclasses})
      set(wrap_method POINTER_WITH_${superclasses})
    endif()
  endforeach()
  itk_wrap_class("itk::${class}" ${wrap_method})
  foreach(dimension ${ITK_WRAP_IMAGE_DIMS})
    if(dimension EQUAL 2 OR dimension EQUAL 3)
      list(TRANSFORM WRAP_ITK_SCALAR PREPEND I OUTPUT_VARIABLE inputs)
      foreach(input ${inputs} ${vector_inputs})
        # Python takes the first class that fits, so that float remains the default.
        set(output_images ${outputs})
        if(input STREQUAL "ID" AND "VIF" IN_LIST output_images)
          list(APPEND output_images VID)
        endif()
        foreach(output ${output_images})
          set(suffix "${ITKM_${input}${dimension}}${ITKM_${output}${dimension}}")
          set(arguments "${ITKT_${input}${dimension}}, ${ITKT_${output}${dimension}}")
          foreach(image ${other_images})
            string(APPEND suffix "${ITKM_${image}${dimension}}")
            string(APPEND arguments ", ${ITKT_${image}${dimension}}")
          endforeach()
          itk_wrap_template("${suffix}" "${arguments}")
          set(name "itk${class}${suffix}")
          string(CONFIGURE "${VoxelMaps_SWIG_update}" update @ONLY)
          string(APPEND ITK_WRAP_PYTHON_SWIG_EXT "${update}")
          foreach(option ${options})
            string(REPLACE ":" ";" kind_and_name "${option}")
            list(GET kind_and_name 0 kind)
            list(GET kind_and_name 1 method)
            string(CONFIGURE "${VoxelMaps_SWIG_${kind}}" methods @ONLY)
            string(APPEND ITK_WRAP_PYTHON_SWIG_EXT "%extend ${name} {${methods}}\n")
          endforeach()
        endforeach()
      endforeach()
    endif()
  endforeach()
  itk_end_wrap_class()
endmacro()
