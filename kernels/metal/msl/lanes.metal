
// What another lane of the SIMD group has. simd_shuffle_xor takes neither bool nor integers of 64 bits.
inline float from_lane(float x, ushort mask) { return simd_shuffle_xor(x, mask); }
inline int from_lane(int x, ushort mask) { return simd_shuffle_xor(x, mask); }
inline uint from_lane(uint x, ushort mask) { return simd_shuffle_xor(x, mask); }
inline bool from_lane(bool x, ushort mask) { return simd_shuffle_xor(uint(x), mask) != 0; }
inline char from_lane(char x, ushort mask) { return char(simd_shuffle_xor(int(x), mask)); }
inline uchar from_lane(uchar x, ushort mask) { return uchar(simd_shuffle_xor(uint(x), mask)); }
inline short from_lane(short x, ushort mask) { return short(simd_shuffle_xor(int(x), mask)); }
inline ushort from_lane(ushort x, ushort mask) { return ushort(simd_shuffle_xor(uint(x), mask)); }
inline long from_lane(long x, ushort mask) { return as_type<long>(simd_shuffle_xor(as_type<uint2>(x), mask)); }
inline ulong from_lane(ulong x, ushort mask) { return as_type<ulong>(simd_shuffle_xor(as_type<uint2>(x), mask)); }

// The number of the vector of 16 bytes that the line of 128 bytes begins with in which an element lies. SIMD groups
// that begin there read whole lines.
inline I line_start(I element) { return element / I(LINE) * I(LINE / V); }
