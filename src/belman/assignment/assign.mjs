// Assign units to arms by a weights document, as docs/reference/assignment.md specifies it: for pages, edge workers and
// Node.js. No dependencies. `assign(document, unit, context)` takes the parsed JSON of a weights document; `verify(text, keys)` gives
// that of a signed one, where it can be trusted.

const POINTS = 2 ** 32;
const IV = new Uint32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);
const encoder = new TextEncoder();
const buffer = new Uint8Array(64);
const words = new Uint32Array(buffer.buffer); // the lowest byte first, as BLAKE2s and every browser's machine have it
const state = new Uint32Array(8);

// The block of 64 bytes in the buffer into the state, with the ten rounds written out; `size` counts all bytes up to its end.
function compress(size, last) {
  let v0 = state[0], v1 = state[1], v2 = state[2], v3 = state[3];
  let v4 = state[4], v5 = state[5], v6 = state[6], v7 = state[7];
  let v8 = IV[0], v9 = IV[1], v10 = IV[2], v11 = IV[3];
  let v12 = IV[4] ^ size, v13 = IV[5], v14 = last ? ~IV[6] : IV[6], v15 = IV[7];
  const m0 = words[0], m1 = words[1], m2 = words[2], m3 = words[3], m4 = words[4], m5 = words[5], m6 = words[6], m7 = words[7],
    m8 = words[8], m9 = words[9], m10 = words[10], m11 = words[11], m12 = words[12], m13 = words[13], m14 = words[14], m15 = words[15];
  // round 1
  v0 = (v0 + v4 + m0) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m1) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m2) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m3) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m4) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m5) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m6) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m7) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m8) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m9) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m10) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m11) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m12) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m13) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m14) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m15) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  // round 2
  v0 = (v0 + v4 + m14) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m10) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m4) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m8) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m9) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m15) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m13) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m6) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m1) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m12) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m0) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m2) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m11) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m7) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m5) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m3) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  // round 3
  v0 = (v0 + v4 + m11) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m8) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m12) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m0) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m5) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m2) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m15) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m13) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m10) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m14) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m3) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m6) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m7) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m1) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m9) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m4) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  // round 4
  v0 = (v0 + v4 + m7) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m9) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m3) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m1) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m13) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m12) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m11) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m14) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m2) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m6) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m5) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m10) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m4) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m0) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m15) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m8) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  // round 5
  v0 = (v0 + v4 + m9) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m0) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m5) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m7) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m2) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m4) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m10) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m15) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m14) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m1) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m11) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m12) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m6) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m8) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m3) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m13) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  // round 6
  v0 = (v0 + v4 + m2) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m12) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m6) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m10) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m0) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m11) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m8) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m3) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m4) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m13) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m7) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m5) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m15) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m14) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m1) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m9) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  // round 7
  v0 = (v0 + v4 + m12) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m5) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m1) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m15) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m14) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m13) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m4) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m10) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m0) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m7) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m6) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m3) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m9) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m2) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m8) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m11) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  // round 8
  v0 = (v0 + v4 + m13) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m11) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m7) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m14) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m12) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m1) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m3) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m9) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m5) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m0) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m15) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m4) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m8) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m6) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m2) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m10) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  // round 9
  v0 = (v0 + v4 + m6) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m15) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m14) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m9) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m11) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m3) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m0) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m8) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m12) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m2) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m13) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m7) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m1) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m4) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m10) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m5) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  // round 10
  v0 = (v0 + v4 + m10) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
  v0 = (v0 + v4 + m2) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24);
  v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
  v1 = (v1 + v5 + m8) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
  v1 = (v1 + v5 + m4) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24);
  v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
  v2 = (v2 + v6 + m7) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
  v2 = (v2 + v6 + m6) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24);
  v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
  v3 = (v3 + v7 + m1) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
  v3 = (v3 + v7 + m5) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24);
  v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
  v0 = (v0 + v5 + m15) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
  v0 = (v0 + v5 + m11) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24);
  v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
  v1 = (v1 + v6 + m9) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
  v1 = (v1 + v6 + m14) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24);
  v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
  v2 = (v2 + v7 + m3) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
  v2 = (v2 + v7 + m12) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24);
  v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
  v3 = (v3 + v4 + m13) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
  v3 = (v3 + v4 + m0) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24);
  v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  state[0] ^= v0 ^ v8; state[1] ^= v1 ^ v9; state[2] ^= v2 ^ v10; state[3] ^= v3 ^ v11;
  state[4] ^= v4 ^ v12; state[5] ^= v5 ^ v13; state[6] ^= v6 ^ v14; state[7] ^= v7 ^ v15;
}

