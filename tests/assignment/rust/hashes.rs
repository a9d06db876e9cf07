//! BLAKE2s-256 (RFC 7693), MD5 (RFC 1321), FNV-1a with 32 bits, and base64 (RFC 4648).

const START: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];
const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

fn words(block: &[u8]) -> [u32; 16] {
    let mut found = [0; 16];
    for (place, four) in block.chunks(4).enumerate() {
        found[place] = u32::from_le_bytes(four.try_into().unwrap());
    }
    found
}

/// The first four bytes of BLAKE2s-256, the highest first.
pub fn blake2s(data: &[u8]) -> u32 {
    let mut state = START;
    state[0] ^= 0x0101_0020; // 32 bytes of output, no key
    let last = if data.is_empty() { 0 } else { (data.len() - 1) / 64 };
    for number in 0..=last {
        let mut block = [0; 64];
        let end = data.len().min(64 * number + 64);
        block[..end - 64 * number].copy_from_slice(&data[64 * number..end]);
        compress(&mut state, &words(&block), end as u64, number == last);
    }
    u32::from_be_bytes(state[0].to_le_bytes())
}

fn compress(state: &mut [u32; 8], m: &[u32; 16], count: u64, last: bool) {
    let mut v = [0u32; 16];
    v[..8].copy_from_slice(state);
    v[8..].copy_from_slice(&START);
    v[12] ^= count as u32;
    v[13] ^= (count >> 32) as u32;
    if last {
        v[14] = !v[14];
    }
    for s in &SIGMA {
        let mut mix = |a: usize, b: usize, c: usize, d: usize, i: usize| {
            v[a] = v[a].wrapping_add(v[b]).wrapping_add(m[s[i]]);
            v[d] = (v[d] ^ v[a]).rotate_right(16);
            v[c] = v[c].wrapping_add(v[d]);
            v[b] = (v[b] ^ v[c]).rotate_right(12);
            v[a] = v[a].wrapping_add(v[b]).wrapping_add(m[s[i + 1]]);
            v[d] = (v[d] ^ v[a]).rotate_right(8);
            v[c] = v[c].wrapping_add(v[d]);
            v[b] = (v[b] ^ v[c]).rotate_right(7);
        };
        mix(0, 4, 8, 12, 0);
        mix(1, 5, 9, 13, 2);
        mix(2, 6, 10, 14, 4);
        mix(3, 7, 11, 15, 6);
        mix(0, 5, 10, 15, 8);
        mix(1, 6, 11, 12, 10);
        mix(2, 7, 8, 13, 12);
        mix(3, 4, 9, 14, 14);
    }
    for i in 0..8 {
        state[i] ^= v[i] ^ v[i + 8];
    }
}

/// The first four bytes of MD5, the highest first.
pub fn md5(data: &[u8]) -> u32 {
    const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut padded = data.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((8 * data.len() as u64).to_le_bytes());
    let mut state = [0x67452301u32, 0xefcdab89, 0x98badcfe, 0x10325476];
    for block in padded.chunks(64) {
        let m = words(block);
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (mixed, place) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), (7 * i) % 16),
            };
            let sine = (((i + 1) as f64).sin().abs() * 4294967296.0) as u32;
            let sum = a.wrapping_add(mixed).wrapping_add(sine).wrapping_add(m[place]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(TURNS[i / 16][i % 4]));
        }
        for (kept, more) in state.iter_mut().zip([a, b, c, d]) {
            *kept = kept.wrapping_add(more);
        }
    }
    u32::from_be_bytes(state[0].to_le_bytes())
}

/// FNV-1a over the UTF-16 code units of a text.
pub fn fnv(text: &str) -> u32 {
    text.encode_utf16().fold(2166136261, |hash, unit| (hash ^ u32::from(unit)).wrapping_mul(16777619))
}

/// The bytes of base64 with its padding.
pub fn base64(text: &str) -> Result<Vec<u8>, String> {
    let letters = text.trim_end_matches('=');
    if text.len() % 4 != 0 || text.len() - letters.len() > 2 {
        return Err("this is no base64".into());
    }
    let (mut found, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for letter in letters.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err("this is no base64".into()),
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            found.push((bits >> held) as u8);
        }
    }
    Ok(found)
}
