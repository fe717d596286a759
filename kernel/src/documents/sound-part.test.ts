import { describe, expect, test } from "vitest";
import { checkLares } from "./lares.ts";
import { checkManifest } from "./manifest.ts";
import { present } from "./sound-part.ts";
import { manifestPorts } from "./testing/ports.ts";

const head = "extension:\n  id: com.example.a\n  name: A\n  version: 1.0.0\n";
const badHook = "    - { on: EntryCraeted, handler: h }\n";

/** Code and line of each fault. */
async function faults(text: string, file = "extension.yaml"): Promise<string[]> {
  const { diagnostics } = file.startsWith("lares")
    ? await checkLares(text, file, {
        layer: "workspace",
        folderState: () => "missing",
        findExtension: () => ({ state: "missing", lookedIn: [] }),
      })
    : await checkManifest(text, file, manifestPorts());
  return diagnostics.map(({ code, range }) => `${range.start.line + 1} ${code}`);
}

describe("a schema error hides no other fault", () => {
  const cases: [name: string, text: string, expected: string[], file?: string][] = [
    [
      "an unknown field",
      `${head}  lisence: MIT\n  hooks:\n${badHook}`,
      ["5 unknown-field", "7 unknown-event"],
    ],
    [
      "an item before it",
      `${head}  hooks:\n    - { on: EntryCreated, handler: 5 }\n${badHook}`,
      ["6 wrong-type", "7 unknown-event"],
    ],
    [
      "an item that lacks something",
      `${head}  hooks:\n    - { on: EntryCreated }\n${badHook}`,
      ["6 missing-field", "7 unknown-event"],
    ],
    [
      "what the whole manifest needs",
      `extension:\n  id: A\n  version: one\n  hooks:\n${badHook}`,
      ["1 missing-field", "2 invalid-id", "3 invalid-version", "5 unknown-event"],
    ],
    [
      "a field beside it, which is not said to be missing",
      `${head}  hooks:\n    - { on: 5, handler: h }\n    - { schedule: 0 3 * * *, filter: 1, handler: h }\n`,
      ["6 wrong-type", "7 wrong-type"],
    ],
    [
      "a setting elsewhere",
      "limits: { active_agents: 0 }\nkernel: { linger: 999999d }\n",
      ["1 invalid-value", "2 invalid-duration"],
      "lares.yaml",
    ],
    [
      "a rule before it",
      'approvals:\n  rules:\n    - { path: x }\n    - { decide: deny, path: "[" }\n',
      ["3 missing-field", "4 invalid-glob"],
      "lares.yaml",
    ],
    [
      "an extension's entry: its id is refused, not missing",
      "extensions:\n  - { id: Storage }\n  - { id: com.example.b, grants: { locations: [5, gone], allow: 1 } }\n",
      ["2 invalid-id", "3 extension-not-found", "3 wrong-type", "3 location-not-found", "3 wrong-type"],
      "lares.yaml",
    ],
    [
      "an import: its workspace is refused, not missing",
      "import_namespaces: [{ name: a, workspace: 1 }]\n",
      ["1 wrong-type"],
      "lares.yaml",
    ],
  ];
  for (const [name, text, expected, file] of cases) {
    test(name, async () => expect(await faults(text, file)).toEqual(expected));
  }

  test("and the document is not used", async () => {
    const checked = await checkManifest(`${head}  lisence: MIT\n`, "extension.yaml", manifestPorts());
    expect([checked.value, checked.usable]).toEqual([null, false]);
  });
});

test("a value of the wrong type is reported once", async () => {
  expect(await faults('version: "1"\n', "lares.yaml")).toEqual(["1 wrong-type"]);
});

test("items keep their index around a removed one", () => {
  const items = ["a", "b", "c"];
  Reflect.deleteProperty(items, "1");
  expect(present(items)).toEqual([
    [0, "a"],
    [2, "c"],
  ]);
});
