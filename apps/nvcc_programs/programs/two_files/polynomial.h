// What polynomial.cu defines.
#pragma once

__device__ float polynomial(float x);
typedef float (*Function)(float);
extern __device__ Function step;
__device__ float apply(Function function, float x);
void set_coefficients(const float (&values)[3]);
int calls_so_far();
