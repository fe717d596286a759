import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import {
  firstReading,
  instructions,
  moduleOf,
  promiseBroken,
  type Reading,
  secondReader,
} from "../testing/second-reader.ts";
import { command, wat } from "../testing/wat.ts";
import { bulkInstructions, plainInstructions, vectorInstructions } from "./instruction-table.ts";
import { prepareModule } from "./prepare-module.ts";

/** The suite that runs for every commit draws the same modules each time; the fuzz suite draws new ones. */
const seed = 12;
let read: (bytes: Uint8Array) => Reading | null;
beforeAll(async () => {
  read = await secondReader();
});

/** One reader takes this byte for an offset, the other for a memory index and the start of an instruction. */
const hiddenCall = [
  [0x41, 0], // i32.const 0
  // i32.load, alignment 2 with bit 6: memory 0, offset 0x41. Without multiple memories: offset 0, then i32.const …
  [0x28, 0x42, 0x00, 0x41],
  [0x1a], // drop. Without memories: … 0x1a
  [0x41, 3, 0x41, 0, 0x41, 1, 0x41, 8],
  [0x10, 0], // call fd_write
  [0x1a],
].flat();

describe("a module that the engine and the reader could read differently", () => {
  test("a memory index in a memory argument is refused, so that no call hides behind it", () => {
    const module = moduleOf(hiddenCall);
    expect(WebAssembly.validate(new Uint8Array(module)), "the engine knows several memories").toBe(true);
    expect(prepareModule(module, { maxMemoryMb: 16 })).toMatchObject({
      ok: false,
      code: "feature",
      message: expect.stringContaining("several memories") as string,
    });
  });

  test.each<[string, number[]]>([
    ["memory.size of a padded memory index that is not 0", [0x3f, 0x81, 0x00, 0x1a]],
    ["a branch into a typed block", [0x02, 0x63, 0x70, 0x00, 0x0b, 0x1a]],
    ["ref.null of a garbage collected type", [0xd0, 0x6e, 0x1a]],
    ["a select of two types", [0x00, 0x1c, 2, 0x7f, 0x7f]],
    ["an atomic fence", [0xfe, 0x03, 0x00]],
    ["an i31 reference", [0x41, 0, 0xfb, 0x1c, 0x1a]],
    ["an exception's try_table", [0x1f, 0x40, 0x00, 0x0b]],
    ["an unassigned vector instruction", [0x00, 0xfd, 0x9a, 0x01]],
    ["a wide multiplication", [0x00, 0xfc, 0x15]],
  ])("%s is refused", (_name, code) => {
    expect(prepareModule(moduleOf(code), { maxMemoryMb: 16 })).toMatchObject({ ok: false });
  });

  test("an index with a linker's padding is read like any other", () => {
    const padded = moduleOf([0x41, 0, 0x41, 0, 0x41, 0, 0x41, 0, 0x10, 0x80, 0x80, 0x80, 0x80, 0x00, 0x1a]);
    expect(prepareModule(padded, { maxMemoryMb: 16 })).toMatchObject({ ok: true });
    expect(firstReading(padded)).toEqual(read(padded));
  });
});

/** Opcodes with and without a prefix, including more than any proposal defines. */
const opcodes: [string, number[], boolean][] = [
  ...Array.from({ length: 256 }, (_, code) => code)
    .filter((code) => code < 0xfb || code > 0xfe)
    .map((code): [string, number[], boolean] => [hex(code), [code], plainInstructions[code] !== undefined]),
  ...[
    [0xfb, [], 64],
    [0xfc, bulkInstructions, 64],
    [0xfd, vectorInstructions, 0x150],
    [0xfe, [], 0x60],
  ].flatMap(([prefix, table, count]) =>
    Array.from({ length: count as number }, (_, code): [string, number[], boolean] => [
      `${hex(prefix as number)} ${code}`,
      [prefix as number, ...(code < 128 ? [code] : [(code % 128) | 128, code >> 7])],
      (table as readonly unknown[])[code] !== undefined,
    ]),
  ),
];
const callAfterwards = [0x00, 0x10, 0x00, 0x1a];
/** Immediates that can be valid for each encoding. If there are too many bytes, the rest is `unreachable`. */
const trials: readonly (readonly number[])[] = [0, 1, 2, 3, 4, 5, 8, 16, 18]
  .map((count) => Array.from({ length: count }, () => 0))
  .concat([[0x40], [0x70], [0x7f], [2], [1, 0x7f]]);

test("every opcode is refused, or has the length that the engine and a second reader give it", () => {
  const wrong: string[] = [];
  for (const [name, opcode, isKnown] of opcodes) {
    const end = opcode[0] !== undefined && opcode[0] >= 0x02 && opcode[0] <= 0x04 ? [0x0b] : [];
    let valid = 0;
    for (const immediates of trials) {
      const module = moduleOf([0x00, ...opcode, ...immediates, ...callAfterwards, ...end]);
      if (!WebAssembly.validate(new Uint8Array(module))) continue;
      const result = prepareModule(module, { maxMemoryMb: 16 });
      if (!result.ok) continue;
      if (!isKnown) wrong.push(`${name} [${immediates.join(" ")}] is accepted`);
      const [first, second] = [firstReading(module), read(module)];
      if (JSON.stringify(first) !== JSON.stringify(second))
        wrong.push(`${name} [${immediates.join(" ")}]: ${JSON.stringify([first, second])}`);
      // The second trial shows that the first was not valid by chance.
      if (++valid === 2) break;
    }
    if (isKnown && valid === 0 && !onlyInPlace.has(name)) wrong.push(`${name} was never valid`);
  }
  expect(wrong).toEqual([]);
});

/** Valid only in places where the trial above does not put them. */
const onlyInPlace = new Set(["0x05", "0x0b"]);

function hex(code: number): string {
  return `0x${code.toString(16).padStart(2, "0")}`;
}

test("a second reader accepts the same modules and sees the same calls", () => {
  let accepted = 0;
  fc.assert(
    fc.property(instructions, (code) => {
      const module = moduleOf(code);
      const result = prepareModule(module, { maxMemoryMb: 16 });
      if (!result.ok) return;
      accepted++;
      expect(firstReading(module)).toEqual(read(module));
      expect(promiseBroken(read(result.bytes) ?? { imports: [], functions: [["unreadable"]] })).toBeNull();
    }),
    { seed, numRuns: 12_000 },
  );
  expect(accepted).toBeGreaterThan(500);
});

test("both readers see the same calls in the TypeScript guest and in a command", async () => {
  const guest = new Uint8Array(readFileSync(new URL("../../../build-output/guest.wasm", import.meta.url)));
  for (const module of [
    guest,
    await wat(command(`(call $write (i32.const 1) (i32.const 0) (i32.const 1))`)),
  ]) {
    expect(firstReading(module)).toEqual(read(module));
    const result = prepareModule(module, { maxMemoryMb: 64 });
    if (!result.ok) throw new Error(result.message);
    const prepared = read(result.bytes);
    expect(prepared).not.toBeNull();
    expect(prepared === null ? null : promiseBroken(prepared)).toBeNull();
  }
});
