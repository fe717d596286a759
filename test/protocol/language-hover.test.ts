import type { Hover, MarkupContent } from "vscode-languageserver";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { Editing, graphical } from "../support/language-client.ts";

const STRANGE = "test.strange";
let bench: Bench;
let plain: Client;
let graphics: Client;
beforeAll(async () => {
  const description = "Read [this](command:evil) <b>now</b>\u001b[31m\u202e";
  bench = await Bench.create({ extensions: [probe({ id: STRANGE, manifest: { description } })] });
  plain = await bench.connect({ trusted: false });
  graphics = await bench.connect({ trusted: false, capabilities: graphical });
});
afterAll(() => bench[Symbol.asyncDispose]());

const YAML = "extension:\n  id: test.shown\n  name: Shown\n  version: 1.0.0\n  hooks:\n";
const TOML = '[extension]\nid = "test.shown"\nname = "Shown"\nversion = "1.0.0"\n[[extension.hooks]]\n';

function textOf(hover: Hover | null): string {
  return hover === null || !("kind" in (hover.contents as object))
    ? ""
    : (hover.contents as MarkupContent).value;
}

describe("hovers work in an untrusted workspace", () => {
  test.each([
    ["lares.yaml", "trace: { le|vel: info }", /level[^]*debug/],
    ["lares.toml", "[kernel]\nlin|ger = '10s'", /linger[^]*kernel stays/],
    ["lares.yaml", "approvals:\n  rules: [{ de|cide: ask }]", /decide/],
    ["extension.yaml", `${YAML}    - on: Entry|Moved\n`, /another path[^]*from/],
    ["extension.toml", `${TOML}on = "Entry|Moved"\n`, /another path[^]*from/],
    ["extension.yaml", `${YAML}    - filter: entry.is|Image()\n`, /isImage\(\): bool[^]*image/],
    ["extension.toml", `${TOML}filter = "inGran|tedScope(entry.path)"\n`, /inGrantedScope[^]*may see/],
    ["extension.yaml", `${YAML}    - schedule: 0 3| * * *\n`, /Every day at 03:00 \(UTC\)[^]*Next/],
    ["extension.toml", `${TOML}schedule = "0 |3 * * *"\ntimezone = "Asia/Tokyo"\n`, /\(Asia\/Tokyo\)/],
    ["extension.yaml", `${YAML}    - on: EntryMoved\n      hand|`, null],
    ["lares.yaml", "# |", null],
  ])("%s: %j", async (name, marked, expected) => {
    for (const client of [plain, graphics]) {
      const hover = await new Editing(bench, client, name, marked).hover();
      if (expected === null) expect(hover).toBeNull();
      else {
        expect(hover).toMatchObject({ contents: { kind: client === plain ? "plaintext" : "markdown" } });
        expect(textOf(hover)).toMatch(expected);
      }
    }
  });
});

test("a stranger's text stays text: no link, no markup, no control code", async () => {
  const marked = `extensions:\n  - path: ../extensions/${STRANGE}|`;
  const hover = await new Editing(bench, graphics, "lares.yaml", marked, ".").hover();
  const value = textOf(hover);
  expect(value).toContain(STRANGE);
  expect(value).toContain(String.raw`\[this\](command:evil) \<b\>now\</b\>`);
  expect(value).not.toMatch(/[\u001b\u202e]/);
});

test.each([
  ["extension.yaml", `|${YAML}    - schedule: "0 3 * * *"\n      handler: a\n    - schedule: nonsense\n`],
  [
    "extension.toml",
    `|${TOML}schedule = "0 3 * * *"\nhandler = "a"\n[[extension.hooks]]\nschedule = "nonsense"\n`,
  ],
])("a schedule is explained where it stands: %s", async (name, marked) => {
  const editing = new Editing(bench, plain, name, marked);
  const hints = await editing.inlayHints();
  expect(hints).toHaveLength(1);
  const [hint] = hints ?? [];
  expect(hint?.label).toMatch(/^every day at 03:00 → \w{3}, \w{3}, \w{3} UTC$/);
  const line = editing.text.split("\n")[hint?.position.line ?? 0] ?? "";
  expect(line.slice(0, hint?.position.character)).toMatch(/schedule.*"0 3 \* \* \*"$/);
});
