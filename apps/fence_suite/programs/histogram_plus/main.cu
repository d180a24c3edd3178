#include <cstdio>
#include <cstring>

__global__ void histogram(const char *text, int *bins) {
    const int i = blockIdx.x;
    bins[text[i] - 'a'] += 1;
}

int main() {
    const char *word = "bananas";
    char *text;
    int *bins, host[26];
    cudaMalloc(&text, std::strlen(word));
    cudaMalloc(&bins, sizeof host);
    cudaMemcpy(text, word, std::strlen(word), cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, sizeof host);
    histogram<<<7, 1>>>(text, bins);
    cudaMemcpy(host, bins, sizeof host, cudaMemcpyDeviceToHost);
    if (host[0] != 3 || host['n' - 'a'] != 2) {
        std::printf("%d a, %d n\n", host[0], host['n' - 'a']);
        return 1;
    }
    return 0;
}
