import { expect, test } from "vitest";
import type { CommandContext } from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { plainSurface } from "../render/style.ts";
import { aQuestion } from "../testing/fake-kernel.ts";
import { ensureTrust } from "./trust.ts";

test("what a refusal comes to is wrapped between words where the terminal is narrow", async () => {
  const warned: string[] = [];
  const surface = { ...plainSurface, width: 44 };
  const terminal = {
    surface,
    errorSurface: surface,
    isInteractive: true,
    canDraw: false,
    print: () => undefined,
    hold: () => new DisposableStack(),
    // Nobody answers.
    interrupted: AbortSignal.abort(),
    warn: (lines: string | readonly string[]) => warned.push(...[lines].flat()),
  };
  const context = { terminal } as unknown as CommandContext;
  const kernel = { question: () => Promise.resolve(aQuestion()) } as unknown as KernelClient;
  const status = { trusted: false } as Parameters<typeof ensureTrust>[2];
  expect(await ensureTrust(context, kernel, status)).toBe(false);
  expect(warned).toEqual(["No agent was started. You are asked again", "the next time."]);
});
