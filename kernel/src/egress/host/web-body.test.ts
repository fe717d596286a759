import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { webBody } from "./web-body.ts";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("left, failed, cut or ended at any moment, a body ends once and its source is destroyed", async () => {
  const steps = fc.array(fc.constantFrom("write", "read", "turn", "pause"), { maxLength: 20 });
  const ends = fc.constantFrom("cancel", "fail", "destroy", "end", "too long");
  await fc.assert(
    fc.asyncProperty(steps, ends, steps, async (before, how, after) => {
      const source = new PassThrough({ highWaterMark: 16 });
      source.on("error", () => undefined);
      let heard = 0;
      const reader = webBody(source, 1000, () => heard++).getReader();
      let bytes = 0;
      const reading: Promise<unknown>[] = [];
      const read = (): void => {
        const piece = reader.read().then(
          ({ value }) => (bytes += value?.length ?? 0),
          () => undefined,
        );
        reading.push(piece);
      };
      let written = 0;
      const act = async (step: string): Promise<void> => {
        if (step === "write" && source.writable) {
          source.write("chunk of 12.");
          written += 12;
        } else if (step === "read") read();
        else if (step === "turn") await turn();
        else await Promise.resolve();
      };
      for (const step of before) await act(step);
      if (how === "cancel") await reader.cancel();
      else if (how === "fail") source.destroy(new Error("cut"));
      else if (how === "destroy") source.destroy();
      else if (how === "end") source.end();
      else source.write(Buffer.alloc(2000));
      for (const step of after) if (step !== "write") await act(step);
      for (let times = 0; times < 60; times++) read();
      await Promise.all(reading);
      await turn();
      expect(source.destroyed || source.readableEnded).toBe(true);
      expect(bytes).toBeLessThanOrEqual(written);
      if (how === "end") expect([bytes, heard > 0]).toEqual([written, written > 0]);
    }),
    { numRuns: 500 },
  );
});

test("an answer that is longer than allowed is an error", async () => {
  const source = new PassThrough();
  source.on("error", () => undefined).end(Buffer.alloc(11));
  await expect(new Response(webBody(source, 10, () => undefined)).text()).rejects.toThrow(
    /longer than 10 bytes/,
  );
  expect(source.destroyed).toBe(true);
});