// The first four bytes of BLAKE2s-256, the highest first, of prefix and name (a string).
function pointOf(prefix, name) {
  const size = prefix.length + name.length;
  state.set(IV);
  state[0] ^= 0x01010020;
  if (size <= 64) {
    buffer.set(prefix);
    let at = prefix.length;
    for (let i = 0; i < name.length; i++) {
      const code = name.charCodeAt(i);
      if (code > 127) return longPointOf(prefix, name);
      buffer[at++] = code;
    }
    buffer.fill(0, at);
    compress(size, true);
    return firstWord();
  }
  return longPointOf(prefix, name);
}

const half = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

// The same for names of any length and script.
function longPointOf(prefix, name) {
  if (half.test(name)) throw new TypeError("a unit cannot be assigned: half a character is not text");
  const rest = encoder.encode(name);
  const size = prefix.length + rest.length;
  const bytes = new Uint8Array(Math.max(64, Math.ceil(size / 64) * 64));
  bytes.set(prefix);
  bytes.set(rest, prefix.length);
  for (let start = 0; start === 0 || start < size; start += 64) {
    buffer.set(bytes.subarray(start, start + 64));
    compress(Math.min(start + 64, size), start + 64 >= size);
  }
  return firstWord();
}

function firstWord() {
  const word = state[0];
  return ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
}

function nameOf(unit) {
  if (typeof unit === "string") return unit;
  if (typeof unit === "bigint" || Number.isSafeInteger(unit)) return String(unit);
  throw new TypeError(`unit ${String(unit)} cannot be assigned: give text or a whole number`);
}

// Where a unit falls: a whole number from 0 to 2³² − 1.
export function point(salt, unit) {
  return pointOf(encoder.encode(salt + "\0"), nameOf(unit));
}

// FNV-1a (32 bits) over UTF-16 code units.
function fnv1a(text) {
  let found = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) found = Math.imul(found ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return found;
}

// The bucket of a unit by GrowthBook's hash: one of 1,000 in version 1, of 10,000 in version 2.
const bucketOf = (seed, name, version) =>
  version === 1 ? fnv1a(name + seed) % 1000 : fnv1a(String(fnv1a(seed + name))) % 10000;
const BUCKETS = { 1: 1000, 2: 10000 };
const isRange = (range) => Array.isArray(range) && range.length === 2 && range.every(isNumber) && range[0] <= range[1];

// Who hashes units where it is not belman; only GrowthBook's hash is here.
function prepareAssigner(assigner) {
  if (isNone(assigner)) return null;
  const { by, hash_version = 2, filters = [] } = assigner;
  if (by !== "growthbook") throw refused(`its units are assigned by ${by}, which this module cannot do`);
  const all = [{ seed: "", hash_version, ranges: [] }, ...(Array.isArray(filters) ? filters : [null])];
  const fits = all.every((one) => typeof one?.seed === "string" && Object.hasOwn(BUCKETS, one.hash_version)
    && Array.isArray(one.ranges) && one.ranges.every(isRange));
  if (!fits) throw refused("its assigner cannot be");
  return { version: hash_version, filters, points: BUCKETS[hash_version] };
}

