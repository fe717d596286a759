import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { runTool, startTool } from "../../../kernel/src/sandbox/guest/testing/run-guest.ts";

/** The engine's own, for nobody to build on. */
const notToUse = new Set(["InternalError", "runtime", "escape", "unescape"]);
/** The language's, as its libraries declare them; V8 has a console for every context. */
const languages = new Set(runInNewContext("Object.getOwnPropertyNames(globalThis)") as string[]);
languages.delete("console");

const text = readFileSync(new URL("globals/guest.d.ts", import.meta.url), "utf8");
const declared = [...text.matchAll(/^declare (?:var|function) (\w+)/gm)].map(([, name = ""]) => name);

it("declares every global that the guest adds to the language's, and no other", async () => {
  await using guest = await startTool("return Object.getOwnPropertyNames(globalThis);");
  await guest.initialize();
  const there = (await runTool(guest, {})) as string[];
  const beside = there.filter((name) => !languages.has(name) && !notToUse.has(name));
  expect(declared.toSorted()).toEqual(beside.toSorted());
});
