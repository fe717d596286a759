/** The micro HNSW that is linked into the guest, called as agents call it. */
import { VectorSet } from "@lares/sdk";
import "@lares/sdk/testing";
import { expect, it } from "vitest";
import { runTool, startTool } from "./testing/run-guest.ts";

/** Runs both in the guest and here; the results must be identical to the last bit. */
const program = `
  let seed = 1;
  const number = () => (seed = (seed * 48271) % 2147483647) / 2147483647 - 0.5;
  const vector = () => Float32Array.from({ length: 24 }, number);
  let set = new VectorSet({ dimensions: 24, efSearch: 50 });
  const queries = Array.from({ length: 20 }, vector);
  for (let label = 0; label < 900; label++) set.add(label * 3000000, label % 50 === 0 ? [1, ...new Array(23).fill(0)] : vector());
  for (let label = 0; label < 900; label += 7) set.remove(label * 3000000);
  set = VectorSet.fromBytes(set.toBytes(), { efSearch: 50 });
  for (let label = 0; label < 50; label++) set.add(label, vector());
  const bytes = set.toBytes();
  let sum = 0;
  for (const byte of bytes) sum = (sum * 31 + byte) % 2147483647;
  return { size: set.size, length: bytes.length, sum, found: queries.map((query) => set.search(query, 5)) };
`;

const inGuest = (body: string): string => `const { VectorSet, isLaresError } = sdk;\n${body}`;
/** The tool's program, with the SDK in reach. */
const startSets = (body: string) => startTool(`const sdk = await import("@lares/sdk");\n${inGuest(body)}`);

it("an agent's set is the same as the same set in plain Node, bit for bit", async () => {
  await using guest = await startSets(program);
  await guest.initialize();
  // oxlint-disable-next-line typescript/no-implied-eval -- the same text runs in both places
  const here: unknown = new Function("VectorSet", program)(VectorSet);
  const there = await runTool(guest);
  expect(there).toEqual(here);
  expect(there).toMatchObject({ size: 821 });
  // No call reached the kernel.
  expect(guest.calls).toEqual([]);
});

it("refuses in the guest with the codes it has everywhere, and damaged bytes too", async () => {
  await using guest = await startSets(`
    const caught = (run: () => unknown) => { try { return run(); } catch (error: any) { return isLaresError(error) ? error.code : String(error); } };
    const set = new VectorSet({ dimensions: 2, capacity: 2 });
    set.add(1, [1, 0]);
    const bytes = set.toBytes();
    bytes[bytes.length - 1] ^= 1;
    const results = [
      caught(() => set.add(2, [0, 0])), caught(() => set.add(2, [1])), caught(() => set.add(-1, [1, 1])),
      caught(() => set.search([NaN, 1])), caught(() => VectorSet.fromBytes(bytes)), caught(() => VectorSet.fromBytes(new Uint8Array(0))),
      caught(() => new VectorSet({ dimensions: 5000 })),
    ];
    set.add(2, [0, 1]);
    return [...results, caught(() => set.add(3, [1, 1])), set.search(new Float64Array([0, 2]), 1)];
  `);
  await guest.initialize();
  expect(await runTool(guest)).toEqual([
    ...Array.from({ length: 7 }, () => "InvalidParams"),
    "LimitExceeded",
    [{ label: 2, similarity: 1 }],
  ]);
});

it("calls that bypass the SDK with forged blocks are refused, and the guest continues", async () => {
  await using guest = await startTool(`
    const { vectors } = (globalThis as any)[Symbol.for("lares.guest")];
    const blocks = [null, undefined, "text", {}, new ArrayBuffer(0), new ArrayBuffer(16), new ArrayBuffer(4096), new Uint8Array(4096)];
    const answers = new Set();
    for (let operation = 1; operation < 20; operation++)
      for (const block of blocks)
        for (const other of blocks)
          if (operation !== 9 && operation !== 10) answers.add(vectors(operation, block, other, 1, 1, 2, 1));
    return [[...answers].sort(), vectors(), vectors(1, new ArrayBuffer(64), null, NaN, 1e20, -5, "x")];
  `);
  await guest.initialize();
  expect(await runTool(guest)).toEqual([[-1, -4], -1, -1]);
  expect(await runTool(guest)).toEqual([[-1, -4], -1, -1]);
});