const takesPart = ({ filters }, name) => filters.every(({ seed, hash_version, ranges }) => {
  const n = bucketOf(seed, name, hash_version) / BUCKETS[hash_version];
  return ranges.some(([start, end]) => start <= n && n < end);
});

const prepared = new WeakMap();

const refused = (why) => new TypeError(`this is not a weights document: ${why}`);
const isWhole = (value, least) => Number.isSafeInteger(value) && value >= least;
const isNumber = (value) => typeof value === "number" && Math.abs(value) <= 1e300;
const isName = (value) => typeof value === "string" && value !== "" && !value.includes("\0") && !half.test(value);
const isArm = (value) => value === null || ["string", "number", "boolean"].includes(typeof value);
const isNone = (value) => value === null || value === undefined;
const areArms = (arms) => Array.isArray(arms) && arms.length > 0 && arms.every(isArm)
  && new Set(arms.map((arm) => (typeof arm === "boolean" ? Number(arm) : arm))).size === arms.length; // as Python compares

// Refuses what Python refuses (documents.py), part by part.
function check(weights) {
  if (weights?.format !== "belman-weights/1") throw refused(`its format is ${weights?.format}`);
  const { study, salt, segment, version, decisions, published, valid_until, arms, floors, cuts } = weights;
  const parts = {
    study: isName(study),
    salt: isName(salt),
    segment: isNone(segment) || typeof segment === "string",
    version: isWhole(version, 1),
    decisions: isNone(decisions) || isWhole(decisions, 1),
    published: isNone(published) || isNumber(published),
    valid_until: isNone(valid_until) || isNumber(valid_until),
    arms: areArms(arms),
    floors: Array.isArray(floors) && floors.length === arms?.length && floors.every(isNumber),
    cuts: Array.isArray(cuts),
  };
  const wrong = Object.keys(parts).find((name) => !parts[name]);
  if (wrong !== undefined) throw refused(`its ${wrong} cannot be`);
}

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const CODES = { number: 3, square: 3, log: 3, level: 2, missing: 1, others: 1 };
const isPlace = (value) => isNone(value) || isWhole(value, 0);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function isSlot(slot, names) {
  if (!Array.isArray(slot) || typeof slot[0] !== "string") return false;
  const [kind, name, ...rest] = slot;
  if (kind === "constant") return slot.length === 1;
  if (!Object.hasOwn(CODES, kind) || slot.length - 1 !== CODES[kind]) return false;
  if (typeof name !== "string" || !Object.hasOwn(names, name)) return false;
  if (kind === "level") return typeof rest[0] === "string";
  return rest.length === 0 || (rest.every(isNumber) && rest[1] > 0);
}

// What decides by context, with its coefficients slot by slot; refuses what Python refuses (contexts.py).
function prepareContexts({ contexts, arms, floors }) {
  if (!isObject(contexts)) throw refused("its contexts cannot be");
  const { names, slots, draws, coefficients, settled, most = 1, control } = contexts;
  const parts = {
    names: isObject(names) && Object.values(names).every((kind) => [null, "number", "category"].includes(kind)),
    slots: Array.isArray(slots) && slots.length > 0 && isObject(names) && slots.every((slot) => isSlot(slot, names))
      && new Set(slots.map((slot) => JSON.stringify(slot))).size === slots.length,
    draws: isWhole(draws, 1) && draws <= 2 ** 31,
    coefficients: typeof coefficients === "string",
    most: isNumber(most) && most >= 0 && most <= 1,
    places: [settled, control].every((place) => isPlace(place) && (isNone(place) || place < arms.length)),
    floors: Math.min(...floors) >= 0 && floors.reduce((sum, floor) => sum + Math.floor(floor * POINTS), 0) <= POINTS,
    arms: arms.length > (isNone(settled) ? 0 : 1),
  };
  const wrong = Object.keys(parts).find((name) => !parts[name]);
  if (wrong !== undefined) throw refused(`the ${wrong} of its contexts cannot be`);
  let bytes;
  try {
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(coefficients) || coefficients.length % 4) throw new TypeError();
    bytes = bytesOf(coefficients);
  } catch {
    throw refused("its coefficients are no numbers");
  }
  const size = draws * arms.length;
  if (bytes.length !== 2 * size * slots.length || bytes.length > 2 ** 18) throw refused("its coefficients are not one a slot, draw and arm");
  const view = new DataView(bytes.buffer);
  const columns = slots.map((_, i) => Int16Array.from({ length: size }, (_, j) => view.getInt16(2 * (i * size + j), true)));
  const levels = new Set(slots.filter(([kind]) => kind === "level").map(([, name, level]) => JSON.stringify([name, level])));
  const free = arms.map((_, arm) => arm).filter((arm) => arm !== settled);
  return { names, slots, draws, columns, levels, free, most, control: isNone(control) || control === settled ? null : control };
}

