import { describe, expect, it } from "vitest";
import { Restarts } from "./restarts.ts";

describe("Restarts", () => {
  it("waits longer each time, and gives up at the fifth end within three minutes", () => {
    const restarts = new Restarts();
    expect([0, 10_000, 20_000, 30_000, 40_000].map((now) => restarts.ended(now))).toEqual([
      { kind: "again", inMs: 1_000 },
      { kind: "again", inMs: 2_000 },
      { kind: "again", inMs: 5_000 },
      { kind: "again", inMs: 10_000 },
      { kind: "giveUp" },
    ]);
  });

  it("forgets ends that are longer ago than the window", () => {
    const restarts = new Restarts();
    for (const now of [0, 1_000, 2_000, 3_000]) restarts.ended(now);
    expect(restarts.ended(181_500)).toEqual({ kind: "again", inMs: 5_000 });
    expect(restarts.ended(1_000_000)).toEqual({ kind: "again", inMs: 1_000 });
  });

  it("starts over when the person asks for a start", () => {
    const restarts = new Restarts();
    for (const now of [0, 1, 2, 3, 4]) restarts.ended(now);
    restarts.reset();
    expect(restarts.ended(5)).toEqual({ kind: "again", inMs: 1_000 });
  });
});
