import { expect, test } from "vitest";
import { notFound } from "../../base/errors.ts";
import { anAction } from "../testing/fake-kernel.ts";
import { changedUnasked } from "../chat/outcome.ts";

test("the files that were changed without asking are named once each, and no others", async () => {
  const base = anAction("a1");
  const [effect] = base.effects;
  if (effect === undefined) throw new Error("The action has no effect.");
  const at = (...paths: string[]) => paths.map((path) => ({ ...effect, path }));
  const done = { ...base, state: "Committed" as const };
  const known = new Map([
    ["unasked", { ...done, decided_by: "policy" as const, effects: at("a.md", "b.md") }],
    ["again", { ...done, decided_by: "policy" as const, effects: at("a.md") }],
    ["asked", { ...done, decided_by: "user" as const, effects: at("c.md") }],
    ["refused", { ...base, state: "Rejected" as const, decided_by: "policy" as const, effects: at("d.md") }],
  ]);
  const action = async (id: string) => {
    const found = known.get(id);
    if (found === undefined) throw notFound("action", id);
    return found;
  };
  expect(await changedUnasked({ action }, [...known.keys(), "gone"])).toEqual(["a.md", "b.md"]);
});
