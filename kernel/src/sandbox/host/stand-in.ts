import { BinaryWriter } from "../prepare/binary.ts";
import { importable, wasiModule } from "../prepare/preview1.ts";

const valueTypes: Readonly<Record<string, number>> = { i: 0x7f, I: 0x7e };
const functionType = 0x60;
const kinds = { function: 0, memory: 2 } as const;

/**
 * Returns the module that the SDK is given in place of every program: it imports everything that a program may
 * import and does nothing. So the SDK need not read, hash and compile a large program for each guest, and one spare
 * worker fits every program; see `guest-thread.ts`.
 */
export function standInModule(): Uint8Array {
  const signatures = [...importable.values(), ":"];
  const types = new BinaryWriter().u32(signatures.length);
  for (const signature of signatures) {
    types.byte(functionType);
    for (const letters of signature.split(":")) {
      types.u32(letters.length);
      for (const letter of letters) types.byte(valueTypes[letter] ?? 0);
    }
  }
  const imports = new BinaryWriter().u32(importable.size);
  for (const [index, name] of [...importable.keys()].entries())
    imports.text(wasiModule).text(name).byte(kinds.function).u32(index);
  const start = importable.size;
  const module = new BinaryWriter().raw(new Uint8Array([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]));
  const sections: readonly (readonly [id: number, content: BinaryWriter])[] = [
    [1, types],
    [2, imports],
    [3, new BinaryWriter().u32(1).u32(start)],
    [5, new BinaryWriter().u32(1).byte(0).u32(1)],
    [
      7,
      new BinaryWriter()
        .u32(2)
        .text("memory")
        .byte(kinds.memory)
        .u32(0)
        .text("_start")
        .byte(kinds.function)
        .u32(start),
    ],
    // One body: no locals, `end`.
    [10, new BinaryWriter().u32(1).u32(2).byte(0).byte(0x0b)],
  ];
  for (const [id, content] of sections) module.byte(id).sized(content);
  return module.view().slice();
}
