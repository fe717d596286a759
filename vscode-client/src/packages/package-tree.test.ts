import * as v from "valibot";
import { expect, it } from "vitest";
import { listed } from "../testing/packages.ts";
import { agent } from "../testing/things.ts";
import { Listed } from "./answers.ts";
import { packageNodes } from "./package-tree.ts";

const folder = "/config/lares/extensions/com.example.greeter";
function nodeOf(given: object = {}, state?: Parameters<typeof agent>[0], update?: string) {
  const { items } = v.parse(Listed, { items: [listed(given)] });
  const [node] = packageNodes(
    items.map((item) => ({ ...item, root: "/w" })),
    () => (state === undefined ? undefined : agent(state)),
    new Map(update === undefined ? [] : [[folder, update]]),
  );
  if (node === undefined) throw new Error("There is no node.");
  return node;
}

it.each([
  ["on", {}, { state: "Active" }, "1.0.0 · on", "lares.package.on"],
  ["asleep", {}, { state: "Unloaded" }, "1.0.0 · on", "lares.package.on"],
  ["disabled", {}, { disabled: true }, "1.0.0 · disabled", "lares.package.off"],
  [
    "not allowed yet",
    {},
    { state: "Error", awaiting: "acceptance" },
    "1.0.0 · needs your permission",
    "lares.package.asks",
  ],
  ["broken", {}, { state: "Error" }, "1.0.0 · cannot run", "lares.package.on"],
  [
    "of another workspace",
    { inUse: false },
    { state: "Active" },
    "1.0.0 · not used in this workspace",
    "lares.package.unused",
  ],
] as const)(
  "an extension that is %s says so, to a screen reader too",
  (_what, given, state, words, context) => {
    const node = nodeOf(given, state);
    expect(node).toMatchObject({ label: "Greeter", description: words, context });
    expect(node.spoken).toBe(`Extension Greeter, version ${words.replace(" · ", ", ")}`);
  },
);

it("a newer version that is known stands beside it, and selects the button", () => {
  expect(nodeOf({}, { state: "Active" }, "1.1.0")).toMatchObject({
    description: "1.0.0 · update to 1.1.0 · on",
    context: "lares.package.on.update",
    icon: { id: "arrow-circle-up" },
  });
  expect(nodeOf({}, { state: "Active" }, "1.0.0").context).toBe("lares.package.on");
});

it("shows who signed it and where it came from; the whole key is in the tooltip", () => {
  const node = nodeOf({
    index: "https://example.com/index.json",
    source: "index:https://example.com/index.json",
  });
  expect(node.children?.map(({ label, description }) => [label, description])).toEqual([
    ["Signed by", "abcdefgh…"],
    ["From", "index https://example.com/index.json"],
    ["Your own", folder],
  ]);
  expect(node.tooltip).toContain("Signed by SHA256:abcdefghijkl");
  expect(nodeOf({ source: null }).tooltip).toContain("unknown: it was not installed by you");
});

it("files that are not as they were signed are named first", () => {
  const node = nodeOf({
    changed: ["agent.js"],
    added: Array.from({ length: 7 }, (_none, at) => `x${at}.js`),
  });
  expect(node.description).toMatch(/^1\.0\.0 · not as it was signed/);
  expect(node.icon?.id).toBe("warning");
  expect(node.children?.slice(0, 2).map(({ label }) => label)).toEqual([
    "Changed since it was installed: agent.js",
    "Not from the package: x0.js, x1.js, x2.js, x3.js, x4.js and 2 more",
  ]);
});
