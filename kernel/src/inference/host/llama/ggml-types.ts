interface Layout {
  /** Numbers that are stored together, and the bytes that they take. */
  readonly block: number;
  readonly bytes: number;
}

const of = (block: number, bytes: number): Layout => ({ block, bytes });

/** How numbers of each type are stored in a GGUF file, by the type's number; llama.cpp adds some every year. */
export const ggmlTypes: Readonly<Record<number, Layout>> = {
  0: of(1, 4), // F32
  1: of(1, 2), // F16
  2: of(32, 18), // Q4_0
  3: of(32, 20), // Q4_1
  6: of(32, 22), // Q5_0
  7: of(32, 24), // Q5_1
  8: of(32, 34), // Q8_0
  10: of(256, 84), // Q2_K
  11: of(256, 110), // Q3_K
  12: of(256, 144), // Q4_K
  13: of(256, 176), // Q5_K
  14: of(256, 210), // Q6_K
  15: of(256, 292), // Q8_K
  16: of(256, 66), // IQ2_XXS
  17: of(256, 74), // IQ2_XS
  18: of(256, 98), // IQ3_XXS
  19: of(256, 50), // IQ1_S
  20: of(32, 18), // IQ4_NL
  21: of(256, 110), // IQ3_S
  22: of(256, 82), // IQ2_S
  23: of(256, 136), // IQ4_XS
  24: of(1, 1), // I8
  25: of(1, 2), // I16
  26: of(1, 4), // I32
  27: of(1, 8), // I64
  28: of(1, 8), // F64
  29: of(256, 56), // IQ1_M
  30: of(1, 2), // BF16
  34: of(256, 54), // TQ1_0
  35: of(256, 66), // TQ2_0
  39: of(32, 17), // MXFP4
};
