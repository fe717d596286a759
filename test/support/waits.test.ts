import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAst } from "vitest/node";
import { describe, expect, test } from "vitest";

/** Programs of guests are in strings, and strings are not checked: a handler may be slow on purpose. */
const testCode = [
  "{kernel,extensions,examples,vscode-client}/**/*.test.{ts,tsx}",
  "{kernel,extensions,vscode-client}/**/testing/**/*.{ts,tsx}",
  "test/**/*.{ts,tsx}",
];
const root = fileURLToPath(new URL("../../", import.meta.url));
const isLeftOut = (path: string): boolean =>
  /(?:^|[\\/])(?:node_modules|dist|build-output)(?:[\\/]|$)/.test(path);

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** Visits a node and all beneath it. */
function visit(node: unknown, see: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) visit(each, see);
  else if (isNode(node)) {
    see(node);
    for (const value of Object.values(node)) visit(value, see);
  }
}

/** Returns true if the tree has a node for which this holds. */
function has(tree: unknown, what: (node: Node) => boolean): boolean {
  let isFound = false;
  visit(tree, (node) => (isFound ||= what(node)));
  return isFound;
}

const isNamed = (node: unknown, ...names: string[]): boolean =>
  isNode(node) &&
  (node.type === "Identifier"
    ? names.includes(node["name"] as string)
    : node.type === "MemberExpression" && isNamed(node["property"], ...names));

const isClock = (node: Node): boolean =>
  node.type === "CallExpression" &&
  isNode(node["callee"]) &&
  node["callee"].type === "MemberExpression" &&
  isNamed(node["callee"]["object"], "Date", "performance") &&
  isNamed(node["callee"]["property"], "now");

const isNumber = (node: unknown): boolean =>
  isNode(node) && !has(node, ({ type }) => type === "Identifier") && has(node, isPositive);
const isPositive = (node: Node): boolean =>
  node.type === "Literal" && typeof node["value"] === "number" && node["value"] > 0;

/** Returns the lines that wait for a literal time, or until a clock reaches a time. */
function fixedWaits(source: string, lang: "ts" | "tsx" = "ts"): string[] {
  const program = parseAst(source, { lang });
  /** The names that a file gives to the promise of a timer. */
  const pauses = new Set(["waitForTimeout"]);
  visit(program, (node) => {
    if (node.type !== "ImportDeclaration" || (node["source"] as Node)["value"] !== "node:timers/promises")
      return;
    for (const { local } of node["specifiers"] as { local: { name: string } }[]) pauses.add(local.name);
  });
  const found = new Map<number, string>();
  const report = ({ start }: Node): void => {
    const line = source.slice(0, start).split("\n").length;
    found.set(line, `${line}: ${source.split("\n")[line - 1]?.trim()}`);
  };
  visit(program, (node) => {
    if (node.type !== "CallExpression") return;
    const [first, second] = node["arguments"] as unknown[];
    const { callee } = node;
    if (isNamed(callee, ...pauses) ? isNumber(first) : isNamed(callee, "setTimeout") && isNumber(second))
      report(node);
    if (isNamed(callee, "until", "waitFor", "poll") && has(node["arguments"], isClock)) report(node);
  });
  return [...found.values()];
}

describe("a fixed wait is found", () => {
  test.each([
    "await new Promise((resolve) => setTimeout(resolve, 150));",
    'import { setTimeout as pause } from "node:timers/promises"; await pause(2 * 1_000);',
    "await page.waitForTimeout(500);",
    'await until("four runs", () => Date.now() > begun + 4_500);',
    "setTimeout(() => process.kill(pid), 20);",
  ])("%s", (source) => {
    expect(fixedWaits(source)).toHaveLength(1);
  });

  test.each([
    "await new Promise((resolve) => setTimeout(resolve, 3 * settleMs));",
    "await new Promise((resolve) => setTimeout(resolve, random() * 60));",
    "setTimeout(() => done(150));",
    "setTimeout(run, 0);",
    "const program = `await new Promise((resolve) => setTimeout(resolve, 150));`;",
    'await until("the next kernel", () => isReady(5));',
    "for (const end = performance.now() + patienceMs; performance.now() < end; ) look();",
  ])("and not in: %s", (source) => {
    expect(fixedWaits(source)).toEqual([]);
  });
});

test("no test waits for a fixed time: it waits for an event, or for a time that has a name and a reason", () => {
  const files = globSync(testCode, { cwd: root, exclude: isLeftOut });
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((path) =>
    fixedWaits(readFileSync(`${root}${path}`, "utf8"), path.endsWith("x") ? "tsx" : "ts").map(
      (wait) => `${path}:${wait}`,
    ),
  );
  expect(found).toEqual([]);
});

test("no suite runs a test again that has failed", () => {
  expect(readFileSync(`${root}vitest.config.ts`, "utf8")).not.toMatch(/\bretry\b/);
});
