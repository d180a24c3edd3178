// nvcc program: -lineinfo -arch=compute_75
//
// The same with the fences.
#define FENCES
#include "places.cu"