// What decides by context as the leaves of a tree; refuses what Python refuses (leaves.py).
function prepareLeaves({ contexts, arms }, assigner) {
  const { names, leaves } = contexts;
  const kinds = { below: "number", "not below": "number", is: "string", "is not": "string" };
  const isTest = (test) =>
    Array.isArray(test) && test.length === 3 && typeof test[0] === "string" && Object.hasOwn(names, test[0]) &&
    Object.hasOwn(kinds, test[1]) && typeof test[2] === kinds[test[1]] && (typeof test[2] === "string" || isNumber(test[2]));
  const holds =
    assigner?.points !== undefined && isObject(names) &&
    Object.values(names).every((kind) => [null, "number", "category"].includes(kind)) &&
    Array.isArray(leaves) && leaves.length > 0 && leaves.length <= 64 &&
    leaves.every((leaf, i) =>
      isObject(leaf) && Array.isArray(leaf.where) && leaf.where.length <= (i === leaves.length - 1 ? 0 : 16) &&
      leaf.where.every(isTest) && Array.isArray(leaf.points) && leaf.points.length === arms.length &&
      leaf.points.every((one) => isWhole(one, 0)) &&
      leaf.points.reduce((sum, one) => sum + one, 0) === assigner.points);
  if (!holds) throw refused("its leaves cannot be");
  return { names, leaves };
}

// The points of the first leaf whose tests a context passes.
function pointsOfLeaf({ names, leaves }, context) {
  const values = valuesOf(names, context);
  const passes = ([name, test, of]) => {
    const value = values[name];
    if (test.endsWith("below")) return (typeof value === "number" && value < of) === (test === "below");
    return (value === of) === (test === "is");
  };
  return leaves.find(({ where }) => where.every(passes)).points;
}

// The values of a context that are not missing.
function valuesOf(names, context) {
  if (!isObject(context)) throw new TypeError(`context ${String(context)} is not valid: give { name: value }`);
  const found = Object.create(null);
  for (let [name, value] of Object.entries(context)) {
    if (!Object.hasOwn(names, name)) throw new TypeError(`context has ${name}: it has ${Object.keys(names).join(", ")}`);
    if (isNone(value) || Number.isNaN(value)) continue;
    if (typeof value === "boolean") value = value ? "True" : "False"; // as Python writes them
    const kind = { string: "category", number: "number" }[typeof value];
    const fits = kind === "category" ? [...value].length <= 200 : Math.abs(value) <= 1e12;
    if (kind === undefined || !fits || ![null, kind].includes(names[name])) throw new TypeError(`${name} of the context is not allowed`);
    found[name] = value;
  }
  return found;
}

function standardised(kind, given, centre, spread) {
  const value = kind === "log" ? Math.sign(given) * Math.log1p(Math.abs(given)) : given;
  const score = (value - centre) / spread;
  if (kind !== "square") return Math.min(Math.max(score, -10), 10);
  const near = Math.min(Math.abs(score), 3);
  return near * near - 1;
}

