import type { DocumentFormat } from "../../kernel/src/documents/text/source.ts";

/** A document made to keep its reader busy: as large as allowed, or refused because it is larger. */
export interface HostileDocument {
  readonly what: string;
  readonly format: DocumentFormat;
  readonly text: string;
}

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join("");

const manifest = "extension:\n  id: a.b\n  name: A\n  version: 1.0.0\n";
const filter = (index: number): string => `entry.size > ${index} && entry.nme == 'x'`;
const parameters =
  "  tools:\n    - name: t\n      handler: h\n      description: d\n      parameters:\n        type: object\n        properties:\n";

const yaml: readonly (readonly [what: string, text: string])[] = [
  ["[ and 90,000 commas", `[${",".repeat(90_000)}`],
  ["4,000 faulty rules", `approvals:\n  rules:\n${lines(4_000, () => '    - {decide: alow, path: "["}\n')}`],
  ["40,000 \\q", `a: "${"\\q".repeat(40_000)}"`],
  ["1,200 nested maps", `a: ${"{a: ".repeat(1_200)}`],
  ["700 nested block maps", lines(700, (index) => `${" ".repeat(index)}a:\n`)],
  ["4,900 keys", lines(4_900, (index) => `k${index}: 1\n`)],
  ["one key 20,000 times", "a: 1\n".repeat(20_000)],
  ["2,400 aliases of one map", `a: &a {b: 1}\nc: [${"*a, ".repeat(2_400)}]\n`],
  ["20,000 documents", "---\n".repeat(20_000)],
  [
    "2,000 hooks with faulty filters",
    `${manifest}  hooks:\n${lines(2_000, (index) => `    - {on: EntryCreated, handler: h, filter: "${filter(index)}"}\n`)}`,
  ],
  [
    "2,000 hooks with schedules that never come true",
    `${manifest}  hooks:\n${lines(2_000, (index) => `    - {schedule: "${index % 60} 3 30 2 *", handler: h}\n`)}`,
  ],
  [
    "3,000 large patterns",
    manifest +
      parameters +
      lines(3_000, (index) => `          p${index}: {pattern: "(a{1,9}){1,9}x${index}"}\n`),
  ],
  [
    "3,000 unknown keywords",
    manifest + parameters + lines(3_000, (index) => `          p${index}: {tpye: string}\n`),
  ],
];

const toml: readonly (readonly [what: string, text: string])[] = [
  ["90,000 keys", lines(90_000, (index) => `${index.toString(36)}=\n`).slice(0, 250_000)],
  ["30,000 short keys", lines(30_000, (index) => `${index.toString(36)}=1\n`)],
  ["4,900 keys", lines(4_900, (index) => `k${index} = 1\n`)],
  ["4,000 tables", lines(4_000, (index) => `[t${index}]\na = 1\n`)],
  ["4,900 empty tables", lines(4_900, (index) => `[t${index}]\n`)],
  ["2,400 tables with a key", lines(2_400, (index) => `[t${index}]\na = 1\n`)],
  ["2,400 tables of one list", "[[a]]\nb = 1\n".repeat(2_400)],
  ["[ and 90,000 commas", `a = [${",".repeat(90_000)}`],
  ["a list of 4,900", `a = [${"1,".repeat(4_900)}]\n`],
  ["40,000 \\q", `a = "${"\\q".repeat(40_000)}"`],
  ["4,400 values of dotted keys", lines(2_200, (index) => `k${index}.a = 1\n`)],
  ["1,200 nested lists", `a = ${"[".repeat(1_200)}`],
  ["80 lines of 60 dotted keys", lines(80, (index) => `${`k${index}.`.repeat(60)}a = 1\n`)],
];

export const hostileDocuments: readonly HostileDocument[] = [
  ...yaml.map(([what, text]) => ({ what, format: "yaml" as const, text })),
  ...toml.map(([what, text]) => ({ what, format: "toml" as const, text })),
];
