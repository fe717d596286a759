const most = 127;

/** Vectors as a byte for each number; `blockWidth` numbers share a step, 16 bits that stand before all bytes. */
export function int8(dimensions: number, blockWidth: number) {
  const blocks = Math.ceil(dimensions / blockWidth);
  return {
    encode(vector: Float32Array): Uint8Array {
      const code = new Uint8Array(blocks * 2 + dimensions);
      const steps = new Float16Array(code.buffer, 0, blocks);
      for (let at = 0; at < dimensions; at++) {
        const block = Math.floor(at / blockWidth);
        steps[block] = Math.max(steps[block]!, Math.abs(vector[at]!) / most);
      }
      const numbers = new Int8Array(code.buffer, blocks * 2);
      for (let at = 0; at < dimensions; at++) {
        const step = steps[Math.floor(at / blockWidth)]!;
        if (step > 0) numbers[at] = Math.max(-most, Math.min(most, Math.round(vector[at]! / step)));
      }
      return code;
    },
    decode(code: Uint8Array): Float32Array {
      const steps = new Float16Array(code.buffer, 0, blocks);
      const numbers = new Int8Array(code.buffer, blocks * 2);
      const vector = new Float32Array(dimensions);
      for (let at = 0; at < dimensions; at++) vector[at] = numbers[at]! * steps[Math.floor(at / blockWidth)]!;
      return vector;
    },
  };
}
