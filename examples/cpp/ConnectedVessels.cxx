// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// ConnectedVessels IMAGE X,Y,Z THRESHOLD OUTPUT
//
// Fuzzy connectedness to a seed in a vessel, and a surface by VTK. IMAGE is a file or a folder with a DICOM series.
// Writes OUTPUT.nii.gz (1 where the strength is at least THRESHOLD), OUTPUT_strength.nii.gz, OUTPUT.vtp (the surface in
// ITK's coordinates, in mm: left, posterior, superior), and OUTPUT.png (the surface seen from the front).

#include "Example.h"
#include "itkBinaryThresholdImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkImageFileWriter.h"
#include "itkVTKImageExport.h"

#include <vtkActor.h>
#include <vtkCamera.h>
#include <vtkFlyingEdges3D.h>
#include <vtkImageImport.h>
#include <vtkMatrix4x4.h>
#include <vtkNew.h>
#include <vtkPNGWriter.h>
#include <vtkPolyDataMapper.h>
#include <vtkPolyDataNormals.h>
#include <vtkProperty.h>
#include <vtkRenderWindow.h>
#include <vtkRenderer.h>
#include <vtkTransform.h>
#include <vtkTransformPolyDataFilter.h>
#include <vtkWindowToImageFilter.h>
#include <vtkWindowedSincPolyDataFilter.h>
#include <vtkXMLPolyDataWriter.h>

#include <cstdlib>

namespace
{
using ImageType = itk::Image<float, 3>;
using ObjectType = itk::Image<unsigned char, 3>;

/** Pass an image of ITK to VTK without a copy; ITK's exporter must live as long. */
vtkNew<vtkImageImport>
ConnectToVTK(itk::VTKImageExport<ImageType> * exporter)
{
  vtkNew<vtkImageImport> importer;
  importer->SetUpdateInformationCallback(exporter->GetUpdateInformationCallback());
  importer->SetPipelineModifiedCallback(exporter->GetPipelineModifiedCallback());
  importer->SetWholeExtentCallback(exporter->GetWholeExtentCallback());
  importer->SetSpacingCallback(exporter->GetSpacingCallback());
  importer->SetOriginCallback(exporter->GetOriginCallback());
  importer->SetScalarTypeCallback(exporter->GetScalarTypeCallback());
  importer->SetNumberOfComponentsCallback(exporter->GetNumberOfComponentsCallback());
  importer->SetPropagateUpdateExtentCallback(exporter->GetPropagateUpdateExtentCallback());
  importer->SetUpdateDataCallback(exporter->GetUpdateDataCallback());
  importer->SetDataExtentCallback(exporter->GetDataExtentCallback());
  importer->SetBufferPointerCallback(exporter->GetBufferPointerCallback());
  importer->SetCallbackUserData(exporter->GetCallbackUserData());
  return importer;
}

/** Draw a surface as seen from the front of the patient, without a window. */
void
Render(vtkPolyDataAlgorithm * surface, const std::string & fileName)
{
  vtkNew<vtkPolyDataMapper> mapper;
  mapper->SetInputConnection(surface->GetOutputPort());
  mapper->ScalarVisibilityOff();
  vtkNew<vtkActor> actor;
  actor->SetMapper(mapper);
  actor->GetProperty()->SetColor(0.75, 0.2, 0.2);
  vtkNew<vtkRenderer> renderer;
  renderer->AddActor(actor);
  renderer->SetBackground(1.0, 1.0, 1.0);
  renderer->GetActiveCamera()->SetPosition(0.0, -1.0, 0.0);
  renderer->GetActiveCamera()->SetViewUp(0.0, 0.0, 1.0);
  renderer->ResetCamera();
  vtkNew<vtkRenderWindow> window;
  if (window->IsA("vtkXOpenGLRenderWindow") && !std::getenv("DISPLAY"))
  {
    throw std::runtime_error("no picture, as this VTK needs an X server: run xvfb-run -a ConnectedVessels ...");
  }
  window->OffScreenRenderingOn();
  window->SetMultiSamples(8);
  window->SetSize(800, 800);
  window->AddRenderer(renderer);
  window->Render();
  vtkNew<vtkWindowToImageFilter> picture;
  picture->SetInput(window);
  picture->ReadFrontBufferOff();
  vtkNew<vtkPNGWriter> writer;
  writer->SetInputConnection(picture->GetOutputPort());
  writer->SetFileName(fileName.c_str());
  writer->Write();
}

void
Run(int, char * argv[])
{
  const auto        threshold = Example::ParseNumber<float>(argv[3]);
  const std::string output = argv[4];
  const auto        image = Example::ReadVolume<ImageType>(argv[1]);

  auto connectedness = itk::FuzzyConnectednessImageFilter<ImageType>::New();
  connectedness->SetInput(image);
  connectedness->SetSeed(Example::ParseIndex(argv[2]));
  // Mean and variance of the vessel, from the voxels around the seed; those around it show the contrast.
  connectedness->EstimateAffinityFromSeedsOn();
  auto object = itk::BinaryThresholdImageFilter<ImageType, ObjectType>::New();
  object->SetInput(connectedness->GetOutput());
  object->SetLowerThreshold(threshold);
  object->SetInsideValue(1);
  object->Update();
  itk::WriteImage(object->GetOutput(), output + ".nii.gz");
  itk::WriteImage(connectedness->GetOutput(), output + "_strength.nii.gz");
  std::cout << connectedness->GetVolumeOfThreshold(threshold) / 1000.0 << " ml" << std::endl;

  auto exporter = itk::VTKImageExport<ImageType>::New();
  exporter->SetInput(connectedness->GetOutput());
  const auto               importer = ConnectToVTK(exporter);
  vtkNew<vtkFlyingEdges3D> contour;
  contour->SetInputConnection(importer->GetOutputPort());
  contour->SetValue(0, threshold);
  vtkNew<vtkWindowedSincPolyDataFilter> smooth;
  smooth->SetInputConnection(contour->GetOutputPort());

  // vtkImageImport knows origin and spacing, but not the direction of the axes.
  vtkNew<vtkMatrix4x4> direction;
  for (int i = 0; i < 3; ++i)
  {
    for (int j = 0; j < 3; ++j)
    {
      direction->SetElement(i, j, image->GetDirection()[i][j]);
    }
  }
  const auto &         origin = image->GetOrigin();
  vtkNew<vtkTransform> transform;
  transform->Translate(origin[0], origin[1], origin[2]);
  transform->Concatenate(direction);
  transform->Translate(-origin[0], -origin[1], -origin[2]);
  vtkNew<vtkTransformPolyDataFilter> placed;
  placed->SetInputConnection(smooth->GetOutputPort());
  placed->SetTransform(transform);
  vtkNew<vtkPolyDataNormals> surface;
  surface->SetInputConnection(placed->GetOutputPort());

  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputConnection(surface->GetOutputPort());
  writer->SetFileName((output + ".vtp").c_str());
  if (!writer->Write())
  {
    throw std::runtime_error("'" + output + ".vtp' cannot be written");
  }
  Render(surface, output + ".png");
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 4, "IMAGE X,Y,Z THRESHOLD OUTPUT", Run);
}
