import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mayImport } from "../../oxlint.config.ts";

test("ARCHITECTURE.md draws the arrows between rooms that the linter permits, and no others", () => {
  const text = readFileSync(new URL("../../ARCHITECTURE.md", import.meta.url), "utf8");
  const [, picture = ""] = /### Who may import whom[^]*?```\n([^]*?)```/.exec(text) ?? [];
  const names = (list = ""): string[] => list.split(",").map((name) => name.trim());
  const drawn = Object.fromEntries(
    picture
      .trim()
      .split("\n")
      .flatMap((line) => {
        const [from, to] = line.split("──▶");
        return names(from).map((room) => [
          room,
          names(to)
            .filter((name) => name !== "(base)")
            .toSorted(),
        ]);
      }),
  );
  const permitted = Object.entries(mayImport)
    .filter(([room]) => room !== "base")
    .map(([room, rooms]) => [room, rooms.filter((name) => name !== "base").toSorted()]);
  expect(drawn).toEqual({ ...Object.fromEntries(permitted), composition: ["everything"] });
});
