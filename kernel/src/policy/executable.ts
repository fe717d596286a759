/** The permission bits that let anybody execute a file. */
const executableBits = 0o111;

/** The first bytes of files that systems run: a script's first line, and the formats of programs. */
const beginnings: readonly (readonly number[])[] = [
  [0x23, 0x21], // "#!"
  [0xef, 0xbb, 0xbf, 0x23, 0x21], // the same after a byte order mark
  [0x7f, 0x45, 0x4c, 0x46], // ELF
  [0x4d, 0x5a], // "MZ": Windows
  [0xfe, 0xed, 0xfa, 0xce], // Mach-O
  [0xfe, 0xed, 0xfa, 0xcf],
  [0xce, 0xfa, 0xed, 0xfe],
  [0xcf, 0xfa, 0xed, 0xfe],
  [0xca, 0xfe, 0xba, 0xbe], // a universal Mach-O binary, or a Java class
  [0x00, 0x61, 0x73, 0x6d], // WebAssembly
  [0x64, 0x65, 0x78, 0x0a], // "dex\n": Android
];

/** Returns true if a system would run a file with these permissions (0 if there are none yet) or this content. */
export function isExecutable(mode: number, content: Uint8Array | null = null): boolean {
  if ((mode & executableBits) !== 0) return true;
  return content !== null && beginnings.some((start) => start.every((byte, at) => content[at] === byte));
}
