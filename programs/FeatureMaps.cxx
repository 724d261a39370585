// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Computes the feature maps of one texture class of an image file or DICOM directory from the command line.

#include "io/CommandLine.h"
#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "io/Progress.h"
#include "io/SlicerModule.h"
#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"
#include "itkVectorIndexSelectionCastImageFilter.h"

#include <iomanip>
#include <map>
#include <numeric>
#include <set>

namespace
{
using ProgramIO::Join;

const std::vector<std::string> classes{ "RunLength", "FirstOrder", "Cooccurrence",
                                        "SizeZone",  "Dependence", "GrayToneDifference" };

/** The options that only some classes have. */
const std::map<std::string, std::vector<std::string>> optionClasses{
  { "--offsets", { "RunLength", "Cooccurrence", "SizeZone", "Dependence", "GrayToneDifference" } },
  { "--aggregation", { "RunLength", "Cooccurrence" } },
  { "--distances", { "Cooccurrence", "Dependence", "GrayToneDifference" } },
  { "--asymmetric", { "Cooccurrence" } },
  { "--alpha", { "Dependence" } }
};

const std::vector<std::string> aggregations{ "per-direction", "average", "merge" };

struct Options
{
  std::string                       input;
  std::string                       output;
  std::string                       mask;
  ProgramIO::MaskGeometryRules      maskGeometry;
  bool                              crop{ false };
  std::string                       className{ classes.front() };
  std::vector<std::string>          features;
  std::string                       offsets{ "all" };
  std::vector<unsigned int>         distances{ 1 };
  std::string                       aggregation{ "average" };
  bool                              asymmetric{ false };
  unsigned int                      alpha{ 0 };
  std::optional<itk::SizeValueType> radius;
  std::vector<itk::SizeValueType>   window;
  std::vector<itk::OffsetValueType> anchor;
  std::optional<unsigned int>       levels;
  std::optional<double>             binWidth;
  std::vector<double>               range;
  bool                              asLevels{ false };
  ProgramIO::DicomOptions           dicom;
  bool                              quiet{ false };
  bool                              progressXML{ false };
};

void
AddOptions(CLI::App & app, ProgramIO::ModuleDescription & module, Options & options)
{
  const auto addFlag = [&](const char * name, bool & value, const char * description, const char * label) {
    auto * option = app.add_flag(name, value, description);
    module.AddFlag(option, label);
    return option;
  };
  const auto addChoice =
    [&](const char * name, auto & value, const auto & choices, const char * description, const char * label) {
      auto * option = app.add_option(name, value, description)->type_name("WHICH")->capture_default_str();
      module.AddEnumeration(option->check(CLI::IsMember(choices)), label, choices);
    };
  const auto addNumbers =
    [&](const char * name, auto & value, const char * type, const char * description, const char * label) {
      using Number = typename ProgramIO::NumberIn<std::remove_reference_t<decltype(value)>>::Type;
      auto * option = ProgramIO::AddNumbers(app, name, value, type, description);
      module.AddOptionalNumbers(option, label, std::is_integral<Number>::value ? "integer" : "double");
      return option;
    };

  module.AddGroup("Images", "The image, and the part of it to compute");
  auto * input =
    app.add_option("INPUT", options.input, "2D or 3D image: any file that ITK reads, or a directory of DICOM files");
  const std::string outputs = "image with a component per feature (.nrrd, .mha, .nii.gz, ...), or a name with %s, such "
                              "as map_%s.nii.gz, for an image per component, where %s stands for its name, such as SRE";
  auto *            output = app.add_option("OUTPUT", options.output, outputs);
  auto *            mask =
    ProgramIO::AddFile(app, "--mask", options.mask, "image of the same geometry; only voxels where it is not 0 count");
  module.AddImage(input->required(), "Image", "scalar", "input");
  module.AddImage(output->required(), "Map", "scalar", "output");
  module.AddImage(mask, "Mask", "label", "input");
  const auto [maskGeometry, tolerance] = ProgramIO::AddMaskGeometryOptions(app, options.maskGeometry);
  module.AddEnumeration(maskGeometry, "Geometry of the mask", { "check", "ignore" });
  module.AddOptionalNumbers(tolerance, "Tolerance of the geometry", "double");
  const char * croppedMaps = "compute and write only the bounding box of the mask plus the window, over the image";
  addFlag("--crop", options.crop, croppedMaps, "Crop to the mask")->needs(mask);

  module.AddGroup("Features", "The class of the features, and its options");
  addChoice("--class", options.className, classes, "the class of the features", "Class");
  const std::string names = "all, or names such as SRE,LRE (without it: the first eleven of RunLength, or all)";
  auto *            features = app.add_option("--features", options.features, names)->type_name("LIST")->delimiter(',');
  module.AddOptionalNumbers(features->allow_extra_args(false), "Features", "string");
  const std::vector<std::string> offsets{ "all", "in-plane" };
  addChoice("--offsets", options.offsets, offsets, "directions: all, or those in the plane of x and y", "Directions");
  addChoice("--aggregation", options.aggregation, aggregations, "how to combine the directions", "Aggregation");
  addNumbers("--distances", options.distances, "D", "distances of pairs and neighbors (default 1)", "Distances");
  addNumbers("--alpha", options.alpha, "A", "greatest difference of dependent levels (default 0)", "Alpha");
  addFlag("--asymmetric", options.asymmetric, "count each pair of voxels in one order only", "Asymmetric");

  module.AddGroup("Window", "The voxels around each voxel");
  auto * radius = addNumbers("--radius", options.radius, "N", "voxels on each side (default 2)", "Radius");
  auto * window = addNumbers("--window", options.window, "X,Y[,Z]", "size, instead of --radius", "Window size");
  auto * anchor =
    addNumbers("--anchor", options.anchor, "X,Y[,Z]", "position of the voxel, from 0 (default: the middle)", "Anchor");
  window->excludes(radius);
  anchor->needs(window);

  module.AddGroup("Gray levels", "How intensities become gray levels");
  const char * numbers = "number of levels (default 32; with --as-levels the image's maximum + 1)";
  const char * widths = "width of a level, from the minimum, instead of --levels";
  const char * ranges = "minimum and maximum; others are clamped (default: those of the image, inside the mask)";
  auto *       levels = addNumbers("--levels", options.levels, "N", numbers, "Number of levels");
  auto *       binWidth = addNumbers("--bin-width", options.binWidth, "W", widths, "Bin width");
  auto *       range = addNumbers("--range", options.range, "LO,HI", ranges, "Range");
  auto *       asLevels =
    addFlag("--as-levels", options.asLevels, "intensities are levels, from 0", "Intensities are levels");
  binWidth->excludes(levels)->excludes(asLevels);
  range->excludes(asLevels);

  ProgramIO::AddDicomOptions(app, options.input, options.dicom);
  ProgramIO::AddRunOptions(app, options.quiet);
  module.AddProgressOption(options.progressXML);
}

/** Throw if an option has no effect. Its default is permitted: 3D Slicer passes that of every choice. */
void
VerifyClassOptions(const CLI::App & app, const std::string & className)
{
  for (const auto & [name, itsClasses] : optionClasses)
  {
    const auto * option = app.get_option(name);
    if (option->count() > 0 && option->results().front() != option->get_default_str() &&
        std::find(itsClasses.begin(), itsClasses.end(), className) == itsClasses.end())
    {
      throw std::runtime_error(name + " has no effect with the class " + className + ", only with " +
                               Join(itsClasses, ", "));
    }
  }
}

template <typename TImage>
using Filter = itk::TextureFeatureMapImageFilter<TImage>;

/** The features of --features; none without it. */
template <typename TEnums>
std::vector<typename TEnums::Feature>
FindFeatures(const Options & options)
{
  if (options.features == std::vector<std::string>{ "all" })
  {
    return TEnums::GetAllFeatures();
  }
  std::vector<typename TEnums::Feature> features(options.features.size());
  for (std::size_t i = 0; i < features.size(); ++i)
  {
    if (!TEnums::FindFeature(options.features[i], features[i]))
    {
      std::vector<std::string> known;
      for (const auto feature : TEnums::GetAllFeatures())
      {
        known.emplace_back(TEnums::GetAbbreviation(feature));
      }
      throw std::runtime_error("--features: there is no feature '" + options.features[i] + "' of the class " +
                               options.className + "; there are " + Join(known, ", "));
    }
  }
  return features;
}

/** A filter of a class with its options, and what the summary tells of its directions. */
template <typename TImage, typename TFilter, typename TEnums>
std::pair<typename Filter<TImage>::Pointer, std::string>
MakeFilter(const Options & options)
{
  constexpr bool isRunLength = std::is_same_v<TEnums, itk::RunLengthFeatureMapEnums>;
  constexpr bool isCooccurrence = std::is_same_v<TEnums, itk::CooccurrenceFeatureMapEnums>;
  constexpr bool isPair = std::is_base_of_v<itk::VoxelPairFeatureMapImageFilter<TImage>, TFilter>;
  const bool     isInPlane = options.offsets == "in-plane";
  std::string    summary;
  auto           filter = TFilter::New();
  if (!options.features.empty())
  {
    filter->SetFeatures(FindFeatures<TEnums>(options));
  }
  if constexpr (isRunLength)
  {
    filter->SetOffsets(isInPlane ? TFilter::GetInPlaneOffsets() : TFilter::GetAllOffsets());
    summary = std::to_string(filter->GetOffsets().size()) + " directions, ";
  }
  if constexpr (isPair)
  {
    const auto & distances = options.distances;
    filter->SetOffsets(isInPlane ? TFilter::GetInPlaneOffsets(distances) : TFilter::GetAllOffsets(distances));
    summary = std::to_string(filter->GetOffsets().size()) + " offsets, ";
  }
  if constexpr (isRunLength || isCooccurrence)
  {
    const auto number = std::find(aggregations.begin(), aggregations.end(), options.aggregation) - aggregations.begin();
    filter->SetAggregation(static_cast<typename TFilter::AggregationEnum>(number));
    summary += options.aggregation + ", ";
  }
  if constexpr (isCooccurrence)
  {
    filter->SetSymmetric(!options.asymmetric);
  }
  if constexpr (std::is_same_v<TEnums, itk::DependenceFeatureMapEnums>)
  {
    filter->SetAlpha(options.alpha);
  }
  if constexpr (std::is_same_v<TEnums, itk::SizeZoneFeatureMapEnums>)
  {
    filter->SetConnectivity(isInPlane ? TEnums::Connectivity::InPlane : TEnums::Connectivity::Full);
  }
  return { filter.GetPointer(), summary };
}

template <typename TImage>
std::pair<typename Filter<TImage>::Pointer, std::string>
MakeFilter(const Options & options)
{
  using namespace itk;
  // In the order of the names of the classes.
  constexpr std::array makers{
    MakeFilter<TImage, RunLengthFeatureMapImageFilter<TImage>, RunLengthFeatureMapEnums>,
    MakeFilter<TImage, FirstOrderFeatureMapImageFilter<TImage>, FirstOrderFeatureMapEnums>,
    MakeFilter<TImage, CooccurrenceFeatureMapImageFilter<TImage>, CooccurrenceFeatureMapEnums>,
    MakeFilter<TImage, SizeZoneFeatureMapImageFilter<TImage>, SizeZoneFeatureMapEnums>,
    MakeFilter<TImage, DependenceFeatureMapImageFilter<TImage>, DependenceFeatureMapEnums>,
    MakeFilter<TImage, GrayToneDifferenceFeatureMapImageFilter<TImage>, GrayToneDifferenceFeatureMapEnums>
  };
  const auto number = std::find(classes.begin(), classes.end(), options.className) - classes.begin();
  return makers.at(static_cast<std::size_t>(number))(options);
}

/** Set the parameters that all classes have. */
template <typename TImage>
void
SetParameters(Filter<TImage> * filter, const TImage * image, const Options & options)
{
  using Enums = itk::GrayLevelDiscretizationEnums;
  const auto copy = [](const char * option, const auto & values, auto array, const std::string & whyCount) {
    ProgramIO::CopyNumbers(option, values, array, whyCount);
    return array;
  };
  const std::string axes = "the image has " + std::to_string(TImage::ImageDimension) + " axes";
  if (options.radius)
  {
    filter->SetNeighborhoodRadius(*options.radius);
  }
  if (!options.window.empty())
  {
    filter->SetWindowSize(copy("--window", options.window, typename TImage::SizeType{}, axes));
  }
  if (!options.anchor.empty())
  {
    filter->SetWindowAnchor(copy("--anchor", options.anchor, typename TImage::OffsetType{}, axes));
  }
  if (options.asLevels)
  {
    // The filter reports intensities that are no levels. NaN is none.
    const auto * pixels = image->GetBufferPointer();
    const auto * end = pixels + image->GetBufferedRegion().GetNumberOfPixels();
    const double maximum = std::accumulate(pixels, end, 0.0, [](double a, double b) { return std::fmax(a, b); });
    filter->SetNumberOfGrayLevels(static_cast<unsigned int>(std::min(std::floor(maximum) + 1.0, 65535.0)));
    filter->SetDiscretizationMethod(Enums::Method::Identity);
  }
  if (options.levels)
  {
    filter->SetNumberOfGrayLevels(*options.levels);
  }
  if (options.binWidth)
  {
    filter->SetDiscretizationMethod(Enums::Method::FixedBinSize);
    filter->SetBinWidth(*options.binWidth);
  }
  if (!options.range.empty())
  {
    const auto range = copy("--range", options.range, std::array<double, 2>{}, "a range has 2");
    filter->SetRangeSource(Enums::RangeSource::Given);
    filter->SetRangeMinimum(range[0]);
    filter->SetRangeMaximum(range[1]);
  }
}

/** The names of the output files: one, or one per component. */
std::vector<std::string>
GetFileNames(const std::string & output, const std::vector<std::string> & components)
{
  if (output.find("%s") == std::string::npos)
  {
    return { output };
  }
  std::vector<std::string> names;
  for (const auto & component : components)
  {
    names.push_back(output);
    for (auto at = names.back().find("%s"); at != std::string::npos;
         at = names.back().find("%s", at + component.size()))
    {
      names.back().replace(at, 2, component);
    }
  }
  return names;
}

template <typename TMaps>
void
WriteMaps(TMaps * maps, ProgramIO::OutputFiles & outputs, const std::vector<std::string> & fileNames,
          const std::vector<std::string> & components)
{
  // Formats that can store metadata keep the names of the components.
  const auto setNames = [](auto * image, const std::string & names) {
    itk::EncapsulateMetaData<std::string>(image->GetMetaDataDictionary(), "FeatureNames", names);
  };
  if (fileNames.size() < components.size())
  {
    setNames(maps, Join(components));
    outputs.WriteImage(maps, fileNames.front());
  }
  else
  {
    auto component = itk::VectorIndexSelectionCastImageFilter<TMaps, itk::Image<float, TMaps::ImageDimension>>::New();
    component->SetInput(maps);
    for (unsigned int i = 0; i < fileNames.size(); ++i)
    {
      component->SetIndex(i);
      component->Update();
      setNames(component->GetOutput(), components[i]);
      outputs.WriteImage(component->GetOutput(), fileNames[i]);
    }
  }
  outputs.Commit();
}

/** The smallest region with all voxels of a mask that are not 0, of which there are some. */
template <typename TMask>
typename TMask::RegionType
GetBoundingBox(const TMask * mask)
{
  auto low = mask->GetBufferedRegion().GetUpperIndex();
  auto high = mask->GetBufferedRegion().GetIndex();
  for (itk::ImageRegionConstIteratorWithIndex<TMask> it(mask, mask->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    for (unsigned int d = 0; d < TMask::ImageDimension && it.Get() != 0; ++d)
    {
      low[d] = std::min(low[d], it.GetIndex()[d]);
      high[d] = std::max(high[d], it.GetIndex()[d]);
    }
  }
  typename TMask::RegionType box;
  box.SetIndex(low);
  box.SetUpperIndex(high);
  return box;
}

template <typename TImage>
void
Run(const ProgramIO::Input & input, const Options & options)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  using MapsType = typename Filter<TImage>::OutputImageType;

  const auto [filter, summary] = MakeFilter<TImage>(options);
  const auto image = ProgramIO::ReadScalarImage<TImage>(input);
  SetParameters<TImage>(filter, image, options);
  filter->SetInput(image);

  const auto             components = filter->GetFeatureNames();
  const auto             fileNames = GetFileNames(options.output, components);
  ProgramIO::OutputFiles outputs({ options.input, options.mask });
  for (const auto & name : fileNames)
  {
    const auto size = static_cast<unsigned int>(components.size());
    outputs.AddImage(name,
                     fileNames.size() < size
                       ? ProgramIO::GetProperties<MapsType>(image.GetPointer(), size)
                       : ProgramIO::GetProperties<itk::Image<float, dimension>>(image.GetPointer()));
  }

  const auto whole = image->GetLargestPossibleRegion();
  auto       numberOfVoxels = whole.GetNumberOfPixels();
  if (!options.mask.empty())
  {
    const std::string name = "the mask '" + options.mask + "'";
    const auto        mask = ProgramIO::ReadMaskFor<dimension>("mask", options.mask);
    const auto remark = ProgramIO::MatchGeometry(mask.GetPointer(), name, image.GetPointer(), options.maskGeometry);
    if (!options.quiet && !remark.empty())
    {
      std::cout << remark << "; ignored\n";
    }
    filter->SetMaskImage(mask);
    const unsigned char * inside = mask->GetBufferPointer();
    numberOfVoxels = std::count(inside, inside + numberOfVoxels, 1);
    if (options.crop)
    {
      if (numberOfVoxels == 0)
      {
        throw std::runtime_error("--crop: " + name + " is empty");
      }
      const auto box = GetBoundingBox(mask.GetPointer());
      filter->UpdateOutputInformation();
      // With the windows of all its voxels.
      auto region = box;
      region.SetIndex(box.GetIndex() - filter->GetWindowAnchor());
      region.SetSize(box.GetSize() + filter->GetWindowSize() - TImage::SizeType::Filled(1));
      region.Crop(whole);
      filter->GetOutput()->SetRequestedRegion(region);
    }
  }

  const auto start = std::chrono::steady_clock::now();
  ProgramIO::UpdateWithProgress(filter, options.quiet, options.progressXML);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const typename MapsType::Pointer maps = filter->GetOutput();
  maps->DisconnectPipeline();
  // The part that was computed becomes a whole image.
  typename MapsType::PointType origin;
  maps->TransformIndexToPhysicalPoint(maps->GetBufferedRegion().GetIndex(), origin);
  maps->SetOrigin(origin);
  maps->SetRegions(maps->GetBufferedRegion().GetSize());
  WriteMaps(maps.GetPointer(), outputs, fileNames, components);

  if (!options.quiet)
  {
    std::cout << options.output << ": " << filter->GetUsedNumberOfGrayLevels() << " levels in ["
              << filter->GetUsedRangeMinimum() << ", " << filter->GetUsedRangeMaximum() << "], window "
              << Join(filter->GetWindowSize(), "x") << " with the voxel at " << Join(filter->GetWindowAnchor()) << ", "
              << summary << components.size() << (components.size() == 1 ? " component\n" : " components\n")
              << Join(whole.GetSize(), "x") << " image, ";
    if (options.crop)
    {
      std::cout << Join(maps->GetLargestPossibleRegion().GetSize(), "x") << " maps, ";
    }
    std::cout << numberOfVoxels << " voxels in " << std::setprecision(3) << seconds.count()
              << " s: " << static_cast<double>(numberOfVoxels) / std::max(seconds.count(), 1e-9) / 1e6
              << " million voxels per second\n";
  }
}

void
Run(const CLI::App & app, const Options & options)
{
  VerifyClassOptions(app, options.className);
  ProgramIO::VerifyMaskGeometryRules(options.maskGeometry, !options.mask.empty());
  const auto input = ProgramIO::FindScalarInput(options.input, options.dicom);
  if (!options.quiet && !input.remark.empty())
  {
    std::cout << input.remark << '\n';
  }
  // Two types, which the filters are compiled for. They hold all values, and maps are the same for all types of pixels.
  using Component = itk::IOComponentEnum;
  const std::set<Component> exactAsFloat{
    Component::CHAR, Component::UCHAR, Component::SHORT, Component::USHORT, Component::FLOAT
  };
  const bool isFloat = exactAsFloat.count(input.componentType) != 0;
  const auto run2D = isFloat ? Run<itk::Image<float, 2>> : Run<itk::Image<double, 2>>;
  const auto run3D = isFloat ? Run<itk::Image<float, 3>> : Run<itk::Image<double, 3>>;
  (input.dimension == 2 ? run2D : run3D)(input, options);
}
} // namespace

int
main(int argc, char * argv[])
{
  Options                      options;
  CLI::App                     app{ "Compute texture features of the window around every voxel.", "FeatureMaps" };
  ProgramIO::ModuleDescription module(app, "Filtering.Texture", "Feature Maps");
  AddOptions(app, module, options);
  return ProgramIO::RunProgram(app, argc, argv, [&] { Run(app, options); });
}
