#pragma once

__global__ void count_letters(const char *text, int *letters);
__global__ void capitalise(const char *text, char *out);
