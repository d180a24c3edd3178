// Division of 128-bit integers: its code asks by addc whether a chain of subc.cc borrowed.
//! buffer in u64 16 = 0 1 10 0 18446744073709551615 18446744073709551615 18446744073709551615 1 12345678901234567 42 987654321 7 5 0 7 0
//! buffer out u64 16
//! launch divide 1 4 : in out
//! expect out = 1844674407370955161 0 6 0 9223372036854775808 0 9223372036854775807 0 6 0 12345672975308641 0 0 0 5 0
extern "C" __global__ void divide(const unsigned long long *in, unsigned long long *out)
{
    const unsigned long long *at = in + 4 * threadIdx.x;
    unsigned __int128 a = (unsigned __int128)at[1] << 64 | at[0], b = (unsigned __int128)at[3] << 64 | at[2];
    unsigned __int128 quotient = a / b, rest = a % b;
    out += 4 * threadIdx.x;
    out[0] = (unsigned long long)quotient;
    out[1] = (unsigned long long)(quotient >> 64);
    out[2] = (unsigned long long)rest;
    out[3] = (unsigned long long)(rest >> 64);
}