// What a slot holds in a context, in units of 2⁻¹⁶.
function filled([kind, name, ...rest], values, levels) {
  if (kind === "constant") return 65536;
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (kind === "missing") return value === undefined ? 65536 : 0;
  if (kind === "level") return value === rest[0] ? 65536 : 0;
  if (kind === "others") return typeof value === "string" && !levels.has(JSON.stringify([name, value])) ? 65536 : 0;
  return typeof value === "number" ? Math.floor(standardised(kind, value, ...rest) * 65536 + 0.5) : 0;
}

// Turn the draws that each arm won into shares, which need not add up to 1; the leader's share is
// capped at `most`.
function capped(shares, { free, most, control, draws }) {
  if (most >= 1 || free.length < 2) return shares;
  if (most * free.length <= 1) return shares.map((_, arm) => (free.includes(arm) ? 1 : 0));
  const leader = leading(shares, free);
  if (control !== null && control !== leader) {
    shares[control] = Math.max(shares[control], shares[leader] * (1 - most) / most);
  } else if (shares[leader] > most * draws) {
    const more = (shares[leader] - most * draws) / (free.length - 1);
    shares = shares.map((share, arm) => (free.includes(arm) ? share + more : 0));
    shares[leader] = most * draws;
  }
  return shares;
}

const leading = (shares, free) => free.reduce((best, arm) => (shares[arm] > shares[best] ? arm : best), free[0]);

// How many points each arm has in a context.
function pointsIn(ready, floors, context) {
  const { slots, draws, columns, levels, free } = ready, arms = floors.length;
  const values = valuesOf(ready.names, context), sums = new Float64Array(draws * arms);
  slots.forEach((slot, i) => {
    const number = filled(slot, values, levels);
    if (number !== 0) for (let j = 0; j < sums.length; j++) sums[j] += number * columns[i][j];
  });
  const wins = new Array(arms).fill(0);
  for (let draw = 0; draw < draws; draw++) {
    const own = sums.subarray(draw * arms, (draw + 1) * arms);
    const best = free.reduce((most, arm) => Math.max(most, own[arm]), -Infinity);
    const tied = free.filter((arm) => own[arm] === best);
    wins[tied[draw % tied.length]]++;
  }
  const shares = capped(wins, ready), counts = floors.map((floor) => Math.floor(floor * POINTS));
  const add = (sum, one) => sum + one;
  const rest = POINTS - counts.reduce(add, 0), total = shares.reduce(add, 0);
  shares.forEach((share, arm) => { counts[arm] += Math.floor(share / total * rest); });
  counts[leading(shares, free)] += POINTS - counts.reduce(add, 0);
  return counts;
}

function prepare(weights) {
  check(weights);
  const counts = new Array(weights.arms.length).fill(0);
  const assigner = prepareAssigner(weights.assigner), points = assigner?.points ?? POINTS;
  const inLeaves = isObject(weights.contexts) && Object.hasOwn(weights.contexts, "leaves");
  if (assigner !== null && !isNone(weights.contexts) && !inLeaves) throw refused("its assigner cannot decide by contexts");
  const ends = new Float64Array(weights.cuts.length);
  let last = 0;
  weights.cuts.forEach((cut, i) => {
    const [end, arm] = Array.isArray(cut) && cut.length === 2 ? cut : [];
    const least = assigner === null ? 0 : -1; // the place of no arm
    if (!isWhole(end, last + 1) || !isWhole(arm, least) || arm >= counts.length) throw refused(`cut ${i} is none`);
    if (arm >= 0) counts[arm] += end - last;
    ends[i] = last = end;
  });
  const taken = counts.reduce((sum, count) => sum + count, 0);
  if (last !== points || taken === 0) throw refused(`its cuts end at ${last}`);
  const shares = weights.weights;
  if (!Array.isArray(shares) || shares.length !== counts.length || counts.some((count, i) => count / taken !== shares[i])) {
    throw refused("its weights are not those of its cuts");
  }
  const answers = weights.arms.map((arm, i) =>
    Object.freeze({ arm, chance: counts[i] / taken, version: weights.version }));
  const ready = {
    assigner,
    prefix: encoder.encode(weights.salt + "\0"),
    ends,
    answers: weights.cuts.map(([, arm]) => answers[arm]),
    contexts: inLeaves ? prepareLeaves(weights, assigner) : isNone(weights.contexts) ? null : prepareContexts(weights),
  };
  prepared.set(weights, ready);
  return ready;
}

function look({ assigner, prefix, ends, answers, contexts }, unit, weights, context) {
  const name = nameOf(unit);
  const at = assigner === null ? pointOf(prefix, name) : bucketOf(weights.salt, name, assigner.version);
  if (contexts !== null && !isNone(context)) {
    if (assigner !== null && !takesPart(assigner, name)) throw new TypeError(`unit ${name} takes no part in version ${weights.version}`);
    const counts = contexts.leaves ? pointsOfLeaf(contexts, context) : pointsIn(contexts, weights.floors, context);
    let arm = 0;
    for (let end = counts[0]; at >= end; end += counts[arm]) arm++;
    const points = assigner?.points ?? POINTS;
    return Object.freeze({ arm: weights.arms[arm], chance: counts[arm] / points, version: weights.version });
  }
  let low = 0, high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at < ends[middle]) high = middle;
    else low = middle + 1;
  }
  if (answers[low] === undefined || (assigner !== null && !takesPart(assigner, name))) {
    throw new TypeError(`unit ${name} takes no part in version ${weights.version}`);
  }
  return answers[low];
}

// The arm of a unit, the chance with which any unit gets it, and the version of the weights; in a `context`, such as
// { country: "fr", age: 31 }, where the weights are those of a study with contexts.
export function assign(weights, unit, context = null) {
  return look(prepared.get(weights) ?? prepare(weights), unit, weights, context);
}

// The assignments of many units, in order.
export function assignMany(weights, units) {
  const ready = prepared.get(weights) ?? prepare(weights);
  const found = new Array(units.length);
  for (let i = 0; i < units.length; i++) found[i] = look(ready, units[i], weights, null);
  return found;
}

// The weights document of a signed one, if it can be trusted; else an Error says why not. `keys` are the public keys that are
// trusted, 32 bytes (or base64) by their ids. It must be of the `study` (where one is named) and of the `segment` (null: of all
// units), no older than the version `newest` that was seen already, and valid `now`, in seconds since 1970.
export async function verify(signed, keys, { study = null, segment = null, newest = 0, now = Date.now() / 1000 } = {}) {
  let payload, key, signature;
  try {
    ({ payload, key, signature } = JSON.parse(signed));
    signature = bytesOf(signature);
    if (typeof payload !== "string" || typeof key !== "string") throw new TypeError();
  } catch {
    throw new Error("this is not a signed weights document");
  }
  const own = Object.hasOwn(keys, key) ? keys[key] : undefined;
  if (own === undefined) throw new Error(`this document is signed with the key ${key}, which is not trusted`);
  const bytes = typeof own === "string" ? bytesOf(own) : own;
  const trusted = await crypto.subtle.importKey("raw", bytes, { name: "Ed25519" }, false, ["verify"]);
  const isOurs = await crypto.subtle.verify({ name: "Ed25519" }, trusted, signature, encoder.encode(payload));
  if (!isOurs) throw new Error(`the signature is not that of the key ${key}`);
  const weights = JSON.parse(payload);
  prepare(weights);
  if (study !== null && weights.study !== study) throw new Error(`this document is of study ${weights.study}, not of ${study}`);
  if (weights.segment !== segment) throw new Error(`this document is of segment ${weights.segment}, not of ${segment}`);
  if (weights.version < newest) throw new Error(`version ${weights.version} is stale: version ${newest} was seen already`);
  if (weights.valid_until !== null && now >= weights.valid_until) throw new Error(`version ${weights.version} has expired`);
  return weights;
}
